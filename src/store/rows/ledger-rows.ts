// The ledger is kept in two tables: `entries`, with its receipts in `receipts`, and the charged calls of
// `requests`, which are entry and receipt in one row. Ids come from one sequence, numbers from the account.
// The view `ledger` shows both for reads by id or ref; reads in an order name the arms themselves, so that
// each walks its own index and stops at the limit.
import { type RawBuilder, sql } from 'kysely'
import {
  type ChargeTextColumn,
  chargeTextColumns,
  type Entry,
  type EntryKind,
} from '../../contract/ledger.ts'
import type { TokenUsage } from '../../contract/usage.ts'

/** Of an entry `e`, and of a charged call `r`. */
const columns = {
  id: ['e.id', 'r.seq'],
  at_ms: ['e.at_ms', 'r.booked_at_ms'],
  account_id: ['e.account_id', 'r.account_id'],
  // Stored as an adjustment that names a charge: see the migration.
  kind: [`(CASE WHEN e.refund_of IS NULL THEN e.kind ELSE 'refund' END)`, `'charge'`],
  amount_nanos: ['e.amount_nanos', '-r.charge_nanos'],
  ref: ['e.ref', 'r.request_id'],
  model: ['e.model', 'r.model'],
  unit: ['e.unit', 'r.unit'],
  quantity: ['e.quantity', 'r.quantity'],
  price_id: ['e.price_id', 'r.price_id'],
  estimated: ['e.estimated', 'r.estimated'],
  note: ['e.note', 'CAST(NULL AS text)'],
  token_id: ['e.token_id', 'r.token_id'],
  tier: ['e.tier', 'r.tier'],
  tags: ['e.tags', 'r.tags'],
  ...chargeTextColumns(({ column }) => [`e.${column}`, `r.${column}`] as const),
} as const

export type LedgerColumn = keyof typeof columns

/** An entry, wherever it is kept. */
export interface LedgerRow extends Record<ChargeTextColumn, string | null> {
  id: number
  at_ms: number
  account_id: string
  kind: EntryKind
  amount_nanos: bigint
  ref: string
  model: string | null
  unit: string | null
  quantity: number | null
  price_id: string | null
  estimated: number
  note: string | null
  token_id: string | null
  tier: string | null
  tags: string | null
}

export interface StoredEntry extends Entry {
  id: number
}

/** An entry that moved a balance, with the usage of the call that it charged. */
export interface Booking extends StoredEntry {
  /** No entry: work that was not charged, whose cost is counted. */
  isFree?: true
  usage?: Omit<TokenUsage, 'toolCalls'> | undefined
}

/** In the chain of its account. */
export interface ReceiptColumns {
  number: number
  balance_nanos: bigint
  hash: string
}

/** A row of an arm: with the receipt, or null where the arm leaves it out. */
export type ArmRow = LedgerRow & { task_request_id: string | null } & ReceiptColumns

export const ledgerColumns = Object.keys(columns) as LedgerColumn[]
const selected = (arm: 0 | 1): string =>
  ledgerColumns.map((name) => `${columns[name][arm]} AS ${name}`).join(', ')

/** Entries of a task refer to its id; people search by the request that created it. */
const requestOfTask =
  '(SELECT t.request_id FROM tasks t WHERE t.id = coalesce(e.refund_of, e.ref)) AS task_request_id'

/** Entries without their receipts; conditions on `e` may follow. */
export const selectEntries = sql.raw(
  `SELECT ${selected(0)}, ${requestOfTask}, CAST(NULL AS bigint) AS number,
     CAST(NULL AS bigint) AS balance_nanos, CAST(NULL AS text) AS hash
   FROM entries e WHERE 1 = 1`,
)

/** Entries that have receipts `c`; conditions on both may follow. */
export const selectReceipts = sql.raw(
  `SELECT ${selected(0)}, ${requestOfTask}, c.number, c.balance_nanos, c.hash
   FROM receipts c JOIN entries e ON e.id = c.entry_id WHERE 1 = 1`,
)

/** Charged calls; conditions on `r` may follow. */
export const selectCalls = sql.raw(
  `SELECT ${selected(1)}, CAST(NULL AS text) AS task_request_id, r.number, r.balance_nanos, r.hash
   FROM requests r WHERE r.number IS NOT NULL`,
)

/** Rows of both arms, each of which may have an order and a limit of its own. */
export const bothOf = (
  entries: RawBuilder<unknown>,
  calls: RawBuilder<unknown>,
): RawBuilder<unknown> =>
  sql`SELECT * FROM (${entries}) AS of_entries UNION ALL SELECT * FROM (${calls}) AS of_calls`

/** The expression of a column in either arm. */
export const inEntry = (name: LedgerColumn): string => columns[name][0]
export const inCall = (name: LedgerColumn): string => columns[name][1]

/** The newest id of an entry or a call. */
export const newestId = sql<number>`(SELECT max(id) FROM (
  SELECT coalesce(max(id), 0) AS id FROM entries
  UNION ALL SELECT coalesce(max(seq), 0) FROM requests) AS newest)`
