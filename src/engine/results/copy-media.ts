// Copies the results of one task to storage that outlives the upstream's link. Touches neither the
// task nor its money: a failed copy is retried a few times while the link lives, then dropped.
import type { OutputMedia, Task } from '../../contract/task.ts'
import { crashPoint } from '../../lib/crash-point.ts'
import { openDownload } from '../../lib/net/guarded-fetch.ts'
import type { Written } from '../../media/store.ts'
import {
  type Claim,
  claimFiles,
  giveUpClaim,
  keepFile,
  moveClaims,
} from '../../store/tasks/file-claims.ts'
import { findTaskRow } from '../../store/tasks/tasks.ts'
import type { MediaStorage } from './media-storage.ts'
import { type ContentDeps, imageType, wayTo } from './open-content.ts'
import { refreshMedia } from './refresh-media.ts'

const leaseMs = 30_000
const renewMs = 10_000
const headTimeoutMs = 30_000
const maxIdleMs = 60_000
const maxCopyMs = 30 * 60_000
const maxBytes = 2 * 1024 ** 3
const maxAttempts = 6
const goneStatuses = [403, 404, 410]
const backOffMs = 5_000
const backOffGrowth = 4
/** Lifetime of a link when the upstream does not say. */
const linkMs = 24 * 3_600_000

export interface CopyDeps extends ContentDeps {
  readonly jobs: { readonly mediaKeeper?: { kept(bytes: number): void } }
}

/** When to retry a failed copy; undefined when there is nothing left to do. */
export async function copyTask(
  deps: CopyDeps,
  media: MediaStorage,
  taskId: string,
  stop: AbortSignal,
): Promise<number | undefined> {
  const { task, claims } = await claimTask(deps, media, taskId)
  if (task === undefined || claims.length === 0) return undefined
  const open = new Set(claims)
  const renewing = setInterval(() => {
    const untilMs = deps.clock.nowMs() + leaseMs
    deps.store.tx((tx) => moveClaims(tx, [...open], untilMs)).catch(() => {})
  }, renewMs)
  let againMs: number | undefined
  try {
    for (const claim of claims) {
      const nextMs = await settleClaim(deps, media, task, claim, stop)
      open.delete(claim)
      if (nextMs !== undefined) againMs = Math.min(againMs ?? nextMs, nextMs)
    }
  } finally {
    clearInterval(renewing)
  }
  return againMs
}

function claimTask(deps: CopyDeps, { main }: MediaStorage, taskId: string) {
  const nowMs = deps.clock.nowMs()
  return deps.store.tx(async (tx) => {
    const task = await findTaskRow(tx, taskId)
    if (task?.state !== 'succeeded' || task.hidden) return { task: undefined, claims: [] }
    // Inline results have no URL to copy from.
    const targets = task.media.flatMap(({ kind, url }, part) =>
      url.startsWith('data:') ? [] : [targetFor(task.id, part, kind, main.place)],
    )
    const lease = { nowMs, untilMs: nowMs + leaseMs }
    return { task, claims: await claimFiles(tx, deps.store.dialect, task.id, targets, lease) }
  })
}

/** No name is written twice: a copy that lost the race cannot damage the other. */
const targetFor = (taskId: string, part: number, kind: OutputMedia['kind'], place: string) => ({
  part,
  place,
  name: `${taskId}-${part}-${randomMark()}${kind === 'video' ? '.mp4' : '.img'}`,
})

