// The audit log: who changed what. Rows are added in the transaction of the change itself.
import { type Kysely, type Selectable, type SqlBool, sql } from 'kysely'
import type { ActorKind } from '../../contract/people.ts'
import type { Schema } from '../schema.ts'
import { numberCursor, type Page, type PageQuery, pageOf } from '../sql/cursor.ts'

interface AuditRow {
  atMs: number
  actor: string
  /** Absent of an older row whose actor could have been either. */
  actorKind?: ActorKind
  /** Of a person. */
  actorId?: string
  action: string
  subject: string
  /** Text as shown to administrators: no secrets. */
  before?: string
  after?: string
  /** Client address and request id of the change; unknown for older rows. */
  address?: string
  requestId?: string
}

export interface StoredAuditRow extends AuditRow {
  id: number
}

/** Each filter matches the whole value; times mean "from then on" or "before then". */
export interface AuditFilter {
  actor?: string | undefined
  actorKind?: ActorKind | undefined
  action?: string | undefined
  subject?: string | undefined
  fromMs?: number | undefined
  toMs?: number | undefined
}

export async function appendAudit(tx: Kysely<Schema>, row: AuditRow): Promise<void> {
  await tx
    .insertInto('audit_log')
    .values({
      at_ms: row.atMs,
      actor: row.actor,
      actor_kind: row.actorKind ?? null,
      actor_id: row.actorId ?? null,
      action: row.action,
      subject: row.subject,
      before: row.before ?? null,
      after: row.after ?? null,
      address: row.address ?? null,
      request_id: row.requestId ?? null,
    })
    .execute()
}

/** Newest first. */
export async function listAudit(
  db: Kysely<Schema>,
  { limit, cursor, fromMs, toMs, actorKind, ...wanted }: PageQuery & AuditFilter,
): Promise<Page<StoredAuditRow>> {
  let query = db
    .selectFrom('audit_log')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit + 1)
  for (const column of ['actor', 'action'] as const) {
    const value = wanted[column]
    if (value !== undefined) query = query.where(column, '=', value)
  }
  if (wanted.subject !== undefined) query = query.where(isAbout(wanted.subject))
  if (actorKind !== undefined) query = query.where('actor_kind', '=', actorKind)
  if (fromMs !== undefined) query = query.where('at_ms', '>=', fromMs)
  if (toMs !== undefined) query = query.where('at_ms', '<', toMs)
  if (cursor !== undefined) query = query.where('id', '<', numberCursor(cursor))
  return pageOf(await query.execute(), limit, (row) => row.id, shape)
}

const named = [
  ['accounts', 'name'],
  ['tokens', 'name'],
  ['channels', 'name'],
  ['people', 'name'],
  ['prices', 'model'],
] as const

/** Its id or its name, also of what is gone; a price by its model. */
function isAbout(subject: string) {
  const ids = named.map(
    ([table, name]) => sql`SELECT id FROM ${sql.table(table)} WHERE ${sql.ref(name)} = ${subject}`,
  )
  const states = ['name', 'model'].flatMap((field) => {
    const text = `"${field}":${JSON.stringify(subject)}`
    return ['before', 'after'].map(
      (state) => sql`replace(${sql.ref(state)}, ${text}, '') <> ${sql.ref(state)}`,
    )
  })
  return sql<SqlBool>`(subject = ${subject} OR subject IN (${sql.join(ids, sql` UNION ALL `)})
    OR ${sql.join(states, sql` OR `)})`
}

/** What the things of these ids are called now; of those that are gone, nothing. */
export async function namesOfSubjects(
  db: Kysely<Schema>,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const [first, ...others] = new Set(ids)
  if (first === undefined) return new Map()
  const list = sql.join([first, ...others])
  const rows = named.map(
    ([table, name]) =>
      sql`SELECT id, ${sql.ref(name)} AS name FROM ${sql.table(table)} WHERE id IN (${list})`,
  )
  const found = await sql<{
    id: string
    name: string
  }>`${sql.join(rows, sql` UNION ALL `)}`.execute(db)
  return new Map(found.rows.map(({ id, name }) => [id, name]))
}

function shape(row: Selectable<Schema['audit_log']>): StoredAuditRow {
  const { id, at_ms, actor, action, subject, before, after, address, request_id } = row
  const shaped: StoredAuditRow = { id, atMs: at_ms, actor, action, subject }
  if (row.actor_kind !== null) shaped.actorKind = row.actor_kind as ActorKind
  if (row.actor_id !== null) shaped.actorId = row.actor_id
  if (before !== null) shaped.before = before
  if (after !== null) shaped.after = after
  if (address !== null) shaped.address = address
  if (request_id !== null) shaped.requestId = request_id
  return shaped
}
