// The loop that delivers callbacks of ended tasks: leases what is due, a bounded number at once and
// few for one host or account, and sleeps until the next is due. Knows no payload.
import { guardedPost } from '../../lib/net/guarded-post.ts'
import {
  type Callback,
  type CallbackAttempt,
  type Fate,
  freeCallbacks,
  leaseDueCallbacks,
  nextCallbackMs,
  recordAttempt,
  wakeStrandedCallbacks,
} from '../../store/tasks/callbacks.ts'
import { sharedClockMs } from '../../store/tasks/leases.ts'
import type { Engine } from '../engine.ts'
import type { SharedSecret } from './callback-secret.ts'
import { originOf } from './callback-url.ts'
import { deliver, isDelivered, isGone, type Post } from './deliver.ts'
import { maxWaitsMs, waitAfter } from './schedule.ts'

/** Longer than an attempt takes; with the poll interval, another gateway takes over within 30 s. */
const leaseMs = 20_000
/** Callbacks that another gateway left are found by polling. */
const idleMs = 5_000
/** After a round that failed in the store. */
const againMs = 1_000
/** Between two rounds. */
const gapMs = 20
/** How often to look for callbacks that a clock set back has delayed. */
const strandedEveryMs = 10_000
const window = 128
export const maxAtOnce = 32
export const maxPerHost = 4
export const maxPerAccount = 16

export class CallbackSender {
  /** Also signs for a while after an upgrade. */
  readonly shared: SharedSecret | undefined
  readonly #owner: string
  readonly #drainMs: number
  readonly #post: Post
  readonly #sending = new Map<string, Callback>()
  readonly #stop = new AbortController()
  #engine: Engine | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #timerAtMs = Number.POSITIVE_INFINITY
  #strandedFromMs = 0
  #polling = false
  /** A round was requested while one was running. */
  #again = false
  #closed = false

  constructor(
    owner: string,
    shared: SharedSecret | undefined,
    { drainMs = 5_000, post = guardedPost as Post } = {},
  ) {
    this.#owner = owner
    this.shared = shared
    this.#drainMs = drainMs
    this.#post = post
  }

  async start(engine: Engine): Promise<void> {
    this.#engine = engine
    // No other process can have this store open: the holders of these leases are gone.
    if (engine.store.cluster === undefined) await engine.store.tx((tx) => freeCallbacks(tx))
    this.wake(engine.clock.nowMs())
  }