/** Stores a file from bytes in memory; false when that failed. */
export async function keepBytes(
  deps: CopyDeps,
  taskId: string,
  part: number,
  file: { bytes: Uint8Array; type: string },
): Promise<boolean> {
  const { media } = deps
  if (media === undefined) return false
  const nowMs = deps.clock.nowMs()
  const lease = { nowMs, untilMs: nowMs + leaseMs }
  const targets = [targetFor(taskId, part, 'image', media.main.place)]
  const [claim] = await deps.store.tx((tx) =>
    claimFiles(tx, deps.store.dialect, taskId, targets, lease),
  )
  if (claim === undefined) return false
  const written = await media.main.write(claim.name, onePiece(file.bytes))
  if ('problem' in written) {
    deps.log.warn('image not stored', { task_id: taskId, error: written.problem })
    await deps.store.tx((tx) => giveUpClaim(tx, claim, nowMs))
    return false
  }
  const kept = { ...written, type: file.type, keptAtMs: deps.clock.nowMs() }
  const isKept = await deps.store.tx((tx) => keepFile(tx, claim, kept))
  if (isKept) deps.jobs.mediaKeeper?.kept(written.bytes)
  return isKept
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

const randomMark = () => crypto.randomUUID().slice(0, 8)

/** Ends a claim either way; returns when to come back to it. */
async function settleClaim(
  deps: CopyDeps,
  media: MediaStorage,
  task: Task,
  claim: Claim,
  stop: AbortSignal,
): Promise<number | undefined> {
  const { store, clock } = deps
  // A process died between the bytes and the row, or lost the claim.
  if (claim.left !== undefined) await media.stores.get(claim.left.place)?.remove(claim.left.name)
  const file = task.media[claim.part]!
  const isInline = file.url.startsWith('data:')
  const linkEndsAtMs = file.expiresAtMs ?? (task.finishedAtMs ?? task.updatedAtMs) + linkMs
  const endsAtMs = isInline ? 0 : linkEndsAtMs
  const copied =
    clock.nowMs() < endsAtMs
      ? await copyFile(deps, media, task, file, claim.name, stop)
      : { problem: 'the link has expired' }
  if (!('problem' in copied)) {
    crashPoint('media-copied')
    const kept = { ...copied, keptAtMs: clock.nowMs() }
    if (await store.tx((tx) => keepFile(tx, claim, kept))) deps.jobs.mediaKeeper?.kept(copied.bytes)
    else await media.main.remove(claim.name)
    crashPoint('media-kept')
    return undefined
  }
  return putOff(deps, { task, claim, endsAtMs, problem: copied.problem }, stop)
}

interface FailedCopy {
  task: Task
  claim: Claim
  /** Of its link. */
  endsAtMs: number
  problem: string
}

async function putOff(
  { store, clock, log }: CopyDeps,
  { task, claim, endsAtMs, problem }: FailedCopy,
  stop: AbortSignal,
): Promise<number | undefined> {
  const nowMs = clock.nowMs()
  const { attempts } = claim
  const againMs = stop.aborted ? nowMs : nowMs + backOffMs * backOffGrowth ** (attempts - 1)
  const isLast = attempts >= maxAttempts || againMs >= endsAtMs
  const about = { task_id: task.id, part: claim.part, attempt: attempts, error: problem }
  log[isLast ? 'warn' : 'info'](
    isLast ? 'a result is not kept' : 'a result could not be kept yet',
    about,
  )
  await store.tx(async (tx) => {
    if (isLast) await giveUpClaim(tx, claim, nowMs)
    else await moveClaims(tx, [claim], againMs)
  })
  return isLast || stop.aborted ? undefined : againMs
}

async function copyFile(
  deps: CopyDeps,
  { main }: MediaStorage,
  task: Task,
  file: OutputMedia,
  name: string,
  stop: AbortSignal,
): Promise<(Written & { type: string }) | { problem: string }> {
  const answer = await openDownload(file.url, {
    ...wayTo(deps, task, file.url),
    maxRedirects: 3,
    headTimeoutMs,
    idleTimeoutMs: maxIdleMs,
    maxBytes: maxBytes,
    signal: AbortSignal.any([stop, AbortSignal.timeout(maxCopyMs)]),
  })
  if ('problem' in answer) return answer
  const { status, headers, body } = answer
  if (status !== 200) {
    await body.cancel().catch(() => {})
    // There may be a fresh URL by the next attempt.
    if (goneStatuses.includes(status)) await refreshMedia(deps, task)
    return { problem: `the upstream answered ${status}` }
  }
  const written = await main.write(name, body)
  if ('problem' in written) {
    await body.cancel().catch(() => {})
    return written
  }
  const declaredBytes = Number(headers['content-length'] ?? written.bytes)
  if (written.bytes === 0 || written.bytes !== declaredBytes) {
    await main.remove(name)
    return { problem: `${written.bytes} bytes came of ${declaredBytes}` }
  }
  const type = file.kind === 'video' ? 'video/mp4' : imageType(headers['content-type'])
  return { ...written, type }
}
