// The hot transaction of the PostgreSQL dialect, in three round trips: lock the accounts that pay, write the
// rows with their receipts, commit. It is idempotent: rows that already exist change nothing. Written after
// its deadline, by the database's clock, it fails as a whole.
import pg from 'pg'
import { plus } from '../../../contract/bills/receipt.ts'
import { adding, columnsOf, type Grain, grains } from '../../proof/grains.ts'
import { type ChainEnd, currencyKey, nextReceipt } from '../../proof/receipts.ts'
import { type RollUp, rollUp, slotOf } from '../../proof/roll-up.ts'
import { nameColumns } from '../../proof/total-names.ts'
import {
  callColumns,
  cell,
  chargeIn,
  freeCostIn,
  isNullable,
  kindOf,
  storedColumns,
} from '../../rows/call-row.ts'
import type { Booking } from '../../rows/ledger-rows.ts'
import { codeOf } from '../errors.ts'
import type { Rows } from '../group-commit.ts'
import { cellsOf, lossColumns, nullableInLosses } from '../group-commit-rows.ts'
import type { KnownNames } from './known-names.ts'

const columnTypes: Readonly<Record<string, string>> = {
  text: 'text',
  int: 'bigint',
  nanos: 'bigint',
  real: 'double precision',
}

const textColumns: ReadonlySet<string> = new Set([
  ...['account_id', 'kind', 'token_id', 'model', 'unit', 'tier', 'price_id', 'name', 'value'],
  ...['month', 'id', 'ref', 'reason', 'channel', 'upstream_id'],
])
const typeOf = (name: string): string =>
  name === 'quantity' ? 'double precision' : textColumns.has(name) ? 'text' : 'bigint'

function unnested(types: readonly string[], firstParameter: number): string {
  return `unnest(${types.map((type, i) => `$${firstParameter + i}::${type}[]`).join(', ')})`
}

const insert = (
  table: string,
  columns: readonly string[],
  types: readonly string[],
  from: number,
) => `INSERT INTO ${table} (${columns.join(', ')}) SELECT * FROM ${unnested(types, from)}`

const addTo = (grain: Grain, from: number): string => {
  const columns = columnsOf(grain)
  return `${insert(grain.table, columns, columns.map(typeOf), from)} ${adding(grain)}`
}

const callTypes = storedColumns.map((name) => columnTypes[kindOf(name)]!)
const logStatement = insert('requests', storedColumns, callTypes, 1)

/** Those of tags are written apart: few batches have some. */
const bookedGrains = ['hour', 'day', 'channel', 'month', 'overall'] as const
let sumsFrom = 1 + storedColumns.length
const bookTotals = bookedGrains.map((name) => {
  const text = `added_${name} AS (${addTo(grains[name], sumsFrom)}),`
  sumsFrom += columnsOf(grains[name]).length
  return text
})
const gatewayParameter = `$${sumsFrom + 4}::text`
const deadlineParameter = `$${sumsFrom + 5}::float8`

/** A commit that comes later than this after the deadline is not made. */
const maxCommitDelayMs = 300

const bookStatement = `
WITH logged AS (${logStatement}),
${bookTotals.join('\n')}
sums AS (
  SELECT * FROM ${unnested(['text', 'bigint', 'bigint', 'text'], sumsFrom)}
    AS sums (account_id, balance, number, hash)
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
  last_number = sums.number,
  last_hash = sums.hash,
  last_balance_nanos = last_balance_nanos + sums.balance,
  leased_nanos = leased_nanos + CASE
    WHEN ${gatewayParameter} IS NULL OR sums.balance >= 0 THEN 0
    -- A charge on credit that this gateway no longer has must fail, batch and all.
    -- By a look-up: joined, every account of the batch would be compared with every other.
    ELSE sums.balance / CASE WHEN sums.account_id IN (SELECT account_id FROM spent) THEN 1 ELSE 0 END
  END
FROM sums
WHERE accounts.id = sums.account_id
-- The server ends the transaction if its commit comes too late; one round trip less than a statement of its own.
RETURNING set_config('idle_in_transaction_session_timeout', CAST(greatest(
  ${deadlineParameter} + ${maxCommitDelayMs} - extract(epoch FROM clock_timestamp()) * 1000, 1
) AS bigint)::text, true)`

/** The batch was executed after its deadline. */
export const isTooLate = (error: unknown): boolean =>
  codeOf(error) === '22P02' && String((error as Error).message).includes('too late for ')

