// The loop that delivers what is in a queue: leases what is due, a bounded number at once and few for
// one host or owner, sends it, records the attempt and sleeps until the next is due. Knows no payload.
import { Loop, type Service } from '../../lib/loop.ts'
import {
  type Attempt,
  type Delivery,
  type DeliveryQueue,
  type Fate,
  freeDeliveries,
  leaseDue,
  nextDueMs,
  recordOutcome,
  wakeStrandedDeliveries,
} from '../../store/deliveries/queue.ts'
import { sharedClockMs } from '../../store/tasks/leases.ts'
import type { BaseDeps } from '../base-deps.ts'
import { originOf } from './callback-url.ts'
import { isDelivered, isGone } from './outcome.ts'
import { maxWaitsMs, waitAfter } from './schedule.ts'

/** Longer than an attempt takes; with the poll interval, another gateway takes over within 30 s. */
const leaseMs = 20_000
/** Deliveries that another gateway left are found by polling. */
const idleMs = 5_000
/** After a round that failed in the store. */
const againMs = 1_000
/** Between two rounds. */
const gapMs = 20
/** How often to look for deliveries that a clock set back has delayed. */
const strandedEveryMs = 10_000
/** How long a stop waits for attempts in flight. */
const defaultDrainMs = 5_000
const window = 128
export const maxAtOnce = 32
export const maxPerHost = 4
export const maxPerOwner = 16

type SenderDeps = BaseDeps & { readonly random: () => number }

interface SenderOptions<T extends Delivery> {
  /** What is delivered, in log lines; the service has its plural as its name. */
  noun: string
  queue: DeliveryQueue<T>
  /** One attempt. */
  deliver(delivery: T, signal: AbortSignal): Promise<Attempt>
  /** False: there cannot be anything to send. */
  isNeeded?(): boolean
  /** An attempt begins. */
  begun?(lateMs: number): void
  attempted?(outcome: string): void
  /** In log lines. */
  fieldsOf(delivery: T): Readonly<Record<string, string>>
  drainMs?: number
}

export class DeliverySender<T extends Delivery> implements Service {
  readonly name: string
  readonly #deps: SenderDeps
  readonly #owner: string
  readonly #options: SenderOptions<T>
  readonly #sending = new Map<string, T>()
  readonly #abort = new AbortController()
  readonly #loop: Loop
  #strandedFromMs = 0

