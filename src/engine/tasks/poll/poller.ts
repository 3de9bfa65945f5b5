// The loop that polls tasks: leases what is due, a bounded number at once, and sleeps until the
// next is due. Any gateway can take over the next poll of a task.
import type { Task, TaskState } from '../../../contract/task.ts'
import { crashPoint } from '../../../lib/crash-point.ts'
import {
  nextDueMs,
  type Place,
  recentDurations,
  sharedClockMs,
} from '../../../store/tasks/leases.ts'
import type { LeasedTask } from '../../../store/tasks/tasks.ts'
import type { Engine } from '../../engine.ts'
import { advanceTask } from './advance-task.ts'
import { HeldLeases } from './held-leases.ts'
import { PollWrites } from './poll-batcher.ts'
import { PollLag } from './poll-lag.ts'
import { PollRoom } from './poll-limiter.ts'
import { learnDuration } from './poll-schedule.ts'

/** Other gateways' tasks are found by polling the store, not by notification. */
const idleMs = 2_000
/** When due tasks have to wait for a channel to answer. */
const crowdedMs = 500
/** Between two rounds: as long as one costs the store, so that other writers get time, too. */
const minGapMs = 50
const maxGapMs = 500
const maxPerRound = 256
const beatMs = 2_500
/** Newest tasks from which a new process learns usual durations. */
const maxRecalled = 20_000

export class Poller {
  /** State of the checks of abandoned tasks. */
  readonly lag = new PollLag()
  readonly #held: HeldLeases
  readonly #room = new PollRoom()
  readonly #writes = new PollWrites()
  readonly #drainMs: number
  #engine: Engine | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #beat: ReturnType<typeof setInterval> | undefined
  #timerAtMs = Number.POSITIVE_INFINITY
  /** No round before this moment of the monotonic clock. */
  #notBefore = 0
  /** What the last round cost the store. */
  #costMs = 0
  #polling = false
  #renewing = false
  /** A round was requested while one was running. */
  #again = false
  /** A due task was skipped for lack of a slot. */
  #crowded = false
  #turn: Place | undefined
  #closed = false

  constructor(owner: string, { drainMs = 5_000 } = {}) {
    this.#held = new HeldLeases(owner)
    this.#drainMs = drainMs
  }

  start(engine: Engine): void {
    this.#engine = engine
    this.#beat = setInterval(() => void this.#renew(engine), beatMs)
    // The first round waits for it, whatever the outcome.
    this.#polling = true
    recall(engine)
      .catch((error: unknown) => engine.log.warn('task durations not loaded', { error }))
      .finally(() => {
        this.#polling = false
        this.wake(engine.clock.nowMs())
      })
  }

  /** Runs a round at this moment, or earlier if that was planned. */
  wake(atMs: number): void {
    const engine = this.#engine
    if (engine === undefined || this.#closed || atMs >= this.#timerAtMs) return
    clearTimeout(this.#timer)
    this.#timerAtMs = atMs
    const ownMs = this.#notBefore - performance.now()
    const waitMs = Math.min(idleMs, Math.max(0, ownMs, atMs - engine.clock.nowMs()))
    this.#timer = setTimeout(() => this.#poll(engine), waitMs)
  }

  /** Writes a poll that ended nothing, in a batch; false when the lease was lost. */
  savePoll(engine: Engine, task: Task, still: TaskState, fence: number): Promise<boolean> {
    const before = this.#held.before(task.id, fence)
    return this.#writes.save(engine, { task, still, fence, before }, this.#room.busy)
  }

  /** Takes no more, waits briefly for polls in flight, and releases the other leases. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    clearInterval(this.#beat)
    const untilMs = performance.now() + this.#drainMs
    const busy = () => this.#polling || this.#room.busy > 0
    while (busy() && performance.now() < untilMs) await Bun.sleep(10)
    const engine = this.#engine
    if (engine === undefined) return
    await this.#held.release(engine).catch((error: unknown) => {
      engine.log.warn('task leases not released', { error })
    })
  }

  async #renew(engine: Engine): Promise<void> {
    if (this.#renewing) return
    this.#renewing = true
    try {
      await this.#held.renew(engine)
    } catch (error) {
      engine.log.warn('task leases not renewed', { error })
    } finally {
      this.#renewing = false
    }
  }

  async #poll(engine: Engine): Promise<void> {
    this.#timerAtMs = Number.POSITIVE_INFINITY
    if (this.#polling || this.#closed) {
      this.#again = true
      return
    }
    this.#polling = true
    this.#again = false
    this.#costMs = 0
    let nextMs = engine.clock.nowMs() + idleMs
    try {
      if (engine.store.healthy) nextMs = Math.min(nextMs, await this.#round(engine))
    } catch (error) {
      engine.log.warn('poll round failed', { error })
      this.#recordTrouble(engine)
    } finally {
      this.#polling = false
    }
    const gapMs = Math.min(maxGapMs, Math.max(minGapMs, this.#costMs))
    this.#notBefore = performance.now() + gapMs
    this.wake(this.#again ? engine.clock.nowMs() : nextMs)
  }

  /** Only store failures are retried; any other error waits for its lease to end. */
  #recordTrouble({ store }: Engine): void {
    if (!store.healthy) this.#held.storeFailed()
  }

  /** When the next one is wanted. */
  async #round(engine: Engine): Promise<number> {
    const nowMs = engine.clock.nowMs()
    const limit = Math.min(maxPerRound, this.#room.free)
    this.#crowded = limit === 0
    if (limit === 0) return nowMs + crowdedMs
    const { leased, more, next, workMs } = await this.#held.take(engine, {
      limit,
      roomFor: (channelId) => this.#room.roomFor(channelId),
      ...(this.#turn !== undefined && { after: this.#turn }),
    })
    this.#turn = next
    this.#costMs = workMs
    this.#crowded = more
    if (leased.length > 0) crashPoint('task-leased')
    for (const each of leased) void this.#advance(engine, each)
    if (leased.length > 0) return nowMs
    if (more) return nowMs + crowdedMs
    return (await this.#nextMs(engine)) ?? nowMs + idleMs
  }

  #nextMs(engine: Engine): Promise<number | undefined> {
    return engine.store.tx(async (tx) => {
      const clockMs = (await sharedClockMs(tx, engine.store.dialect)) ?? engine.clock.nowMs()
      return nextDueMs(tx, clockMs)
    })
  }

  async #advance(engine: Engine, leased: LeasedTask): Promise<void> {
    const { task } = leased
    const began = performance.now()
    const lateMs = this.lag.note(task.nextCheckAtMs, engine.clock.nowMs())
    engine.meters?.pollLag.note(lateMs / 1000)
    this.#room.enter(task.channelId)
    try {
      await advanceTask(engine, leased)
    } catch (error) {
      engine.log.error('task update failed', { task_id: task.id, error })
      this.#recordTrouble(engine)
    } finally {
      this.#held.drop(leased)
      this.#room.leave(task.channelId, performance.now() - began)
      if (this.#crowded) this.wake(engine.clock.nowMs())
    }
  }
}

/** What the previous process had learned. */
async function recall({ store, durations }: Engine): Promise<void> {
  for (const { model, tookMs } of await recentDurations(store.read, maxRecalled)) {
    learnDuration(durations, model, tookMs)
  }
}
