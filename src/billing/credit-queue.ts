// Calls that wait for credit of one account at this gateway, and what a draw must bring for them.
// Credit that arrives is held for them in the same turn, in the order in which they came: none of
// them sees credit that another one takes.
import type { Draw } from '../store/ledger/credit-leases.ts'
import { type AccountFunds, availableNanos } from './balances.ts'

export interface Waiter {
  wantedNanos: bigint
  /** Takes what there is when there is not all of it. */
  takesLess: boolean
  /** With what is held for it now; undefined: there is not enough anywhere. */
  resolve(heldNanos: bigint | undefined): void
  reject(error: unknown): void
}

/** More than this many calls waiting for one account are turned away. */
export const maxWaiters = 20_000

export class CreditQueue {
  readonly funds: AccountFunds
  waiters: Waiter[] = []
  /** Draws and returns of the account, one after the other. */
  #tail: Promise<unknown> = Promise.resolve()
  turns = 0
  serving = false
  /** Until then others may lack what this gateway does not use. */
  scarceUntilMs = 0
  returning: ReturnType<typeof setTimeout> | undefined
  /** So much could not be had, and until then it is not looked for again. */
  lacking: { nanos: bigint; untilMs: number } | undefined
  askedAtMs = Number.NEGATIVE_INFINITY
  pace: { atMs: number; calls: bigint } | undefined

  constructor(funds: AccountFunds) {
    this.funds = funds
  }

  /** Nothing depends on it. */
  get isIdle(): boolean {
    return this.waiters.length === 0 && this.turns === 0 && this.returning === undefined
  }

  inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.turns++
    const done = this.#tail.then(work).finally(() => {
      this.turns--
    })
    this.#tail = done.catch(() => {})
    return done
  }

  /** Holds what there is for those it suffices for, in order. */
  grant(): void {
    const { funds } = this
    this.waiters = this.waiters.filter((waiter) => !granted(funds, waiter))
  }

  /** The same for the first in line only: for money that comes in small parts. */
  grantFirst(): void {
    while (this.waiters.length > 0 && granted(this.funds, this.waiters[0]!)) this.waiters.shift()
  }

  /** There is no more: those that take less get what there is, the others nothing. */
  refuse(refused: ReadonlySet<Waiter>): void {
    this.waiters = this.waiters.filter((waiter) => !refused.has(waiter))
    for (const waiter of refused) {
      const free = availableNanos(this.funds)
      const isSome = waiter.takesLess && free > 0n && !this.funds.stale
      if (isSome) this.funds.callHoldsNanos += free
      waiter.resolve(isSome ? free : undefined)
    }
  }

  fail(error: unknown): void {
    for (const { reject } of this.waiters.splice(0)) reject(error)
  }
}

function granted(funds: AccountFunds, { wantedNanos, resolve }: Waiter): boolean {
  if (funds.stale || availableNanos(funds) < wantedNanos) return false
  funds.callHoldsNanos += wantedNanos
  resolve(wantedNanos)
  return true
}

/** No draw takes more than this part of what is free, unless calls need it. */
const freeShare = 4n

export interface DrawNeed {
  waiters: readonly Waiter[]
  /** What this gateway can spend already. */
  haveNanos: bigint
  /** What to bring in advance, if there is plenty. */
  aheadNanos: bigint
  /** Those that take less take it now. */
  isLast: boolean
}

/** Never a part that serves nobody: it would only be missing elsewhere. */
export function sizeDraw(freeNanos: bigint, need: DrawNeed): Draw {
  const { waiters, haveNanos, aheadNanos } = need
  const wanted = waiters.reduce((sum, { wantedNanos }) => sum + wantedNanos, 0n)
  const lacking = wanted - haveNanos
  if (lacking <= 0n) return { nanos: 0n, isShort: false }
  if (freeNanos < lacking) return { nanos: shortDraw(freeNanos, need), isShort: true }
  const share = (freeNanos - lacking) / freeShare
  return { nanos: lacking + smaller(aheadNanos, share), isShort: false }
}

/** For those in order for whom it suffices. */
function shortDraw(freeNanos: bigint, { waiters, haveNanos, isLast }: DrawNeed): bigint {
  if (freeNanos <= 0n) return 0n
  let room = haveNanos + freeNanos
  let taken = 0n
  for (const { wantedNanos, takesLess } of waiters) {
    const part = wantedNanos <= room ? wantedNanos : takesLess && isLast ? room : 0n
    room -= part
    taken += part
  }
  return taken > haveNanos ? taken - haveNanos : 0n
}

export function smaller(a: bigint, b: bigint): bigint {
  if (a < b) return a
  return b
}
