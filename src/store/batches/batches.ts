// Batches and which gateway runs each. One that dies loses what it runs: its name is no gateway's any more.
import { type Kysely, type Selectable, sql } from 'kysely'
import { type Batch, type IdPage, liveBatchStates } from '../../contract/batches/index.ts'
import type { Dialect, Schema } from '../schema.ts'
import { type Page, type PageQuery, pageOf, textCursor } from '../sql/cursor.ts'

type Db = Kysely<Schema>
type Row = Selectable<Schema['batches']>

const columns = [
  ...['id', 'accountId', 'tokenId', 'endpoint', 'inputFileId', 'state', 'total', 'completed'],
  ...['failed', 'chargeNanos', 'outputFileId', 'errorFileId', 'createdAtMs', 'expiresAtMs', 'tags'],
]

/** What has no column of its own. */
const bodyOf = (batch: Batch): string =>
  JSON.stringify(
    Object.fromEntries(Object.entries(batch).filter(([key]) => !columns.includes(key))),
  )

const shape = (row: Row): Batch => ({
  ...(JSON.parse(row.body) as Partial<Batch>),
  id: row.id,
  accountId: row.account_id,
  tokenId: row.token_id,
  endpoint: row.endpoint,
  inputFileId: row.input_file_id,
  state: row.state,
  total: row.total,
  completed: row.completed,
  failed: row.failed,
  chargeNanos: row.charge_nanos,
  createdAtMs: row.created_at_ms,
  expiresAtMs: row.expires_at_ms,
  ...(row.output_file_id !== null && { outputFileId: row.output_file_id }),
  ...(row.error_file_id !== null && { errorFileId: row.error_file_id }),
  ...(row.tags !== null && { tags: row.tags }),
})

export async function insertBatch(tx: Db, batch: Batch): Promise<void> {
  await tx
    .insertInto('batches')
    .values({
      id: batch.id,
      account_id: batch.accountId,
      token_id: batch.tokenId,
      endpoint: batch.endpoint,
      input_file_id: batch.inputFileId,
      created_at_ms: batch.createdAtMs,
      expires_at_ms: batch.expiresAtMs,
      tags: batch.tags ?? null,
      owner: null,
      fence: 0,
      ...changing(batch),
    })
    .execute()
}

const changing = (batch: Batch) => ({
  state: batch.state,
  total: batch.total,
  completed: batch.completed,
  failed: batch.failed,
  charge_nanos: batch.chargeNanos,
  output_file_id: batch.outputFileId ?? null,
  error_file_id: batch.errorFileId ?? null,
  body: bodyOf(batch),
})

/** The right to run a batch: void once another gateway has claimed it. */
export interface Claim {
  batchId: string
  owner: string
  fence: number
}

/** Whether the claim is still held; on PostgreSQL its row stays locked until the transaction ends. */
export async function holds(tx: Db, dialect: Dialect, claim: Claim): Promise<boolean> {
  return (await lockBatch(tx, dialect, claim)) !== undefined
}

/** The batch as it is, if the claim is still held. */
export async function lockBatch(
  tx: Db,
  dialect: Dialect,
  { batchId, owner, fence }: Claim,
): Promise<Batch | undefined> {
  let query = tx
    .selectFrom('batches')
    .selectAll()
    .where('id', '=', batchId)
    .where('owner', '=', owner)
    .where('fence', '=', fence)
  if (dialect === 'postgres') query = query.forUpdate()
  const row = await query.executeTakeFirst()
  return row && shape(row)
}

/** Within a transaction that has it locked. */
export async function updateBatch(tx: Db, batch: Batch): Promise<void> {
  await tx.updateTable('batches').set(changing(batch)).where('id', '=', batch.id).execute()
}

/** Only its progress. */
export async function saveProgress(
  tx: Db,
  { batchId, owner, fence }: Claim,
  { completed, failed, chargeNanos }: Pick<Batch, 'completed' | 'failed' | 'chargeNanos'>,
): Promise<void> {
  await tx
    .updateTable('batches')
    .set({ completed, failed, charge_nanos: chargeNanos })
    .where('id', '=', batchId)
    .where('owner', '=', owner)
    .where('fence', '=', fence)
    .execute()
}

export async function findBatch(db: Db, accountId: string, id: string): Promise<Batch | undefined> {
  const row = await db
    .selectFrom('batches')
    .selectAll()
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return row && shape(row)
}

