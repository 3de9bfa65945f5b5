// Task leases: which gateway polls which task, and until when. A lease is not a lock: the fence
// token keeps former owners from writing. Knows no upstream and no scheduling.
import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely'
import type { Dialect, Schema } from '../schema.ts'
import { listed } from '../sql/json-rows.ts'
import { type DueTask, pickFairly } from './fair-pick.ts'
import { type LeasedTask, liveStates, shape } from './tasks.ts'

export interface LeaseOptions {
  owner: string
  /** Selects what is due by now. */
  nowMs: number
  untilMs: number
  /** Now by the clock of `untilMs`, if due times use another clock. */
  leaseClockMs?: number
  limit: number
  /** Remaining capacity of a channel; unlimited if absent. */
  roomFor?: (channelId: string) => number
  /** Where the last round through the accounts stopped. */
  after?: Place
}

/** A channel and an account with tasks there: the order of the round. */
export interface Place {
  channelId: string
  accountId: string
}

export interface Leased {
  leased: LeasedTask[]
  /** More tasks may be due than were taken. */
  more: boolean
  /** Where the next round starts; undefined at the beginning. */
  next: Place | undefined
}

/** Candidates read in order of time per task wanted. */
const readAhead = 2
const minRead = 256
/** Places visited in one round, and tasks taken at each. */
const maxPlaces = 64
const maxPerPlace = 64
/** Maximum lease: one that ends later was taken before the clock was set back. */
const maxLeaseMs = 60_000
/** Clocks of gateways differ by much less. */
const slackMs = 5_000

// Literal as in the partial indexes: only then does a planner use them.
const live = sql.raw(`state IN (${liveStates.map((state) => `'${state}'`).join(', ')})`)

/** Not leased, by the time of this clock. */
const freeAt = (clockMs: number) =>
  sql`(lease_until_ms <= ${clockMs} OR lease_until_ms > ${clockMs + maxLeaseMs})`

export interface MaxWaits {
  /** Between two polls of a running task. */
  pollMs: number
  /** Between any two polls of a task. */
  waitMs: number
}

/**
 * Tasks that were postponed under a clock that has been set back since: last written in the future,
 * or due later than the maximum delay. They become due at once; returns how many.
 */
export async function wakeStranded(
  tx: Kysely<Schema>,
  nowMs: number,
  max: MaxWaits,
): Promise<number> {
  const { numAffectedRows } = await sql`
    UPDATE tasks SET next_check_at_ms = ${nowMs}
    WHERE ${live} AND next_check_at_ms > ${Math.ceil(nowMs + max.pollMs)}
      AND (updated_at_ms > ${nowMs + slackMs}
        OR next_check_at_ms > ${Math.ceil(nowMs + max.waitMs + slackMs)})`.execute(tx)
  return Number(numAffectedRows)
}

/** Leases due tasks until `untilMs`, fairly chosen between accounts. */
export async function leaseDueTasks(
  tx: Kysely<Schema>,
  dialect: Dialect,
  input: LeaseOptions,
): Promise<Leased> {
  const { limit } = input
  const window = Math.max(minRead, limit * readAhead)
  const oldest = await findOldest(tx, input, window)
  // The oldest may all belong to one account or channel: then a round visits all accounts.
  const turn = oldest.length < window ? noTurn : await findInTurn(tx, dialect, input)
  const roomFor = input.roomFor ?? (() => limit)
  const inTurn = pickFairly(turn.due, Math.ceil(limit / 2), roomFor)
  const taken = new Set(inTurn.map(({ id }) => id))
  const inTime = pickFairly(
    oldest.filter(({ id }) => !taken.has(id)),
    limit - inTurn.length,
    (channelId) =>
      roomFor(channelId) - inTurn.filter((picked) => picked.channelId === channelId).length,
  )
  const picked = [...inTurn, ...inTime].map(({ id }) => id)
  const leased = await lease(tx, dialect, picked, input)
  return { leased, more: oldest.length > picked.length, next: turn.next }
}

const noTurn: { due: DueTask[]; next: Place | undefined } = { due: [], next: undefined }

