// When several gateways share a database, each leases credit of an account before it spends it:
// calls are held against the lease in memory, charges are paid from it, and unused credit is
// returned. A call is refused for lack of credit only after the other gateways have returned what
// they do not use and that does not suffice.
//
//   account: balance ── held by tasks
//                    ── leased ──> this gateway's ── holds of its calls
//                    └─ free: for draws and tasks   └─ spendable
import { crashPoint } from '../../lib/crash-point.ts'
import { type Cluster, gatewayOf, type Notice, type Store } from '../../store/index.ts'
import {
  type Draw,
  moveCredit,
  otherHolders,
  readCreditLeases,
} from '../../store/ledger/credit-leases.ts'
import { listGateways } from '../../store/maintenance/gateways.ts'
import { type AccountFunds, availableNanos, type Balances } from '../balances.ts'
import { type Inquiries, readWaitMs } from '../leases/inquiries.ts'
import {
  aheadWithin,
  allot,
  type Drawn,
  Leases,
  LeaseUnknown,
  smaller,
  type Waiter,
} from '../leases/lease.ts'

/** An account without credit at other gateways is not asked for again for this long. */
const emptyMs = 100
/** Unused credit is returned after this time; while credit is scarce, soon after it became free. */
const idleMs = 5_000
const returnSoonMs = 10
/** A notice holds up to 8,000 bytes. */
const holdsPerNotice = 80

interface CreditDeps {
  readonly store: Store
  readonly cluster: Cluster
  readonly balances: Balances
  readonly inquiries: Inquiries
}

export class CreditLeases {
  readonly #deps: CreditDeps
  readonly #leases = new Map<string, CreditLease>()
  readonly #timer: ReturnType<typeof setInterval>

  constructor(deps: CreditDeps) {
    this.#deps = deps
    deps.cluster.subscribe((notice) => this.#reply(notice))
    deps.inquiries.onRecall('wanted', (accountId) => this.#giveFor(accountId))
    this.#timer = setInterval(() => this.#returnIdle(), idleMs)
    this.#timer.unref()
  }

  of(funds: AccountFunds): CreditLease {
    const known = this.#leases.get(funds.id)
    if (known !== undefined) return known
    const lease = new CreditLease(this.#deps, funds)
    this.#leases.set(funds.id, lease)
    return lease
  }

  /** Credit arrived or became free: serves waiters here or at other gateways. */
  freed({ id }: AccountFunds): void {
    this.#leases.get(id)?.freed()
  }

  /** The other gateways check again, too. */
  funded(funds: AccountFunds): void {
    this.freed(funds)
    this.#deps.cluster.publish({ kind: 'funded', accountId: funds.id })
  }

  close(): void {
    clearInterval(this.#timer)
    for (const lease of this.#leases.values()) lease.close()
  }

  /** Call holds of other gateways, by account. One that does not reply counts with all it has leased. */
  async holdsElsewhere(accountIds: readonly string[]): Promise<Map<string, bigint>> {
    const held = new Map<string, bigint>()
    const sorted = [...accountIds].sort()
    const [firstId, lastId] = [sorted[0], sorted.at(-1)]
    if (firstId === undefined || lastId === undefined) return held
    const { store, cluster, inquiries } = this.#deps
    const ids = (await listGateways(store.read)).map(({ id }) => id)
    const others = ids.filter((id) => id !== cluster.gatewayId)
    const question = { kind: 'holds_wanted', firstId, lastId } as const
    const { answers, missing } = await inquiries.ask(question, others, readWaitMs)
    const add = (id: string, nanos: bigint) => held.set(id, (held.get(id) ?? 0n) + nanos)
    for (const answer of answers) {
      if (answer.kind !== 'holds' || missing.has(answer.by)) continue
      for (const [id, nanos] of answer.holds) add(id, BigInt(nanos))
    }
    const silent = missing.size === 0 ? [] : await readCreditLeases(store.read, firstId, lastId)
    for (const { account_id, gateway_id, amount_nanos } of silent) {
      if (missing.has(gateway_id)) add(account_id, amount_nanos)
    }
    return held
  }

  #reply(notice: Notice): void {
    const { balances } = this.#deps
    if (notice.kind === 'evicted') for (const funds of balances.all()) funds.suspect()
    if (notice.kind === 'funded') this.#leases.get(notice.accountId)?.funded()
    if (notice.kind === 'holds_wanted') this.#sayHolds(notice)
  }

  #sayHolds({ firstId, lastId, nonce }: { firstId: string; lastId: string; nonce: string }): void {
    const { balances, inquiries } = this.#deps
    const held = [...balances.all()].filter(
      ({ id, callHoldsNanos }) => callHoldsNanos > 0n && id >= firstId && id <= lastId,
    )
    const holds = held.map(({ id, callHoldsNanos }) => [id, callHoldsNanos.toString()] as const)
    do {
      const part = holds.splice(0, holdsPerNotice)
      inquiries.answer(nonce, { kind: 'holds', holds: part, isLast: holds.length === 0 })
    } while (holds.length > 0)
  }

  /** A failure has marked the account stale, which corrects it. */
  async #giveFor(accountId: string | undefined): Promise<bigint | undefined> {
    const funds = accountId === undefined ? undefined : this.#deps.balances.peek(accountId)
    const nanos = funds && (await this.of(funds).recalled())
    return funds?.stale ? undefined : nanos
  }

  #returnIdle(): void {
    for (const funds of this.#deps.balances.all()) {
      const lease = this.#leases.get(funds.id)
      if (!funds.wasTouched() && lease?.isIdle !== false) {
        if (availableNanos(funds) > 0n) this.of(funds).giveBackQuietly()
        else this.#leases.delete(funds.id)
      }
    }
  }
}

/** Gets the amount that is now held for it; undefined: there is not enough anywhere. */
type CreditWaiter = Waiter<'credit', bigint | undefined>
const credit = ['credit'] as const

/** Of one account. */
class CreditLease extends Leases<CreditWaiter> {
  readonly #deps: CreditDeps
  readonly #funds: AccountFunds
  readonly #lease: { accountId: string; gatewayId: string }
  /** This amount was unavailable, and until then it is not requested again. */
  #lacking: { nanos: bigint; untilMs: number } | undefined
  #returning: ReturnType<typeof setTimeout> | undefined

