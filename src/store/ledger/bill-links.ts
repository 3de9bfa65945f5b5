// Rows of links to bills. One that is revoked has no row; one that has expired is not found.
import type { Kysely, Selectable } from 'kysely'
import type { Schema } from '../schema.ts'

export interface BillLink {
  id: string
  accountId: string
  month: string
  language: 'en' | 'zh'
  /** Where it was sent. */
  email?: string
  /** As the audit log names them. */
  createdBy: string
  /** A person of the account made it. */
  isByMember: boolean
  createdAtMs: number
  expiresAtMs: number
}

type Db = Kysely<Schema>

export async function insertBillLink(tx: Db, link: BillLink): Promise<void> {
  await tx
    .insertInto('bill_links')
    .values({
      id: link.id,
      account_id: link.accountId,
      month: link.month,
      language: link.language,
      email: link.email ?? null,
      created_by: link.createdBy,
      by_member: link.isByMember ? 1 : 0,
      created_at_ms: link.createdAtMs,
      expires_at_ms: link.expiresAtMs,
    })
    .execute()
}

/** Those that work, the newest first, unpaged: their number is limited. */
export async function listBillLinks(
  db: Db,
  { accountId, month, nowMs }: { accountId: string; month?: string | undefined; nowMs: number },
): Promise<BillLink[]> {
  let query = db
    .selectFrom('bill_links')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('expires_at_ms', '>', nowMs)
  if (month !== undefined) query = query.where('month', '=', month)
  const rows = await query.orderBy('created_at_ms', 'desc').orderBy('id', 'desc').execute()
  return rows.map(shape)
}

/** Undefined unless the link works. */
export async function findBillLink(
  db: Db,
  id: string,
  nowMs: number,
): Promise<BillLink | undefined> {
  const row = await db
    .selectFrom('bill_links')
    .selectAll()
    .where('id', '=', id)
    .where('expires_at_ms', '>', nowMs)
    .executeTakeFirst()
  return row && shape(row)
}

/** False when it has been revoked already. */
export async function deleteBillLink(tx: Db, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('bill_links')
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows === 1n
}

/** Deletes what has expired. */
export async function forgetBillLinks(tx: Db, nowMs: number): Promise<void> {
  await tx.deleteFrom('bill_links').where('expires_at_ms', '<=', nowMs).execute()
}

function shape(row: Selectable<Schema['bill_links']>): BillLink {
  return {
    id: row.id,
    accountId: row.account_id,
    month: row.month,
    language: row.language as 'en' | 'zh',
    ...(row.email !== null && { email: row.email }),
    createdBy: row.created_by,
    isByMember: row.by_member === 1,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
  }
}
