// Codes that members redeem for credit. A code is known by its hash; one that was withdrawn has no row.
import type { Kysely, Selectable } from 'kysely'
import type { Schema } from '../schema.ts'
import { type Page, type PageQuery, pageOf, textCursor } from '../sql/cursor.ts'

type Db = Kysely<Schema>

export interface Code {
  id: string
  amountNanos: bigint
  note?: string
  /** As the audit log names them. */
  createdBy: string
  createdAtMs: number
  expiresAtMs?: number
  /** The account that redeemed it, and its name. */
  accountId?: string
  account?: string
  redeemedAtMs?: number
}

export async function insertCodes(
  tx: Db,
  codes: readonly (Code & { hash: string })[],
): Promise<void> {
  const rows = codes.map((code) => ({
    id: code.id,
    hash: code.hash,
    amount_nanos: code.amountNanos,
    note: code.note ?? null,
    created_by: code.createdBy,
    created_at_ms: code.createdAtMs,
    expires_at_ms: code.expiresAtMs ?? null,
  }))
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    await tx
      .insertInto('codes')
      .values(rows.slice(at, at + rowsAtOnce))
      .execute()
  }
}

const rowsAtOnce = 100

/** Newest first. */
export async function listCodes(db: Db, { limit, cursor }: PageQuery): Promise<Page<Code>> {
  let query = db
    .selectFrom('codes')
    .leftJoin('accounts', 'accounts.id', 'codes.account_id')
    .selectAll('codes')
    .select('accounts.name as account')
  if (cursor !== undefined) query = query.where('codes.id', '<', textCursor(cursor))
  const rows = await query
    .orderBy('codes.id', 'desc')
    .limit(limit + 1)
    .execute()
  return pageOf(rows, limit, ({ id }) => id, shape)
}

export const findCode = (db: Db, id: string): Promise<Code | undefined> => find(db, 'id', id)

export const findCodeByHash = (db: Db, hash: string): Promise<Code | undefined> =>
  find(db, 'hash', hash)

async function find(db: Db, by: 'id' | 'hash', value: string): Promise<Code | undefined> {
  const row = await db.selectFrom('codes').selectAll().where(by, '=', value).executeTakeFirst()
  return row && shape({ ...row, account: null })
}

/** False: it was redeemed already, has expired, or was withdrawn. */
export async function redeemCode(
  tx: Db,
  id: string,
  { accountId, atMs }: { accountId: string; atMs: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('codes')
    .set({ account_id: accountId, redeemed_at_ms: atMs })
    .where('id', '=', id)
    .where('redeemed_at_ms', 'is', null)
    .where((e) => e.or([e('expires_at_ms', 'is', null), e('expires_at_ms', '>', atMs)]))
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** False: it was redeemed. */
export async function deleteCode(tx: Db, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('codes')
    .where('id', '=', id)
    .where('redeemed_at_ms', 'is', null)
    .executeTakeFirst()
  return numDeletedRows === 1n
}

type Row = Selectable<Schema['codes']> & { account: string | null }

const shape = (row: Row): Code => ({
  id: row.id,
  amountNanos: row.amount_nanos,
  createdBy: row.created_by,
  createdAtMs: row.created_at_ms,
  ...(row.note !== null && { note: row.note }),
  ...(row.expires_at_ms !== null && { expiresAtMs: row.expires_at_ms }),
  ...(row.account_id !== null && { accountId: row.account_id }),
  ...(row.account !== null && { account: row.account }),
  ...(row.redeemed_at_ms !== null && { redeemedAtMs: row.redeemed_at_ms }),
})
