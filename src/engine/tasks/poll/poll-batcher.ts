// Writes looks that ended nothing, many in one transaction: while one is under way, the next
// gathers. Knows neither what was seen nor when to look again.
import { isPlainLook, type Look, saveLooks } from '../../../store/tasks/poll-updates.ts'
import { updateTask } from '../../../store/tasks/tasks.ts'
import type { Engine } from '../../engine.ts'

const mostPerWrite = 256
/** A look that has company waits for so long for more of it. */
const gatherMs = 20
/** Fewer at once are no company. */
const fewCompanions = 8

interface Waiting {
  look: Look
  written: (moved: boolean) => void
  failed: (error: unknown) => void
}

export class LookWrites {
  #waiting: Waiting[] = []
  #writing = false

  /** False when its lease has gone to somebody else, or the task has moved on. */
  save(engine: Engine, look: Look, companions: number): Promise<boolean> {
    if (!isPlainLook(look)) {
      const { task, still, fence } = look
      return engine.store.tx((tx) => updateTask(tx, task, still, fence))
    }
    return new Promise((written, failed) => {
      this.#waiting.push({ look, written, failed })
      if (!this.#writing) void this.#write(engine, companions > fewCompanions ? gatherMs : 0)
    })
  }

  async #write(engine: Engine, waitMs: number): Promise<void> {
    this.#writing = true
    if (waitMs > 0) await Bun.sleep(waitMs)
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, mostPerWrite)
      const looks = batch.map(({ look }) => look)
      try {
        const moved = await engine.store.tx((tx) => saveLooks(tx, engine.store.engine, looks))
        for (const { look, written } of batch) written(moved.has(look.task.id))
      } catch (error) {
        for (const { failed } of batch) failed(error)
      }
      if (waitMs > 0 && this.#waiting.length > 0) await Bun.sleep(waitMs)
    }
    this.#writing = false
  }
}
