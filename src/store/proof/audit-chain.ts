// Reads for the ledger proof, page by page and of one moment: receipts with their entries, charges
// with their requests or tasks, seals, and the triggers that keep entries unchanged.
import { type Kysely, sql } from 'kysely'
import { readRequestDetail } from '../../contract/former-names.ts'
import type { EntryKind } from '../../contract/ledger.ts'
import { bothOf, inCall, inEntry, type LedgerColumn, ledgerColumns } from '../rows/ledger-rows.ts'
import type { Dialect, Schema } from '../schema.ts'
import { readAhead, readTextRows, type TextColumns } from '../sql/text-rows.ts'
import { type AuditScope, entriesIn, type Mismatch } from './audit.ts'

type Db = Kysely<Schema>

/** The ledger at one moment. */
export interface Books {
  db: Db
  dialect: Dialect
}

const rowsAtOnce = 1000

/** A receipt and its entry, which may be missing: `kind` is empty then. Unset fields are empty. */
export interface ReceiptRow
  extends Record<Exclude<LedgerColumn, 'id' | NumberColumn | 'amount_nanos' | 'kind'>, string> {
  number: number
  balance_nanos: bigint
  hash: string
  id: number
  entry_account_id: string
  kind: EntryKind | ''
  at_ms: number
  amount_nanos: bigint
  quantity: number | undefined
  estimated: number
}

type NumberColumn = 'at_ms' | 'quantity' | 'estimated'
const numberColumns: readonly string[] = ['id', 'at_ms', 'quantity', 'estimated']

/** A range of an account's chain, both ends included. */
export interface Stretch {
  accountId: string
  first: number
  last: number
}

const shapeOf = (name: string) =>
  name.endsWith('_nanos') ? 'nanos' : numberColumns.includes(name) ? 'number' : 'text'

const receiptColumns: TextColumns = {
  ...Object.fromEntries(ledgerColumns.map((name) => [name, [shapeOf(name), name]] as const)),
  number: ['number', 'number'],
  balance_nanos: ['nanos', 'balance_nanos'],
  hash: ['text', 'hash'],
  entry_account_id: ['text', 'entry_account_id'],
}

const chainColumns = (account: string, receipt: string, id: string, of: typeof inEntry) =>
  sql.raw(
    [
      `${receipt}.number, ${receipt}.balance_nanos, ${receipt}.hash, ${id} AS id`,
      `${receipt}.account_id AS account_id, ${account} AS entry_account_id`,
      ...ledgerColumns
        .filter((name) => name !== 'id' && name !== 'account_id')
        .map((name) => `${of(name)} AS ${name}`),
    ].join(', '),
  )
const ofReceipts = chainColumns('e.account_id', 'c', 'c.entry_id', inEntry)
const ofCalls = chainColumns('r.account_id', 'r', 'r.seq', inCall)

/** In order of account and number; a range of one account, or all. */
export function receiptPages({ db, dialect }: Books, of?: Stretch): AsyncGenerator<ReceiptRow[]> {
  return readAhead<ReceiptRow>(rowsAtOnce, (last) => {
    const where = (alias: string) => {
      const [account, number] = [sql.ref(`${alias}.account_id`), sql.ref(`${alias}.number`)]
      return of === undefined
        ? sql`(${account}, ${number}) > (${last?.account_id ?? ''}, ${last?.number ?? 0})`
        : sql`${account} = ${of.accountId} AND ${number} > ${last?.number ?? of.first - 1}
            AND ${number} <= ${of.last}`
    }
    const tail = (
      alias: string,
    ) => sql`WHERE ${sql.ref(`${alias}.number`)} IS NOT NULL AND ${where(alias)}
      ORDER BY ${sql.ref(`${alias}.account_id`)}, ${sql.ref(`${alias}.number`)} LIMIT ${rowsAtOnce}`
    const both = bothOf(
      sql`SELECT ${ofReceipts} FROM receipts c LEFT JOIN entries e ON e.id = c.entry_id ${tail('c')}`,
      sql`SELECT ${ofCalls} FROM requests r ${tail('r')}`,
    )
    return readTextRows<ReceiptRow>(
      db,
      dialect,
      receiptColumns,
      sql`FROM (${both}) AS chain ORDER BY account_id, number LIMIT ${rowsAtOnce}`,
    )
  })
}

/** A charge with its request row or task. Unset fields are empty. */
export interface ChargeRow {
  id: number
  account_id: string
  amount_nanos: bigint
  ref: string
  unit: string
  quantity: number | undefined
  price_id: string
  tier: string
  /** Of the charged task, if there is one. */
  task_id: string
  /** When that was created. */
  task_at_ms: number | undefined
  /** Of the charged request row, if it exists. */
  request_id: string
  /** Whether account, token, model, price and tags agree; 0 or 1. */
  same: number | undefined
  row_charge_nanos: bigint
  status: number
  error_code: string
  input_tokens: number | undefined
  output_tokens: number | undefined
  cache_read_tokens: number | undefined
  cache_write_tokens: number | undefined
  /** Of the request row, where the tier says that the amount depends on it; else empty. */
  detail: string
  /** The body of a task that was charged by tokens; else empty. */
  task_body: string
}