  /** Runs a round at this moment, or earlier if that was planned. */
  wake(atMs: number): void {
    const engine = this.#engine
    if (engine === undefined || this.#closed) return
    if (this.#polling) this.#again = true
    if (atMs >= this.#timerAtMs) return
    clearTimeout(this.#timer)
    this.#timerAtMs = atMs
    const waitMs = Math.min(idleMs, Math.max(gapMs, atMs - engine.clock.nowMs()))
    this.#timer = setTimeout(() => this.#poll(engine), waitMs)
  }

  /** Resolves when nothing is being sent and no round is running. */
  async settled(): Promise<void> {
    while (this.#polling || this.#sending.size > 0) await Bun.sleep(5)
  }

  /** Takes no more, waits briefly for attempts in flight; the next gateway takes the rest. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    const engine = this.#engine
    if (engine === undefined) return
    await Promise.race([this.settled(), Bun.sleep(this.#drainMs)])
    this.#stop.abort()
    await this.settled()
    await engine.store
      .tx((tx) => freeCallbacks(tx, this.#owner))
      .catch((error: unknown) => engine.log.warn('callback leases not released', { error }))
  }

  async #poll(engine: Engine): Promise<void> {
    this.#timerAtMs = Number.POSITIVE_INFINITY
    if (this.#polling || this.#closed) return
    this.#polling = true
    this.#again = false
    let nextMs = engine.clock.nowMs() + againMs
    try {
      if (engine.store.healthy) nextMs = await this.round(engine)
    } catch (error) {
      engine.log.warn('callback round failed', { error })
    } finally {
      this.#polling = false
    }
    this.wake(this.#again ? engine.clock.nowMs() : nextMs)
  }

  /** Starts sending what is due and has a slot; returns when the next round is wanted. */
  async round(engine: Engine): Promise<number> {
    const { store, clock } = engine
    const nowMs = clock.nowMs()
    // A finished attempt frees a slot and starts the next round.
    if (this.#sending.size >= maxAtOnce) return nowMs + idleMs
    const isStrandedTime = performance.now() >= this.#strandedFromMs
    const { leased, dueMs } = await store.tx(async (tx) => {
      if (isStrandedTime) await wakeStrandedCallbacks(tx, nowMs, maxWaitsMs)
      const leaseClockMs = (await sharedClockMs(tx, store.dialect)) ?? nowMs
      const leased = await leaseDueCallbacks(tx, store.dialect, {
        owner: this.#owner,
        nowMs,
        leaseClockMs,
        untilMs: leaseClockMs + leaseMs,
        window,
        choose: (due) => this.#choose(due),
        ...this.#full(),
      })
      return { leased, dueMs: await nextCallbackMs(tx, leaseClockMs) }
    })
    if (isStrandedTime) this.#strandedFromMs = performance.now() + strandedEveryMs
    for (const callback of leased) void this.#send(engine, callback)
    if (leased.length > 0) return nowMs
    // Due callbacks that were not leased wait for a slot, or for another gateway's lease to end.
    return dueMs === undefined ? nowMs + idleMs : dueMs > nowMs ? dueMs : nowMs + againMs
  }

  async #send(engine: Engine, callback: Callback): Promise<void> {
    const { id, taskId } = callback
    const { store } = engine
    this.#sending.set(id, callback)
    engine.meters?.callbackLag.note(Math.max(0, engine.clock.nowMs() - callback.nextAtMs) / 1000)
    try {
      const attempt = await deliver(engine, callback, this.#post, this.#stop.signal)
      // Aborted by ourselves: says nothing about the receiver.
      if (this.#stop.signal.aborted && !isDelivered(attempt)) return
      engine.meters?.callbackAttempt(outcomeOf(attempt))
      await store.tx((tx) =>
        recordAttempt(tx, store.dialect, id, this.#owner, attempt, (attempts) =>
          fateOf(engine, attempt, attempts),
        ),
      )
    } catch (error) {
      engine.log.error('a callback could not be sent', { task_id: taskId, callback_id: id, error })
    } finally {
      this.#sending.delete(id)
      this.wake(engine.clock.nowMs())
    }
  }

  /** Oldest first, while its host and its account have slots. */
  #choose(due: readonly Callback[]): Callback[] {
    const sending = [...this.#sending.values()]
    const chosen: Callback[] = []
    for (const callback of due) {
      const all = [...sending, ...chosen]
      if (all.length >= maxAtOnce) break
      const origin = originOf(callback.url)
      const sameHost = all.filter(({ url }) => url.startsWith(origin))
      const sameAccount = all.filter(({ accountId }) => accountId === callback.accountId)
      if (sameHost.length >= maxPerHost || sameAccount.length >= maxPerAccount) continue
      if (!this.#sending.has(callback.id)) chosen.push(callback)
    }
    return chosen
  }

  #full(): { fullOrigins: string[]; fullAccounts: string[] } {
    const sending = [...this.#sending.values()]
    return {
      fullOrigins: repeated(sending, ({ url }) => originOf(url), maxPerHost),
      fullAccounts: repeated(sending, ({ accountId }) => accountId, maxPerAccount),
    }
  }
}

function repeated<T>(items: readonly T[], nameOf: (item: T) => string, times: number): string[] {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(nameOf(item), (counts.get(nameOf(item)) ?? 0) + 1)
  return [...counts].flatMap(([name, count]) => (count >= times ? [name] : []))
}

const outcomeOf = (attempt: CallbackAttempt): string => {
  if (isDelivered(attempt)) return 'delivered'
  return attempt.status === undefined ? 'unreachable' : isGone(attempt) ? 'gone' : 'refused'
}

function fateOf(engine: Engine, attempt: CallbackAttempt, attempts: number): Fate {
  const nowMs = engine.clock.nowMs()
  if (isDelivered(attempt)) return { state: 'delivered', endedAtMs: nowMs }
  const waitMs = isGone(attempt) ? undefined : waitAfter(attempts, engine.random)
  return waitMs === undefined
    ? { state: 'exhausted', endedAtMs: nowMs }
    : { state: 'waiting', nextAtMs: nowMs + waitMs }
}