/** Of whichever account. */
export async function findAnyBatch(db: Db, id: string): Promise<Batch | undefined> {
  const row = await db.selectFrom('batches').selectAll().where('id', '=', id).executeTakeFirst()
  return row && shape(row)
}

/** To be changed in the transaction. */
export async function lockOwnBatch(
  tx: Db,
  dialect: Dialect,
  accountId: string,
  id: string,
): Promise<Batch | undefined> {
  let query = tx
    .selectFrom('batches')
    .selectAll()
    .where('id', '=', id)
    .where('account_id', '=', accountId)
  if (dialect === 'postgres') query = query.forUpdate()
  const row = await query.executeTakeFirst()
  return row && shape(row)
}

export async function countLiveOf(db: Db, accountId: string): Promise<number> {
  const { count } = await db
    .selectFrom('batches')
    .select((e) => e.fn.countAll().as('count'))
    .where(live)
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Whether the account has made so many since. */
export async function hasMadeSince(
  db: Db,
  accountId: string,
  count: number,
  sinceMs: number,
): Promise<boolean> {
  const row = await db
    .selectFrom('batches')
    .select('created_at_ms')
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .limit(1)
    .offset(count - 1)
    .executeTakeFirst()
  return row !== undefined && row.created_at_ms > sinceMs
}

/** Newest first. */
export async function listBatches(
  db: Db,
  accountId: string,
  { limit, after }: IdPage,
): Promise<Batch[]> {
  let query = db
    .selectFrom('batches')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .limit(limit)
  if (after !== undefined) query = query.where('id', '<', after)
  return (await query.execute()).map(shape)
}

interface BatchFilter extends PageQuery {
  accountId?: string | undefined
  state?: Batch['state'] | undefined
}

/** Newest first. */
export async function listAllBatches(
  db: Db,
  { limit, cursor, accountId, state }: BatchFilter,
): Promise<Page<Batch>> {
  let query = db
    .selectFrom('batches')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (accountId !== undefined) query = query.where('account_id', '=', accountId)
  if (state !== undefined) query = query.where('state', '=', state)
  if (cursor !== undefined) query = query.where('id', '<', textCursor(cursor))
  return pageOf(await query.execute(), limit, ({ id }) => id, shape)
}

// Literal as in the partial index: only then does a planner use it.
export const live = sql<boolean>`state IN (${sql.raw(liveBatchStates.map((s) => `'${s}'`).join(', '))})`

/** Live batches that no living gateway runs, oldest first. */
export async function freeBatches(db: Db, dialect: Dialect, limit: number): Promise<Batch[]> {
  const rows = await db
    .selectFrom('batches')
    .selectAll()
    .where(live)
    .where(isFree(dialect))
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(shape)
}

const isFree = (dialect: Dialect) =>
  dialect === 'postgres'
    ? sql<boolean>`(owner IS NULL OR owner NOT IN (SELECT id FROM gateways))`
    : sql<boolean>`owner IS NULL`

/** Undefined: another gateway was faster, or it has ended. */
export async function claimBatch(
  tx: Db,
  dialect: Dialect,
  id: string,
  owner: string,
): Promise<{ batch: Batch; claim: Claim } | undefined> {
  const row = await tx
    .updateTable('batches')
    .set((e) => ({ owner, fence: e('fence', '+', 1) }))
    .where('id', '=', id)
    .where(live)
    .where(isFree(dialect))
    .returningAll()
    .executeTakeFirst()
  return row && { batch: shape(row), claim: { batchId: id, owner, fence: row.fence } }
}

export const releaseClaim = (tx: Db, { batchId, owner, fence }: Claim) =>
  tx
    .updateTable('batches')
    .set({ owner: null })
    .where('id', '=', batchId)
    .where('owner', '=', owner)
    .where('fence', '=', fence)
    .execute()

/** What a gateway has claimed, but for some. */
export function freeBatchesOf(tx: Db, owner: string, but: readonly string[]) {
  const query = tx.updateTable('batches').set({ owner: null }).where('owner', '=', owner)
  return (but.length === 0 ? query : query.where('id', 'not in', but)).execute()
}

/** Where no other process can have the database open. */
export const freeAllBatches = (tx: Db) =>
  tx.updateTable('batches').set({ owner: null }).where('owner', 'is not', null).execute()

/** Whether a live batch reads the file. */
export async function isInUse(db: Db, fileId: string, accountId: string): Promise<boolean> {
  const row = await db
    .selectFrom('batches')
    .select('id')
    .where(live)
    .where('account_id', '=', accountId)
    .where('input_file_id', '=', fileId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
