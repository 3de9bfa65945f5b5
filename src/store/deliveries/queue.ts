// The queue that all deliveries share: which are due, the lease that grants the right to send one, and
// its attempts. A late holder may deliver twice, but no delivery is lost. One pair of tables for each
// kind; knows neither the content nor the transport.
import { type Kysely, sql } from 'kysely'
import type { Dialect, Schema } from '../schema.ts'
import { latestBy } from '../sql/latest-by.ts'

export type DeliveryState = Schema['callbacks']['state']

export interface Delivery {
  id: string
  url: string
  state: DeliveryState
  /** Attempts since the last restart. */
  attempts: number
  nextAtMs: number
  createdAtMs: number
  endedAtMs?: number
}

export interface Attempt {
  atMs: number
  tookMs: number
  status?: number
  error?: string
  /** The receiver will never take it. Not stored. */
  isFinal?: boolean
}

/** State of a delivery after an attempt. */
export type Fate =
  | { state: 'waiting'; nextAtMs: number }
  | { state: 'delivered' | 'exhausted'; endedAtMs: number }

/** The columns that every queue has. */
interface DeliveryColumns {
  id: string
  url: string
  state: DeliveryState
  attempts: number
  next_at_ms: number
  lease_owner: string | null
  lease_until_ms: number
  created_at_ms: number
  ended_at_ms: number | null
}

/** Where the deliveries of one kind are. */
export interface DeliveryQueue<T extends Delivery> {
  readonly table: 'callbacks' | 'notice_deliveries'
  readonly attempts: 'callback_attempts' | 'notice_attempts'
  /** Column of the attempts that names the delivery. */
  readonly attemptOf: 'callback_id' | 'delivery_id'
  /** Column by which slots are shared fairly. */
  readonly owner: 'account_id' | 'webhook_id'
  shape(row: never): T
  ownerOf(delivery: T): string
}

// Literal as in the partial index: only then does a planner use it.
const isWaiting = sql.raw(`state = 'waiting'`)

export const deliveryIn = (row: DeliveryColumns): Delivery => ({
  id: row.id,
  url: row.url,
  state: row.state,
  attempts: row.attempts,
  nextAtMs: row.next_at_ms,
  createdAtMs: row.created_at_ms,
  ...(row.ended_at_ms !== null && { endedAtMs: row.ended_at_ms }),
})

/** Of a new delivery. */
export const dueAt = (createdAtMs: number) => ({
  state: 'waiting' as const,
  attempts: 0,
  next_at_ms: createdAtMs,
  lease_owner: null,
  lease_until_ms: 0,
  created_at_ms: createdAtMs,
  ended_at_ms: null,
})

interface LeaseInput<T> {
  owner: string
  /** Selects what is due by now. */
  nowMs: number
  untilMs: number
  /** Now by the clock of `untilMs`, if due times use another clock. */
  leaseClockMs?: number
  /** Maximum number of rows to read. */
  window: number
  /** Chooses among those. */
  choose: (due: readonly T[]) => readonly T[]
  /** Origins, and owners, that are at their limit. */
  fullOrigins: readonly string[]
  fullOwners: readonly string[]
}

/** Maximum lease: one that ends later was taken before the clock was set back. */
const maxLeaseMs = 60_000
/** Clocks of gateways differ by much less. */
const slackMs = 5_000

/**
 * Deliveries that were postponed under a clock that has been set back since: due later than the
 * maximum delay for their number of attempts. They become due at once.
 */
export async function wakeStrandedDeliveries<T extends Delivery>(
  tx: Kysely<Schema>,
  { table }: DeliveryQueue<T>,
  nowMs: number,
  maxMs: readonly number[],
): Promise<void> {
  await sql`
    UPDATE ${sql.table(table)} SET next_at_ms = ${nowMs}
    WHERE ${isWaiting} AND next_at_ms > ${nowMs + slackMs}
      AND next_at_ms > ${latestBy(nowMs + slackMs, 'attempts', maxMs)}`.execute(tx)
}

/** Not leased, by the time of this clock. */
const freeAt = (clockMs: number) =>
  sql`(lease_until_ms <= ${clockMs} OR lease_until_ms > ${clockMs + maxLeaseMs})`