async function findOldest(
  tx: Kysely<Schema>,
  { nowMs, leaseClockMs = nowMs }: LeaseOptions,
  limit: number,
): Promise<DueTask[]> {
  const { rows } = await sql<DueTask>`
    SELECT id, account_id AS "accountId", channel_id AS "channelId", next_check_at_ms AS "dueMs"
    FROM tasks
    WHERE ${live} AND next_check_at_ms <= ${nowMs} AND ${freeAt(leaseClockMs)}
    ORDER BY next_check_at_ms LIMIT ${limit}`.execute(tx)
  return rows
}

/** Goes from place to place by the index and takes a few tasks at each. */
async function findInTurn(
  tx: Kysely<Schema>,
  dialect: Dialect,
  input: LeaseOptions,
): Promise<{ due: DueTask[]; next: Place | undefined }> {
  const { channelId, accountId } = input.after ?? { channelId: '', accountId: '' }
  const { rows } = await sql<DueTask & { id: string | null; place: number }>`
    WITH RECURSIVE places(channel_id, account_id, place) AS (
      SELECT * FROM (
        SELECT channel_id, account_id, 1 FROM tasks
        WHERE ${live} AND (channel_id, account_id) > (${channelId}, ${accountId})
        ORDER BY channel_id, account_id LIMIT 1
      ) AS first_place
      UNION ALL
      SELECT t.channel_id, t.account_id, p.place + 1
      FROM places p JOIN tasks t ON t.id = coalesce(
        (SELECT id FROM tasks
         WHERE ${live} AND channel_id = p.channel_id AND account_id > p.account_id
         ORDER BY channel_id, account_id LIMIT 1),
        (SELECT id FROM tasks WHERE ${live} AND channel_id > p.channel_id
         ORDER BY channel_id, account_id LIMIT 1)
      )
      WHERE p.place < ${sql.lit(maxPlaces)}
    )
    SELECT t.id, p.account_id AS "accountId", p.channel_id AS "channelId",
      t.next_check_at_ms AS "dueMs", p.place
    FROM places p ${joinDue(dialect, input)} ORDER BY p.place`.execute(tx)
  const last = rows.at(-1)
  const ended = last === undefined || last.place < maxPlaces
  return {
    due: rows.filter(({ id }) => id !== null),
    next: ended ? undefined : { channelId: last.channelId, accountId: last.accountId },
  }
}

/** The longest-due tasks of a place `p`, as `t`. */
function joinDue(
  dialect: Dialect,
  { nowMs, leaseClockMs = nowMs }: LeaseOptions,
): RawBuilder<unknown> {
  const ofPlace = sql`
    SELECT id, next_check_at_ms FROM tasks
    WHERE ${live} AND channel_id = p.channel_id AND account_id = p.account_id
      AND next_check_at_ms <= ${nowMs} AND ${freeAt(leaseClockMs)}
    ORDER BY next_check_at_ms LIMIT ${maxPerPlace}`
  return dialect === 'postgres'
    ? sql`LEFT JOIN LATERAL (${ofPlace}) t ON true`
    : sql`LEFT JOIN tasks t ON t.id IN (SELECT id FROM (${ofPlace}))`
}

async function lease(
  tx: Kysely<Schema>,
  dialect: Dialect,
  ids: readonly string[],
  { owner, nowMs, leaseClockMs = nowMs, untilMs }: LeaseOptions,
): Promise<LeasedTask[]> {
  if (ids.length === 0) return []
  const free = sql`SELECT id FROM tasks
    WHERE id IN (SELECT id FROM ${listed(
      dialect,
      { id: 'text' },
      ids.map((id) => ({ id })),
    )})
      AND ${live} AND next_check_at_ms <= ${nowMs} AND ${freeAt(leaseClockMs)}`
  // Rows that another gateway is taking at this moment are skipped.
  const taken = dialect === 'postgres' ? sql`${free} FOR UPDATE SKIP LOCKED` : free
  const { rows } = await sql<Selectable<Schema['tasks']>>`
    UPDATE tasks SET lease_owner = ${owner}, lease_until_ms = ${untilMs}, fence = fence + 1
    WHERE id IN (${taken}) RETURNING *`.execute(tx)
  return rows
    .toSorted((a, b) => a.next_check_at_ms - b.next_check_at_ms)
    .map((row) => ({ task: shape(row), fence: row.fence }))
}

