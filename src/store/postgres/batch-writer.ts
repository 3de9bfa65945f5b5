// The hot statement of the PostgreSQL engine: one batch of records is one statement, one round
// trip and one commit. Sent again with the same content when the connection fails: rows that are
// already there change nothing.
import type pg from 'pg'
import {
  type Batch,
  cellsOf,
  entryColumns,
  lossColumns,
  nullableInEntries,
  nullableInLosses,
  nullableInRequests,
  requestColumns,
} from '../hot-queue.ts'
import { codeOf } from '../refused.ts'
import { isPassing, pause } from './connection.ts'

const retryPausesMs = [100, 300, 700, 1300, 2000]
const retryWithinMs = 5000

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
  return `SELECT * FROM unnest(${arrays.join(', ')})`
}

const insert = (table: string, columns: readonly string[], firstParameter: number): string =>
  `INSERT INTO ${table} (${columns.join(', ')}) ${given(columns, firstParameter)}`

const gatewayParameter = `$${1 + requestColumns.length + entryColumns.length}::text`

const firstLossParameter = 2 + requestColumns.length + entryColumns.length

/** Prepared twice: with what the operator bears, which hardly any batch has, and without. */
const statementWith = (more: string) => `
WITH logged AS (
  ${insert('requests', requestColumns, 1)} ON CONFLICT (request_id) DO NOTHING
)${more}, given (${entryColumns.join(', ')}) AS (
  ${given(entryColumns, 1 + requestColumns.length)}
), locked AS (
  SELECT id, closed_until_ms FROM accounts WHERE id IN (SELECT account_id FROM given)
  ORDER BY id FOR UPDATE
), moved AS (
  -- Nearly always none: entries of a month that is closed by now, at a clock that is behind.
  SELECT id, closed_until_ms FROM locked WHERE closed_until_ms > (SELECT min(at_ms) FROM given)
), booked AS (
  INSERT INTO entries (${entryColumns.join(', ')})
  SELECT ${entryColumns.map((name) => (name === 'at_ms' ? 'greatest(at_ms, closed_until_ms)' : name)).join(', ')}
  FROM given LEFT JOIN moved ON moved.id = given.account_id
  ON CONFLICT (ref, kind) DO NOTHING
  RETURNING account_id, kind, amount_nanos
), sums AS (
  SELECT account_id,
    coalesce(sum(amount_nanos) FILTER (WHERE kind NOT IN ('hold', 'release')), 0)::bigint AS balance,
    coalesce(-sum(amount_nanos) FILTER (WHERE kind IN ('hold', 'release')), 0)::bigint AS held
  FROM booked GROUP BY account_id
), spent AS (
  UPDATE purses SET amount_nanos = amount_nanos + sums.balance
  FROM sums
  WHERE purses.account_id = sums.account_id AND purses.gateway_id = ${gatewayParameter}
    AND sums.balance < 0
  RETURNING purses.account_id
)
UPDATE accounts
SET balance_nanos = balance_nanos + sums.balance, held_nanos = held_nanos + sums.held,
  drawn_nanos = drawn_nanos + CASE
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

/** The credit behind a charge went back to the account while this gateway was away. */
export const isLostPurse = (error: unknown): boolean => /^(22012|23514)$/.test(codeOf(error))

/** Rows laid end to end become one array per column. */
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

/** PostgreSQL has no NUL in text; a caller can put one into a model name and must not be able to
 * make the batch of everybody else fail with it. */
const storable = (cell: string): string =>
  cell.includes('\0') ? cell.replaceAll('\0', '\ufffd') : cell

export interface BatchWriting {
  /** Whose purses the charges are paid from; absent, they are paid from the balance. */
  gatewayId: string | undefined
  interrupted: (error: unknown) => void
}

export async function writeBatch(
  pool: pg.Pool,
  { requests, entries, losses }: Batch,
  { gatewayId, interrupted }: BatchWriting,
): Promise<void> {
  const values = [
    ...byColumn(requests, requestColumns, nullableInRequests),
    ...byColumn(entries, entryColumns, nullableInEntries),
    gatewayId ?? null,
    ...(losses === '' ? [] : byColumn(losses, lossColumns, nullableInLosses)),
  ]
  const query =
    losses === ''
      ? { name: 'hot-batch', text: statement, values }
      : { name: 'hot-batch-losses', text: statementWithLosses, values }
  const startMs = performance.now()
  for (let tries = 0; ; tries++) {
    try {
      await pool.query(query)
      return
    } catch (error) {
      const pauseMs = retryPausesMs[tries]
      const late = performance.now() - startMs + (pauseMs ?? 0) > retryWithinMs
      if (pauseMs === undefined || late || !isPassing(error)) throw error
      interrupted(error)
      await pause(pauseMs * (0.5 + Math.random() / 2))
    }
  }
}
