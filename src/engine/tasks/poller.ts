// The loop that looks after tasks: takes what is due by lease, a bounded number at once, and sleeps
// until the next is due. Nothing of a task depends on it being this gateway that comes back.

import { crashPoint } from '../../lib/crash-point.ts'
import { leaseDueTasks, nextDueMs } from '../../store/tasks.ts'
import type { Engine } from '../engine.ts'
import { advanceTask } from './advance-task.ts'

const leaseMs = 30_000
const mostAtOnce = 64
/** Other gateways' tasks are noticed by looking, not by being told. */
const idleMs = 2_000
const soonestMs = 20

export class Poller {
  readonly #owner: string
  #engine: Engine | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #timerAtMs = Number.POSITIVE_INFINITY
  #running = 0
  #looking = false
  #closed = false

  constructor(owner: string) {
    this.#owner = owner
  }

  start(engine: Engine): void {
    this.#engine = engine
    this.wake(engine.clock.nowMs())
  }

  /** Looks at this moment, or earlier if that was planned. */
  wake(atMs: number): void {
    const engine = this.#engine
    if (engine === undefined || this.#closed || atMs >= this.#timerAtMs) return
    clearTimeout(this.#timer)
    this.#timerAtMs = atMs
    const waitMs = Math.min(idleMs, Math.max(soonestMs, atMs - engine.clock.nowMs()))
    this.#timer = setTimeout(() => this.#look(engine), waitMs)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    while (this.#running > 0 || this.#looking) await Bun.sleep(10)
  }

  async #look(engine: Engine): Promise<void> {
    this.#timerAtMs = Number.POSITIVE_INFINITY
    if (this.#looking || this.#closed) return
    this.#looking = true
    const nowMs = engine.clock.nowMs()
    let nextMs = nowMs + idleMs
    try {
      const limit = mostAtOnce - this.#running
      const lease = { owner: this.#owner, nowMs, untilMs: nowMs + leaseMs, limit }
      if (limit > 0 && engine.store.healthy) {
        const seen = await engine.store.tx(async (tx) => ({
          due: await leaseDueTasks(tx, engine.store.engine, lease),
          nextMs: await nextDueMs(tx, nowMs),
        }))
        if (seen.due.length > 0) crashPoint('task-leased')
        for (const leased of seen.due) this.#advance(engine, leased)
        nextMs = Math.min(nextMs, seen.nextMs ?? nextMs)
      }
    } catch (error) {
      engine.log.warn('tasks could not be looked after', { error })
    } finally {
      this.#looking = false
    }
    // What is due and leased comes back by itself when it has been looked at.
    this.wake(Math.max(nextMs, nowMs + 250))
  }

  #advance(engine: Engine, leased: Parameters<typeof advanceTask>[1]): void {
    this.#running++
    advanceTask(engine, leased)
      .catch((error) => {
        engine.log.error('a task could not be moved', { task_id: leased.task.id, error })
      })
      .finally(() => {
        this.#running--
      })
  }
}
