// The hot statement of the PostgreSQL dialect: one batch of records is one statement, one round
// trip and one commit. It is idempotent: rows that already exist change nothing. Executed after its
// deadline, by the database's clock, it fails as a whole.
import type pg from 'pg'
import { codeOf } from '../errors.ts'
import {
  cellsOf,
  entryColumns,
  lossColumns,
  nullableInEntries,
  nullableInLosses,
  nullableInRequests,
  type Rows,
  requestColumns,
} from '../group-commit.ts'

const columnTypes: Readonly<Record<string, string>> = {
  at_ms: 'bigint',
  status: 'bigint',
  charge_nanos: 'bigint',
  input_tokens: 'bigint',
  output_tokens: 'bigint',
  cache_read_tokens: 'bigint',
  cache_write_tokens: 'bigint',
  first_byte_ms: 'bigint',
  total_ms: 'bigint',
  amount_nanos: 'bigint',
  estimated: 'bigint',
  is_estimate: 'bigint',
  quantity: 'double precision',
}

function given(columns: readonly string[], firstParameter: number): string {
  const arrays = columns.map(
    (column, i) => `$${firstParameter + i}::${columnTypes[column] ?? 'text'}[]`,
  )
  return `unnest(${arrays.join(', ')})`
}

const insert = (table: string, columns: readonly string[], firstParameter: number): string =>
  `INSERT INTO ${table} (${columns.join(', ')}) SELECT * FROM ${given(columns, firstParameter)}`

const entryParameter = (column: (typeof entryColumns)[number]): string =>
  `$${1 + requestColumns.length + entryColumns.indexOf(column)}`

const gatewayParameter = `$${1 + requestColumns.length + entryColumns.length}::text`
const deadlineParameter = `$${2 + requestColumns.length + entryColumns.length}::float8`

const firstLossParameter = 3 + requestColumns.length + entryColumns.length

/** Prepared twice: with losses, which few batches have, and without. */
const statementWith = (more: string) => `
WITH logged AS (
  ${insert('requests', requestColumns, 1)} ON CONFLICT (request_id) DO NOTHING
)${more}, locked AS (
  SELECT id, closed_until_ms FROM accounts WHERE id = ANY(${entryParameter('account_id')}::text[])
  ORDER BY id FOR UPDATE
), moved AS (
  -- Nearly always none: entries of a month that is closed by now, at a clock that is behind.
  SELECT id, closed_until_ms FROM locked
  WHERE closed_until_ms > (SELECT min(ms) FROM unnest(${entryParameter('at_ms')}::bigint[]) AS ms)
), booked AS (
  INSERT INTO entries (${entryColumns.join(', ')})
  SELECT ${entryColumns.map((name) => (name === 'at_ms' ? 'greatest(at_ms, closed_until_ms)' : name)).join(', ')}
  FROM ${given(entryColumns, 1 + requestColumns.length)} AS given (${entryColumns.join(', ')})
  LEFT JOIN moved ON moved.id = given.account_id
  ON CONFLICT (ref, kind) DO NOTHING
  RETURNING account_id, kind, amount_nanos
), sums AS (
  SELECT account_id,
    coalesce(sum(amount_nanos) FILTER (WHERE kind NOT IN ('hold', 'release')), 0)::bigint AS balance,
    coalesce(-sum(amount_nanos) FILTER (WHERE kind IN ('hold', 'release')), 0)::bigint AS held
  FROM booked GROUP BY account_id
), spent AS (
  UPDATE credit_leases SET amount_nanos = amount_nanos + sums.balance
  FROM sums
  WHERE credit_leases.account_id = sums.account_id AND credit_leases.gateway_id = ${gatewayParameter}
    AND sums.balance < 0
  RETURNING credit_leases.account_id
)
UPDATE accounts
SET balance_nanos = balance_nanos + CASE
    WHEN extract(epoch FROM clock_timestamp()) * 1000 <= ${deadlineParameter} THEN sums.balance
    -- Its callers have been told that it failed: a cast that fails ends the whole statement.
    ELSE ('too late for ' || accounts.id)::bigint
  END,
  held_nanos = held_nanos + sums.held,
  leased_nanos = leased_nanos + CASE
    WHEN ${gatewayParameter} IS NULL OR sums.balance >= 0 THEN 0
    -- A charge on credit that this gateway no longer has must fail, batch and all.
    -- By a look-up: joined, every account of the batch would be compared with every other.
    ELSE sums.balance / CASE WHEN sums.account_id IN (SELECT account_id FROM spent) THEN 1 ELSE 0 END
  END
FROM sums
WHERE accounts.id = sums.account_id`

