// Months of channels that are closed: what the upstream billed beside our costs as they were then, signed,
// written once and never changed.
import type { Kysely, Selectable } from 'kysely'
import type { Dialect, Schema } from '../schema.ts'

type Db = Kysely<Schema>

export interface ChannelMonth {
  channel: string
  /** As in 2026-11. */
  month: string
  closedAtMs: number
  /** Of the call that closed it. */
  requestKey?: string | undefined
  /** As it was closed; the signature covers this text. */
  body: string
  key: string
  signature: string
}

/** False, and nothing changes, when it is already closed. */
export async function insertChannelMonth(tx: Db, closed: ChannelMonth): Promise<boolean> {
  const { channel, month, closedAtMs, requestKey, body, key, signature } = closed
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('channel_months')
    .values({
      ...{ channel, month, closed_at_ms: closedAtMs, request_key: requestKey ?? null },
      ...{ body, key, signature },
    })
    .onConflict((conflict) => conflict.columns(['channel', 'month']).doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

export async function findChannelMonth(
  db: Db,
  channel: string,
  month: string,
): Promise<ChannelMonth | undefined> {
  const row = await db
    .selectFrom('channel_months')
    .selectAll()
    .where('channel', '=', channel)
    .where('month', '=', month)
    .executeTakeFirst()
  return row && shape(row)
}

/** All channels of a month, or all months of a channel. */
export async function listChannelMonths(
  db: Db,
  by: { month: string } | { channel: string },
): Promise<ChannelMonth[]> {
  const query = db.selectFrom('channel_months').selectAll()
  const rows = await ('month' in by
    ? query.where('month', '=', by.month)
    : query.where('channel', '=', by.channel)
  ).execute()
  return rows.map(shape)
}

/** These statements cannot be deleted until the transaction ends. SQLite has one writer at a time. */
export async function lockStatements(
  tx: Db,
  dialect: Dialect,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0 || dialect !== 'postgres') return
  const query = tx.selectFrom('statements').select('id').where('id', 'in', ids).orderBy('id')
  await query.forUpdate().execute()
}

const shape = (row: Selectable<Schema['channel_months']>): ChannelMonth => ({
  channel: row.channel,
  month: row.month,
  closedAtMs: row.closed_at_ms,
  ...(row.request_key !== null && { requestKey: row.request_key }),
  body: row.body,
  key: row.key,
  signature: row.signature,
})
