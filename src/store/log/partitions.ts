// The request log on PostgreSQL has one partition per week, created ahead; rows outside all of them
// go to the default partition. The only place that knows their names and bounds.
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Store } from '../store.ts'
import { firstId, timeOfId } from './ids.ts'

const dayMs = 86_400_000
const weekMs = 7 * dayMs
/** The first Monday after the epoch. */
const firstMondayMs = 4 * dayMs

/** A longer lock wait would delay the charges queued behind it. */
const lockTimeout = '500ms'

interface Partition {
  name: string
  /** Absent where it has no lower bound. */
  fromId?: string
  /** All ids in it are below; absent for the default partition. */
  toId?: string
}

export const mondayOf = (ms: number): number =>
  Math.floor((ms - firstMondayMs) / weekMs) * weekMs + firstMondayMs

/** Oldest first. */
export async function listPartitions(db: Kysely<Schema>): Promise<Partition[]> {
  const { rows } = await sql<{ name: string; bound: string }>`
    SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bound
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'requests'::regclass`.execute(db)
  const partitions = rows.map(({ name, bound }) => {
    const fromId = /FROM \('([^']*)'\)/.exec(bound)?.[1]
    const toId = /TO \('([^']*)'\)/.exec(bound)?.[1]
    return { name, ...(fromId !== undefined && { fromId }), ...(toId !== undefined && { toId }) }
  })
  return partitions.sort((a, b) => ((a.toId ?? '~') < (b.toId ?? '~') ? -1 : 1))
}

/** Creates missing partitions for this time; returns how many. */
export async function makeWeeks(
  { read, tx }: Pick<Store, 'read' | 'tx'>,
  fromMs: number,
  untilMs: number,
): Promise<number> {
  const there = await listPartitions(read)
  let made = 0
  for (let atMs = mondayOf(fromMs); atMs < untilMs; atMs += weekMs) {
    const [from, to] = [firstId(atMs), firstId(atMs + weekMs)]
    const isThere = there.some(
      ({ fromId, toId }) => toId !== undefined && toId > from && (fromId ?? '') < to,
    )
    if (isThere) continue
    await tx((db) => makePartition(db, nameOf(atMs), from, to))
    made++
  }
  return made
}

/** Maximum retention; older rows need no partition of their own. */
const oldestMs = 3_650 * dayMs

/** For restored rows: creates the partition of this request's week. */
export async function makeWeekOf(store: Store, requestId: string, nowMs: number): Promise<void> {
  const atMs = timeOfId(requestId)
  if (store.dialect === 'sqlite' || atMs === undefined) return
  if (atMs > nowMs - oldestMs && atMs <= nowMs) await makeWeeks(store, atMs, atMs + 1)
}

const nameOf = (atMs: number): string =>
  `requests_${new Date(atMs).toISOString().slice(0, 10).replaceAll('-', '')}`

/** Created separately and attached, so that writes to the log continue. */
async function makePartition(
  tx: Kysely<Schema>,
  name: string,
  from: string,
  to: string,
): Promise<void> {
  const table = sql.table(name)
  const [low, high] = [sql.lit(from), sql.lit(to)]
  await sql`SET LOCAL lock_timeout = ${sql.lit(lockTimeout)}`.execute(tx)
  await sql`CREATE TABLE ${table} (LIKE requests INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`.execute(
    tx,
  )
  // The guard of charged calls keeps them from being deleted, not from being moved.
  await sql`ALTER TABLE requests_rest DISABLE TRIGGER USER`.execute(tx)
  await sql`
    WITH moved AS (
      DELETE FROM requests_rest WHERE request_id >= ${low} AND request_id < ${high} RETURNING *
    ) INSERT INTO ${table} SELECT * FROM moved`.execute(tx)
  await sql`ALTER TABLE requests_rest ENABLE TRIGGER USER`.execute(tx)
  await sql`ALTER TABLE requests ATTACH PARTITION ${table} FOR VALUES FROM (${low}) TO (${high})`.execute(
    tx,
  )
}
