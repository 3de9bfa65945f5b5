// Alerts for administrators. At most one alert is open per kind and subject; raising it again
// increments its count, and undoes that it was acknowledged. Does not know why an alert is raised and does not act on it.
import { type Kysely, type Selectable, type SqlBool, sql } from 'kysely'
import { newShortId } from '../../lib/crypto/ids.ts'
import type { Schema } from '../schema.ts'
import { BadCursor, type Page, type PageQuery, pageOf, textCursor } from '../sql/cursor.ts'

export interface AlertOf {
  /** Such as 'books' or 'missing_price'. */
  kind: string
  /** Subject of the alert: an account id, a model, … */
  subject: string
  message: string
  atMs: number
  /** The same state as before, found once more: who has acknowledged it need not look again. */
  isLasting?: true
}

export interface Alert {
  id: string
  kind: string
  subject: string
  /** The latest message. */
  message: string
  sinceMs: number
  lastMs: number
  /** How often it was raised while open. */
  times: number
  resolvedAtMs?: number
  /** The person; absent: the gateway, or it is open. */
  resolvedBy?: string
  /** A person has taken it on. */
  acknowledgedAtMs?: number
  acknowledgedBy?: string
  /** It had been acknowledged, and has occurred again. */
  recurredAtMs?: number
}

/** The open alert, new or raised again: `times` is 1 for a new one. */
export async function raiseAlert(tx: Kysely<Schema>, alert: AlertOf): Promise<Alert> {
  const { kind, subject, message, atMs, isLasting = false } = alert
  const recurred = sql<number | null>`CASE WHEN alerts.acknowledged_at_ms IS NULL
    THEN alerts.recurred_at_ms ELSE ${atMs} END`
  const again = { recurred_at_ms: recurred, acknowledged_at_ms: null, acknowledged_by: null }
  const row = await tx
    .insertInto('alerts')
    .values({
      id: newShortId('alr', atMs),
      kind,
      subject,
      message,
      since_ms: atMs,
      last_ms: atMs,
      times: 1,
      resolved_at_ms: null,
      resolved_by: null,
      acknowledged_at_ms: null,
      acknowledged_by: null,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['kind', 'subject'])
        .where('resolved_at_ms', 'is', null)
        .doUpdateSet((e) => ({
          ...{ message, last_ms: atMs, times: e('alerts.times', '+', 1) },
          ...(!isLasting && again),
        })),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
  return shape(row)
}

/** True when an open alert existed. `by` is a person; absent: it is over. */
export async function resolveAlerts(
  tx: Kysely<Schema>,
  kind: string,
  subject: string,
  atMs: number,
  by?: string | undefined,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('alerts')
    .set({ resolved_at_ms: atMs, resolved_by: by ?? null })
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .where('resolved_at_ms', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** False when it was already resolved or does not exist. */
export async function resolveAlert(
  tx: Kysely<Schema>,
  id: string,
  { atMs, by }: { atMs: number; by?: string | undefined },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('alerts')
    .set({ resolved_at_ms: atMs, resolved_by: by ?? null })
    .where('id', '=', id)
    .where('resolved_at_ms', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** False when it is resolved or acknowledged already, or does not exist. */
export async function acknowledgeAlert(
  tx: Kysely<Schema>,
  id: string,
  { atMs, by }: { atMs: number; by?: string | undefined },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('alerts')
    .set({ acknowledged_at_ms: atMs, acknowledged_by: by ?? null, recurred_at_ms: null })
    .where('id', '=', id)
    .where('resolved_at_ms', 'is', null)
    .where('acknowledged_at_ms', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function findAlert(db: Kysely<Schema>, id: string): Promise<Alert | undefined> {
  const row = await db.selectFrom('alerts').selectAll().where('id', '=', id).executeTakeFirst()
  return row && shape(row)
}

interface AlertFilter extends PageQuery {
  kind?: string | undefined
  /** Include resolved alerts. */
  all?: boolean
  /** These alone. */
  resolved?: boolean
}

/** Newest first. */
export async function listAlerts(db: Kysely<Schema>, filter: AlertFilter): Promise<Page<Alert>> {
  const { limit, cursor, kind, all = false, resolved = false } = filter
  let query = db
    .selectFrom('alerts')
    .selectAll()
    .orderBy('since_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (resolved) query = query.where('resolved_at_ms', 'is not', null)
  else if (!all) query = query.where('resolved_at_ms', 'is', null)
  if (kind !== undefined) query = query.where('kind', '=', kind)
  if (cursor !== undefined) {
    const [, ms, id] = /^(\d{1,15})\.(.+)$/.exec(textCursor(cursor)) ?? []
    if (id === undefined) throw new BadCursor('unknown cursor')
    query = query.where(sql<SqlBool>`(since_ms, id) < (${Number(ms)}, ${id})`)
  }
  return pageOf(await query.execute(), limit, (row) => `${row.since_ms}.${row.id}`, shape)
}

const shape = (row: Selectable<Schema['alerts']>): Alert => ({
  id: row.id,
  kind: row.kind,
  subject: row.subject,
  message: row.message,
  sinceMs: row.since_ms,
  lastMs: row.last_ms,
  times: row.times,
  ...(row.resolved_at_ms !== null && { resolvedAtMs: row.resolved_at_ms }),
  ...(row.resolved_by !== null && { resolvedBy: row.resolved_by }),
  ...(row.acknowledged_at_ms !== null && { acknowledgedAtMs: row.acknowledged_at_ms }),
  ...(row.acknowledged_by !== null && { acknowledgedBy: row.acknowledged_by }),
  ...(row.recurred_at_ms !== null && { recurredAtMs: row.recurred_at_ms }),
})
