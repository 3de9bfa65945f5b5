// Deletes stored results: the oldest beyond the budget, those past their retention, and those their
// owner has deleted. The row goes first, then the file; open downloads continue.

import type { Task } from '../../contract/task.ts'
import { type Clock, sureNowMs } from '../../lib/clock.ts'
import type { Store } from '../../store/index.ts'
import {
  dropFile,
  dropTaskFiles,
  forgetMark,
  type KeptFile,
  oldestFiles,
  oldMarks,
  sumKeptBytes,
} from '../../store/tasks/files.ts'
import type { MediaStorage } from './media-storage.ts'

interface TrimDeps {
  readonly store: Store
  readonly clock: Clock
}

const atOnce = 100
/** By then no search would find the task of a mark and copy it again. */
const markMs = 7 * 24 * 3_600_000

/** Removes the oldest until the rest fits; returns the size that is left. */
export async function trimToBudget(deps: TrimDeps, media: MediaStorage): Promise<number> {
  const { place } = media.main
  let bytes = await sumKeptBytes(deps.store.read, place)
  while (bytes > media.budgetBytes) {
    const oldest = await oldestFiles(deps.store.read, place, atOnce)
    if (oldest.length === 0) break
    for (const file of oldest) {
      if (bytes <= media.budgetBytes) break
      await removeFile(deps, media, file)
      bytes -= file.bytes
    }
  }
  return bytes
}

/** Those past their retention, and expired marks. */
export async function removeExpired(deps: TrimDeps, media: MediaStorage): Promise<void> {
  const { read, tx } = deps.store
  const nowMs = sureNowMs(deps.clock)
  for (const [place, store] of media.stores) {
    let expired: KeptFile[]
    do {
      expired = await oldestFiles(read, place, atOnce, nowMs - media.keepMs)
      for (const file of expired) await removeFile(deps, media, file)
    } while (expired.length === atOnce)
    for (const mark of await oldMarks(read, place, nowMs - markMs, atOnce)) {
      // Repeated: the first deletion may have been cut off.
      if (await store.remove(mark.name)) await tx((db) => forgetMark(db, mark))
    }
  }
}

async function removeFile(deps: TrimDeps, { stores }: MediaStorage, file: KeptFile): Promise<void> {
  const nowMs = deps.clock.nowMs()
  const isMine = await deps.store.tx((tx) => dropFile(tx, file, nowMs))
  if (isMine) await stores.get(file.place)?.remove(file.name)
}

/** Its owner has deleted it. */
export async function forgetMedia(
  { store, clock, media }: TrimDeps & { readonly media?: MediaStorage },
  task: Task,
): Promise<void> {
  if (media === undefined) return
  const nowMs = clock.nowMs()
  const kept = await store.tx((tx) => dropTaskFiles(tx, task.id, nowMs))
  for (const { place, name } of kept) await media.stores.get(place)?.remove(name)
}
