// Rows of stored files, one per output of a succeeded task, after their claims in file-claims.ts;
// after its removal a row is a tombstone: nothing is stored, and no copy is tried again.
import type { Kysely, Selectable } from 'kysely'
import type { Schema } from '../schema.ts'

export interface KeptFile {
  taskId: string
  part: number
  place: string
  name: string
  bytes: number
  type: string
  etag: string
  keptAtMs: number
}

type Row = Selectable<Schema['files']>

export async function findKeptFiles(
  db: Kysely<Schema>,
  taskIds: readonly string[],
): Promise<KeptFile[]> {
  if (taskIds.length === 0) return []
  const rows = await db
    .selectFrom('files')
    .selectAll()
    .where('task_id', 'in', taskIds)
    .where('state', '=', 'kept')
    .execute()
  return rows.map(shape)
}

export async function sumKeptBytes(db: Kysely<Schema>, place: string): Promise<number> {
  const { sum } = await db
    .selectFrom('files')
    .select((e) => e.fn.sum('bytes').as('sum'))
    .where('place', '=', place)
    .where('state', '=', 'kept')
    .executeTakeFirstOrThrow()
  return Number(sum ?? 0)
}

/** Oldest first; stored before the given time, if any. */
export async function oldestFiles(
  db: Kysely<Schema>,
  place: string,
  limit: number,
  beforeMs?: number,
): Promise<KeptFile[]> {
  let query = db
    .selectFrom('files')
    .selectAll()
    .where('place', '=', place)
    .where('state', '=', 'kept')
    .orderBy('since_ms')
    .limit(limit)
  if (beforeMs !== undefined) query = query.where('since_ms', '<', beforeMs)
  return (await query.execute()).map(shape)
}

/** Turns a stored file into a tombstone; false when it was not stored any more. */
export async function dropFile(
  tx: Kysely<Schema>,
  { taskId, part, name }: KeptFile,
  nowMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('files')
    .set({ state: 'gone', since_ms: nowMs, bytes: 0 })
    .where('task_id', '=', taskId)
    .where('part', '=', part)
    .where('name', '=', name)
    .where('state', '=', 'kept')
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Tombstones older than a given time. */
export async function oldMarks(
  db: Kysely<Schema>,
  place: string,
  beforeMs: number,
  limit: number,
): Promise<KeptFile[]> {
  const rows = await db
    .selectFrom('files')
    .selectAll()
    .where('place', '=', place)
    .where('state', '=', 'gone')
    .where('since_ms', '<', beforeMs)
    .orderBy('since_ms')
    .limit(limit)
    .execute()
  return rows.map(shape)
}

export async function forgetMark(tx: Kysely<Schema>, { taskId, part }: KeptFile): Promise<void> {
  await tx
    .deleteFrom('files')
    .where('task_id', '=', taskId)
    .where('part', '=', part)
    .where('state', '=', 'gone')
    .execute()
}

const shape = (row: Row): KeptFile => ({
  taskId: row.task_id,
  part: row.part,
  place: row.place,
  name: row.name,
  bytes: row.bytes,
  type: row.type,
  etag: row.etag,
  keptAtMs: row.since_ms,
})

/** Turns all files of a task into tombstones; returns the stored ones, to be removed. */
export async function dropTaskFiles(
  tx: Kysely<Schema>,
  taskId: string,
  nowMs: number,
): Promise<KeptFile[]> {
  const kept = await findKeptFiles(tx, [taskId])
  await tx
    .updateTable('files')
    .set({ state: 'gone', since_ms: nowMs, bytes: 0 })
    .where('task_id', '=', taskId)
    .execute()
  return kept
}
