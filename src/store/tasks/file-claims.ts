// Claims of files that are being copied: the right to copy one output of a succeeded task until a
// given time. A claim becomes a stored file, or a tombstone: no copy is tried again.
import type { Kysely, Selectable } from 'kysely'
import type { Dialect, Schema } from '../schema.ts'
import { latestBy } from '../sql/latest-by.ts'
import type { KeptFile } from './files.ts'

/** Destination of a copy; the name is unique. */
export interface CopyTarget {
  part: number
  place: string
  name: string
}

export interface Claim extends CopyTarget {
  taskId: string
  /** This one included. */
  attempts: number
  /** File that an earlier attempt may have written. */
  left?: { place: string; name: string }
}

type Row = Selectable<Schema['files']>

/** Clocks of gateways differ by much less. */
const slackMs = 5_000
/** Maximum duration of a claim, or of the wait after a failed copy, by number of attempts. */
const maxMs = [0, 1, 2, 3, 4, 5, 6].map(
  (attempts) => slackMs + Math.max(30_000, 5_000 * 4 ** (attempts - 1)),
)

/** It expired, or was made before the clock was set back. */
const isFree = ({ claimed_until_ms: untilMs, attempts }: Row, nowMs: number): boolean =>
  untilMs <= nowMs || untilMs > nowMs + (maxMs[attempts] ?? maxMs.at(-1)!)

/** Claims the free targets; an expired claim is free. */
export async function claimFiles(
  tx: Kysely<Schema>,
  dialect: Dialect,
  taskId: string,
  targets: readonly CopyTarget[],
  { nowMs, untilMs }: { nowMs: number; untilMs: number },
): Promise<Claim[]> {
  let found = tx.selectFrom('files').selectAll().where('task_id', '=', taskId)
  if (dialect === 'postgres') found = found.forUpdate()
  const rows = await found.execute()
  const claims: Claim[] = []
  for (const target of targets) {
    const row = rows.find(({ part }) => part === target.part)
    const claim = { ...target, taskId, attempts: 1 }
    const isMine =
      row === undefined
        ? await insertClaim(tx, claim, untilMs)
        : row.state === 'claimed' && isFree(row, nowMs)
    if (!isMine) continue
    if (row !== undefined) {
      claim.attempts = row.attempts + 1
      await takeOver(tx, claim, untilMs)
    }
    claims.push({ ...claim, ...(row && { left: { place: row.place, name: row.name } }) })
  }
  return claims
}

async function insertClaim(tx: Kysely<Schema>, claim: Claim, untilMs: number): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('files')
    .values({
      task_id: claim.taskId,
      part: claim.part,
      state: 'claimed',
      place: claim.place,
      name: claim.name,
      attempts: claim.attempts,
      claimed_until_ms: untilMs,
      since_ms: 0,
      bytes: 0,
      type: '',
      etag: '',
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

async function takeOver(tx: Kysely<Schema>, claim: Claim, untilMs: number): Promise<void> {
  const { taskId, part, place, name, attempts } = claim
  await tx
    .updateTable('files')
    .set({ place, name, attempts, claimed_until_ms: untilMs })
    .where('task_id', '=', taskId)
    .where('part', '=', part)
    .execute()
}

/** Extends claims, or frees them later or at once. */
export async function moveClaims(
  tx: Kysely<Schema>,
  claims: readonly Claim[],
  untilMs: number,
): Promise<void> {
  for (const claim of claims) await changeClaim(tx, claim, { claimed_until_ms: untilMs })
}

/** False when another gateway has the claim. */
export const keepFile = (
  tx: Kysely<Schema>,
  claim: Claim,
  { bytes, type, etag, keptAtMs }: Pick<KeptFile, 'bytes' | 'type' | 'etag' | 'keptAtMs'>,
): Promise<boolean> =>
  changeClaim(tx, claim, { state: 'kept', bytes, type, etag, since_ms: keptAtMs })

/** No file will be stored for this output. */
export const giveUpClaim = (tx: Kysely<Schema>, claim: Claim, nowMs: number): Promise<boolean> =>
  changeClaim(tx, claim, { state: 'gone', since_ms: nowMs })

async function changeClaim(
  tx: Kysely<Schema>,
  { taskId, part, name }: Claim,
  change: Partial<Row>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('files')
    .set(change)
    .where('task_id', '=', taskId)
    .where('part', '=', part)
    .where('name', '=', name)
    .where('state', '=', 'claimed')
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** For a store that no other process has open: earlier claim holders are dead. */
export async function freeAllClaims(tx: Kysely<Schema>): Promise<void> {
  await tx
    .updateTable('files')
    .set({ claimed_until_ms: 0 })
    .where('state', '=', 'claimed')
    .execute()
}

/** Tasks with an expired claim. */
export async function tasksWithFreeClaims(
  db: Kysely<Schema>,
  nowMs: number,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('files')
    .select('task_id')
    .distinct()
    .where('state', '=', 'claimed')
    .where((e) =>
      e.or([
        e('claimed_until_ms', '<=', nowMs),
        e('claimed_until_ms', '>', latestBy(nowMs, 'attempts', maxMs)),
      ]),
    )
    .limit(limit)
    .execute()
  return rows.map(({ task_id }) => task_id)
}

/** When the next claim expires. */
export async function nextClaimEndMs(db: Kysely<Schema>): Promise<number | undefined> {
  const row = await db
    .selectFrom('files')
    .select('claimed_until_ms')
    .where('state', '=', 'claimed')
    .orderBy('claimed_until_ms')
    .limit(1)
    .executeTakeFirst()
  return row?.claimed_until_ms
}

/** Succeeded tasks after this id without any claim; ids are ordered by time. */
export async function tasksWithoutFiles(
  db: Kysely<Schema>,
  afterId: string,
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('tasks')
    .select('id')
    .where('id', '>', afterId)
    .where('state', '=', 'succeeded')
    .where((e) =>
      e.not(
        e.exists(e.selectFrom('files').select('part').whereRef('files.task_id', '=', 'tasks.id')),
      ),
    )
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}
