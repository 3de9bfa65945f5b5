// Backup: every row of the database at one moment, as lines of text, and restore into an empty
// database of either dialect. State of running processes (leases, leased credit) is left out.
//
//   {"format":"model-gateway backup","version":1,"schema":5,"made_at":"…"}
//   {"table":"accounts","columns":["id",…]}
//   ["acc_…",…]                                    one line a row, amounts as text
//   {"end":true,"rows":1234,"sha256":"…"}          of all lines before it
import { type Kysely, sql } from 'kysely'
import { formerTables } from '../../contract/former-names.ts'
import { StoreRefused } from '../dialects/errors.ts'
import { makeWeekOf } from '../log/partitions.ts'
import type { Schema } from '../schema.ts'
import { getMeta, setMeta } from '../sql/meta.ts'
import type { Store } from '../store.ts'
import { freeLeases } from '../tasks/leases.ts'

type Table = keyof Schema
type Row = Record<string, unknown>

/** The columns by which each table is paged: a key of its rows. */
export const tableKeys: Readonly<Partial<Record<Table, readonly string[]>>> = {
  meta: ['key'],
  accounts: ['id'],
  tokens: ['id'],
  budgets: ['id'],
  channels: ['id'],
  channel_keys: ['id'],
  models: ['name'],
  prices: ['id'],
  entries: ['id'],
  receipts: ['entry_id'],
  seals: ['account_id', 'number'],
  hourly_totals: [
    ...['account_id', 'hour_ms', 'kind', 'token_id', 'model'],
    ...['unit', 'tier', 'price_id', 'input_bucket'],
  ],
  daily_totals: [
    ...['account_id', 'day_ms', 'kind', 'token_id', 'model'],
    ...['unit', 'tier', 'price_id'],
  ],
  total_names: ['account_id', 'month', 'name', 'value'],
  tag_totals: ['account_id', 'hour_ms', 'name', 'value', 'token_id', 'model', 'unit'],
  channel_totals: ['day_ms', 'channel', 'model', 'unit', 'account_id'],
  monthly_totals: [
    ...['month_ms', 'account_id', 'channel', 'model', 'unit'],
    ...['token_id', 'tier', 'price_id'],
  ],
  overall_totals: ['day_ms', 'channel', 'model', 'unit', 'slot'],
  closed_months: ['account_id', 'month'],
  bill_mails: ['month', 'account_id'],
  channel_months: ['channel', 'month'],
  codes: ['id'],
  losses: ['id'],
  statements: ['id'],
  statement_lines: ['statement_id', 'number'],
  tasks: ['id'],
  abandoned_checks: ['task_id'],
  idempotency_keys: ['account_id', 'path', 'key'],
  files: ['task_id', 'part'],
  account_files: ['id'],
  file_parts: ['name', 'number'],
  batches: ['id'],
  batch_lines: ['batch_id', 'line'],
  batch_parts: ['id'],
  task_texts: ['task_id', 'part'],
  callbacks: ['id'],
  callback_attempts: ['callback_id', 'number'],
  callback_secrets: ['account_id'],
  webhooks: ['id'],
  notices: ['id'],
  notice_deliveries: ['id'],
  notice_attempts: ['delivery_id', 'number'],
  notice_states: ['type', 'subject', 'reporter'],
  alerts: ['id'],
  people: ['id'],
  audit_log: ['id'],
  requests: ['seq'],
  upstream_ids: ['segment', 'upstream_request_id', 'seq'],
  log_segments: ['segment'],
  log_values: ['segment', 'field', 'value'],
  log_figures: ['segment', 'field'],
  traffic: ['span_ms', 'slot_ms', 'model', 'channel', 'interface', 'status', 'error_code'],
  account_traffic: ['span_ms', 'slot_ms', 'account_id', 'status', 'error_code'],
  failed_attempts: ['hour_ms', 'channel'],
  token_uses: ['token_id'],
}

