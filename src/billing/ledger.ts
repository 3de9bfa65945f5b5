// Hold, settle, release, credit, adjust: each idempotent by its id.
// Knows accounts and amounts; knows no caller, model or upstream beyond the labels it stores.
//
//   a call:  hold (memory) ── settle ──> its row, which is log row and charge
//                          └─ release ─> nothing to write
//   a task:  hold entry ───── settle ──> release entry + charge entry, one commit
//                          └─ release ─> release entry
//
// With several gateways, calls are held against this one's credit lease; the store does the rest.
import type { RequestRecord } from '../contract/requests.ts'
import { crashPoint } from '../lib/crash-point.ts'
import { ensure } from '../lib/ensure.ts'
import { listBalances } from '../store/catalog/accounts.ts'
import { gatewayOf, type Store } from '../store/index.ts'
import { dropBudgetLeases } from '../store/ledger/budgets.ts'
import { releaseShortClaims } from '../store/ledger/short-accounts.ts'
import {
  type AccountFunds,
  availableNanos,
  Balances,
  beyondNanos,
  type FundsView,
  type Hold,
  heldNanos,
  lackingNanos,
  newHold,
  type StoredBalance,
} from './balances.ts'
import { BeyondHolds, backedNanos } from './beyond-holds.ts'
import type { BudgetHold, Spender } from './budgets/budget-leases.ts'
import { Budgets } from './budgets/budgets.ts'
import { addShortLoss } from './call-loss.ts'
import { CreditLeases } from './credit/credit-leases.ts'
import type { ChargeLabels, TaskSettlement } from './end-hold.ts'
import { Inquiries } from './leases/inquiries.ts'
import {
  CreditStep,
  EndStep,
  EntryStep,
  type RefundOrder,
  RefundStep,
  type StepDeps,
  VoidStep,
} from './ledger-step.ts'
import type { Journal } from './void-journal.ts'
import { VoidedCalls } from './voided.ts'

export { beyondNanos, type Hold, lackingNanos }

export interface Spendable {
  heldNanos: bigint
  availableNanos: bigint
}

export type Settled = 'charged' | 'already_short'

export class Ledger {
  readonly #store: Store
  readonly #balances: Balances
  /** Absent when the database cannot be shared. */
  readonly #creditLeases: CreditLeases | undefined
  /** Suspended accounts, whose ledger does not add up; replaced as a whole. */
  stopped: ReadonlySet<string> = new Set()
  readonly #voided: VoidedCalls
  readonly #steps: StepDeps
  readonly #beyond: BeyondHolds
  readonly budgets: Budgets

  /** Called for every written entry; must be cheap. */
  onEntry: (accountId: string) => void = () => {}

  private constructor(store: Store, journal: Journal | undefined, nowMs: () => number) {
    this.#store = store
    this.#balances = new Balances(store)
    this.#voided = new VoidedCalls(
      store,
      async (entry) => void (await new VoidStep(this.#steps, entry).commit()),
      { nowMs: store.clock.nowMs, journal },
    )
    const { cluster } = store
    const inquiries = cluster && new Inquiries(cluster)
    this.budgets = new Budgets(store, inquiries, nowMs)
    if (cluster !== undefined && inquiries !== undefined) {
      const balances = this.#balances
      this.#creditLeases = new CreditLeases({ store, cluster, balances, inquiries })
    }
    this.#beyond = new BeyondHolds(store, this.#creditLeases)
    this.#steps = {
      store,
      balances: this.#balances,
      creditLeases: this.#creditLeases,
      onEntry: (accountId) => this.onEntry(accountId),
    }
  }

  /** `nowMs`: of what is booked; the store's, unless given. */
  static async open(
    store: Store,
    journal?: Journal,
    nowMs: () => number = store.clock.nowMs,
  ): Promise<Ledger> {
    const ledger = new Ledger(store, journal, nowMs)
    if (ledger.#creditLeases === undefined) {
      await store.tx(async (tx) => {
        await releaseShortClaims(tx, gatewayOf(store))
        await dropBudgetLeases(tx)
      })
      for (const stored of await listBalances(store.read)) ledger.add(stored)
    }
    await ledger.#voided.start()
    return ledger
  }

  close(): void {
    this.#voided.close()
    this.#creditLeases?.close()
  }

