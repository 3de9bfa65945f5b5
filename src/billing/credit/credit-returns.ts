// Returns of leased credit that this gateway does not use: when another gateway asks for it, soon
// after it became free while credit is scarce, and after a while without use.
import { crashPoint } from '../../lib/crash-point.ts'
import type { Cluster, Store } from '../../store/index.ts'
import { emptyCreditLease } from '../../store/ledger/credit-leases.ts'
import { type AccountFunds, availableNanos, type Balances } from '../balances.ts'
import type { CreditQueue, CreditQueues } from './credit-queue.ts'
import type { Inquiries } from './inquiries.ts'

/** Unused credit is returned after this time. */
const idleMs = 5_000
/** After a recall nothing is leased in advance, and freed credit is returned soon. */
const scarceMs = 1_000
const returnSoonMs = 10

export class CreditReturns {
  readonly #store: Store
  readonly #cluster: Cluster
  readonly #balances: Balances
  readonly #queues: CreditQueues
  readonly #inquiries: Inquiries
  readonly #timer: ReturnType<typeof setInterval>

  constructor(
    store: Store,
    cluster: Cluster,
    balances: Balances,
    queues: CreditQueues,
    inquiries: Inquiries,
  ) {
    this.#store = store
    this.#cluster = cluster
    this.#balances = balances
    this.#queues = queues
    this.#inquiries = inquiries
    this.#timer = setInterval(() => this.#returnIdle(), idleMs)
    this.#timer.unref()
  }

  /** Returns unheld credit to the account; resolves to the amount. */
  giveBack(funds: AccountFunds): Promise<bigint> {
    return this.#queues.of(funds).inTurn(() => this.#giveBackNow(funds))
  }

  async #giveBackNow(funds: AccountFunds): Promise<bigint> {
    const amountNanos = availableNanos(funds)
    if (amountNanos <= 0n || funds.stale) return 0n
    const lease = { accountId: funds.id, gatewayId: this.#cluster.gatewayId }
    // From here on no call can spend it.
    funds.balanceNanos -= amountNanos
    const returned = await this.#balances.tracked(funds, () =>
      this.#store.tx((tx) => emptyCreditLease(tx, lease, amountNanos), funds.id),
    )
    crashPoint('credit-lease-returned')
    if (!returned) this.#balances.suspect(funds)
    return returned ? amountNanos : 0n
  }

  /** The asking gateway waits for the reply: pending operations complete before it. */
  async returnFor({ accountId, nonce }: { accountId: string; nonce: string }): Promise<void> {
    const funds = this.#balances.peek(accountId)
    if (funds === undefined) return
    this.markScarce(this.#queues.of(funds))
    try {
      const nanos = await this.giveBack(funds)
      if (funds.stale) return
      this.#inquiries.answer(nonce, { kind: 'returned', nanos: nanos.toString() })
    } catch {
      // The failure has marked the account stale, which corrects it.
    }
  }

  markScarce(queue: CreditQueue): void {
    queue.scarceUntilMs = performance.now() + scarceMs
  }

  /** While credit is scarce, what became free is returned. */
  returnSoon(queue: CreditQueue): void {
    if (performance.now() > queue.scarceUntilMs) queue.scarceUntilMs = 0
    if (queue.scarceUntilMs === 0 || queue.returning !== undefined) return
    queue.returning = setTimeout(() => {
      queue.returning = undefined
      if (queue.waiters.length === 0) this.#giveBackQuietly(queue.funds)
    }, returnSoonMs)
    queue.returning.unref()
  }

  #returnIdle(): void {
    for (const funds of this.#balances.all()) {
      const queue = this.#queues.find(funds.id)
      if (!funds.touched && queue?.isIdle !== false) {
        if (availableNanos(funds) > 0n) this.#giveBackQuietly(funds)
        else this.#queues.delete(funds.id)
      }
      funds.touched = false
    }
  }

  /** A return that fails has marked the account stale, which corrects it. */
  #giveBackQuietly(funds: AccountFunds): void {
    this.giveBack(funds).catch(() => {})
  }

  close(): void {
    clearInterval(this.#timer)
    for (const { returning } of this.#queues.all()) clearTimeout(returning)
  }
}