  constructor(deps: CreditDeps, funds: AccountFunds) {
    super({ kind: 'wanted', accountId: funds.id }, deps.inquiries)
    this.#deps = deps
    this.#funds = funds
    this.#lease = { accountId: funds.id, gatewayId: gatewayOf(deps.store) }
  }

  /**
   * Adds to the call holds as soon as there is credit; returns how much, which is less than wanted
   * only for callers that accept less. Undefined: there is not enough at any gateway. With `isFresh`,
   * a recent negative result is not reused.
   */
  reserve(
    nanos: bigint,
    { takesLess = false, isFresh = false }: { takesLess?: boolean; isFresh?: boolean } = {},
  ): Promise<bigint | undefined> {
    const lacking = this.#lacking
    const isKnown = lacking !== undefined && !isFresh && nanos >= lacking.nanos
    if (isKnown && performance.now() < lacking.untilMs) return Promise.resolve(undefined)
    return new Promise((resolve, reject) => {
      this.join({ of: credit, nanos, takesLess, resolve, reject })
    })
  }

  funded(): void {
    this.#lacking = undefined
  }

  freed(): void {
    this.#lacking = undefined
    // In order: money arrives in small parts.
    if (this.waiters.length > 0) this.leaveInOrder((waiter) => this.#isGranted(waiter))
    else this.served()
  }

  override get isIdle(): boolean {
    return super.isIdle && this.#returning === undefined
  }

  close(): void {
    clearTimeout(this.#returning)
  }

  /** Those who arrive during a round join its next draw: all lack the same. */
  protected override draw(): Promise<Drawn<CreditWaiter>> {
    return this.#drawFor(new Set(this.waiters), false)
  }

  async #drawFor(asking: ReadonlySet<CreditWaiter>, isLast: boolean): Promise<Drawn<CreditWaiter>> {
    await this.#funds.known()
    return this.inTurn(async () => {
      this.#grant()
      const waiters = this.left(asking)
      if (waiters.length === 0) return { short: [], holders: [] }
      const need = { waiters, isLast, aheadNanos: this.ahead(waiters[0]!.nanos) }
      const drawn = await this.#move((freeNanos) =>
        sizeDraw(freeNanos, { ...need, haveNanos: availableNanos(this.#funds) }),
      )
      crashPoint('credit-lease-drawn')
      if (drawn === undefined) throw new LeaseUnknown('the others have given this gateway up')
      this.#funds.add(drawn.nanos)
      this.#grant()
      // If it is not short, calls that arrived meanwhile have taken some: the next round draws again.
      return { short: drawn.isShort ? this.left(asking) : [], holders: drawn.holders }
    })
  }

  /** Holds credit for the waiters for whom it suffices. */
  #grant(): void {
    this.leave((waiter) => this.#isGranted(waiter))
  }

  #isGranted({ nanos, resolve }: CreditWaiter): boolean {
    if (this.#funds.stale || availableNanos(this.#funds) < nanos) return false
    this.#funds.hold(nanos)
    resolve(nanos)
    return true
  }

  /** Waiters that accept less get what there is, the others nothing. */
  protected override async refuse(short: readonly CreditWaiter[], isAlone: boolean): Promise<void> {
    const asking = new Set(short)
    if (short.some(({ takesLess }) => takesLess)) await this.#drawFor(asking, true)
    const refused = new Set(this.left(asking))
    let minNanos: bigint | undefined
    for (const { nanos, takesLess } of refused) {
      if (!takesLess) minNanos = smaller(minNanos ?? nanos, nanos)
    }
    // With nothing to return, this was quick: cached, so that callers cannot keep the store busy.
    if (isAlone && minNanos !== undefined) {
      this.#lacking = { nanos: minNanos, untilMs: performance.now() + emptyMs }
    }
    this.leave((waiter) => refused.has(waiter))
    for (const { takesLess, resolve } of refused) {
      const free = availableNanos(this.#funds)
      const isSome = takesLess && free > 0n && !this.#funds.stale
      if (isSome) this.#funds.hold(free)
      resolve(isSome ? free : undefined)
    }
  }

  protected override holders(): Promise<readonly string[]> {
    return otherHolders(this.#deps.store.read, this.#lease)
  }

  protected override async returnUnheld(): Promise<bigint> {
    const unheldNanos = availableNanos(this.#funds)
    if (unheldNanos <= 0n || this.#funds.stale) return 0n
    // From here on no call can spend it.
    this.#funds.add(-unheldNanos)
    const moved = await this.#move(() => ({ nanos: -unheldNanos, isShort: false }))
    crashPoint('credit-lease-returned')
    return moved === undefined ? 0n : unheldNanos
  }

  /** Undefined: this gateway has been evicted, and the lease is gone. */
  async #move(choose: (freeNanos: bigint) => Draw) {
    const { id } = this.#funds
    const moved = await this.#funds.tracked(() =>
      this.#deps.store.tx((tx) => moveCredit(tx, this.#lease, choose), id),
    )
    if (moved === undefined) this.#funds.suspect()
    return moved
  }

  /** A return that fails has marked the account stale, which corrects it. */
  giveBackQuietly(): void {
    this.giveBack().catch(() => {})
  }

  /** While credit is scarce, what became free is returned soon. */
  protected override served(): void {
    if (!this.isScarce || this.#returning !== undefined) return
    this.#returning = setTimeout(() => {
      this.#returning = undefined
      if (this.waiters.length === 0) this.giveBackQuietly()
    }, returnSoonMs)
    this.#returning.unref()
  }
}

interface DrawNeed {
  readonly waiters: readonly CreditWaiter[]
  /** What this gateway can already spend; below zero, the lease behind open holds is gone. */
  readonly haveNanos: bigint
  /** Amount to lease in advance, if there is plenty. */
  readonly aheadNanos: bigint
  /** Waiters that accept less take it now. */
  readonly isLast: boolean
}

/** Never a part that serves no waiter: it would only be missing elsewhere. */
export function sizeDraw(freeNanos: bigint, need: DrawNeed): Draw {
  const { waiters, haveNanos, aheadNanos, isLast } = need
  const all = new Map([['credit' as const, haveNanos + freeNanos]])
  const { lacking, takenOf } = allot(all, waiters, isLast)
  const taken = takenOf('credit')
  const isShort = lacking.some(({ length }) => length > 0)
  if (taken <= haveNanos || (isShort && taken === 0n)) return { nanos: 0n, isShort }
  const nanos = taken - haveNanos
  return { nanos: nanos + (isShort ? 0n : aheadWithin(freeNanos - nanos, aheadNanos)), isShort }
}