/** Leases due deliveries until `untilMs`, oldest first. */
export async function leaseDue<T extends Delivery>(
  tx: Kysely<Schema>,
  dialect: Dialect,
  queue: DeliveryQueue<T>,
  input: LeaseInput<T>,
): Promise<T[]> {
  const { owner, nowMs, leaseClockMs = nowMs, untilMs, window } = input
  const table = sql.table(queue.table)
  const due = sql`${isWaiting} AND next_at_ms <= ${nowMs} AND ${freeAt(leaseClockMs)}`
  const others = [
    ...input.fullOrigins.map((start) => sql`AND substr(url, 1, ${start.length}) <> ${start}`),
    ...input.fullOwners.map((id) => sql`AND ${sql.ref(queue.owner)} <> ${id}`),
  ]
  const found = await sql<never>`
    SELECT * FROM ${table} WHERE ${due} ${sql.join(others, sql` `)}
    ORDER BY next_at_ms LIMIT ${window}`.execute(tx)
  const chosen = input.choose(found.rows.map(queue.shape)).map(({ id }) => id)
  if (chosen.length === 0) return []
  const free = sql`SELECT id FROM ${table} WHERE id IN (${sql.join(chosen)}) AND ${due}`
  // Rows that another gateway is taking at this moment are skipped.
  const taken = dialect === 'postgres' ? sql`${free} FOR UPDATE SKIP LOCKED` : free
  const { rows } = await sql<never>`
    UPDATE ${table} SET lease_owner = ${owner}, lease_until_ms = ${untilMs}
    WHERE id IN (${taken}) RETURNING *`.execute(tx)
  return rows.map(queue.shape)
}

/** When the next unleased one is due; undefined when there is none. */
export async function nextDueMs<T extends Delivery>(
  db: Kysely<Schema>,
  { table }: DeliveryQueue<T>,
  leaseClockMs: number,
): Promise<number | undefined> {
  const { rows } = await sql<{ next_at_ms: number }>`
    SELECT next_at_ms FROM ${sql.table(table)} WHERE ${isWaiting} AND ${freeAt(leaseClockMs)}
    ORDER BY next_at_ms LIMIT 1`.execute(db)
  return rows[0]?.next_at_ms
}

interface Outcome {
  id: string
  /** Who held the lease. */
  owner: string
  attempt: Attempt
  fateAfter: (attempts: number) => Fate
}

/**
 * Adds an attempt. A delivery counts whichever gateway made it; only the lease holder schedules the
 * next attempt.
 */
export async function recordOutcome<T extends Delivery>(
  tx: Kysely<Schema>,
  dialect: Dialect,
  queue: DeliveryQueue<T>,
  { id, owner, attempt, fateAfter }: Outcome,
): Promise<void> {
  const lock = dialect === 'postgres' ? sql`FOR UPDATE` : sql``
  const table = sql.table(queue.table)
  const { rows } = await sql<DeliveryColumns>`
    SELECT * FROM ${table} WHERE id = ${id} ${lock}`.execute(tx)
  const [row] = rows
  if (row === undefined) return
  await insertAttempt(tx, queue, id, attempt)
  const attempts = row.attempts + 1
  const fate = fateAfter(attempts)
  const isOurs = row.lease_owner === owner && row.state === 'waiting'
  if (!isOurs && fate.state !== 'delivered') return
  const nextAtMs = 'nextAtMs' in fate ? fate.nextAtMs : row.next_at_ms
  const endedAtMs = 'endedAtMs' in fate ? fate.endedAtMs : null
  await sql`
    UPDATE ${table} SET state = ${fate.state}, attempts = ${attempts}, next_at_ms = ${nextAtMs},
      ended_at_ms = ${endedAtMs}, lease_owner = NULL, lease_until_ms = 0
    WHERE id = ${id}`.execute(tx)
}

/** Numbers continue across restarts. */
async function insertAttempt<T extends Delivery>(
  tx: Kysely<Schema>,
  { attempts, attemptOf }: DeliveryQueue<T>,
  id: string,
  { atMs, tookMs, status, error }: Attempt,
): Promise<void> {
  const [table, of] = [sql.table(attempts), sql.ref(attemptOf)]
  const { rows } = await sql<{ number: number }>`
    SELECT number FROM ${table} WHERE ${of} = ${id} ORDER BY number DESC LIMIT 1`.execute(tx)
  const number = (rows[0]?.number ?? 0) + 1
  await sql`
    INSERT INTO ${table} (${of}, number, at_ms, took_ms, status, error)
    VALUES (${id}, ${number}, ${atMs}, ${tookMs}, ${status ?? null}, ${error ?? null})`.execute(tx)
}

/** Frees the deliveries of a dead owner; without one, of all owners. */
export async function freeDeliveries(
  tx: Kysely<Schema>,
  table: DeliveryQueue<Delivery>['table'],
  owner?: string,
): Promise<void> {
  const theirs = owner === undefined ? sql`IS NOT NULL` : sql`= ${owner}`
  await sql`
    UPDATE ${sql.table(table)} SET lease_until_ms = 0, lease_owner = NULL
    WHERE ${isWaiting} AND lease_owner ${theirs}`.execute(tx)
}
