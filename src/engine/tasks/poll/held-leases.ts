// The leases this gateway holds: renewed while a poll takes long, released when the gateway stops.
// Lease times are those of the shared clock, where there are several gateways.
import {
  type Leased,
  type LeaseOptions,
  leaseDueTasks,
  releaseLeases,
  releaseStrays,
  renewLeases,
  sharedClockMs,
  wakeStranded,
} from '../../../store/tasks/leases.ts'
import type { LeasedTask } from '../../../store/tasks/tasks.ts'
import type { BaseDeps, Declares } from '../../base-deps.ts'
import { maxWaits } from './task-timeouts.ts'

/** With the poll interval, another gateway takes over the tasks of a dead one within 30 s. */
const leaseMs = 25_000
/** Held longer than this, a lease is renewed. */
const renewAfterMs = 7_500
/** How often to look for tasks that a clock set back has delayed. */
const strandedEveryMs = 5_000

interface Held extends LeasedTask {
  /** By this gateway's clock. */
  sinceMs: number
}

type Input = Pick<LeaseOptions, 'limit' | 'roomFor' | 'after'>

type LeaseDeps = BaseDeps & Declares

export class HeldLeases {
  readonly #deps: LeaseDeps
  readonly #owner: string
  readonly #held = new Map<string, Held>()
  /** Store failures since leases were last checked. */
  #failures = 0
  #strandedFromMs = 0

  constructor(deps: LeaseDeps, owner: string) {
    this.#deps = deps
    this.#owner = owner
  }

  get size(): number {
    return this.#held.size
  }

  /** Leases what is due; `workMs` is the store's work, without the time in its queue. */
  async take(input: Input): Promise<Leased & { workMs: number }> {
    const { store, clock } = this.#deps
    const nowMs = clock.nowMs()
    const failures = this.#failures
    const isStrandedTime = performance.now() >= this.#strandedFromMs
    let beganMs = 0
    const taken = await store.tx(async (tx) => {
      beganMs = performance.now()
      if (isStrandedTime) await wakeStranded(tx, nowMs, maxWaits(this.#deps))
      if (failures > 0) await releaseStrays(tx, store.dialect, this.#owner, [...this.#held.keys()])
      const leaseClockMs = (await sharedClockMs(tx, store.dialect)) ?? nowMs
      return leaseDueTasks(tx, store.dialect, {
        ...input,
        owner: this.#owner,
        nowMs,
        leaseClockMs,
        untilMs: leaseClockMs + leaseMs,
      })
    })
    this.#failures -= failures
    if (isStrandedTime) this.#strandedFromMs = performance.now() + strandedEveryMs
    for (const leased of taken.leased) {
      this.#held.set(leased.task.id, { ...leased, sinceMs: nowMs })
    }
    return { ...taken, workMs: performance.now() - beganMs }
  }

  /** The store failed: the next lease round finds our leases without work, and frees them. */
  storeFailed(): void {
    this.#failures++
  }

  /** The task as it was leased, while that lease is held. */
  before(id: string, fence: number): LeasedTask['task'] | undefined {
    const held = this.#held.get(id)
    return held?.fence === fence ? held.task : undefined
  }

  /** Its poll is over. */
  drop({ task, fence }: LeasedTask): void {
    if (this.#held.get(task.id)?.fence === fence) this.#held.delete(task.id)
  }

  /** One statement renews all that have been held for a while. Lost ones are dropped. */
  async renew(): Promise<void> {
    const { store, clock } = this.#deps
    const nowMs = clock.nowMs()
    const due = [...this.#held.values()].filter(({ sinceMs }) => nowMs - sinceMs >= renewAfterMs)
    if (due.length === 0) return
    const kept = await store.tx(async (tx) => {
      const leaseClockMs = (await sharedClockMs(tx, store.dialect)) ?? nowMs
      const wanted = due.map(({ task, fence }) => ({ id: task.id, fence }))
      return renewLeases(tx, store.dialect, this.#owner, wanted, leaseClockMs + leaseMs)
    })
    for (const held of due) {
      if (kept.has(held.task.id)) held.sinceMs = nowMs
      else this.drop(held)
    }
  }

  /** Releases all leases still held. */
  async release(): Promise<void> {
    const { store } = this.#deps
    const held = [...this.#held.values()].map(({ task, fence }) => ({ id: task.id, fence }))
    this.#held.clear()
    if (held.length === 0) return
    await store.tx((tx) => releaseLeases(tx, store.dialect, this.#owner, held))
  }
}
