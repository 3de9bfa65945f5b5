// Calls that wait for credit of one account at this gateway, and how much a draw must lease for
// them. Arriving credit is held for them in the same turn, in order of arrival: none of them sees
// credit that another one takes.
import type { Draw } from '../../store/ledger/credit-leases.ts'
import { type AccountFunds, availableNanos } from '../balances.ts'

export interface Waiter {
  wantedNanos: bigint
  /** Accepts a part when there is not enough. */
  takesLess: boolean
  /** With the amount now held for it; undefined: there is not enough anywhere. */
  resolve(heldNanos: bigint | undefined): void
  reject(error: unknown): void
}

/** Further calls waiting for one account are refused. */
export const maxWaiters = 20_000

export class CreditQueue {
  readonly funds: AccountFunds
  waiters: Waiter[] = []
  /** Draws and returns of the account, serialised. */
  #tail: Promise<unknown> = Promise.resolve()
  turns = 0
  serving = false
  /** Until then other gateways may lack what this one does not use. */
  scarceUntilMs = 0
  returning: ReturnType<typeof setTimeout> | undefined
  /** This amount was unavailable, and until then it is not requested again. */
  lacking: { nanos: bigint; untilMs: number } | undefined
  askedAtMs = Number.NEGATIVE_INFINITY
  pace: { atMs: number; calls: bigint } | undefined

  constructor(funds: AccountFunds) {
    this.funds = funds
  }

  /** Nothing depends on this queue. */
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

  /** Grants credit in order to the waiters for whom it suffices. */
  grant(): void {
    const { funds } = this
    this.waiters = this.waiters.filter((waiter) => !granted(funds, waiter))
  }

  /** The same for the first waiter only: for money that arrives in small parts. */
  grantFirst(): void {
    while (this.waiters.length > 0 && granted(this.funds, this.waiters[0]!)) this.waiters.shift()
  }

  /** There is no more: waiters that accept less get what there is, the others nothing. */
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

/** The queues of all accounts in use. */
export class CreditQueues {
  readonly #queues = new Map<string, CreditQueue>()

  all(): Iterable<CreditQueue> {
    return this.#queues.values()
  }

  find(accountId: string): CreditQueue | undefined {
    return this.#queues.get(accountId)
  }

  of(funds: AccountFunds): CreditQueue {
    const known = this.#queues.get(funds.id)
    if (known !== undefined) return known
    const queue = new CreditQueue(funds)
    this.#queues.set(funds.id, queue)
    return queue
  }

  delete(accountId: string): void {
    this.#queues.delete(accountId)
  }
}

function granted(funds: AccountFunds, { wantedNanos, resolve }: Waiter): boolean {
  if (funds.stale || availableNanos(funds) < wantedNanos) return false
  funds.callHoldsNanos += wantedNanos
  resolve(wantedNanos)
  return true
}

/** Maximum share of the free balance in a draw, unless calls need more: one part in this many. */
const freeShare = 4n

export interface DrawNeed {
  waiters: readonly Waiter[]
  /** What this gateway can already spend. */
  haveNanos: bigint
  /** Amount to lease in advance, if there is plenty. */
  aheadNanos: bigint
  /** Waiters that accept less take it now. */
  isLast: boolean
}

/** Never a part that serves no waiter: it would only be missing elsewhere. */
export function sizeDraw(freeNanos: bigint, need: DrawNeed): Draw {
  const { waiters, haveNanos, aheadNanos } = need
  const wanted = waiters.reduce((sum, { wantedNanos }) => sum + wantedNanos, 0n)
  const lacking = wanted - haveNanos
  if (lacking <= 0n) return { nanos: 0n, isShort: false }
  if (freeNanos < lacking) return { nanos: shortDraw(freeNanos, need), isShort: true }
  const share = (freeNanos - lacking) / freeShare
  return { nanos: lacking + smaller(aheadNanos, share), isShort: false }
}

/** For the waiters, in order, for whom it suffices. */
function shortDraw(freeNanos: bigint, { waiters, haveNanos, isLast }: DrawNeed): bigint {
  if (freeNanos <= 0n) return 0n
  let room = haveNanos + freeNanos
  let taken = 0n
  for (const { wantedNanos, takesLess } of waiters) {
    // Below zero: the lease behind open holds is gone.
    if (room <= 0n) break
    const part = wantedNanos <= room ? wantedNanos : takesLess && isLast ? room : 0n
    room -= part
    taken += part
  }
  return taken > 0n && taken > haveNanos ? taken - haveNanos : 0n
}

export function smaller(a: bigint, b: bigint): bigint {
  if (a < b) return a
  return b
}
