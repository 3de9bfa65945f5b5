// Who changed what. Rows are added in the transaction of the change itself.
import type { Kysely, Selectable } from 'kysely'
import { numberCursor, type Page, type PageQuery, pageOf } from './cursor.ts'
import type { Schema } from './schema.ts'

export interface AuditRow {
  atMs: number
  actor: string
  action: string
  subject: string
  /** Text as the administrator may see it: no secrets. */
  before?: string
  after?: string
}

export interface StoredAuditRow extends AuditRow {
  id: number
}

export async function appendAudit(tx: Kysely<Schema>, row: AuditRow): Promise<void> {
  await tx
    .insertInto('audit_log')
    .values({
      at_ms: row.atMs,
      actor: row.actor,
      action: row.action,
      subject: row.subject,
      before: row.before ?? null,
      after: row.after ?? null,
    })
    .execute()
}

/** Newest first. */
export async function listAudit(
  db: Kysely<Schema>,
  { limit, cursor }: PageQuery,
): Promise<Page<StoredAuditRow>> {
  let query = db
    .selectFrom('audit_log')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (cursor !== undefined) query = query.where('id', '<', numberCursor(cursor))
  return pageOf(await query.execute(), limit, (row) => row.id, shape)
}

function shape(row: Selectable<Schema['audit_log']>): StoredAuditRow {
  const { id, at_ms, actor, action, subject, before, after } = row
  const shaped: StoredAuditRow = { id, atMs: at_ms, actor, action, subject }
  if (before !== null) shaped.before = before
  if (after !== null) shaped.after = after
  return shaped
}