const statement = statementWith('')
const statementWithLosses = statementWith(`, lost AS (
  ${insert('losses', lossColumns, firstLossParameter)} ON CONFLICT DO NOTHING
)`)

/** The batch was executed after its deadline. */
export const isTooLate = (error: unknown): boolean =>
  codeOf(error) === '22P02' && String((error as Error).message).includes('too late for ')

/** The credit lease behind a charge was returned to the account while this gateway was away. */
export const isLostCreditLease = (error: unknown): boolean => /^(22012|23514)$/.test(codeOf(error))

/** Turns concatenated rows into one array per column. */
function byColumn(
  rows: string,
  names: readonly string[],
  nullable: ReadonlySet<string>,
): (string | null)[][] {
  const columns: (string | null)[][] = names.map(() => [])
  const empty = names.map((name) => (nullable.has(name) ? null : ''))
  const cells = cellsOf(rows)
  for (let i = 0; i < cells.length; i++) {
    const column = i % names.length
    columns[column]!.push(cells[i] === '' ? empty[column]! : storable(cells[i]!))
  }
  return columns
}

/**
 * PostgreSQL text cannot contain NUL; a caller can put one into a model name, and it must not fail
 * the batch for all other callers.
 */
const storable = (cell: string): string =>
  cell.includes('\0') ? cell.replaceAll('\0', '\ufffd') : cell

interface Sending {
  /** Gateway whose credit leases pay the charges; absent, the balance pays them. */
  gatewayId: string | undefined
  /** By the database's clock. */
  deadlineMs: number
  /** Time limit for the reply. */
  timeoutMs: number
}

/** One attempt. */
export async function sendBatch(
  pool: pg.Pool,
  { requests, entries, losses }: Rows,
  { gatewayId, deadlineMs, timeoutMs }: Sending,
): Promise<void> {
  const values = [
    ...byColumn(requests, requestColumns, nullableInRequests),
    ...byColumn(entries, entryColumns, nullableInEntries),
    gatewayId ?? null,
    deadlineMs,
    ...(losses === '' ? [] : byColumn(losses, lossColumns, nullableInLosses)),
  ]
  const query =
    losses === ''
      ? { name: 'hot-batch', text: statement, values, query_timeout: timeoutMs }
      : { name: 'hot-batch-losses', text: statementWithLosses, values, query_timeout: timeoutMs }
  await pool.query(query)
}

const lockedStatement = `
WITH free AS (
  SELECT id FROM accounts WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE SKIP LOCKED
), paying AS (
  SELECT account_id FROM credit_leases WHERE account_id = ANY($1::text[]) AND gateway_id = $2::text
  FOR UPDATE SKIP LOCKED
)
SELECT id FROM accounts WHERE id = ANY($1::text[]) AND (
  id NOT IN (SELECT id FROM free) OR EXISTS (
    SELECT 1 FROM credit_leases WHERE account_id = accounts.id AND gateway_id = $2::text
      AND account_id NOT IN (SELECT account_id FROM paying)
  )
)`

/** Those of these accounts whose rows another transaction has locked. */
export async function findLocked(
  pool: pg.Pool,
  accountIds: readonly string[],
  { gatewayId, timeoutMs }: Pick<Sending, 'gatewayId' | 'timeoutMs'>,
): Promise<ReadonlySet<string>> {
  const values = [accountIds, gatewayId ?? '']
  const query = { text: lockedStatement, values, query_timeout: timeoutMs }
  const { rows } = await pool.query<{ id: string }>(query)
  return new Set(rows.map(({ id }) => id))
}
