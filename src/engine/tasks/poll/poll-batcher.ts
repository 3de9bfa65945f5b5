// Writes polls that ended no task, many in one transaction: while one commits, the next batch
// gathers. Knows neither the reports nor when to poll again.

import type { Store } from '../../../store/index.ts'
import { isPlainPoll, type Poll, savePolls } from '../../../store/tasks/poll-updates.ts'
import { updateTask } from '../../../store/tasks/tasks.ts'

const maxPerWrite = 256
/** In a batch, a poll waits this long for more to join. */
const gatherMs = 20
/** Fewer at once are not batched. */
const fewCompanions = 8

interface Waiting {
  poll: Poll
  written: (moved: boolean) => void
  failed: (error: unknown) => void
}

export class PollWrites {
  readonly #store: Store
  #waiting: Waiting[] = []
  #writing = false

  constructor(store: Store) {
    this.#store = store
  }

  /** False when another gateway has its lease, or the task has moved on. */
  save(poll: Poll, companions: number): Promise<boolean> {
    if (!isPlainPoll(poll)) {
      const { task, still, fence } = poll
      return this.#store.tx((tx) => updateTask(tx, task, still, fence))
    }
    return new Promise((written, failed) => {
      this.#waiting.push({ poll, written, failed })
      if (!this.#writing) void this.#write(companions > fewCompanions ? gatherMs : 0)
    })
  }

  async #write(waitMs: number): Promise<void> {
    this.#writing = true
    if (waitMs > 0) await Bun.sleep(waitMs)
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, maxPerWrite)
      const polls = batch.map(({ poll }) => poll)
      try {
        const moved = await this.#store.tx((tx) => savePolls(tx, this.#store.dialect, polls))
        for (const { poll, written } of batch) written(moved.has(poll.task.id))
      } catch (error) {
        for (const { failed } of batch) failed(error)
      }
      if (waitMs > 0 && this.#waiting.length > 0) await Bun.sleep(waitMs)
    }
    this.#writing = false
  }
}
