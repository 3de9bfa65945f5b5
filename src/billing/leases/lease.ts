// Leases: what this gateway has drawn from the store that it shares with others, and gives to its calls
// by itself. There are two kinds: of the credit of an account (../credit) and of room in budgets
// (../budgets). This is what both do with an amount:
//
//             draw               hold             settle
//    free ──────────> spendable ──────> held ──────────────> spent
//     ^ ^                 │ ^             │
//     │ └──── return ─────┘ └── release ──┘
//     └────── evict: the gateway is dead, and any other one returns its whole lease
//
// and with a call for which too little is spendable:
//
//    waits ── draw ── enough ───────────────────────────────────────> held
//              ^ └─── short ── no other gateway has leased any ─────> refused
//              │         └──── recall: the others return what their calls do not hold
//              └── repeated ─────┘   └── they had nothing, or three times: the last draw decides
//
// Unused credit is also returned after a while. What is leased in advance is at most a share of what is
// free; after a recall nothing is, for a moment.
import type { Question } from '../../store/index.ts'
import type { Inquiries } from './inquiries.ts'

/** Further calls that wait at one account are refused. */
const maxWaiters = 20_000
/** How long each round waits for the other gateways to return what they do not hold. */
const recallWaitsMs = [60, 400, 900] as const
/** Calls that find too little are served together: recalls are at least this far apart. */
const recallEveryMs = 20
/** After a recall nothing is leased in advance, and freed credit is returned soon. */
const scarceMs = 1_000
/** With plenty, a draw also leases for this many more calls of the same size. */
const callsAhead = 32n
/** Maximum for an account in constant use; each consecutive draw doubles the number. */
const maxCallsAhead = 8192n
/** Draws within this interval count as consecutive. */
const inRowMs = 1_000
/** Maximum share of what is free that is leased in advance: one part in this many. */
const freeShare = 4n

/** Whether there is enough is unknown at the moment. */
export class LeaseUnknown extends Error {}

/** What a call needs: of each of these, or of none. */
interface Want<K> {
  readonly of: readonly K[]
  readonly nanos: bigint
  /** Takes what there is if it is not enough. */
  readonly takesLess?: boolean
}

export interface Waiter<K, Result> extends Want<K> {
  resolve(result: Result): void
  reject(error: unknown): void
}

export interface Drawn<W> {
  /** Those who got nothing, because there is too little. */
  readonly short: readonly W[]
  /** Other gateways that have leased some of it. */
  readonly holders: readonly string[]
}

/** The leases of one account, and its calls that wait for more. */
export abstract class Leases<W extends Waiter<unknown, never>> {
  readonly #question: Question
  readonly #inquiries: Inquiries | undefined
  #waiters: W[] = []
  #isServing = false
  /** Draws and returns, serialised. */
  #tail: Promise<unknown> = Promise.resolve()
  #turns = 0
  #scarceUntilMs = 0
  #askedAtMs = Number.NEGATIVE_INFINITY
  #pace: { atMs: number; calls: bigint } | undefined

  /** `question`: recalls. Without inquiries, the database is not shared. */
  constructor(question: Question, inquiries: Inquiries | undefined) {
    this.#question = question
    this.#inquiries = inquiries
  }

  /** Draws for those who waited when the round began, and holds it for them in the turn in which it arrives. */
  protected abstract draw(asking: ReadonlySet<W>): Promise<Drawn<W>>

  /** No gateway has enough for these. `isAlone`: no other one has leased any. */
  protected abstract refuse(short: readonly W[], isAlone: boolean): Promise<void> | void

  /** In its turn: returns what no call holds, and how much it was. */
  protected abstract returnUnheld(): Promise<bigint>

  /** Other gateways that have leased some of it; where there are several leases, of these. */
  protected abstract holders(ids?: readonly string[]): Promise<readonly string[]>

  /** Charges that are being written and may leave something over; none of them fails. */
  protected settling(): readonly Promise<void>[] {
    return []
  }

  protected served(): void {}

  /** Nothing waits and nothing is being written. */
  get isIdle(): boolean {
    return this.#waiters.length === 0 && this.#turns === 0 && !this.#isServing
  }

  protected get waiters(): readonly W[] {
    return this.#waiters
  }

  /** Other gateways may lack what this one does not use. */
  protected get isScarce(): boolean {
    if (this.#scarceUntilMs !== 0 && performance.now() > this.#scarceUntilMs)
      this.#scarceUntilMs = 0
    return this.#scarceUntilMs !== 0
  }

  /** Those of them that still wait, in order. */
  protected left(asking: ReadonlySet<W>): W[] {
    return this.#waiters.filter((waiter) => asking.has(waiter))
  }

  /** Waits for a draw. */
  protected join(waiter: W): void {
    if (this.#waiters.length >= maxWaiters) {
      waiter.reject(new LeaseUnknown('too many calls wait for this account'))
      return
    }
    this.#waiters.push(waiter)
    if (!this.#isServing) void this.#serve()
  }

  /** Those for whom this is true wait no longer. */
  protected leave(isServed: (waiter: W) => boolean): void {
    this.#waiters = this.#waiters.filter((waiter) => !isServed(waiter))
  }

  /** The same up to the first for whom it is not. */
  protected leaveInOrder(isServed: (waiter: W) => boolean): void {
    while (this.#waiters.length > 0 && isServed(this.#waiters[0]!)) this.#waiters.shift()
  }

  protected inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#turns++
    const done = this.#tail.then(work).finally(() => {
      this.#turns--
    })
    this.#tail = done.catch(() => {})
    return done
  }