/** The credit lease behind a charge was returned to the account while this gateway was away. */
export const isLostCreditLease = (error: unknown): boolean => /^(22012|23514)$/.test(codeOf(error))

const isKnownRow = (error: unknown): boolean => codeOf(error) === '23505'

/**
 * PostgreSQL text cannot contain NUL; a caller can put one into a model name, and it must not fail
 * the batch for all other callers.
 */
const storable = (text: string): string =>
  text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text

interface Sending {
  /** Gateway whose credit leases pay the charges; absent, the balance pays them. */
  gatewayId: string | undefined
  /** By the database's clock. */
  deadlineMs: number
  /** Time limit for each reply. */
  timeoutMs: number
  names: KnownNames
}

const width = callColumns.length

/** One attempt. */
export async function sendBatch(pool: pg.Pool, rows: Rows, sending: Sending): Promise<void> {
  let calls = cellsOf(storable(rows.requests))
  const losses = cellsOf(storable(rows.losses))
  const client = await pool.connect()
  let isUsable = true
  try {
    for (;;) {
      try {
        return await new BatchTransaction(client, sending).write(calls, losses)
      } catch (error) {
        isUsable = /^[0-9A-Z]{5}$/.test(codeOf(error))
        if (isUsable) await client.query('ROLLBACK')
        if (!isKnownRow(error)) throw error
        const known = await withoutKnown(client, calls)
        if (known.length === calls.length) throw error
        calls = known
      }
    }
  } catch (error) {
    isUsable = isUsable && /^[0-9A-Z]{5}$/.test(codeOf(error))
    throw error
  } finally {
    client.release(!isUsable)
  }
}

/** Rows that exist stay as they are. */
async function withoutKnown(client: pg.PoolClient, cells: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (let at = 0; at < cells.length; at += width) ids.push(cells[at + cell.request_id]!)
  const { rows } = await client.query<{ request_id: string }>(
    'SELECT request_id FROM requests WHERE request_id = ANY($1::text[])',
    [ids],
  )
  const known = new Set(rows.map(({ request_id }) => request_id))
  return ids.flatMap((id, i) => {
    if (known.has(id)) return []
    known.add(id)
    return cells.slice(i * width, (i + 1) * width)
  })
}

interface Account extends ChainEnd {
  readonly closedUntilMs: number
  sumNanos: bigint
}

class BatchTransaction {
  readonly #client: pg.PoolClient
  readonly #sending: Sending
  readonly #accounts = new Map<string, Account>()
  #ids: string[] = []
  #currency = ''

  constructor(client: pg.PoolClient, sending: Sending) {
    this.#client = client
    this.#sending = sending
  }

