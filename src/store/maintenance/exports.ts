// Exports: the jobs, and the compressed chunks of their files so far. A chunk and the position of
// the next one are written together or not at all. Knows no list.
import { type Kysely, type Selectable, sql } from 'kysely'
import type { Dialect, Schema } from '../schema.ts'
import { type Page, type PageQuery, pageOf, textCursor } from '../sql/cursor.ts'

export interface ExportJob {
  id: string
  createdAtMs: number
  /** The requester, as the audit log names it. */
  actor: string
  personId?: string
  /** The only account whose data it may contain. */
  accountId?: string
  kind: string
  format: string
  filters: Readonly<Record<string, string>>
  state: Selectable<Schema['exports']>['state']
  place?: string
  rows: number
  totalRows?: number
  /** Size of the file, and of the stored part. */
  bytes: number
  storedBytes: number
  chunks: number
  /** It exceeded the maximum file size. */
  isCut: boolean
  error?: string
  attempts: number
  finishedAtMs?: number
  expiresAtMs: number
}

type NewExport = Pick<
  ExportJob,
  'id' | 'createdAtMs' | 'actor' | 'kind' | 'format' | 'filters' | 'expiresAtMs'
> & { personId?: string | undefined; accountId?: string | undefined }

export async function insertExport(tx: Kysely<Schema>, job: NewExport): Promise<void> {
  await tx
    .insertInto('exports')
    .values({
      id: job.id,
      created_at_ms: job.createdAtMs,
      actor: job.actor,
      person_id: job.personId ?? null,
      account_id: job.accountId ?? null,
      kind: job.kind,
      format: job.format,
      filters: JSON.stringify(job.filters),
      state: 'waiting',
      row_count: 0,
      bytes: 0,
      stored_bytes: 0,
      chunks: 0,
      is_cut: 0,
      attempts: 0,
      lease_until_ms: 0,
      expires_at_ms: job.expiresAtMs,
    })
    .execute()
}

export async function findExport(db: Kysely<Schema>, id: string): Promise<ExportJob | undefined> {
  if (id.includes('\0')) return undefined
  const row = await db
    .selectFrom('exports')
    .selectAll()
    .where('id', '=', id)
    .where('state', '<>', 'dropped')
    .executeTakeFirst()
  return row && shape(row)
}

/** Newest first: ids begin with their time. Filtered by person, if one is named. */
export async function listExports(
  db: Kysely<Schema>,
  { limit, cursor, personId }: PageQuery & { personId?: string | undefined },
): Promise<Page<ExportJob>> {
  let query = db
    .selectFrom('exports')
    .selectAll()
    .where('state', '<>', 'dropped')
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (cursor !== undefined) query = query.where('id', '<', textCursor(cursor))
  if (personId !== undefined) query = query.where('person_id', '=', personId)
  return pageOf(await query.execute(), limit, (row) => row.id, shape)
}

/** Stored bytes, and how many unfinished jobs a person, or all non-person actors, have. */
export async function weighExports(
  db: Kysely<Schema>,
  personId: string | undefined,
): Promise<{ jobs: number; storedBytes: number; unfinished: number }> {
  const { rows } = await sql<{ jobs: number; stored_bytes: number; unfinished: number }>`
    SELECT count(*) AS jobs, CAST(coalesce(sum(stored_bytes), 0) AS bigint) AS stored_bytes,
      CAST(coalesce(sum(CASE WHEN state IN ('waiting', 'running')
        AND coalesce(person_id, '') = ${personId ?? ''} THEN 1 ELSE 0 END), 0) AS bigint)
        AS unfinished
    FROM exports`.execute(db)
  const { jobs, stored_bytes, unfinished } = rows[0]!
  return { jobs, storedBytes: stored_bytes, unfinished }
}

/** Maximum lease: one that ends later was taken before the clock was set back. */
const maxLeaseMs = 300_000

interface Claim {
  owner: string
  nowMs: number
  untilMs: number
}

/** The oldest unfinished job that is not leased. */
export async function takeExport(
  tx: Kysely<Schema>,
  dialect: Dialect,
  { owner, nowMs, untilMs }: Claim,
): Promise<ExportJob | undefined> {
  const free = sql`
    SELECT id FROM exports
    WHERE state IN ('waiting', 'running') AND (
      lease_until_ms <= ${nowMs} OR lease_until_ms > ${nowMs + maxLeaseMs}
      OR lease_owner = ${owner})
    ORDER BY id LIMIT 1`
  // Rows that another gateway is taking at this moment are skipped.
  const one = dialect === 'postgres' ? sql`${free} FOR UPDATE SKIP LOCKED` : free
  const { rows } = await sql<Selectable<Schema['exports']>>`
    UPDATE exports SET state = 'running', lease_owner = ${owner}, lease_until_ms = ${untilMs},
      attempts = attempts + 1
    WHERE id = (${one}) RETURNING *`.execute(tx)
  return rows[0] && shape(rows[0])
}

/** Progress since the last chunk. */
export interface Progress {
  place: string | undefined
  rows: number
  bytes: number
  totalRows: number | undefined
  /** Compressed; absent when only the position has moved. */
  chunk?: Uint8Array
  end?: { atMs: number; expiresAtMs: number; isCut: boolean }
}

