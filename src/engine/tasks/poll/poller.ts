// The loop that polls tasks: leases what is due, a bounded number at once, and sleeps until the
// next is due. Any gateway can take over the next poll of a task.
import type { Task, TaskState } from '../../../contract/task.ts'
import { crashPoint } from '../../../lib/crash-point.ts'
import { Loop, type Service } from '../../../lib/loop.ts'
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
import { type Durations, learnDuration } from './poll-schedule.ts'

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

export class Poller implements Service {
  readonly name = 'poller'
  /** How late polls are. */
  readonly lag = new PollLag()
  /** How long tasks of each model usually take. */
  readonly durations: Durations = new Map()
  readonly #engine: Engine
  readonly #held: HeldLeases
  readonly #room = new PollRoom()
  readonly #writes: PollWrites
  readonly #drainMs: number
  readonly #rounds: Loop
  readonly #renewals: Loop
  #hasRecalled = false
  /** What the last round cost the store. */
  #costMs = 0
  /** A due task was skipped for lack of a slot. */
  #crowded = false
  #turn: Place | undefined

  constructor(engine: Engine, owner: string, { drainMs = 5_000 } = {}) {
    const { log } = engine
    this.#engine = engine
    this.#held = new HeldLeases(engine, owner)
    this.#writes = new PollWrites(engine.store)
    this.#drainMs = drainMs
    this.#rounds = new Loop({
      name: this.name,
      run: () => this.#poll(),
      everyMs: idleMs,
      minGapMs: () => Math.min(maxGapMs, Math.max(minGapMs, this.#costMs)),
      log,
      failure: 'poll round failed',
    })
    this.#renewals = new Loop({
      name: 'lease renewal',
      run: () => this.#held.renew(),
      everyMs: beatMs,
      firstMs: beatMs,
      log,
      failure: 'task leases not renewed',
    })
  }

  start(): void {
    this.#rounds.start()
    this.#renewals.start()
  }

  /** Runs a round at this moment, or earlier if that was planned. */
  wake(atMs = 0): void {
    this.#rounds.wake(atMs - this.#engine.clock.nowMs())
  }

  /** Writes a poll that ended nothing, in a batch; false when the lease was lost. */
  savePoll(task: Task, still: TaskState, fence: number): Promise<boolean> {
    const before = this.#held.before(task.id, fence)
    return this.#writes.save({ task, still, fence, before }, this.#room.busy)
  }

  /** Takes no more, waits briefly for polls in flight, and releases the other leases. */
  async stop(): Promise<void> {
    void this.#renewals.stop()
    void this.#rounds.stop()
    const untilMs = performance.now() + this.#drainMs
    const busy = () => this.#rounds.isRunning || this.#room.busy > 0
    while (busy() && performance.now() < untilMs) await Bun.sleep(10)
    await this.#held.release().catch((error: unknown) => {
      this.#engine.log.warn('task leases not released', { error })
    })
  }

  /** Returns after how long the next round is wanted. */
  async #poll(): Promise<number | undefined> {
    const { store } = this.#engine
    this.#costMs = 0
    if (!this.#hasRecalled) await this.#recall()
    if (!store.healthy) return undefined
    try {
      return await this.#round()
    } catch (error) {
      this.#recordTrouble()
      throw error
    }
  }

  /** What the previous process had learned. */
  async #recall(): Promise<void> {
    const { store, log } = this.#engine
    this.#hasRecalled = true
    try {
      for (const { model, tookMs } of await recentDurations(store.read, maxRecalled)) {
        learnDuration(this.durations, model, tookMs)
      }
    } catch (error) {
      log.warn('task durations not loaded', { error })
    }
  }

  /** Only store failures are retried; any other error waits for its lease to end. */
  #recordTrouble(): void {
    if (!this.#engine.store.healthy) this.#held.storeFailed()
  }

  async #round(): Promise<number | undefined> {
    const limit = Math.min(maxPerRound, this.#room.free)
    this.#crowded = limit === 0
    if (limit === 0) return crowdedMs
    const { leased, more, next, workMs } = await this.#held.take({
      limit,
      roomFor: (channelId) => this.#room.roomFor(channelId),
      ...(this.#turn !== undefined && { after: this.#turn }),
    })
    this.#turn = next
    this.#costMs = workMs
    this.#crowded = more
    if (leased.length > 0) crashPoint('task-leased')
    for (const each of leased) void this.#advance(each)
    if (leased.length > 0) return 0
    return more ? crowdedMs : this.#untilNextMs()
  }

  #untilNextMs(): Promise<number | undefined> {
    const { store, clock } = this.#engine
    return store.tx(async (tx) => {
      const clockMs = (await sharedClockMs(tx, store.dialect)) ?? clock.nowMs()
      const nextMs = await nextDueMs(tx, clockMs)
      return nextMs === undefined ? undefined : nextMs - clock.nowMs()
    })
  }

  async #advance(leased: LeasedTask): Promise<void> {
    const engine = this.#engine
    const { task } = leased
    const began = performance.now()
    const lateMs = this.lag.note(task.nextCheckAtMs, engine.clock.nowMs())
    engine.meters?.pollLag.note(lateMs / 1000)
    this.#room.enter(task.channelId)
    try {
      await advanceTask(engine, leased)
    } catch (error) {
      engine.log.error('task update failed', { task_id: task.id, error })
      this.#recordTrouble()
    } finally {
      this.#held.drop(leased)
      this.#room.leave(task.channelId, performance.now() - began)
      if (this.#crowded) this.wake()
    }
  }
}
