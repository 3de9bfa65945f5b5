// Usage of one channel over a period, from the request log, the tasks and the losses, page by page
// and in the shape that is compared with an upstream's statement.
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { readRequestDetail } from '../../contract/former-names.ts'
import type { Loss, LossReason } from '../../contract/ledger.ts'
import type { CallLoss } from '../../contract/requests.ts'
import { firstId } from '../log/ids.ts'
import type { Dialect, Schema } from '../schema.ts'

/** A call or task that a channel worked on, or the loss of an attempt that failed over. */
export interface WorkRow {
  /** Request or task id. */
  ref: string
  atMs: number
  /** Ids by which the upstream may know it. */
  upstreamIds: readonly string[]
  /** As the caller named it, and as it was requested upstream. */
  model: string
  upstreamModel: string
  /** As billed; undefined when only losses belong to this channel. */
  billed: { quantity: number; chargeNanos: bigint; costNanos: bigint | null } | undefined
  losses: readonly WorkLoss[]
}

export interface WorkLoss
  extends Pick<Loss, 'atMs' | 'reason' | 'model' | 'upstreamId' | 'quantity' | 'amountNanos'> {
  /** What this channel takes for it beside the cost of what is billed; null: not known. */
  costNanos: bigint | null
}

interface UsageOptions {
  channel: string
  fromMs: number
  untilMs: number
}

/** Yields everything, a bounded number in memory. */
export async function* channelUsage(
  db: Kysely<Schema>,
  dialect: Dialect,
  input: UsageOptions,
  pageSize: number,
): AsyncGenerator<WorkRow[]> {
  yield* pagesOf(pageSize, (after: string) => calls(db, dialect, input, after, pageSize))
  yield* pagesOf(pageSize, (after: string) => tasks(db, dialect, input, after, pageSize))
  yield* pagesOf(pageSize, (after: string) => lostElsewhere(db, input, after, pageSize))
}

interface WorkPage {
  work: WorkRow[]
  rows: number
  last: string
}

async function* pagesOf(
  pageSize: number,
  read: (after: string) => Promise<WorkPage>,
): AsyncGenerator<WorkRow[]> {
  let after = ''
  for (;;) {
    const page = await read(after)
    if (page.work.length > 0) yield page.work
    if (page.rows < pageSize) return
    after = page.last
  }
}

interface Row {
  ref: string
  at_ms: number
  key: string
  model: string
  upstream_model: string | null
  first_id: string | null
  second_id: string | null
  quantity: number | null
  charge_nanos: bigint
  /** What this channel takes for it; null: not known. */
  cost_nanos: bigint | null
}

/** Calls that this channel answered, successfully or not. Creates are reported by their tasks. */
async function calls(
  db: Kysely<Schema>,
  dialect: Dialect,
  { channel, fromMs, untilMs }: UsageOptions,
  after: string,
  limit: number,
): Promise<WorkPage> {
  const from = after === '' ? firstId(fromMs) : after
  const { rows } = await sql<Row>`
    SELECT request_id AS ref, at_ms, request_id AS key, model, charge_nanos,
      cost_nanos - CAST(coalesce(${inJson(dialect, 'detail', 'failedCostNanos')}, '0') AS bigint)
        AS cost_nanos,
      ${inJson(dialect, 'detail', 'upstreamModel')} AS upstream_model,
      upstream_request_id AS first_id, NULL AS second_id,
      CASE WHEN ${inJson(dialect, 'detail', 'taskId')} IS NULL
        THEN coalesce(input_tokens, 0) + coalesce(output_tokens, 0) END AS quantity
    FROM requests
    WHERE request_id > ${from} AND request_id < ${firstId(untilMs)} AND channel = ${channel}
      AND detail <> ''
    ORDER BY request_id LIMIT ${limit}`.execute(db)
  return withLosses(
    db,
    channel,
    rows,
    rows.filter(({ quantity }) => quantity !== null),
  )
}

async function tasks(
  db: Kysely<Schema>,
  dialect: Dialect,
  { channel, fromMs, untilMs }: UsageOptions,
  after: string,
  limit: number,
): Promise<WorkPage> {
  const [ms, id] = after === '' ? [fromMs, ''] : placeOf(after)
  const { rows } = await sql<Row & { created_at_ms: number }>`
    SELECT t.id AS ref, coalesce(t.finished_at_ms, t.created_at_ms) AS at_ms, t.created_at_ms,
      '' AS key, t.model, t.charge_nanos, t.cost_nanos, ${inJson(dialect, 't.body', 'upstreamModel')}
      AS upstream_model, t.upstream_id AS first_id, r.upstream_request_id AS second_id,
      coalesce(e.quantity, 0) AS quantity
    FROM tasks t LEFT JOIN entries e ON e.ref = t.id AND e.kind = 'charge'
      LEFT JOIN requests r ON r.request_id = t.request_id
    WHERE (t.created_at_ms, t.id) > (${ms}, ${id}) AND t.created_at_ms < ${untilMs}
      AND t.channel = ${channel}
    ORDER BY t.created_at_ms, t.id LIMIT ${limit}`.execute(db)
  for (const row of rows) row.key = `${row.created_at_ms}.${row.ref}`
  return withLosses(db, channel, rows, rows)
}

