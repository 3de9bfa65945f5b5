// Parts of batches that were given to the batch API of an upstream. Each has a hold of its own in the ledger,
// under its id, which ends when its results are adopted.
import type { Kysely, Selectable } from 'kysely'
import type { Schema } from '../schema.ts'
import type { PartState } from '../schema-batches.ts'

type Db = Kysely<Schema>

export type { PartState }

export interface NativePart {
  id: string
  batchId: string
  accountId: string
  state: PartState
  channelId: string
  protocol: string
  upstreamModel: string
  keyFingerprint: string
  holdNanos: bigint
  /** Of what was uploaded. */
  fileId?: string
  /** Of the upstream's batch. */
  upstreamId?: string
  /** Numbers of its lines. */
  lines: readonly number[]
  createdAtMs: number
}

const shape = (row: Selectable<Schema['batch_parts']>): NativePart => ({
  id: row.id,
  batchId: row.batch_id,
  accountId: row.account_id,
  state: row.state,
  channelId: row.channel_id,
  protocol: row.protocol,
  upstreamModel: row.upstream_model,
  keyFingerprint: row.key_fingerprint,
  holdNanos: row.hold_nanos,
  ...(row.file_id !== null && { fileId: row.file_id }),
  ...(row.upstream_id !== null && { upstreamId: row.upstream_id }),
  lines: JSON.parse(row.lines) as number[],
  createdAtMs: row.created_at_ms,
})

export async function insertPart(tx: Db, part: NativePart): Promise<void> {
  await tx
    .insertInto('batch_parts')
    .values({
      id: part.id,
      batch_id: part.batchId,
      account_id: part.accountId,
      state: part.state,
      channel_id: part.channelId,
      protocol: part.protocol,
      upstream_model: part.upstreamModel,
      key_fingerprint: part.keyFingerprint,
      hold_nanos: part.holdNanos,
      file_id: null,
      upstream_id: null,
      lines: JSON.stringify(part.lines),
      created_at_ms: part.createdAtMs,
      released_at_ms: null,
    })
    .execute()
}

/** Oldest first. */
export async function partsOf(db: Db, batchId: string): Promise<NativePart[]> {
  const rows = await db
    .selectFrom('batch_parts')
    .selectAll()
    .where('batch_id', '=', batchId)
    .orderBy('id')
    .execute()
  return rows.map(shape)
}

export async function movePart(
  tx: Db,
  { id, state, fileId, upstreamId }: NativePart,
  releasedAtMs?: number,
): Promise<void> {
  await tx
    .updateTable('batch_parts')
    .set({
      ...{ state, file_id: fileId ?? null, upstream_id: upstreamId ?? null },
      ...(releasedAtMs !== undefined && { released_at_ms: releasedAtMs }),
      // Their outcomes have rows of their own by then.
      ...(state === 'ended' && { lines: '[]' }),
    })
    .where('id', '=', id)
    .execute()
}
