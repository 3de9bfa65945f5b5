// Reads for the ledger proof, page by page and of one moment: receipts with their entries, charges
// with their requests or tasks, seals, and the triggers that keep entries unchanged.
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { readRequestDetail } from '../../contract/former-names.ts'
import type { EntryKind } from '../../contract/ledger.ts'
import { otherNames } from '../../contract/totals.ts'
import type { Dialect, Schema } from '../schema.ts'
import { readAhead, readTextRows, type TextColumns } from '../sql/text-rows.ts'
import { type AuditScope, entriesIn, type Mismatch } from './audit.ts'
import { floorOf, hourMs } from './hourly-totals.ts'

type Db = Kysely<Schema>

/** The ledger at one moment. */
export interface Books {
  db: Db
  dialect: Dialect
}

const rowsAtOnce = 1000

/** A receipt and its entry, which may be missing: `kind` is empty then. Unset fields are empty. */
export interface ReceiptRow {
  account_id: string
  number: number
  balance_nanos: bigint
  hash: string
  entry_id: number
  entry_account_id: string
  kind: EntryKind | ''
  at_ms: number
  amount_nanos: bigint
  ref: string
  model: string
  unit: string
  quantity: number | undefined
  price_id: string
  estimated: number
  note: string
  token_id: string
  tier: string
  tags: string
  served_model: string
}

/** A range of an account's chain, both ends included. */
export interface Stretch {
  accountId: string
  first: number
  last: number
}

const receiptColumns: TextColumns = {
  account_id: ['text', 'c.account_id'],
  number: ['number', 'c.number'],
  balance_nanos: ['nanos', 'c.balance_nanos'],
  hash: ['text', 'c.hash'],
  entry_id: ['number', 'c.entry_id'],
  entry_account_id: ['text', 'e.account_id'],
  kind: ['text', 'e.kind'],
  at_ms: ['number', 'e.at_ms'],
  amount_nanos: ['nanos', 'e.amount_nanos'],
  ref: ['text', 'e.ref'],
  model: ['text', 'e.model'],
  unit: ['text', 'e.unit'],
  quantity: ['number', 'e.quantity'],
  price_id: ['text', 'e.price_id'],
  estimated: ['number', 'e.estimated'],
  note: ['text', 'e.note'],
  token_id: ['text', 'e.token_id'],
  tier: ['text', 'e.tier'],
  tags: ['text', 'e.tags'],
  served_model: ['text', 'e.served_model'],
}

