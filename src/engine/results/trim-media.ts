// Deletes stored results: the oldest beyond the budget, those past their retention, and those their
// owner has deleted. The row goes first, then the file; open downloads continue.

import type { Task } from '../../contract/task.ts'
import { sureNowMs } from '../../lib/clock.ts'
import {
  dropFile,
  dropTaskFiles,
  forgetMark,
  type KeptFile,
  oldestFiles,
  oldMarks,
  sumKeptBytes,
} from '../../store/tasks/files.ts'
import type { Engine } from '../engine.ts'
import type { MediaKeeper } from './keep-media.ts'

const atOnce = 100
/** By then no search would find the task of a mark and copy it again. */
const markMs = 7 * 24 * 3_600_000

/** Removes the oldest until the rest fits; returns the size that is left. */
export async function trimToBudget(engine: Engine, keeper: MediaKeeper): Promise<number> {
  const { place } = keeper.main
  let bytes = await sumKeptBytes(engine.store.read, place)
  while (bytes > keeper.budgetBytes) {
    const oldest = await oldestFiles(engine.store.read, place, atOnce)
    if (oldest.length === 0) break
    for (const file of oldest) {
      if (bytes <= keeper.budgetBytes) break
      await removeFile(engine, keeper, file)
      bytes -= file.bytes
    }
  }
  return bytes
}

/** Those past their retention, and expired marks. */
export async function removeExpired(engine: Engine, keeper: MediaKeeper): Promise<void> {
  const { read, tx } = engine.store
  const nowMs = sureNowMs(engine.clock)
  for (const [place, store] of keeper.stores) {
    let expired: KeptFile[]
    do {
      expired = await oldestFiles(read, place, atOnce, nowMs - keeper.keepMs)
      for (const file of expired) await removeFile(engine, keeper, file)
    } while (expired.length === atOnce)
    for (const mark of await oldMarks(read, place, nowMs - markMs, atOnce)) {
      // Repeated: the first deletion may have been cut off.
      if (await store.remove(mark.name)) await tx((db) => forgetMark(db, mark))
    }
  }
}

async function removeFile(engine: Engine, { stores }: MediaKeeper, file: KeptFile): Promise<void> {
  const nowMs = engine.clock.nowMs()
  const isMine = await engine.store.tx((tx) => dropFile(tx, file, nowMs))
  if (isMine) await stores.get(file.place)?.remove(file.name)
}

/** Its owner has deleted it. */
export async function forgetMedia(engine: Engine, task: Task): Promise<void> {
  const keeper = engine.media
  if (keeper === undefined) return
  const nowMs = engine.clock.nowMs()
  const kept = await engine.store.tx((tx) => dropTaskFiles(tx, task.id, nowMs))
  for (const { place, name } of kept) await keeper.stores.get(place)?.remove(name)
}