const chargeShapes = {
  id: 'number',
  account_id: 'text',
  amount_nanos: 'nanos',
  ref: 'text',
  unit: 'text',
  quantity: 'number',
  price_id: 'text',
  tier: 'text',
  task_id: 'text',
  task_at_ms: 'number',
  request_id: 'text',
  same: 'number',
  row_charge_nanos: 'nanos',
  status: 'number',
  error_code: 'text',
  input_tokens: 'number',
  output_tokens: 'number',
  cache_read_tokens: 'number',
  cache_write_tokens: 'number',
  detail: 'text',
  task_body: 'text',
} as const

const chargeColumns: TextColumns = Object.fromEntries(
  Object.entries(chargeShapes).map(([name, shape]) => [name, [shape, name]]),
)

type Apart = Record<(typeof apartNames)[number], string>
const apartNames = ['task_id', 'task_at_ms', 'task_body', 'same'] as const

/** Where an entry and its row are one, they agree. */
const chargesOf = (of: typeof inEntry, apart: Apart) =>
  sql.raw(
    Object.keys(chargeShapes)
      .map((name) => `${columnOf(name, of, apart)} AS ${name}`)
      .join(', '),
  )

/** Without its detail, the row of a call is kept for the ledger only. */
const requestColumns: Readonly<Record<string, string>> = {
  request_id: `CASE WHEN r.detail <> '' THEN r.request_id END`,
  row_charge_nanos: 'r.charge_nanos',
}

function columnOf(name: string, of: typeof inEntry, apart: Apart) {
  const outside = apartNames.find((each) => each === name)
  if (outside !== undefined) return apart[outside]
  if (name === 'detail') {
    const says = ['=', 'cache_write_1h', 'input_', 'output_', 'other models']
    const any = says.map((word) => `${of('tier')} LIKE '%${word}%'`).join(' OR ')
    return `CASE WHEN ${any} THEN r.detail END`
  }
  const own = ledgerColumns.find((column) => column === name)
  return own === undefined ? (requestColumns[name] ?? `r.${name}`) : of(own)
}

const ofEntries = chargesOf(inEntry, {
  task_id: `CASE WHEN e.ref LIKE 'req%' THEN NULL ELSE (SELECT t.id FROM tasks t WHERE t.id = e.ref) END`,
  task_at_ms: `CASE WHEN e.ref LIKE 'req%' THEN NULL ELSE (SELECT t.created_at_ms FROM tasks t WHERE t.id = e.ref) END`,
  task_body: `CASE WHEN e.ref LIKE 'req%' OR e.unit <> 'token' THEN NULL ELSE (SELECT t.body FROM tasks t WHERE t.id = e.ref) END`,
  same: `CASE WHEN r.account_id = e.account_id AND r.model = e.model AND r.price_id = e.price_id
    AND r.token_id = coalesce(e.token_id, r.token_id)
    AND coalesce(r.tags, '') = coalesce(e.tags, '') THEN 1 ELSE 0 END`,
})
const ofChargedCalls = chargesOf(inCall, {
  task_id: 'CAST(NULL AS text)',
  task_at_ms: 'CAST(NULL AS bigint)',
  task_body: 'CAST(NULL AS text)',
  same: '1',
})

/** Charges in booking order, with the request row or task of each. */
export function chargePages(
  { db, dialect }: Books,
  scope: AuditScope,
): AsyncGenerator<ChargeRow[]> {
  const { accountId, since } = scope
  const untilId = since?.untilId ?? Number.MAX_SAFE_INTEGER
  return readAhead<ChargeRow>(rowsAtOnce, (last) => {
    const afterId = last?.id ?? since?.afterId ?? 0
    const tail = (account: string, id: string) => {
      // Written so that no index on the account applies: the rows are read in order of their id.
      const which =
        accountId === undefined ? sql`` : sql`AND ${sql.ref(account)} || '' = ${accountId}`
      return sql`AND ${sql.ref(id)} > ${afterId} AND ${sql.ref(id)} <= ${untilId} ${which}
        ORDER BY ${sql.ref(id)} LIMIT ${rowsAtOnce}`
    }
    const both = bothOf(
      sql`SELECT ${ofEntries} FROM entries e LEFT JOIN requests r ON r.request_id = e.ref
        WHERE e.kind = 'charge' ${tail('e.account_id', 'e.id')}`,
      sql`SELECT ${ofChargedCalls} FROM requests r
        WHERE r.number IS NOT NULL ${tail('r.account_id', 'r.seq')}`,
    )
    return readTextRows<ChargeRow>(
      db,
      dialect,
      chargeColumns,
      sql`FROM (${both}) AS charges ORDER BY id LIMIT ${rowsAtOnce}`,
    )
  })
}