/** In order of account and number; a range of one account, or all. */
export function receiptPages({ db, dialect }: Books, of?: Stretch): AsyncGenerator<ReceiptRow[]> {
  return readAhead<ReceiptRow>(rowsAtOnce, (last) => {
    const where =
      of === undefined
        ? sql`(c.account_id, c.number) > (${last?.account_id ?? ''}, ${last?.number ?? 0})`
        : sql`c.account_id = ${of.accountId} AND c.number > ${last?.number ?? of.first - 1}
            AND c.number <= ${of.last}`
    return readTextRows<ReceiptRow>(
      db,
      dialect,
      receiptColumns,
      sql`FROM receipts c LEFT JOIN entries e ON e.id = c.entry_id
        WHERE ${where} ORDER BY c.account_id, c.number LIMIT ${rowsAtOnce}`,
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
}

const chargeColumns: TextColumns = {
  id: ['number', 'e.id'],
  account_id: ['text', 'e.account_id'],
  amount_nanos: ['nanos', 'e.amount_nanos'],
  ref: ['text', 'e.ref'],
  unit: ['text', 'e.unit'],
  quantity: ['number', 'e.quantity'],
  price_id: ['text', 'e.price_id'],
  tier: ['text', 'e.tier'],
  task_id: [
    'text',
    `CASE WHEN e.ref LIKE 'req%' THEN NULL ELSE (SELECT t.id FROM tasks t WHERE t.id = e.ref) END`,
  ],
  request_id: ['text', 'r.request_id'],
  same: [
    'number',
    `CASE WHEN r.account_id = e.account_id AND r.model = e.model AND r.price_id = e.price_id
      AND r.token_id = coalesce(e.token_id, r.token_id)
      AND coalesce(r.tags, '') = coalesce(e.tags, '') THEN 1 ELSE 0 END`,
  ],
  row_charge_nanos: ['nanos', 'r.charge_nanos'],
  status: ['number', 'r.status'],
  error_code: ['text', 'r.error_code'],
  input_tokens: ['number', 'r.input_tokens'],
  output_tokens: ['number', 'r.output_tokens'],
  cache_read_tokens: ['number', 'r.cache_read_tokens'],
  cache_write_tokens: ['number', 'r.cache_write_tokens'],
  detail: ['text', `CASE WHEN e.tier LIKE '%cache_write_1h%' THEN r.detail END`],
}

/** Charges in booking order, with the request row or task of each. */
export function chargePages(
  { db, dialect }: Books,
  scope: AuditScope,
): AsyncGenerator<ChargeRow[]> {
  return readAhead<ChargeRow>(rowsAtOnce, (last) =>
    readTextRows<ChargeRow>(
      db,
      dialect,
      chargeColumns,
      sql`FROM entries e
        LEFT JOIN requests r ON r.request_id = e.ref
        WHERE ${entriesIn('e', scope)} AND e.kind = 'charge'
          AND e.id > ${last?.id ?? scope.since?.afterEntryId ?? 0}
        ORDER BY e.id LIMIT ${rowsAtOnce}`,
    ),
  )
}

/** What its account could not cover: from the log row of a request, from the loss of a task. */
export async function shortNanos(db: Db, ref: string): Promise<bigint> {
  if (!ref.startsWith('req_')) return shortOfTask(db, ref)
  const row = await db
    .selectFrom('requests')
    .select('detail')
    .where('request_id', '=', ref)
    .executeTakeFirst()
  const { loss = [] } = readRequestDetail(row?.detail ?? '{}')
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

/** Entries that should have a receipt by now but have none. */
export async function unreceipted(db: Db, scope: AuditScope, limit: number): Promise<Mismatch[]> {
  const floor = await floorOf(db)
  const { rows } = await sql<{ id: number; account_id: string; ref: string }>`
    SELECT e.id, e.account_id, e.ref FROM entries e LEFT JOIN receipts c ON c.entry_id = e.id
    WHERE ${entriesIn('e', scope)} AND e.id <= ${floor} AND e.kind NOT IN ('hold', 'release')
      AND c.entry_id IS NULL ORDER BY e.id LIMIT ${limit}`.execute(db)
  return rows.map(({ id, account_id, ref }) => ({
    accountId: account_id,
    entryId: id,
    ref,
    problem: 'the entry has no receipt, and those after it have',
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

/** In order of account and number; seals over a range of one account, or all. */
export async function* sealPages(db: Db, of?: Stretch): AsyncGenerator<SealRow[]> {
  let [accountId, number] = of === undefined ? ['', 0] : [of.accountId, of.first - 1]
  for (;;) {
    const where =
      of === undefined
        ? sql`(s.account_id, s.number) > (${accountId}, ${number})`
        : sql`s.account_id = ${accountId} AND s.number > ${number} AND s.number <= ${of.last}`
    const { rows } = await sql<SealRow>`
      SELECT s.account_id, s.number, s.hash, s.key, s.signature, s.at_ms, c.hash AS receipt_hash,
        (SELECT max(e.at_ms) FROM receipts n JOIN entries e ON e.id = n.entry_id
          WHERE n.account_id = s.account_id AND n.number <= s.number AND n.number > coalesce((
            SELECT max(p.number) FROM seals p
            WHERE p.account_id = s.account_id AND p.number < s.number), 0)) AS newest_ms
      FROM seals s LEFT JOIN receipts c ON c.account_id = s.account_id AND c.number = s.number
      WHERE ${where} ORDER BY s.account_id, s.number LIMIT ${rowsAtOnce}`.execute(db)
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < rowsAtOnce) return
    accountId = last.account_id
    number = last.number
  }
}

const entryHour = sql`e.at_ms - e.at_ms % ${sql.lit(hourMs)}`

/** Hours whose totals differ from the entries with a receipt. */
export async function wrongHours(
  { db, dialect }: Books,
  { accountId }: AuditScope,
  limit: number,
): Promise<Mismatch[]> {
  // Otherwise all receipts are sorted on disk, which takes most of the time of an audit.
  if (dialect === 'postgres') await sql`SET LOCAL work_mem = '64MB'`.execute(db)
  // Old charges do not store their token.
  const { rows: silent } = await sql`
    SELECT 1 AS found FROM entries WHERE kind = 'charge' AND token_id IS NULL LIMIT 1`.execute(db)
  const where = accountId === undefined ? sql`` : sql`WHERE account_id = ${accountId}`
  const ofReceipts = accountId === undefined ? sql`` : sql`WHERE c.account_id = ${accountId}`
  const token = silent.length === 0 ? sql`token_id,` : sql``
  const named = sql`account_id, hour_ms, kind, ${token} model, unit, tier, price_id`
  const modelOf = await comparedModel(db)
  // The minimum integer has no negation, and a tampered row may contain it anywhere. Sums of
  // fractional quantities depend on their order: a millionth is close enough.
  const { rows } = await sql<{ account_id: string; hour_ms: number }>`
    SELECT account_id, hour_ms FROM (
      SELECT account_id, hour_ms, kind, ${token}
        ${modelOf(sql`model`, 'account_id', sql`hour_ms`)} AS model, unit, tier, price_id,
        entries, estimated, quantity, amount_nanos / 1000000000 AS whole_nanos,
        amount_nanos % 1000000000 AS rest_nanos FROM hourly_totals ${where}
      UNION ALL
      SELECT c.account_id, ${entryHour}, e.kind,
        ${silent.length === 0 ? sql`coalesce(e.token_id, ''),` : sql``}
        ${modelOf(sql`coalesce(e.model, '')`, 'c.account_id', entryHour)},
        coalesce(e.unit, ''), coalesce(e.tier, ''), coalesce(e.price_id, ''), -1,
        -CAST(e.estimated AS numeric),
        -coalesce(e.quantity, 0), -(e.amount_nanos / 1000000000), -(e.amount_nanos % 1000000000)
      FROM receipts c JOIN entries e ON e.id = c.entry_id ${ofReceipts}
    ) both_sides GROUP BY ${named}
    HAVING sum(entries) <> 0 OR sum(estimated) <> 0 OR abs(sum(quantity)) > 0.000001 * count(*)
      OR sum(whole_nanos) * 1000000000 + sum(rest_nanos) <> 0
    ORDER BY account_id, hour_ms LIMIT ${limit}`.execute(db)
  return rows.map(({ account_id, hour_ms }) => ({
    accountId: account_id,
    problem: `the sums of the hour from ${timeText(hour_ms)} are not those of its entries`,
  }))
}

/** Hours in which some models count as one are compared over all their models. */
async function comparedModel(db: Db) {
  const { rows: crowded } = await sql`
    SELECT 1 AS found FROM hourly_totals WHERE model = ${otherNames} LIMIT 1`.execute(db)
  return (model: RawBuilder<unknown>, account: string, hour: RawBuilder<unknown>) =>
    crowded.length === 0
      ? model
      : sql`CASE WHEN (${sql.ref(account)}, ${hour}) IN (
          SELECT account_id, hour_ms FROM hourly_totals WHERE model = ${otherNames}
        ) THEN ${otherNames} ELSE ${model} END`
}

/** A tampered row may contain a time outside the calendar. */
export const timeText = (ms: number): string => {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString()
}

const guards = { sqlite: ['entries_keep', 'entries_stay'], postgres: ['entries_keep'] } as const

/** Triggers that protect entries from changes but are missing or disabled. */
export async function missingGuards({ db, dialect }: Books): Promise<string[]> {
  const { rows } = await (dialect === 'sqlite'
    ? sql<{ name: string }>`
        SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'entries'`
    : sql<{ name: string }>`
        SELECT tgname AS name FROM pg_trigger
        WHERE tgrelid = 'entries'::regclass AND tgenabled <> 'D'`
  ).execute(db)
  const there = new Set(rows.map(({ name }) => name))
  return guards[dialect].filter((name) => !there.has(name))
}
