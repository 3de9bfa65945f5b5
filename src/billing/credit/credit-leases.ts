// When several gateways share a database, each leases credit of an account before it spends it:
// calls are held against the lease in memory, charges are paid from it, and unused credit is
// returned. Only the lease holder can spend leased credit. A call is refused for lack of credit only
// after the other gateways have returned what they do not use and that does not suffice.
//
//   account: balance ── held by tasks
//                    ── leased ──> this gateway's ── holds of its calls
//                    └─ free: for draws and tasks   └─ spendable
import { crashPoint } from '../../lib/crash-point.ts'
import type { Cluster, Notice, Store } from '../../store/index.ts'
import { type Drawn, fillCreditLease, otherHolders } from '../../store/ledger/credit-leases.ts'
import { type AccountFunds, availableNanos, type Balances } from '../balances.ts'
import {
  type CreditQueue,
  CreditQueues,
  type DrawNeed,
  maxWaiters,
  sizeDraw,
  smaller,
  type Waiter,
} from './credit-queue.ts'
import { CreditReturns } from './credit-returns.ts'
import type { Inquiries } from './inquiries.ts'

/** A draw also leases for this many more calls of the same size, if there is plenty. */
const callsAhead = 32n
/** Maximum for an account in constant use; each consecutive draw doubles the amount. */
const maxCallsAhead = 8192n
/** Draws within this interval count as consecutive. */
const inRowMs = 1_000
/** How long each round waits for all lease holders to return what they do not hold. */
const recallWaitsMs = [60, 400, 900] as const
/** Calls that find an account empty are served together: recalls are at least this far apart. */
const recallEveryMs = 20
/** An account without credit at other gateways is not recalled again for this long. */
const emptyMs = 100
/** How often to re-check an account whose last write has an unknown outcome. */
const staleTries = 20
const staleWaitMs = 50

/** Whether there is credit is unknown at the moment. */
class CreditUnknown extends Error {}

export class CreditLeases {
  readonly #store: Store
  readonly #cluster: Cluster
  readonly #balances: Balances
  readonly #inquiries: Inquiries
  readonly #queues = new CreditQueues()
  readonly #returns: CreditReturns

  constructor(store: Store, cluster: Cluster, balances: Balances, inquiries: Inquiries) {
    this.#store = store
    this.#cluster = cluster
    this.#balances = balances
    this.#inquiries = inquiries
    cluster.subscribe((notice) => this.#reply(notice))
    this.#returns = new CreditReturns(store, cluster, balances, this.#queues, inquiries)
  }

  /**
   * Adds to the call holds as soon as there is credit; returns how much, which is less than wanted
   * only for callers that accept less. Undefined: there is not enough at any gateway. With
   * `isFresh`, a recent negative result is not reused.
   */
  reserve(
    funds: AccountFunds,
    wantedNanos: bigint,
    { takesLess = false, isFresh = false }: { takesLess?: boolean; isFresh?: boolean } = {},
  ): Promise<bigint | undefined> {
    const queue = this.#queues.of(funds)
    const { lacking } = queue
    const isKnown = lacking !== undefined && wantedNanos >= lacking.nanos
    if (isKnown && !isFresh && performance.now() < lacking.untilMs) {
      return Promise.resolve(undefined)
    }
    if (queue.waiters.length >= maxWaiters) {
      return Promise.reject(new CreditUnknown('too many calls wait for credit of this account'))
    }
    return new Promise((resolve, reject) => {
      queue.waiters.push({ wantedNanos, takesLess, resolve, reject })
      if (!queue.serving) void this.#serve(queue)
    })
  }

  /** For amounts taken from the account itself: true when a retry is worthwhile. */
  async gather(funds: AccountFunds, tries: number): Promise<boolean> {
    const waitMs = recallWaitsMs[tries]
    if (waitMs === undefined) return false
    const queue = this.#queues.of(funds)
    const wasMoving = queue.turns > 0
    const givenNanos = await this.#returns.giveBack(funds)
    const holders = await otherHolders(this.#store.read, this.#creditLeaseOf(funds))
    const isAnswered = await this.#recall(queue, holders, waitMs)
    // The last attempt did not see credit that moved meanwhile.
    const isFirst = tries === 0 && (wasMoving || holders.length > 0)
    return isFirst || givenNanos > 0n || !isAnswered
  }

  /** Credit arrived or became free: serves waiters here or at other gateways. */
  freed({ id }: AccountFunds): void {
    const queue = this.#queues.find(id)
    if (queue === undefined) return
    queue.lacking = undefined
    if (queue.waiters.length > 0) queue.grantFirst()
    else if (queue.scarceUntilMs !== 0) this.#returns.returnSoon(queue)
  }

  /** The other gateways check again, too. */
  funded(funds: AccountFunds): void {
    this.freed(funds)
    this.#cluster.publish({ kind: 'funded', accountId: funds.id })
  }

  close(): void {
    this.#returns.close()
  }

  async #serve(queue: CreditQueue): Promise<void> {
    queue.serving = true
    try {
      while (queue.waiters.length > 0) await this.#round(queue)
    } catch (error) {
      queue.fail(error)
    } finally {
      queue.serving = false
      if (queue.scarceUntilMs !== 0) this.#returns.returnSoon(queue)
    }
  }

  /** When it ends, all waiters got credit, were refused, or arrived too late for it. */
  async #round(queue: CreditQueue): Promise<void> {
    let isAnswered = false
    for (const waitMs of [...recallWaitsMs, undefined]) {
      const asking = [...queue.waiters]
      const drawn = await this.#draw(queue, asking, false)
      const left = leftOf(queue, asking)
      if (left.length === 0) return
      // There was enough, but calls that arrived meanwhile have taken some of it.
      if (!drawn.isShort) continue
      const { holders } = drawn
      if (holders.length === 0 || isAnswered || waitMs === undefined) {
        return this.#giveUp(queue, left, holders.length === 0)
      }
      isAnswered = await this.#recall(queue, holders, waitMs)
    }
  }