  /** Registers a new account. */
  add(stored: StoredBalance): void {
    if (this.#creditLeases === undefined) this.#balances.add(stored)
  }

  /** What this gateway knows it can spend; the store may have more. */
  funds(accountId: string): FundsView {
    return this.#balances.of(accountId)
  }

  /** The spendable part of stored balances, minus holds of calls in flight at all gateways. */
  async spendable(stored: readonly StoredBalance[]): Promise<Spendable[]> {
    const elsewhere = await this.#creditLeases?.holdsElsewhere(stored.map(({ id }) => id))
    return stored.map(({ id, balanceNanos, heldNanos }) => {
      const callsNanos = this.#balances.peek(id)?.callHoldsNanos ?? 0n
      const held = heldNanos + callsNanos + (elsewhere?.get(id) ?? 0n)
      return { heldNanos: held, availableNanos: balanceNanos - held }
    })
  }

  /** Whether nothing is left for another hold, as far as this gateway knows. */
  isSpent(accountId: string): boolean {
    if (this.#creditLeases !== undefined) return false
    const funds = this.#balances.find(accountId)
    return funds !== undefined && !funds.stale && availableNanos(funds) <= 0n
  }

  /** False while the account's last write has an unknown outcome. */
  usable(accountId: string): boolean {
    return this.#balances.find(accountId)?.stale === false
  }

  /** Holds `wantedNanos` of the locally spendable amount. */
  hold(
    accountId: string,
    wantedNanos: bigint,
    spender?: Spender,
    budget?: BudgetHold,
  ): Hold | undefined {
    const funds = this.#balances.find(accountId)
    if (funds === undefined || funds.stale) return undefined
    funds.touch()
    const freeNanos = availableNanos(funds)
    if (freeNanos < wantedNanos || freeNanos < 0n) return undefined
    funds.hold(wantedNanos)
    return this.#entered(newHold(accountId, wantedNanos, spender, budget))
  }

  #entered(hold: Hold): Hold {
    this.budgets.enter(hold)
    return hold
  }

  /**
   * Holds `wantedNanos`, at once or after leasing more credit for it. Undefined: the account cannot
   * pay for it, whatever other gateways return. Fails when that is unknown now.
   */
  reserve(
    accountId: string,
    wantedNanos: bigint,
    spender?: Spender,
    budget?: BudgetHold,
  ): Hold | undefined | Promise<Hold | undefined> {
    const hold = this.hold(accountId, wantedNanos, spender, budget)
    return hold ?? this.#reserveLater(accountId, wantedNanos, spender, budget)
  }

  #reserveLater(
    accountId: string,
    wantedNanos: bigint,
    spender: Spender | undefined,
    budget: BudgetHold | undefined,
  ): undefined | Promise<Hold | undefined> {
    if (this.#creditLeases === undefined) {
      const funds = this.#balances.find(accountId)
      if (funds?.stale !== true) return undefined
      return funds.known().then(() => this.hold(accountId, wantedNanos, spender, budget))
    }
    return this.#creditLeases
      .of(this.#balances.of(accountId))
      .reserve(wantedNanos)
      .then((amountNanos) =>
        amountNanos === undefined
          ? undefined
          : this.#entered(newHold(accountId, amountNanos, spender, budget)),
      )
  }

  /** A call may cost more than was held for it: from here on, both are one hold. */
  join(hold: Hold, more: Hold): void {
    ensure(hold.open && more.open, 'holds are joined before they end')
    more.open = false
    if (hold.more !== undefined) more.more = hold.more
    hold.more = more
  }

  release(hold: Hold): void {
    ensure(hold.open, 'a hold ends once')
    hold.open = false
    const funds = this.#balances.of(hold.accountId)
    funds.unhold(heldNanos(hold))
    this.#creditLeases?.freed(funds)
    this.#leaveBudgets(hold, 0n)
  }

  /** What was added first: a budget that has the charge taken off must not count it as held still. */
  #leaveBudgets(hold: Hold, chargeNanos: bigint): void {
    if (hold.more !== undefined) this.#leaveBudgets(hold.more, 0n)
    this.budgets.leave(hold, chargeNanos)
  }

