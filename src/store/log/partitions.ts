// The request log on PostgreSQL lies in one table a week, made ahead; what fits none of them goes to
// the default one. The only place that knows their names and bounds.
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Store } from '../store.ts'
import { firstId, timeOfId } from './ids.ts'

const dayMs = 86_400_000
const weekMs = 7 * dayMs
/** The first Monday there was. */
const firstMondayMs = 4 * dayMs

/** Waiting longer for others than this would make the charges behind it wait. */
const lockTimeout = '500ms'

export interface Partition {
  name: string
  /** Absent where it has no lower bound. */
  fromId?: string
  /** Everything in it is below; absent for the default one. */
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

/** Makes those that are missing for this time; answers how many. */
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

/** Longest that rows are kept; what is older than that needs no week of its own. */
const oldestMs = 3_650 * dayMs

/** For rows that are brought along from elsewhere: the week that this one belongs to. */
export async function makeWeekOf(store: Store, requestId: string, nowMs: number): Promise<void> {
  const atMs = timeOfId(requestId)
  if (store.dialect === 'sqlite' || atMs === undefined) return
  if (atMs > nowMs - oldestMs && atMs <= nowMs) await makeWeeks(store, atMs, atMs + 1)
}

const nameOf = (atMs: number): string =>
  `requests_${new Date(atMs).toISOString().slice(0, 10).replaceAll('-', '')}`

/** Made apart and attached: that lets others go on writing to the log. */
async function makePartition(
  tx: Kysely<Schema>,
  name: string,
  from: string,
  to: string,
): Promise<void> {
  const table = sql.table(name)
  const [low, high] = [sql.lit(from), sql.lit(to)]
  await sql`SET LOCAL lock_timeout = ${sql.lit(lockTimeout)}`.execute(tx)
  await sql`CREATE TABLE ${table} (LIKE requests INCLUDING DEFAULTS)`.execute(tx)
  await sql`
    WITH moved AS (
      DELETE FROM requests_rest WHERE request_id >= ${low} AND request_id < ${high} RETURNING *
    ) INSERT INTO ${table} SELECT * FROM moved`.execute(tx)
  await sql`ALTER TABLE requests ATTACH PARTITION ${table} FOR VALUES FROM (${low}) TO (${high})`.execute(
    tx,
  )
}

/** With everything in it, and at once. */
export async function dropPartition(tx: Kysely<Schema>, name: string): Promise<void> {
  await sql`SET LOCAL lock_timeout = ${sql.lit(lockTimeout)}`.execute(tx)
  await sql`DROP TABLE ${sql.table(name)}`.execute(tx)
}