  /** No gateway has enough for these. */
  async #giveUp(queue: CreditQueue, lacking: readonly Waiter[], isAllHere: boolean): Promise<void> {
    let left = lacking
    if (left.some(({ takesLess }) => takesLess)) {
      await this.#draw(queue, left, true)
      left = leftOf(queue, left)
    }
    const refused = left.filter(({ takesLess }) => !takesLess)
    const nanos = refused.reduce<bigint | undefined>(smallest, undefined)
    // With nothing to return, this was quick: cached, so that callers cannot keep the store busy.
    if (isAllHere && nanos !== undefined) {
      queue.lacking = { nanos, untilMs: performance.now() + emptyMs }
    }
    queue.refuse(new Set(left))
  }

  /** Draws what these waiters need and holds it for them in the turn in which it arrives. */
  async #draw(queue: CreditQueue, waiters: readonly Waiter[], isLast: boolean): Promise<Drawn> {
    const { funds } = queue
    await this.#settled(funds)
    return queue.inTurn(async () => {
      queue.grant()
      const left = leftOf(queue, waiters)
      if (left.length === 0) return { nanos: 0n, isShort: false, holders: [] }
      const need = { waiters: left, isLast, aheadNanos: this.#ahead(queue, left) }
      const drawn = await this.#balances.tracked(funds, () =>
        this.#store.tx(
          (tx) =>
            fillCreditLease(tx, this.#creditLeaseOf(funds), (free) =>
              sizeDraw(free, { ...need, haveNanos: availableNanos(funds) } satisfies DrawNeed),
            ),
          funds.id,
        ),
      )
      crashPoint('credit-lease-drawn')
      if (drawn === undefined) {
        this.#balances.suspect(funds)
        throw new CreditUnknown('the others have given this gateway up')
      }
      funds.balanceNanos += drawn.nanos
      queue.grant()
      return drawn
    })
  }

  async #settled(funds: AccountFunds): Promise<void> {
    for (let tries = 0; funds.stale; tries++) {
      if (tries === staleTries) throw new CreditUnknown('the last write has an open outcome')
      await new Promise((go) => setTimeout(go, staleWaitMs))
    }
  }

  /** Draws lock the account, so a busy one must draw rarely: leases for this many calls ahead. */
  #ahead(queue: CreditQueue, waiters: readonly Waiter[]): bigint {
    const nowMs = performance.now()
    if (nowMs < queue.scarceUntilMs) return 0n
    const { pace } = queue
    const isInRow = pace !== undefined && nowMs - pace.atMs < inRowMs
    const calls = isInRow ? smaller(pace.calls * 2n, maxCallsAhead) : callsAhead
    queue.pace = { atMs: nowMs, calls }
    return waiters[0]!.wantedNanos * calls
  }

  /** True when all of them have replied, and none had anything to return. */
  async #recall(queue: CreditQueue, holders: readonly string[], waitMs: number): Promise<boolean> {
    if (holders.length === 0) return true
    const sinceMs = performance.now() - queue.askedAtMs
    if (sinceMs < recallEveryMs) await new Promise((go) => setTimeout(go, recallEveryMs - sinceMs))
    queue.askedAtMs = performance.now()
    this.#returns.markScarce(queue)
    const question = { kind: 'wanted', accountId: queue.funds.id } as const
    const { answers, missing } = await this.#inquiries.ask(question, holders, waitMs)
    // A gateway that does not reply may be dead.
    if (missing.size > 0) await this.#cluster.sweep()
    return missing.size === 0 && answers.every((each) => 'nanos' in each && each.nanos === '0')
  }

  #reply(notice: Notice): void {
    if (notice.kind === 'evicted') {
      for (const funds of this.#balances.all()) this.#balances.suspect(funds)
    }
    if (notice.kind === 'funded') {
      const queue = this.#queues.find(notice.accountId)
      if (queue !== undefined) queue.lacking = undefined
    }
    if (notice.kind === 'wanted') void this.#returns.returnFor(notice)
  }

  #creditLeaseOf = ({ id }: AccountFunds) => ({
    accountId: id,
    gatewayId: this.#cluster.gatewayId,
  })
}

/** Those of them that still wait, in order. */
function leftOf({ waiters }: CreditQueue, asking: readonly Waiter[]): Waiter[] {
  if (waiters.length === 0) return []
  const waiting = new Set(waiters)
  return asking.filter((waiter) => waiting.has(waiter))
}

const smallest = (min: bigint | undefined, { wantedNanos }: Waiter): bigint =>
  min === undefined ? wantedNanos : smaller(min, wantedNanos)
