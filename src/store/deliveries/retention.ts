// Removes notices that have been sent, or given up, long ago. A few at a time, so that the one writer of
// SQLite is never blocked for long. What may be told once only stays known.
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Store } from '../store.ts'

const rowsAtOnce = 200
const maxSteps = 100_000
/** Lets waiting writers proceed. */
const pauseMs = 20

interface NoticeRetention {
  beforeMs: number
  /** Checked between two steps. */
  isStopped: () => boolean
}

export async function dropOldNotices(
  store: Pick<Store, 'tx'>,
  { beforeMs, isStopped }: NoticeRetention,
): Promise<void> {
  for (const step of [dropDeliveries, dropNotices]) {
    for (let steps = 0; steps < maxSteps && !isStopped(); steps++) {
      const dropped = await store.tx((tx) => step(tx, beforeMs))
      if (dropped < rowsAtOnce) break
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}

/** With their attempts. */
async function dropDeliveries(tx: Kysely<Schema>, beforeMs: number): Promise<number> {
  const rows = await tx
    .selectFrom('notice_deliveries as d')
    .innerJoin('notices as n', 'n.id', 'd.notice_id')
    .select('d.id')
    .where('n.at_ms', '<', beforeMs)
    .where('d.state', '<>', 'waiting')
    .orderBy('n.at_ms')
    .limit(rowsAtOnce)
    .execute()
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0) return 0
  await tx.deleteFrom('notice_attempts').where('delivery_id', 'in', ids).execute()
  await tx.deleteFrom('notice_deliveries').where('id', 'in', ids).execute()
  return ids.length
}

/** Those without deliveries, also of subscriptions that were deleted. */
async function dropNotices(tx: Kysely<Schema>, beforeMs: number): Promise<number> {
  const rows = await tx
    .selectFrom('notices as n')
    .leftJoin('notice_deliveries as d', 'd.notice_id', 'n.id')
    .select('n.id')
    .where('n.at_ms', '<', beforeMs)
    .where('n.once', 'is', null)
    .where('d.id', 'is', null)
    .orderBy('n.at_ms')
    .limit(rowsAtOnce)
    .execute()
  const ids = rows.map(({ id }) => id)
  if (ids.length > 0) await tx.deleteFrom('notices').where('id', 'in', ids).execute()
  return ids.length
}