  async write(calls: readonly string[], losses: readonly string[]): Promise<void> {
    await this.#lock(calls)
    const { columns, bookings } = this.#receipts(calls)
    if (losses.length > 0) {
      const values = columnsIn(losses, lossColumns, (name) => nullableInLosses.has(name))
      await this.#insert('losses', lossColumns, values, 'ON CONFLICT DO NOTHING')
    }
    if (bookings.length === 0) {
      await this.#query('hot-log', logStatement, columns)
      await this.#query('hot-commit', 'COMMIT', [])
      return
    }
    const { names, rows } = await this.#rollUp(bookings)
    const accounts = [...this.#accounts]
    await this.#query('hot-batch', bookStatement, [
      ...columns,
      ...bookedGrains.flatMap((name) => byColumn(rows[name], columnsOf(grains[name]).length)),
      accounts.map(([id]) => id),
      accounts.map(([, { sumNanos }]) => sumNanos),
      accounts.map(([, { number }]) => number),
      accounts.map(([, { hash }]) => hash),
      this.#sending.gatewayId ?? null,
      this.#sending.deadlineMs,
    ])
    await this.#query('hot-commit', 'COMMIT', [])
    this.#sending.names.stored(names)
  }

  /** The accounts' rows, in order of id, and then as many ids as there are calls. */
  async #lock(calls: readonly string[]): Promise<void> {
    const payers = new Set<string>()
    for (let at = 0; at < calls.length; at += width) {
      const isBooked = calls[at + cell.booked_at_ms] !== '' || freeCostIn(calls, at) !== undefined
      if (isBooked) payers.add(calls[at + cell.account_id]!)
    }
    const listed = [...payers].sort().map((id) => pg.escapeLiteral(id))
    const text = `BEGIN;
      SELECT id, closed_until_ms, last_number, last_hash, last_balance_nanos FROM accounts
      WHERE id IN (${listed.length === 0 ? 'NULL' : listed.join(', ')}) ORDER BY id FOR UPDATE;
      SELECT string_agg(CAST(nextval('ledger_ids') AS text), ' ') AS ids,
        (SELECT value FROM meta WHERE key = '${currencyKey}') AS currency
      FROM generate_series(1, ${calls.length / width})`
    const query = { text, query_timeout: this.#sending.timeoutMs }
    const [, accounts, drawn] = (await this.#client.query(query)) as unknown as Results
    for (const row of accounts.rows) {
      this.#accounts.set(row.id, {
        closedUntilMs: Number(row.closed_until_ms),
        number: Number(row.last_number),
        balanceNanos: row.last_balance_nanos,
        hash: row.last_hash,
        sumNanos: 0n,
      })
    }
    const [{ ids, currency }] = drawn.rows
    this.#ids = ids?.split(' ') ?? []
    this.#currency = currency ?? ''
  }

  /** The calls by column, with the receipts of those that are charged. */
  #receipts(calls: readonly string[]) {
    const columns = columnsIn(calls, callColumns, isNullable)
    const [numbers, balances, hashes] = [[], [], []] as (string | number | bigint | null)[][]
    const bookings: Booking[] = []
    for (let at = 0, row = 0; at < calls.length; at += width, row++) {
      if (calls[at + cell.booked_at_ms] === '') {
        for (const column of [numbers!, balances!, hashes!]) column.push(null)
        const free = freeCostIn(calls, at)
        if (free !== undefined && this.#accounts.has(free.accountId)) bookings.push(free)
        continue
      }
      const accountId = calls[at + cell.account_id]!
      const account = this.#accounts.get(accountId)
      if (account === undefined) throw new Error(`a call is charged to no account: ${accountId}`)
      const booking = chargeIn(calls, at, Number(this.#ids[row]), account.closedUntilMs)
      Object.assign(account, nextReceipt(account, booking, this.#currency))
      account.sumNanos = plus(account.sumNanos, booking)
      columns[cell.booked_at_ms]![row] = String(booking.atMs)
      numbers!.push(account.number)
      balances!.push(account.balanceNanos)
      hashes!.push(account.hash)
      bookings.push(booking)
    }
    return { columns: [...columns, this.#ids, numbers, balances, hashes], bookings }
  }

  /** Writes what few batches have: new names and tags. */
  async #rollUp(bookings: readonly Booking[]): Promise<RollUp> {
    const { names, gatewayId } = this.#sending
    const rolling = rollUp(bookings, slotOf(gatewayId ?? ''))
    let step = rolling.next()
    while (!step.done) {
      const known = names.answer(step.value)
      step = rolling.next(known ?? (await names.read(this.#client, step.value)))
    }
    const added = step.value.names
    if (added.length > 0) {
      const ending = 'ON CONFLICT DO NOTHING'
      await this.#insert('total_names', nameColumns, byColumn(added, nameColumns.length), ending)
    }
    const tags = step.value.rows.tag
    if (tags.length > 0) {
      const columns = columnsOf(grains.tag)
      const values = byColumn(tags, columns.length)
      await this.#insert(grains.tag.table, columns, values, adding(grains.tag))
    }
    return step.value
  }

  #insert(table: string, columns: readonly string[], values: unknown[][], ending: string) {
    const text = `${insert(table, columns, columns.map(typeOf), 1)} ${ending}`
    return this.#query(`hot-${table}`, text, values)
  }

  #query(name: string, text: string, values: unknown[]) {
    return this.#client.query({ name, text, values, query_timeout: this.#sending.timeoutMs } as {
      text: string
    })
  }
}

type Results = [
  unknown,
  {
    rows: {
      id: string
      last_balance_nanos: bigint
      closed_until_ms: bigint
      last_number: bigint
      last_hash: string
    }[]
  },
  { rows: [{ ids: string | null; currency: string | null }] },
]

/** Turns concatenated rows into one array per column. */
function columnsIn(
  cells: readonly string[],
  names: readonly string[],
  mayBeNull: (name: string) => boolean,
): (string | null)[][] {
  const columns: (string | null)[][] = names.map(() => [])
  const empty = names.map((name) => (mayBeNull(name) ? null : ''))
  for (let i = 0; i < cells.length; i++) {
    const column = i % names.length
    columns[column]!.push(cells[i] === '' ? empty[column]! : cells[i]!)
  }
  return columns
}

const byColumn = (rows: readonly (readonly unknown[])[], columns: number): unknown[][] =>
  Array.from({ length: columns }, (_, i) => rows.map((row) => row[i]))

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