/** What its account could not cover: from the log row of a request, from the loss of a task. */
export async function shortNanos(db: Db, ref: string): Promise<bigint> {
  if (!ref.startsWith('req_')) return shortOfTask(db, ref)
  const row = await db
    .selectFrom('requests')
    .select('detail')
    .where('request_id', '=', ref)
    .executeTakeFirst()
  const { loss = [] } = readRequestDetail(row?.detail || '{}')
  return loss
    .filter(({ reason, nanos }) => reason === 'balance_short' && /^\d{1,19}$/.test(nanos))
    .reduce((sum, { nanos }) => sum + BigInt(nanos), 0n)
}

async function shortOfTask(db: Db, taskId: string): Promise<bigint> {
  const rows = await db
    .selectFrom('losses')
    .select('amount_nanos')
    .where('ref', '=', taskId)
    .where('reason', '=', 'balance_short')
    .execute()
  return rows.reduce((sum, { amount_nanos }) => sum + amount_nanos, 0n)
}

/** Entries that moved a balance and have no receipt. */
export async function unreceipted(db: Db, scope: AuditScope, limit: number): Promise<Mismatch[]> {
  const { rows } = await sql<{ id: number; account_id: string; ref: string }>`
    SELECT e.id, e.account_id, e.ref FROM entries e LEFT JOIN receipts c ON c.entry_id = e.id
    WHERE ${entriesIn('e', scope)} AND e.kind NOT IN ('hold', 'release')
      AND c.entry_id IS NULL ORDER BY e.id LIMIT ${limit}`.execute(db)
  return rows.map(({ id, account_id, ref }) => ({
    accountId: account_id,
    entryId: id,
    ref,
    problem: 'the entry has no receipt',
  }))
}

export interface SealRow {
  account_id: string
  number: number
  hash: string
  key: string
  signature: string
  at_ms: number
  /** Hash of the sealed receipt; null when that is missing. */
  receipt_hash: string | null
  /** Latest time of the entries between the previous seal and this one. */
  newest_ms: number | null
}

const afterFormer = sql`coalesce((SELECT max(p.number) FROM seals p
  WHERE p.account_id = s.account_id AND p.number < s.number), 0)`
const newestBetween = bothOf(
  sql`SELECT max(e.at_ms) AS ms FROM receipts n JOIN entries e ON e.id = n.entry_id
    WHERE n.account_id = s.account_id AND n.number <= s.number AND n.number > ${afterFormer}`,
  sql`SELECT max(n.booked_at_ms) AS ms FROM requests n
    WHERE n.account_id = s.account_id AND n.number <= s.number AND n.number > ${afterFormer}`,
)

/** In order of account and number; seals over a range of one account, or all. */
export async function* sealPages(db: Db, of?: Stretch): AsyncGenerator<SealRow[]> {
  let [accountId, number] = of === undefined ? ['', 0] : [of.accountId, of.first - 1]
  for (;;) {
    const where =
      of === undefined
        ? sql`(s.account_id, s.number) > (${accountId}, ${number})`
        : sql`s.account_id = ${accountId} AND s.number > ${number} AND s.number <= ${of.last}`
    const { rows } = await sql<SealRow>`
      SELECT s.account_id, s.number, s.hash, s.key, s.signature, s.at_ms,
        coalesce(c.hash, r.hash) AS receipt_hash,
        (SELECT max(ms) FROM (${newestBetween}) AS newest) AS newest_ms
      FROM seals s LEFT JOIN receipts c ON c.account_id = s.account_id AND c.number = s.number
      LEFT JOIN requests r ON r.account_id = s.account_id AND r.number = s.number
      WHERE ${where} ORDER BY s.account_id, s.number LIMIT ${rowsAtOnce}`.execute(db)
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < rowsAtOnce) return
    accountId = last.account_id
    number = last.number
  }
}

/** A tampered row may contain a time outside the calendar. */
export const timeText = (ms: number): string => {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString()
}

const guards = {
  sqlite: ['entries_keep', 'entries_stay', 'requests_keep', 'requests_stay'],
  postgres: ['entries_keep', 'requests_keep', 'requests_stay'],
} as const

/** Triggers that protect entries and charged calls from changes but are missing or disabled. */
export async function missingGuards({ db, dialect }: Books): Promise<string[]> {
  const { rows } = await (dialect === 'sqlite'
    ? sql<{ name: string }>`
        SELECT name FROM sqlite_master
        WHERE type = 'trigger' AND tbl_name IN ('entries', 'requests')`
    : sql<{ name: string }>`
        SELECT tgname AS name FROM pg_trigger
        WHERE tgrelid IN ('entries'::regclass, 'requests'::regclass)
        GROUP BY tgname HAVING bool_and(tgenabled <> 'D')
        EXCEPT
        SELECT tgname FROM pg_trigger JOIN pg_inherits ON inhrelid = tgrelid
        WHERE inhparent = 'requests'::regclass AND tgenabled = 'D'`
  ).execute(db)
  const there = new Set(rows.map(({ name }) => name))
  return guards[dialect].filter((name) => !there.has(name))
}