  /** Returns what no call holds; resolves to the amount. */
  giveBack(): Promise<bigint> {
    return this.inTurn(() => this.returnUnheld())
  }

  /** The same for another gateway that lacks it and waits: what is under way ends before. */
  async recalled(): Promise<bigint> {
    this.#scarceUntilMs = performance.now() + scarceMs
    await Promise.all(this.settling())
    return this.giveBack()
  }

  /** For what a transaction takes from the store itself: true when a retry is worthwhile. */
  async gather(tries: number, ids?: readonly string[]): Promise<boolean> {
    const waitMs = recallWaitsMs[tries]
    if (waitMs === undefined) return false
    const isMoving = this.#turns > 0
    const settling = this.settling()
    await Promise.all(settling)
    const givenNanos = await this.giveBack()
    const holders = await this.holders(ids)
    const isMore = await this.#recall(holders, waitMs)
    // The last attempt did not see what moved meanwhile.
    const isFirst = tries === 0 && (isMoving || holders.length > 0)
    return isFirst || givenNanos > 0n || isMore || settling.length > 0
  }

  /** Draws lock the account, so a busy one must draw rarely: what it leases for more calls like this one. */
  protected ahead(wantedNanos: bigint): bigint {
    if (this.isScarce) return 0n
    const atMs = performance.now()
    const isInRow = this.#pace !== undefined && atMs - this.#pace.atMs < inRowMs
    const calls = isInRow ? smaller(this.#pace!.calls * 2n, maxCallsAhead) : callsAhead
    this.#pace = { atMs, calls }
    return wantedNanos * calls
  }

  async #serve(): Promise<void> {
    this.#isServing = true
    try {
      while (this.#waiters.length > 0) await this.#round()
    } catch (error) {
      for (const { reject } of this.#waiters.splice(0)) reject(error)
    } finally {
      this.#isServing = false
      this.served()
    }
  }

  /** When it ends, those who waited when it began are served or refused. */
  async #round(): Promise<void> {
    const asking = new Set(this.#waiters)
    let isMore = true
    for (const waitMs of [...recallWaitsMs, undefined]) {
      const settling = this.settling()
      const { short, holders } = await this.draw(asking)
      if (short.length === 0) return
      const isAlone = holders.length === 0
      if (!isMore || waitMs === undefined || (isAlone && settling.length === 0)) {
        return this.refuse(short, isAlone)
      }
      await Promise.all(settling)
      isMore = (await this.#recall(holders, waitMs)) || settling.length > 0
    }
  }

  /** False when all of them have replied, and none had anything to return. */
  async #recall(holders: readonly string[], waitMs: number): Promise<boolean> {
    if (holders.length === 0 || this.#inquiries === undefined) return false
    const sinceMs = performance.now() - this.#askedAtMs
    if (sinceMs < recallEveryMs) await new Promise((go) => setTimeout(go, recallEveryMs - sinceMs))
    this.#askedAtMs = performance.now()
    this.#scarceUntilMs = this.#askedAtMs + scarceMs
    return this.#inquiries.recall(this.#question, holders, waitMs)
  }
}

/**
 * Who gets what is free, in order of arrival: by the index of the want, of what there is too little for it;
 * none: it is served. What is not in `free` has no limit.
 */
export function allot<K>(free: ReadonlyMap<K, bigint>, wants: readonly Want<K>[], isLast = false) {
  const takenNanos = new Map<K, bigint>()
  const takenOf = (key: K): bigint => takenNanos.get(key) ?? 0n
  const lacking = wants.map(({ of, nanos, takesLess }): readonly K[] => {
    const leftOf = (key: K): bigint => (free.get(key) ?? takenOf(key) + nanos) - takenOf(key)
    const short = of.filter((key) => leftOf(key) < nanos)
    for (const key of short.length === 0 ? of : []) takenNanos.set(key, takenOf(key) + nanos)
    for (const key of isLast && takesLess === true ? short : []) {
      if (leftOf(key) > 0n) takenNanos.set(key, takenOf(key) + leftOf(key))
    }
    return short
  })
  return { lacking, takenOf }
}

/** How much is leased in advance when this much is left. */
export const aheadWithin = (leftNanos: bigint, aheadNanos: bigint): bigint =>
  smaller(aheadNanos, leftNanos > 0n ? leftNanos / freeShare : 0n)

export function smaller(a: bigint, b: bigint): bigint {
  if (a < b) return a
  return b
}
