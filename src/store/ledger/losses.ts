// Losses: upstream work that no caller paid for, one row each, however often it is reported. The
// hot path writes the losses of calls with their log rows.
import { type Kysely, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { Loss, LossReason } from '../../contract/ledger.ts'
import { newShortId } from '../../lib/crypto/ids.ts'
import type { Schema } from '../schema.ts'
import { BadCursor, type Page, type PageQuery, pageOf, textCursor } from '../sql/cursor.ts'

export interface StoredLoss extends Loss {
  id: string
}

/** False, and nothing changes, when it is known by its ref, reason, channel and upstream id. */
export async function recordLoss(tx: Kysely<Schema>, loss: Loss): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('losses')
    .values({
      id: newShortId('loss', loss.atMs),
      at_ms: loss.atMs,
      account_id: loss.accountId,
      ref: loss.ref,
      reason: loss.reason,
      channel: loss.channel,
      model: loss.model,
      upstream_id: loss.upstreamId ?? '',
      unit: loss.unit ?? null,
      quantity: loss.quantity ?? null,
      amount_nanos: loss.amountNanos,
      is_estimate: loss.isEstimate ? 1 : 0,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

export interface LossFilter {
  accountId?: string | undefined
  reason?: string | undefined
  channel?: string | undefined
  model?: string | undefined
  /** Of this request or task. */
  ref?: string | undefined
  fromMs?: number | undefined
  /** Before this moment. */
  toMs?: number | undefined
}

/** Newest first. */
export async function listLosses(
  db: Kysely<Schema>,
  { limit, cursor, ...filter }: LossFilter & PageQuery,
): Promise<Page<StoredLoss>> {
  let query = db.selectFrom('losses').selectAll().where(within(filter))
  if (cursor !== undefined) query = query.where(before(cursor))
  const rows = await query
    .orderBy('at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  return pageOf(rows, limit, (row) => `${row.at_ms}.${row.id}`, shape)
}

export interface LossSum {
  reason: LossReason
  channel: string
  model: string
  losses: number
  amountNanos: bigint
  /** The estimated part of it. */
  estimatedNanos: bigint
}

/** Sums by reason, channel and model. */
export async function sumLosses(db: Kysely<Schema>, filter: LossFilter): Promise<LossSum[]> {
  const { rows } = await sql<{
    reason: LossReason
    channel: string
    model: string
    losses: number
    amount_nanos: bigint
    estimated_nanos: bigint
  }>`
    SELECT reason, channel, model, count(*) AS losses,
      CAST(sum(amount_nanos) AS bigint) AS amount_nanos,
      CAST(sum(amount_nanos * is_estimate) AS bigint) AS estimated_nanos
    FROM losses WHERE ${within(filter)}
    GROUP BY reason, channel, model ORDER BY reason, channel, model`.execute(db)
  return rows.map(({ amount_nanos, estimated_nanos, ...row }) => ({
    ...row,
    amountNanos: amount_nanos,
    estimatedNanos: estimated_nanos,
  }))
}

/** Losses of several requests or tasks. */
export async function lossesOf(db: Kysely<Schema>, refs: readonly string[]): Promise<StoredLoss[]> {
  if (refs.length === 0) return []
  const rows = await db.selectFrom('losses').selectAll().where('ref', 'in', refs).execute()
  return rows.map(shape)
}

function within({ fromMs, toMs, ...plain }: LossFilter): RawBuilder<SqlBool> {
  const columns = {
    account_id: plain.accountId,
    reason: plain.reason,
    channel: plain.channel,
    model: plain.model,
    ref: plain.ref,
  }
  const conditions = Object.entries(columns).flatMap(([column, value]) =>
    value === undefined ? [] : [sql`${sql.ref(column)} = ${value}`],
  )
  if (fromMs !== undefined) conditions.push(sql`at_ms >= ${fromMs}`)
  if (toMs !== undefined) conditions.push(sql`at_ms < ${toMs}`)
  return conditions.length === 0
    ? sql<SqlBool>`1 = 1`
    : sql<SqlBool>`${sql.join(conditions, sql` AND `)}`
}

function before(cursor: string): RawBuilder<SqlBool> {
  const [, ms, id] = /^(\d{1,15})\.(.+)$/.exec(textCursor(cursor)) ?? []
  if (id === undefined) throw new BadCursor('unknown cursor')
  return sql<SqlBool>`(at_ms, id) < (${Number(ms)}, ${id})`
}

const shape = (row: Selectable<Schema['losses']>): StoredLoss => ({
  id: row.id,
  atMs: row.at_ms,
  accountId: row.account_id,
  ref: row.ref,
  reason: row.reason,
  channel: row.channel,
  model: row.model,
  ...(row.upstream_id !== '' && { upstreamId: row.upstream_id }),
  ...(row.unit !== null && { unit: row.unit }),
  ...(row.quantity !== null && { quantity: row.quantity }),
  amountNanos: row.amount_nanos,
  isEstimate: row.is_estimate === 1,
})