  constructor(deps: SenderDeps, owner: string, options: SenderOptions<T>) {
    const { noun, isNeeded = () => true } = options
    this.name = `${noun}s`
    this.#deps = deps
    this.#owner = owner
    this.#options = options
    this.#loop = new Loop({
      name: this.name,
      run: async () => {
        if (!isNeeded()) return idleMs
        return deps.store.healthy ? this.round() : againMs
      },
      everyMs: idleMs,
      minGapMs: gapMs,
      retryMs: againMs,
      log: deps.log,
      failure: `${noun} round failed`,
    })
  }

  async start(): Promise<void> {
    // No other process can have this store open: the holders of these leases are gone.
    if (this.#deps.store.cluster === undefined) await this.#free()
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
    const { log } = this.#deps
    void this.#loop.stop()
    await Promise.race([this.settled(), Bun.sleep(this.#options.drainMs ?? defaultDrainMs)])
    this.#abort.abort()
    await this.settled()
    await this.#free(this.#owner).catch((error: unknown) =>
      log.warn(`${this.#options.noun} leases not released`, { error }),
    )
  }

  #free(owner?: string): Promise<void> {
    const { table } = this.#options.queue
    return this.#deps.store.tx((tx) => freeDeliveries(tx, table, owner))
  }

  /** Starts sending what is due and has a slot; returns after how long to run the next round. */
  async round(): Promise<number> {
    const { store, clock } = this.#deps
    const { queue } = this.#options
    const nowMs = clock.nowMs()
    // A finished attempt frees a slot and starts the next round.
    if (this.#sending.size >= maxAtOnce) return idleMs
    const isStrandedTime = performance.now() >= this.#strandedFromMs
    const { leased, dueMs } = await store.tx(async (tx) => {
      if (isStrandedTime) await wakeStrandedDeliveries(tx, queue, nowMs, maxWaitsMs)
      const leaseClockMs = (await sharedClockMs(tx, store.dialect)) ?? nowMs
      const leased = await leaseDue(tx, store.dialect, queue, {
        owner: this.#owner,
        nowMs,
        leaseClockMs,
        untilMs: leaseClockMs + leaseMs,
        window,
        choose: (due) => this.#choose(due),
        ...this.#full(),
      })
      return { leased, dueMs: await nextDueMs(tx, queue, leaseClockMs) }
    })
    if (isStrandedTime) this.#strandedFromMs = performance.now() + strandedEveryMs
    for (const delivery of leased) void this.#send(delivery)
    if (leased.length > 0) return 0
    // Due deliveries that were not leased wait for a slot, or for another gateway's lease to end.
    return dueMs === undefined ? idleMs : dueMs > nowMs ? dueMs - nowMs : againMs
  }

  async #send(delivery: T): Promise<void> {
    const { id } = delivery
    const { store, clock, log } = this.#deps
    const { noun, queue, begun, attempted, deliver, fieldsOf } = this.#options
    const { signal } = this.#abort
    this.#sending.set(id, delivery)
    begun?.(Math.max(0, clock.nowMs() - delivery.nextAtMs))
    try {
      const attempt = await deliver(delivery, signal)
      // Aborted by ourselves: says nothing about the receiver.
      if (signal.aborted && !isDelivered(attempt)) return
      attempted?.(outcomeOf(attempt))
      const fateAfter = (attempts: number) => fateOf(this.#deps, attempt, attempts)
      const outcome = { id, owner: this.#owner, attempt, fateAfter }
      await store.tx((tx) => recordOutcome(tx, store.dialect, queue, outcome))
    } catch (error) {
      log.error(`a ${noun} could not be sent`, { ...fieldsOf(delivery), error })
    } finally {
      this.#sending.delete(id)
      this.wake()
    }
  }

  /** Oldest first, while its host and its account have slots. */
  #choose(due: readonly T[]): T[] {
    const { ownerOf } = this.#options.queue
    const sending = [...this.#sending.values()]
    const chosen: T[] = []
    for (const delivery of due) {
      const all = [...sending, ...chosen]
      if (all.length >= maxAtOnce) break
      const origin = originOf(delivery.url)
      const owner = ownerOf(delivery)
      const sameHost = all.filter(({ url }) => url.startsWith(origin))
      const sameOwner = all.filter((each) => ownerOf(each) === owner)
      if (sameHost.length >= maxPerHost || sameOwner.length >= maxPerOwner) continue
      if (!this.#sending.has(delivery.id)) chosen.push(delivery)
    }
    return chosen
  }

  #full(): { fullOrigins: string[]; fullOwners: string[] } {
    const sending = [...this.#sending.values()]
    return {
      fullOrigins: repeated(sending, ({ url }) => originOf(url), maxPerHost),
      fullOwners: repeated(sending, this.#options.queue.ownerOf, maxPerOwner),
    }
  }
}

function repeated<T>(items: readonly T[], nameOf: (item: T) => string, times: number): string[] {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(nameOf(item), (counts.get(nameOf(item)) ?? 0) + 1)
  return [...counts].flatMap(([name, count]) => (count >= times ? [name] : []))
}

const outcomeOf = (attempt: Attempt): string => {
  if (isDelivered(attempt)) return 'delivered'
  return attempt.status === undefined ? 'unreachable' : isGone(attempt) ? 'gone' : 'refused'
}

function fateOf({ clock, random }: SenderDeps, attempt: Attempt, attempts: number): Fate {
  const nowMs = clock.nowMs()
  if (isDelivered(attempt)) return { state: 'delivered', endedAtMs: nowMs }
  const waitMs = isGone(attempt) ? undefined : waitAfter(attempts, random)
  return waitMs === undefined
    ? { state: 'exhausted', endedAtMs: nowMs }
    : { state: 'waiting', nextAtMs: nowMs + waitMs }
}
