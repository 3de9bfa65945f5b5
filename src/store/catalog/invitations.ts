// Rows of links that create a person or set a new password. Codes arrive as hashes only. A row is
// accepted once: of two transactions that accept it, one changes a row.
import type { Kysely, Selectable } from 'kysely'
import type { Role } from '../../contract/people.ts'
import type { Schema } from '../schema.ts'

export interface Invitation {
  id: string
  role: Role
  /** Of a member. */
  accountId?: string
  email?: string
  /** The link sets a new password of this person. */
  personId?: string
  /** As the audit log names them. */
  createdBy: string
  /** Absent: the admin token. */
  createdById?: string
  createdAtMs: number
  expiresAtMs: number
  acceptedAtMs?: number
  /** The person who was created. */
  acceptedById?: string
}

type Db = Kysely<Schema>

export async function insertInvitation(tx: Db, invitation: Invitation, hash: string) {
  await tx
    .insertInto('invitations')
    .values({
      id: invitation.id,
      hash,
      role: invitation.role,
      account_id: invitation.accountId ?? null,
      email: invitation.email ?? null,
      person_id: invitation.personId ?? null,
      created_by: invitation.createdBy,
      created_by_id: invitation.createdById ?? null,
      created_at_ms: invitation.createdAtMs,
      expires_at_ms: invitation.expiresAtMs,
      accepted_at_ms: null,
      accepted_by_id: null,
    })
    .execute()
}

/** The newest first, unpaged: their number is limited. */
export async function listInvitations(db: Db): Promise<Invitation[]> {
  const rows = await db
    .selectFrom('invitations')
    .selectAll()
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .execute()
  return rows.map(shape)
}

export async function findInvitation(db: Db, id: string): Promise<Invitation | undefined> {
  const row = await db.selectFrom('invitations').selectAll().where('id', '=', id).executeTakeFirst()
  return row && shape(row)
}

/** Undefined unless the link can still be accepted. */
export async function findPending(
  db: Db,
  hash: string,
  nowMs: number,
): Promise<Invitation | undefined> {
  const row = await db
    .selectFrom('invitations')
    .selectAll()
    .where('hash', '=', hash)
    .where('accepted_at_ms', 'is', null)
    .where('expires_at_ms', '>', nowMs)
    .executeTakeFirst()
  return row && shape(row)
}

/** False when it has been accepted, revoked or has expired meanwhile. */
export async function acceptInvitation(
  tx: Db,
  hash: string,
  by: { personId: string; atMs: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('invitations')
    .set({ accepted_at_ms: by.atMs, accepted_by_id: by.personId })
    .where('hash', '=', hash)
    .where('accepted_at_ms', 'is', null)
    .where('expires_at_ms', '>', by.atMs)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** False when it has been accepted or revoked. */
export async function revokeInvitation(tx: Db, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('invitations')
    .where('id', '=', id)
    .where('accepted_at_ms', 'is', null)
    .executeTakeFirst()
  return numDeletedRows === 1n
}

/** Revokes the links that set a new password of this person. */
export async function revokePasswordLinks(tx: Db, personId: string): Promise<void> {
  await tx
    .deleteFrom('invitations')
    .where('person_id', '=', personId)
    .where('accepted_at_ms', 'is', null)
    .execute()
}

/** Revokes the links that this person has created. */
export async function revokeLinksBy(tx: Db, personId: string): Promise<void> {
  await tx
    .deleteFrom('invitations')
    .where('created_by_id', '=', personId)
    .where('accepted_at_ms', 'is', null)
    .execute()
}

/** Deletes what expired before this time. */
export async function forgetInvitations(tx: Db, beforeMs: number): Promise<void> {
  await tx.deleteFrom('invitations').where('expires_at_ms', '<', beforeMs).execute()
}

export async function countPending(db: Db, nowMs: number): Promise<number> {
  const { count } = await db
    .selectFrom('invitations')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('accepted_at_ms', 'is', null)
    .where('expires_at_ms', '>', nowMs)
    .executeTakeFirstOrThrow()
  return Number(count)
}

function shape(row: Selectable<Schema['invitations']>): Invitation {
  return {
    id: row.id,
    role: row.role as Role,
    ...(row.account_id !== null && { accountId: row.account_id }),
    ...(row.email !== null && { email: row.email }),
    ...(row.person_id !== null && { personId: row.person_id }),
    createdBy: row.created_by,
    ...(row.created_by_id !== null && { createdById: row.created_by_id }),
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
    ...(row.accepted_at_ms !== null && { acceptedAtMs: row.accepted_at_ms }),
    ...(row.accepted_by_id !== null && { acceptedById: row.accepted_by_id }),
  }
}
