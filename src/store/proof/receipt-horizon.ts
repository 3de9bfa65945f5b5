// PostgreSQL only: which of several gateways writes receipts, and the id below which no entry can
// still appear. Ids are drawn before their transactions commit, so a larger one may appear first.
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'
import { getMeta, setMeta } from '../sql/meta.ts'

/** Arbitrary, but no release may change it. */
const receiptLock = 7_203_114_504

/** Another gateway holds it for the duration of a chunk. */
const lockTimeoutMs = '10s'

/** Held until the end of the transaction. False: another gateway holds it, without waiting. */
export async function takeAdvisoryLock(tx: Kysely<Schema>, patient: boolean): Promise<boolean> {
  // A chunk is small and its look-ups have indexes. With a log of a few thousand pages, the planner
  // would otherwise read all of it for every chunk.
  const plan = sql`set_config('enable_hashjoin', 'off', true)`
  if (patient) {
    const lockTimeout = sql`set_config('lock_timeout', ${sql.lit(lockTimeoutMs)}, true)`
    await sql`SELECT ${plan}, ${lockTimeout}`.execute(tx)
    await sql`SELECT pg_advisory_xact_lock(${sql.lit(receiptLock)})`.execute(tx)
    return true
  }
  const { rows } = await sql<{ got: boolean }>`
    SELECT ${plan}, pg_try_advisory_xact_lock(${sql.lit(receiptLock)}) AS got`.execute(tx)
  return rows[0]?.got === true
}

/** State at a moment: the newest id, and the first transaction that had not begun. */
interface Sighting {
  id: number
  nextTransaction: string
  atMs: number
}

const sightingKey = 'receipts_sighting'

/**
 * The newest id of the last sighting, once every transaction of that time has ended and the settle
 * time for ids drawn before a transaction writes has passed; 0 until then.
 */
export async function settledIdOf(tx: Kysely<Schema>, settleMs: number): Promise<number> {
  const kept = await getMeta(tx, sightingKey)
  if (kept === undefined) return 0
  const { id, nextTransaction, atMs } = JSON.parse(kept) as Sighting
  const { rows } = await sql<{ ended: boolean; now_ms: number }>`
    SELECT pg_snapshot_xmin(pg_current_snapshot()) >= CAST(${nextTransaction} AS xid8) AS ended,
      CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) AS now_ms`.execute(tx)
  const [now] = rows
  return now?.ended === true && now.now_ms - atMs >= settleMs ? id : 0
}

/** Takes a new sighting when the last one has settled; returns the newest id. */
export async function pollAgain(tx: Kysely<Schema>, floor: number): Promise<number> {
  const { rows } = await sql<{ id: number; next_transaction: string; at_ms: number }>`
    SELECT coalesce((SELECT max(id) FROM entries), 0) AS id,
      CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text) AS next_transaction,
      CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) AS at_ms`.execute(tx)
  const { id, next_transaction, at_ms } = rows[0]!
  const kept = await getMeta(tx, sightingKey)
  const pending = kept === undefined ? 0 : (JSON.parse(kept) as Sighting).id
  if (pending <= floor && id > floor) {
    const sighting: Sighting = { id, nextTransaction: next_transaction, atMs: at_ms }
    await setMeta(tx, sightingKey, JSON.stringify(sighting))
  }
  return id
}
