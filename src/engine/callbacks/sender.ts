// The loop that delivers callbacks of ended tasks: leases what is due, a bounded number at once and
// few for one host or account, and sleeps until the next is due. Knows no payload.
import { Loop, type Service } from '../../lib/loop.ts'
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
import type { Meters } from '../telemetry/metrics/meters.ts'
import { originOf } from './callback-url.ts'
import {
  type DeliverDeps,
  deliver,
  isDelivered,
  isGone,
  type Outbox,
  type Post,
} from './deliver.ts'
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

type SenderDeps = DeliverDeps & { readonly random: () => number; readonly meters?: Meters }

interface SenderOptions extends Pick<Outbox, 'noticeFor'> {
  post?: Post
  drainMs?: number
}

export class CallbackSender implements Service {
  readonly name = 'callbacks'
  readonly #deps: SenderDeps
  readonly #owner: string
  readonly #drainMs: number
  readonly #outbox: Outbox
  readonly #sending = new Map<string, Callback>()
  readonly #abort = new AbortController()
  readonly #loop: Loop
  #strandedFromMs = 0

  constructor(
    deps: SenderDeps,
    owner: string,
    { drainMs = 5_000, noticeFor, post = guardedPost as Post }: SenderOptions,
  ) {
    this.#deps = deps
    this.#owner = owner
    this.#drainMs = drainMs
    this.#outbox = { noticeFor, post }
    this.#loop = new Loop({
      name: this.name,
      run: async () => (deps.store.healthy ? this.round() : againMs),
      everyMs: idleMs,
      minGapMs: gapMs,
      retryMs: againMs,
      log: deps.log,
      failure: 'callback round failed',
    })
  }

  async start(): Promise<void> {
    const { store } = this.#deps
    // No other process can have this store open: the holders of these leases are gone.
    if (store.cluster === undefined) await store.tx((tx) => freeCallbacks(tx))
    this.#loop.start()
  }

  /** Runs a round at this moment, or earlier if that was planned. */
  wake(atMs = 0): void {
    this.#loop.wake(atMs - this.#deps.clock.nowMs())
  }

  /** Resolves when nothing is being sent and no round is running. */
  async settled(): Promise<void> {
    while (this.#loop.isRunning || this.#sending.size > 0) await Bun.sleep(5)
  }

  /** Takes no more, waits briefly for attempts in flight; the next gateway takes the rest. */
  async stop(): Promise<void> {
    const { store, log } = this.#deps
    void this.#loop.stop()
    await Promise.race([this.settled(), Bun.sleep(this.#drainMs)])
    this.#abort.abort()
    await this.settled()
    await store
      .tx((tx) => freeCallbacks(tx, this.#owner))
      .catch((error: unknown) => log.warn('callback leases not released', { error }))
  }

  /** Starts sending what is due and has a slot; returns after how long to run the next round. */
  async round(): Promise<number> {
    const { store, clock } = this.#deps
    const nowMs = clock.nowMs()
    // A finished attempt frees a slot and starts the next round.
    if (this.#sending.size >= maxAtOnce) return idleMs
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
    for (const callback of leased) void this.#send(callback)
    if (leased.length > 0) return 0
    // Due callbacks that were not leased wait for a slot, or for another gateway's lease to end.
    return dueMs === undefined ? idleMs : dueMs > nowMs ? dueMs - nowMs : againMs
  }

  async #send(callback: Callback): Promise<void> {
    const { id, taskId } = callback
    const { store, clock, meters, log } = this.#deps
    const { signal } = this.#abort
    this.#sending.set(id, callback)
    meters?.callbackLag.note(Math.max(0, clock.nowMs() - callback.nextAtMs) / 1000)
    try {
      const attempt = await deliver(this.#deps, callback, this.#outbox, signal)
      // Aborted by ourselves: says nothing about the receiver.
      if (signal.aborted && !isDelivered(attempt)) return
      meters?.callbackAttempt(outcomeOf(attempt))
      await store.tx((tx) =>
        recordAttempt(tx, store.dialect, id, this.#owner, attempt, (attempts) =>
          fateOf(this.#deps, attempt, attempts),
        ),
      )
    } catch (error) {
      log.error('a callback could not be sent', { task_id: taskId, callback_id: id, error })
    } finally {
      this.#sending.delete(id)
      this.wake()
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

function fateOf({ clock, random }: SenderDeps, attempt: CallbackAttempt, attempts: number): Fate {
  const nowMs = clock.nowMs()
  if (isDelivered(attempt)) return { state: 'delivered', endedAtMs: nowMs }
  const waitMs = isGone(attempt) ? undefined : waitAfter(attempts, random)
  return waitMs === undefined
    ? { state: 'exhausted', endedAtMs: nowMs }
    : { state: 'waiting', nextAtMs: nowMs + waitMs }
}