/** False, and nothing is written, when another gateway has the job or it is gone. */
export async function saveProgress(
  tx: Kysely<Schema>,
  { id, chunks }: Pick<ExportJob, 'id' | 'chunks'>,
  { owner, untilMs }: Omit<Claim, 'nowMs'>,
  { place, rows, bytes, totalRows, chunk, end }: Progress,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('exports')
    .set((e) => ({
      place: place ?? null,
      row_count: e('row_count', '+', rows),
      bytes: e('bytes', '+', bytes),
      total_rows: totalRows ?? null,
      attempts: 0,
      lease_until_ms: untilMs,
      ...(chunk !== undefined && {
        chunks: e('chunks', '+', 1),
        stored_bytes: e('stored_bytes', '+', chunk.byteLength),
      }),
      ...(end !== undefined && {
        state: 'done' as const,
        is_cut: end.isCut ? 1 : 0,
        finished_at_ms: end.atMs,
        expires_at_ms: end.expiresAtMs,
        lease_owner: null,
      }),
    }))
    .where('id', '=', id)
    .where('lease_owner', '=', owner)
    .where('chunks', '=', chunks)
    .where('state', '=', 'running')
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) return false
  if (chunk !== undefined) {
    const values = { export_id: id, number: chunks, body: chunk }
    await tx.insertInto('export_chunks').values(values).execute()
  }
  return true
}

/** Releases the lease, so that another gateway can continue at once; an error ends the job. */
export async function releaseExport(
  tx: Kysely<Schema>,
  id: string,
  owner: string,
  failed?: { error: string; atMs: number },
): Promise<void> {
  await tx
    .updateTable('exports')
    .set({
      lease_until_ms: 0,
      lease_owner: null,
      ...(failed && { state: 'failed' as const, error: failed.error, finished_at_ms: failed.atMs }),
    })
    .where('id', '=', id)
    .where('lease_owner', '=', owner)
    .where('state', '=', 'running')
    .execute()
}

/** Frees the exports of a dead gateway. */
export async function freeExports(tx: Kysely<Schema>, owner: string): Promise<void> {
  await tx
    .updateTable('exports')
    .set({ lease_until_ms: 0, lease_owner: null })
    .where('lease_owner', '=', owner)
    .execute()
}

/** Compressed, as it was written. */
export async function readChunk(
  db: Kysely<Schema>,
  id: string,
  number: number,
): Promise<Uint8Array | undefined> {
  const row = await db
    .selectFrom('export_chunks')
    .select('body')
    .where('export_id', '=', id)
    .where('number', '=', number)
    .executeTakeFirst()
  return row?.body
}

/** Marks the export as deleted; its chunks are deleted gradually. */
export async function dropExport(tx: Kysely<Schema>, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('exports')
    .set({ state: 'dropped', lease_owner: null })
    .where('id', '=', id)
    .where('state', '<>', 'dropped')
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Marks expired exports; returns the ids of all that are to be deleted. */
export async function dropExpired(tx: Kysely<Schema>, nowMs: number): Promise<string[]> {
  await tx
    .updateTable('exports')
    .set({ state: 'dropped', lease_owner: null })
    .where('expires_at_ms', '<=', nowMs)
    .execute()
  const rows = await tx.selectFrom('exports').select('id').where('state', '=', 'dropped').execute()
  return rows.map(({ id }) => id)
}

/** Deletes up to this many chunks of a dropped export, and finally the job; true when done. */
export async function clearExport(
  tx: Kysely<Schema>,
  id: string,
  maxChunks: number,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('export_chunks')
    .where('export_id', '=', id)
    .where('number', 'in', (e) =>
      e
        .selectFrom('export_chunks')
        .select('number')
        .where('export_id', '=', id)
        .orderBy('number')
        .limit(maxChunks),
    )
    .executeTakeFirst()
  if (numDeletedRows === BigInt(maxChunks)) return false
  await tx.deleteFrom('exports').where('id', '=', id).where('state', '=', 'dropped').execute()
  return true
}

function shape(row: Selectable<Schema['exports']>): ExportJob {
  return {
    id: row.id,
    createdAtMs: row.created_at_ms,
    actor: row.actor,
    ...(row.person_id !== null && { personId: row.person_id }),
    ...(row.account_id !== null && { accountId: row.account_id }),
    kind: row.kind,
    format: row.format,
    filters: JSON.parse(row.filters) as Record<string, string>,
    state: row.state,
    ...(row.place !== null && { place: row.place }),
    rows: row.row_count,
    ...(row.total_rows !== null && { totalRows: row.total_rows }),
    bytes: row.bytes,
    storedBytes: row.stored_bytes,
    chunks: row.chunks,
    isCut: row.is_cut === 1,
    ...(row.error !== null && { error: row.error }),
    attempts: row.attempts,
    ...(row.finished_at_ms !== null && { finishedAtMs: row.finished_at_ms }),
    expiresAtMs: row.expires_at_ms,
  }
}