/** State of running processes, sessions and links, which may have been revoked since: not restored. */
export const leftBehind: readonly Table[] = [
  'gateways',
  'credit_leases',
  'budget_leases',
  'sessions',
  'invitations',
  'bill_links',
  'failed_sign_ins',
  'used_sign_ins',
]

const format = 'model-gateway backup'
const formatVersion = 1
const rowsAtOnce = 500
/** Written by the database itself, anew each time. */
const ownMeta: readonly unknown[] = [
  'schema_version',
  'probe',
  'opened_at_ms',
  'clock_at_ms',
  'restoring',
  'journal_id',
  'journal_marked',
  'journal_applied',
]

/** Chunks of whole lines; the last one closes the backup. */
export async function* backupLines(store: Store, nowMs: number): AsyncGenerator<string> {
  const { db, end } = await store.snapshot()
  try {
    const schema = Number(await getMeta(db, 'schema_version'))
    const made_at = new Date(nowMs).toISOString()
    const hash = new Bun.CryptoHasher('sha256')
    const said = (text: string): string => {
      hash.update(text)
      return text
    }
    yield said(line({ format, version: formatVersion, schema, made_at }))
    let rows = 0
    for (const table of Object.keys(tableKeys) as Table[]) {
      for await (const page of pagesOf(db, table)) {
        rows += page.rows.length
        const head = page.isFirst ? line({ table, columns: page.columns }) : ''
        yield said(head + page.rows.map((row) => line(page.columns.map((c) => row[c]))).join(''))
      }
    }
    yield line({ end: true, rows, sha256: hash.digest('hex') })
  } finally {
    await end()
  }
}

const line = (value: unknown): string =>
  `${JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? part.toString() : part))}\n`

async function* pagesOf(db: Kysely<Schema>, table: Table) {
  const keys = tableKeys[table]!
  let last: Row | undefined
  for (;;) {
    const order = sql.join(keys.map((key) => sql.ref(key)))
    const after: Row | undefined = last
    const where =
      after === undefined
        ? sql``
        : sql`WHERE (${order}) > (${sql.join(keys.map((key) => sql.val(after[key])))})`
    const { rows } = await sql<Row>`
      SELECT * FROM ${sql.table(table)} ${where} ORDER BY ${order}
      LIMIT ${sql.lit(rowsAtOnce)}`.execute(db)
    if (rows.length === 0) return
    const kept = table === 'meta' ? rows.filter(({ key }) => !ownMeta.includes(key)) : rows
    yield { isFirst: last === undefined, columns: Object.keys(rows[0]!), rows: kept.map(freed) }
    last = rows.at(-1)
    if (rows.length < rowsAtOnce) return
  }
}

/** Clears the lease of the row. */
function freed(row: Row): Row {
  if ('leased_nanos' in row) return { ...row, leased_nanos: 0n }
  if ('lease_owner' in row) return { ...row, lease_owner: null, lease_until_ms: 0 }
  return row
}

interface BackupHead {
  schema: number
  madeAt: string
}

/** Undefined when this is no backup. */
export function readHead(first: string): BackupHead | undefined {
  const head = parsed(first)
  if (head === undefined || Array.isArray(head) || head['format'] !== format) return undefined
  if (head['version'] !== formatVersion) {
    throw new StoreRefused(`this backup has format ${head['version']}, which is not known here.`)
  }
  return { schema: Number(head['schema']), madeAt: String(head['made_at']) }
}

/** Set while the database is being restored; still set after an interrupted restore. */
export const restoringKey = 'restoring'

/** Throws StoreRefused when the database is not empty or the lines are not a whole backup. */
export async function restoreLines(store: Store, lines: AsyncIterable<string>): Promise<number> {
  await store.tx(async (tx) => {
    const { rows } = await sql<{ n: number }>`
      SELECT (SELECT count(*) FROM accounts) + (SELECT count(*) FROM entries)
        + (SELECT count(*) FROM tasks) AS n`.execute(tx)
    const begun = await getMeta(tx, restoringKey)
    if (Number(rows[0]?.n) > 0 || begun !== undefined) {
      throw new StoreRefused(
        begun === undefined
          ? 'the database is not empty; a backup is restored into a new one.'
          : 'a restore into this database was broken off; make the database anew.',
      )
    }
    await setMeta(tx, restoringKey, '1')
  })
  const rows = await fill(store, lines)
  await store.tx(async (tx) => {
    if (store.dialect === 'postgres') await moveCounters(tx)
    await freeLeases(tx)
    await tx.deleteFrom('meta').where('key', '=', restoringKey).execute()
  })
  return rows
}

