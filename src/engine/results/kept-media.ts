// The stored copies of a task's results, for views and downloads. A copy that cannot be reached
// counts as none: the upstream may still have the file.
import type { Content, ContentOptions } from '../../contract/caller-api.ts'
import type { OutputMedia, Task } from '../../contract/task.ts'
import { type ByteRange, rangeIn } from '../../lib/http/byte-range.ts'
import { findKeptFiles, type KeptFile } from '../../store/tasks/files.ts'
import type { BaseDeps } from '../base-deps.ts'
import { filePart } from './file-part.ts'
import type { MediaStorage } from './media-storage.ts'

export interface KeptDeps extends BaseDeps {
  /** Keeps results longer than the upstream does; absent when that is off. */
  readonly media?: MediaStorage
}

/** Tasks with the actual expiry of their results: the copy's, where there is one. */
export async function withTrueExpiry(deps: KeptDeps, tasks: readonly Task[]): Promise<Task[]> {
  const done = tasks.filter((task) => task.state === 'succeeded' && mayBeKept(deps, task))
  const kept = await findReachable(
    deps,
    done.map(({ id }) => id),
  )
  if (kept.length === 0) return [...tasks]
  return tasks.map((task) => {
    const own = kept.filter(({ taskId }) => taskId === task.id)
    return own.length === 0 ? task : { ...task, media: withExpiry(task.media, own, deps) }
  })
}

/** Where copying is off, only inline results are kept. */
const mayBeKept = ({ media: storage }: KeptDeps, { media }: Task): boolean =>
  storage !== undefined && (storage.copies || media.some(({ url }) => url.startsWith('data:')))

function withExpiry(
  media: readonly OutputMedia[],
  kept: readonly KeptFile[],
  { media: storage }: KeptDeps,
): OutputMedia[] {
  return media.map((file, index) => {
    const copy = kept.find(({ part }) => part === index)
    if (copy === undefined || storage === undefined) return file
    return { ...file, expiresAtMs: copy.keptAtMs + storage.keepMs }
  })
}

/** Gateways with separate data directories do not see each other's files. */
async function findReachable(deps: KeptDeps, ids: readonly string[]): Promise<KeptFile[]> {
  const { media: storage } = deps
  if (storage === undefined || ids.length === 0) return []
  const fromMs = deps.clock.nowMs() - storage.keepMs
  const files = await findKeptFiles(deps.store.read, ids)
  return files.filter(({ place, keptAtMs }) => storage.stores.has(place) && keptAtMs > fromMs)
}

/** Indexes of a task's files with a reachable copy. */
export const keptParts = async (deps: KeptDeps, { id }: Task): Promise<ReadonlySet<number>> =>
  new Set((await findReachable(deps, [id])).map(({ part }) => part))

/** Undefined when there is no reachable copy. */
export async function openKept(
  deps: KeptDeps,
  task: Task,
  input: ContentOptions,
): Promise<Content | undefined> {
  if (!mayBeKept(deps, task)) return undefined
  const index = filePart(task, input)
  const file = (await findReachable(deps, [task.id])).find(({ part }) => part === index)
  if (file === undefined) return undefined
  const { etag, bytes } = file
  const { range, ifRange } = input
  const isMeant = ifRange === undefined || ifRange === etag
  const asked = isMeant ? rangeIn(range, bytes) : undefined
  if (asked === 'none') return { status: 416, sizeBytes: bytes }
  const part = asked ?? { first: 0, last: bytes - 1 }
  const body = await openPart(deps, file, part)
  if (body === undefined) return undefined
  return {
    status: asked === undefined ? 200 : 206,
    body,
    contentType: file.type,
    lengthBytes: part.last + 1 - part.first,
    ...(asked !== undefined && { contentRange: `bytes ${part.first}-${part.last}/${bytes}` }),
    etag,
  }
}

async function openPart(deps: KeptDeps, { taskId, place, name }: KeptFile, part: ByteRange) {
  try {
    const body = await deps.media?.stores.get(place)?.open(name, part)
    if (body === undefined) deps.log.warn('stored result missing', { task_id: taskId, name })
    return body
  } catch (error) {
    deps.log.warn('stored result cannot be opened', { task_id: taskId, name, error })
    return undefined
  }
}
