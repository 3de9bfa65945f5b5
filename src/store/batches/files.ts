// Files of accounts. A row is there before its content and goes after it, so that no content is forgotten.
import { type ExpressionBuilder, type Kysely, type Selectable, sql } from 'kysely'
import {
  type AccountFile,
  type FilePurpose,
  type IdPage,
  maxFileBytes,
} from '../../contract/batches/index.ts'
import type { Schema } from '../schema.ts'
import { live } from './batches.ts'

type Db = Kysely<Schema>

/** A file and where its content is. */
export interface StoredFile extends AccountFile {
  place: string
  storedBytes: number
}

const shape = (row: Selectable<Schema['account_files']>): StoredFile => ({
  id: row.id,
  accountId: row.account_id,
  filename: row.filename,
  purpose: row.purpose,
  bytes: row.bytes,
  createdAtMs: row.created_at_ms,
  expiresAtMs: row.expires_at_ms,
  place: row.place,
  storedBytes: row.stored_bytes,
})

/** Before its content is written. */
export async function insertPending(
  tx: Db,
  file: Pick<StoredFile, 'id' | 'accountId' | 'purpose' | 'place' | 'createdAtMs' | 'expiresAtMs'>,
): Promise<void> {
  await tx
    .insertInto('account_files')
    .values({
      id: file.id,
      account_id: file.accountId,
      filename: '',
      purpose: file.purpose,
      bytes: 0,
      state: 'pending',
      place: file.place,
      stored_bytes: 0,
      created_at_ms: file.createdAtMs,
      expires_at_ms: file.expiresAtMs,
    })
    .execute()
}

interface WrittenFile {
  id: string
  bytes: number
  storedBytes: number
}

/** Its content is written, but it is not listed yet. */
export const sizePending = (tx: Db, { id, bytes, storedBytes }: WrittenFile) =>
  tx
    .updateTable('account_files')
    .set({ bytes, stored_bytes: storedBytes })
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .execute()

/** Undefined: it was given up meanwhile. */
export async function keepPending(
  tx: Db,
  id: string,
  terms: { filename: string; createdAtMs: number; expiresAtMs: number },
): Promise<StoredFile | undefined> {
  const row = await tx
    .updateTable('account_files')
    .set({
      state: 'kept',
      filename: terms.filename,
      created_at_ms: terms.createdAtMs,
      expires_at_ms: terms.expiresAtMs,
    })
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .returningAll()
    .executeTakeFirst()
  return row && shape(row)
}

export async function findFile(
  db: Db,
  accountId: string,
  id: string,
  nowMs: number,
): Promise<StoredFile | undefined> {
  const row = await db
    .selectFrom('account_files')
    .selectAll()
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .where('state', '=', 'kept')
    .where('expires_at_ms', '>', nowMs)
    .executeTakeFirst()
  return row && shape(row)
}

/** Newest first, unless asked otherwise. */
export async function listFiles(
  db: Db,
  accountId: string,
  page: IdPage & { purpose?: string },
  nowMs: number,
): Promise<StoredFile[]> {
  const { limit, after, order = 'desc', purpose } = page
  let query = db
    .selectFrom('account_files')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('state', '=', 'kept')
    .where('expires_at_ms', '>', nowMs)
    .orderBy('id', order)
    .limit(limit)
  if (after !== undefined) query = query.where('id', order === 'desc' ? '<' : '>', after)
  if (purpose !== undefined) query = query.where('purpose', '=', purpose as FilePurpose)
  return (await query.execute()).map(shape)
}

/** What an account keeps; a file that it is sending counts as the largest that there can be. */
export async function accountFiles(
  db: Db,
  accountId: string,
): Promise<{ count: number; bytes: number }> {
  const { rows } = await sql<{ count: number; sum: number | null }>`
    SELECT count(*) AS count,
      CAST(sum(CASE WHEN stored_bytes = 0 THEN ${maxFileBytes} ELSE bytes END) AS bigint) AS sum
    FROM account_files WHERE account_id = ${accountId} AND state <> 'gone'`.execute(db)
  return { count: Number(rows[0]?.count ?? 0), bytes: Number(rows[0]?.sum ?? 0) }
}

/** At least so long, locked until the transaction ends; false: it is gone. */
export async function keepUntil(tx: Db, id: string, untilMs: number): Promise<boolean> {
  const longer = sql<number>`CASE WHEN expires_at_ms < ${untilMs} THEN ${untilMs} ELSE expires_at_ms END`
  const { numUpdatedRows } = await tx
    .updateTable('account_files')
    .set({ expires_at_ms: longer })
    .where('id', '=', id)
    .where('state', '=', 'kept')
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** It is not found from here on; its content is removed after that. */
export async function markGone(tx: Db, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('account_files')
    .set({ state: 'gone' })
    .where('id', '=', id)
    .where('state', '!=', 'gone')
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export const deleteFileRow = (tx: Db, id: string) =>
  tx.deleteFrom('account_files').where('id', '=', id).where('state', '=', 'gone').execute()

const liveReaders = (e: ExpressionBuilder<Schema, 'account_files'>) =>
  e
    .selectFrom('batches')
    .select('batches.id')
    .whereRef('batches.input_file_id', '=', 'account_files.id')
    .whereRef('batches.account_id', '=', 'account_files.account_id')
    .where(live)

/** Files whose content may go: deleted, never completed, or expired and not the input of a live batch. */
export async function disposableFiles(
  db: Db,
  { nowMs, pendingBeforeMs, limit }: { nowMs: number; pendingBeforeMs: number; limit: number },
): Promise<StoredFile[]> {
  const rows = await db
    .selectFrom('account_files')
    .selectAll()
    .where((e) =>
      e.or([
        e.and([e('expires_at_ms', '<=', nowMs), e.not(e.exists(liveReaders(e)))]),
        e('state', '=', 'gone'),
        e.and([e('state', '=', 'pending'), e('created_at_ms', '<', pendingBeforeMs)]),
      ]),
    )
    .limit(limit)
    .execute()
  return rows.map(shape)
}