async function fill(store: Store, lines: AsyncIterable<string>): Promise<number> {
  const hash = new Bun.CryptoHasher('sha256')
  let into: { table: Table; columns: string[] } | undefined
  let waiting: Row[] = []
  let rows = 0
  const write = async () => {
    const [first] = waiting
    if (into?.table === 'requests' && first !== undefined) {
      await makeWeekOf(store, String(first['request_id']), store.clock.nowMs())
    }
    if (into !== undefined && waiting.length > 0) await insert(store, into.table, waiting)
    waiting = []
  }
  for await (const text of lines) {
    const value = parsed(text)
    if (value === undefined) throw broken(`line ${rows + 1} of its rows is not readable`)
    if (Array.isArray(value)) {
      waiting.push(rowFrom(into?.columns ?? [], value))
      rows++
      if (waiting.length >= rowsAtOnce) await write()
    } else if (value['end'] === true) {
      await write()
      if (value['rows'] !== rows || value['sha256'] !== hash.digest('hex')) {
        throw broken('its checksum does not match')
      }
      return rows
    } else if (typeof value['table'] === 'string') {
      await write()
      const table = value['table'] as Table
      if (tableKeys[table] === undefined && !formerTables.includes(table))
        throw broken(`it has an unknown table '${table}'`)
      into = { table, columns: value['columns'] as string[] }
    }
    hash.update(`${text}\n`)
  }
  throw broken('its end is missing')
}

const broken = (why: string) => new StoreRefused(`the backup is damaged: ${why}.`)

function parsed(text: string): Row | unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Row | unknown[]) : undefined
  } catch {
    return undefined
  }
}

function rowFrom(columns: readonly string[], cells: readonly unknown[]): Row {
  if (cells.length !== columns.length) throw broken('a row has too few or too many cells')
  const row: Row = {}
  for (const [i, name] of columns.entries()) {
    const cell = cells[i]
    row[name] = name.endsWith('_nanos') && cell !== null ? BigInt(cell as string) : cell
  }
  return row
}

/** Maximum values that SQLite binds in one statement. */
const maxValues = 30_000

async function insert(store: Store, table: Table, rows: readonly Row[]): Promise<void> {
  const width = Object.keys(rows[0]!).length
  const rowsPerInsert = Math.floor(maxValues / width)
  await store.tx(async (tx) => {
    for (let at = 0; at < rows.length; at += rowsPerInsert) {
      await tx
        .insertInto(table)
        .values(rows.slice(at, at + rowsPerInsert) as never)
        .execute()
    }
  })
}

/** Restored rows keep their numbers; new rows continue from there. */
async function moveCounters(tx: Kysely<Schema>): Promise<void> {
  const { rows } = await sql<{ table_name: string; column_name: string }>`
    SELECT table_name, column_name FROM information_schema.columns
    WHERE table_schema = current_schema() AND is_identity = 'YES'`.execute(tx)
  // Of entries and calls together; backups of older schemas have one for each.
  const { rows: shared } = await sql<{ name: string | null }>`
    SELECT to_regclass('ledger_ids')::text AS name`.execute(tx)
  if (shared[0]?.name !== null) {
    await sql`SELECT setval('ledger_ids', 1 + greatest((SELECT max(id) FROM entries),
      (SELECT max(seq) FROM requests), 0), false)`.execute(tx)
  }
  for (const { table_name: table, column_name: column } of rows) {
    await sql`
      SELECT setval(pg_get_serial_sequence(${table}, ${column}), greatest(max(${sql.ref(column)}), 1))
      FROM ${sql.table(table)}`.execute(tx)
  }
}