  /**
   * Ends a hold with a charge and writes it together with the call's log row; durable when this
   * resolves. What the account cannot cover is not charged but noted on the row as a loss; that
   * happens once between two credits. `already_short`: it has happened, nothing was written, and
   * the hold is still open.
   */
  settle(
    hold: Hold,
    amountNanos: bigint,
    record: RequestRecord,
    labels: ChargeLabels,
  ): Promise<Settled> {
    const settled = this.#settle(hold, amountNanos, record, labels)
    hold.budget?.account.addSettling(settled)
    return settled
  }

  async #settle(
    hold: Hold,
    amountNanos: bigint,
    record: RequestRecord,
    labels: ChargeLabels,
  ): Promise<Settled> {
    endWith(hold, amountNanos, record)
    try {
      const funds = this.#balances.of(hold.accountId)
      let reservedNanos: bigint | undefined = heldNanos(hold)
      if (backedNanos(funds, reservedNanos) < amountNanos) {
        reservedNanos = await this.#beyond.reserve(funds, hold, amountNanos, record.requestId)
        if (reservedNanos === undefined) {
          record.chargeNanos = 0n
          return 'already_short'
        }
      }
      funds.unhold(reservedNanos)
      this.#deduct(funds, amountNanos, record, labels)
      record.charge = labels
      crashPoint('call-answered')
      funds.beginWrite()
      try {
        await this.#store.record(record)
      } catch (error) {
        funds.failWrite(error)
        throw error
      } finally {
        funds.endWrite()
      }
      this.onEntry(hold.accountId)
      crashPoint('call-settled')
      return 'charged'
    } finally {
      if (!hold.open) this.#leaveBudgets(hold, record.chargeNanos)
    }
  }

  /** What the account cannot cover is a loss. */
  #deduct(
    funds: AccountFunds,
    amountNanos: bigint,
    record: RequestRecord,
    labels: ChargeLabels,
  ): void {
    const room = availableNanos(funds)
    const maxNanos = room < 0n ? 0n : room
    const chargeNanos = amountNanos > maxNanos ? maxNanos : amountNanos
    if (chargeNanos < amountNanos) addShortLoss(record, labels, amountNanos - chargeNanos)
    record.chargeNanos = chargeNanos
    funds.add(-chargeNanos)
    this.#creditLeases?.freed(funds)
  }

  /** A call whose charge could not be written is reported as failed: it must be free. */
  voidCall(record: RequestRecord): Promise<void> {
    return this.#voided.add(record)
  }

  /** Tops up with a positive amount, takes back with a negative one; once per `ref`. */
  credit(
    accountId: string,
    amountNanos: bigint,
    entry: { ref: string; note?: string; atMs: number },
  ): CreditStep {
    const kind = amountNanos < 0n ? 'adjust' : 'credit'
    return new CreditStep(this.#steps, { ...entry, accountId, kind, amountNanos })
  }

  /** Gives back a charge or a part of it. */
  refund(order: RefundOrder): RefundStep {
    return new RefundStep(this.#steps, order)
  }

  /** A hold that outlives the process; the task's row is written in its transaction. */
  taskHold(
    taskId: string,
    accountId: string,
    amountNanos: bigint,
    atMs: number,
    tags?: string,
  ): EntryStep {
    ensure(amountNanos >= 0n, 'a hold is never negative')
    const entry = { atMs, accountId, kind: 'hold' as const, amountNanos: -amountNanos, ref: taskId }
    return new EntryStep(this.#steps, tags === undefined ? entry : { ...entry, tags })
  }

  /**
   * The end of a task's hold, with a charge if there is one. The part of a charge beyond the hold
   * comes from the free balance. Writes what was booked, or undefined: it had ended.
   */
  taskEnd(
    accountId: string,
    task: { taskId: string; atMs: number },
    charge?: TaskSettlement,
  ): EndStep {
    return new EndStep(this.#steps, { accountId, ...task, charge })
  }
}

function endWith(hold: Hold, amountNanos: bigint, record: RequestRecord): void {
  ensure(amountNanos >= 0n, 'a charge is never negative')
  ensure(record.accountId === hold.accountId, 'who is held on is who pays')
  ensure(hold.open, 'a hold ends once')
  hold.open = false
  record.chargeNanos = amountNanos
}