interface HeldLease {
  id: string
  fence: number
}

/** Renews leases that the owner still has; returns their ids. */
export async function renewLeases(
  tx: Kysely<Schema>,
  dialect: Dialect,
  owner: string,
  held: readonly HeldLease[],
  untilMs: number,
): Promise<Set<string>> {
  const given = listed(dialect, { id: 'text', fence: 'int' }, held)
  const { rows } = await sql<{ id: string }>`
    UPDATE tasks SET lease_until_ms = ${untilMs}
    WHERE lease_owner = ${owner} AND (id, fence) IN (SELECT id, fence FROM ${given})
    RETURNING id`.execute(tx)
  return new Set(rows.map(({ id }) => id))
}

/** Releases leases, so that another gateway need not wait until they expire. */
export async function releaseLeases(
  tx: Kysely<Schema>,
  dialect: Dialect,
  owner: string,
  held: readonly HeldLease[],
): Promise<void> {
  const given = listed(dialect, { id: 'text', fence: 'int' }, held)
  await sql`
    UPDATE tasks SET lease_until_ms = 0, lease_owner = NULL
    WHERE lease_owner = ${owner} AND (id, fence) IN (SELECT id, fence FROM ${given})`.execute(tx)
}

/** Releases leases that the table assigns to a gateway but that gateway does not hold. */
export async function releaseStrays(
  tx: Kysely<Schema>,
  dialect: Dialect,
  owner: string,
  held: readonly string[],
): Promise<void> {
  const given = listed(
    dialect,
    { id: 'text' },
    held.map((id) => ({ id })),
  )
  await sql`
    UPDATE tasks SET lease_until_ms = 0, lease_owner = NULL
    WHERE ${live} AND lease_owner = ${owner} AND id NOT IN (SELECT id FROM ${given})`.execute(tx)
}

/** Frees leases of a dead gateway, and tasks whose caller waited there; without one, of all. */
export async function freeLeases(tx: Kysely<Schema>, owner?: string): Promise<void> {
  const theirs = owner === undefined ? sql`IS NOT NULL` : sql`= ${owner}`
  await sql`
    UPDATE tasks SET lease_until_ms = 0, lease_owner = NULL
    WHERE ${live} AND lease_owner ${theirs}`.execute(tx)
  // The callers that waited for these are gone.
  // Without the beginning of the name, which was shorter in 0.2.
  const waitedFor = `%waitedBy":"${owner ?? ''}%`
  await sql`
    UPDATE tasks SET next_check_at_ms = 0
    WHERE ${live} AND (interface = 'images' OR state = 'accepted') AND body LIKE ${waitedFor}`.execute(
    tx,
  )
}

/** When the next unleased live task is due; undefined when there is none. */
export async function nextDueMs(db: Kysely<Schema>, nowMs: number): Promise<number | undefined> {
  const { rows } = await sql<{ next_check_at_ms: number }>`
    SELECT next_check_at_ms FROM tasks WHERE ${live} AND ${freeAt(nowMs)}
    ORDER BY next_check_at_ms LIMIT 1`.execute(db)
  return rows[0]?.next_check_at_ms
}

/** The clock that all gateways share; undefined when there is only one gateway. */
export async function sharedClockMs(
  db: Kysely<Schema>,
  dialect: Dialect,
): Promise<number | undefined> {
  if (dialect === 'sqlite') return undefined
  const { rows } = await sql<{ now_ms: number }>`
    SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) AS now_ms`.execute(db)
  return rows[0]!.now_ms
}

/** Durations of the newest succeeded tasks, oldest first. */
export async function recentDurations(
  db: Kysely<Schema>,
  newest: number,
): Promise<{ model: string; tookMs: number }[]> {
  const { rows } = await sql<{ model: string; took_ms: number }>`
    SELECT model, finished_at_ms - created_at_ms AS took_ms FROM (
      SELECT id, model, state, created_at_ms, finished_at_ms FROM tasks
      ORDER BY id DESC LIMIT ${newest}
    ) AS latest WHERE state = 'succeeded' AND finished_at_ms IS NOT NULL ORDER BY id`.execute(db)
  return rows.map(({ model, took_ms }) => ({ model, tookMs: took_ms }))
}