function placeOf(key: string): [number, string] {
  const dot = key.indexOf('.')
  return [Number(key.slice(0, dot)), key.slice(dot + 1)]
}

/** Attempts of calls that another channel then answered: only the losses record them. */
async function lostElsewhere(
  db: Kysely<Schema>,
  { channel, fromMs, untilMs }: UsageOptions,
  after: string,
  limit: number,
): Promise<WorkPage> {
  const [ms, id] = after === '' ? [fromMs, ''] : placeOf(after)
  const { rows } = await sql<LossRow & { id: string; here: string | null }>`
    SELECT l.id, l.at_ms, l.ref, l.reason, l.channel, l.model, l.upstream_id, l.quantity,
      l.amount_nanos, r.detail, coalesce(r.channel, t.channel) AS here
    FROM losses l LEFT JOIN requests r ON r.request_id = l.ref LEFT JOIN tasks t ON t.id = l.ref
    WHERE (l.at_ms, l.id) > (${ms}, ${id}) AND l.at_ms < ${untilMs} AND l.channel = ${channel}
    ORDER BY l.at_ms, l.id LIMIT ${limit}`.execute(db)
  const last = rows.at(-1)
  return {
    work: rows.filter(({ here }) => here !== channel).map(asLost),
    rows: rows.length,
    last: last === undefined ? after : `${last.at_ms}.${last.id}`,
  }
}

interface LossRow {
  ref: string
  at_ms: number
  reason: LossReason
  channel: string
  model: string
  upstream_id: string
  quantity: number | null
  amount_nanos: bigint
  /** Of its call; null: it is of a task. */
  detail: string | null
}

const lossIn = (row: LossRow): WorkLoss => ({
  atMs: row.at_ms,
  reason: row.reason,
  model: row.model,
  ...(row.upstream_id !== '' && { upstreamId: row.upstream_id }),
  ...(row.quantity !== null && { quantity: row.quantity }),
  amountNanos: row.amount_nanos,
  costNanos: costIn(row),
})

/** Only attempts of calls have one of their own: what a task costs is with the task. */
function costIn(row: LossRow): bigint | null {
  const { costNanos = 0 } = partOf(row) ?? {}
  return costNanos === null ? null : BigInt(costNanos)
}

/** As the row of its call has it. */
const partOf = ({ detail, reason, channel, upstream_id }: LossRow): CallLoss | undefined =>
  readRequestDetail(detail || '{}').loss?.find(
    (each) =>
      each.reason === reason && each.channel === channel && (each.upstreamId ?? '') === upstream_id,
  )

const asLost = (row: LossRow): WorkRow => ({
  ref: row.ref,
  atMs: row.at_ms,
  upstreamIds: [],
  model: row.model,
  upstreamModel: partOf(row)?.upstreamModel ?? row.model,
  billed: undefined,
  losses: [lossIn(row)],
})

async function withLosses(
  db: Kysely<Schema>,
  channel: string,
  all: readonly Row[],
  shown: readonly Row[],
): Promise<WorkPage> {
  const byRef = Map.groupBy(await lossesOfRefs(db, channel, shown), ({ ref }) => ref)
  const work = shown.map((row): WorkRow => {
    const losses = byRef.get(row.ref) ?? []
    return {
      ref: row.ref,
      atMs: row.at_ms,
      upstreamIds: namesIn(row),
      model: row.model,
      upstreamModel: row.upstream_model ?? row.model,
      billed: {
        quantity: row.quantity ?? 0,
        chargeNanos: row.charge_nanos,
        costNanos: row.cost_nanos,
      },
      losses: losses.map(lossIn),
    }
  })
  return { work, rows: all.length, last: all.at(-1)?.key ?? '' }
}

const namesIn = ({ first_id, second_id }: Row): string[] => {
  const names = [first_id ?? '', second_id ?? ''].filter((name) => name !== '')
  return [...new Set(names)]
}

const refsAtOnce = 500

async function lossesOfRefs(
  db: Kysely<Schema>,
  channel: string,
  rows: readonly Row[],
): Promise<LossRow[]> {
  const found: LossRow[] = []
  for (let at = 0; at < rows.length; at += refsAtOnce) {
    const refs = rows.slice(at, at + refsAtOnce).map(({ ref }) => ref)
    const some = db
      .selectFrom('losses as l')
      .leftJoin('requests as r', 'r.request_id', 'l.ref')
      .select([
        'l.ref',
        'l.at_ms',
        'l.reason',
        'l.channel',
        'l.model',
        'l.upstream_id',
        'l.quantity',
      ])
      .select(['l.amount_nanos', 'r.detail'])
      .where('l.ref', 'in', refs)
      .where('l.channel', '=', channel)
    found.push(...(await some.execute()))
  }
  return found
}

const inJson = (dialect: Dialect, column: string, field: string): RawBuilder<string | null> =>
  dialect === 'postgres'
    ? sql`(${sql.raw(column)}::json ->> ${sql.lit(field)})`
    : sql`json_extract(${sql.raw(column)}, ${sql.lit(`$.${field}`)})`
