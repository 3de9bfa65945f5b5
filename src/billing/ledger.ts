// Hold, settle, release, credit, adjust: each idempotent by its id.
// Knows accounts and amounts; knows no caller, model or upstream beyond the labels it stores.
//
//   a call:  hold (memory) ── settle ──> charge entry + request row, one commit
//                          └─ release ─> nothing to write
//   a task:  hold entry ───── settle ──> release entry + charge entry, one commit
//                          └─ release ─> release entry
//
// With several gateways, calls are held against this one's credit lease; the store does the rest.
import type { Entry } from '../contract/ledger.ts'
import type { RequestRecord } from '../contract/requests.ts'
import { crashPoint } from '../lib/crash-point.ts'
import { ensure } from '../lib/ensure.ts'
import { listBalances } from '../store/catalog/accounts.ts'
import type { Store, Tx } from '../store/index.ts'
import { appendEntry, findEntries } from '../store/ledger/entries.ts'
import { clearShort } from '../store/short-accounts.ts'
import { AccountWrites } from './account-writes.ts'
import {
  type AccountFunds,
  availableNanos,
  Balances,
  type StoredBalance,
  undo,
  unhold,
} from './balances.ts'
import { BeyondHolds, backedNanos } from './beyond-holds.ts'
import { CallHolds } from './call-holds.ts'
import { addShortLoss } from './call-loss.ts'
import { CreditLeases } from './credit-leases.ts'
import type { ChargeLabels, EndingHold, TaskSettlement } from './end-hold.ts'
import { Inquiries } from './inquiries.ts'
import type { Journal } from './void-journal.ts'
import { VoidedCalls } from './voided.ts'

export interface Hold {
  readonly accountId: string
  readonly amountNanos: bigint
  open: boolean
}

export interface Spendable {
  heldNanos: bigint
  availableNanos: bigint
}

export type Settled = 'charged' | 'already_short'

/** `mismatch`: this ref has been used for another amount. */
type CreditResult = 'done' | 'repeated' | 'insufficient' | 'mismatch'

export class Ledger {
  readonly #store: Store
  readonly #balances: Balances
  /** Absent when the database cannot be shared. */
  readonly #creditLeases: CreditLeases | undefined
  readonly #elsewhere: CallHolds | undefined
  /** Suspended accounts, whose ledger does not add up; replaced as a whole. */
  stopped: ReadonlySet<string> = new Set()
  readonly #voided: VoidedCalls
  readonly #writes: AccountWrites
  readonly #beyond: BeyondHolds

  /** Called for every written entry; must be cheap. */
  onEntry: () => void = () => {}

  private constructor(store: Store, journal: Journal | undefined) {
    this.#store = store
    this.#balances = new Balances(store)
    this.#voided = new VoidedCalls(store, (entry) => this.#giveBack(entry), {
      nowMs: store.clock.nowMs,
      journal,
    })
    const { cluster } = store
    if (cluster !== undefined) {
      const inquiries = new Inquiries(cluster)
      this.#creditLeases = new CreditLeases(store, cluster, this.#balances, inquiries)
      this.#elsewhere = new CallHolds(store, cluster, this.#balances, inquiries)
    }
    this.#beyond = new BeyondHolds(store, this.#creditLeases)
    this.#writes = new AccountWrites(store, this.#balances, this.#creditLeases, () =>
      this.onEntry(),
    )
  }

  static async open(store: Store, journal?: Journal): Promise<Ledger> {
    const ledger = new Ledger(store, journal)
    if (ledger.#creditLeases === undefined) {
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
  funds(accountId: string): Readonly<AccountFunds> {
    return this.#balances.of(accountId)
  }

  /** The spendable part of stored balances, minus holds of calls in flight at all gateways. */
  async spendable(stored: readonly StoredBalance[]): Promise<Spendable[]> {
    const elsewhere = await this.#elsewhere?.of(stored.map(({ id }) => id))
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
  hold(accountId: string, wantedNanos: bigint): Hold | undefined {
    const funds = this.#balances.find(accountId)
    if (funds === undefined || funds.stale) return undefined
    funds.touched = true
    if (availableNanos(funds) < wantedNanos || availableNanos(funds) < 0n) return undefined
    funds.callHoldsNanos += wantedNanos
    return { accountId, amountNanos: wantedNanos, open: true }
  }

  /**
   * Holds `wantedNanos`, at once or after leasing more credit for it. Undefined: the account cannot
   * pay for it, whatever other gateways return. Fails when that is unknown now.
   */
  reserve(accountId: string, wantedNanos: bigint): Hold | undefined | Promise<Hold | undefined> {
    const hold = this.hold(accountId, wantedNanos)
    if (hold !== undefined || this.#creditLeases === undefined) return hold
    return this.#creditLeases
      .reserve(this.#balances.of(accountId), wantedNanos)
      .then((amountNanos) =>
        amountNanos === undefined ? undefined : { accountId, amountNanos, open: true },
      )
  }

  release(hold: Hold): void {
    ensure(hold.open, 'a hold ends once')
    hold.open = false
    const funds = this.#balances.of(hold.accountId)
    unhold(funds, hold.amountNanos)
    this.#creditLeases?.freed(funds)
  }

  /**
   * Ends a hold with a charge and writes it together with the call's log row; durable when this
   * resolves. What the account cannot cover is not charged but noted on the row as a loss; that
   * happens once between two credits. `already_short`: it has happened, nothing was written, and
   * the hold is still open.
   */
  async settle(
    hold: Hold,
    amountNanos: bigint,
    record: RequestRecord,
    labels: ChargeLabels,
  ): Promise<Settled> {
    ensure(amountNanos >= 0n, 'a charge is never negative')
    ensure(record.accountId === hold.accountId, 'who is held on is who pays')
    ensure(hold.open, 'a hold ends once')
    hold.open = false
    const funds = this.#balances.of(hold.accountId)
    record.chargeNanos = amountNanos
    let reservedNanos: bigint | undefined = hold.amountNanos
    if (backedNanos(funds, reservedNanos) < amountNanos) {
      reservedNanos = await this.#beyond.reserve(funds, hold, amountNanos, record.requestId)
      if (reservedNanos === undefined) {
        record.chargeNanos = 0n
        return 'already_short'
      }
    }
    unhold(funds, reservedNanos)
    const room = availableNanos(funds)
    const most = room < 0n ? 0n : room
    const chargeNanos = amountNanos > most ? most : amountNanos
    if (chargeNanos < amountNanos) addShortLoss(record, labels, amountNanos - chargeNanos)
    record.chargeNanos = chargeNanos
    funds.balanceNanos -= chargeNanos
    this.#creditLeases?.freed(funds)
    crashPoint('call-answered')
    await this.#balances.tracked(funds, () =>
      this.#store.record(record, {
        ...labels,
        // Time of booking; the store moves it out of a closed month.
        atMs: record.atMs + record.totalMs,
        tokenId: record.tokenId,
        accountId: hold.accountId,
        kind: 'charge',
        amountNanos: -chargeNanos,
        ref: record.requestId,
      }),
    )
    this.onEntry()
    crashPoint('call-settled')
    return 'charged'
  }

  /** A call whose charge could not be written is reported as failed: it must be free. */
  voidCall(record: RequestRecord): Promise<void> {
    return this.#voided.add(record)
  }

  async #giveBack(entry: Entry): Promise<void> {
    const funds = this.#balances.of(entry.accountId)
    const isNew = await this.#balances.tracked(funds, () =>
      this.#store.tx((tx) => appendEntry(tx, entry), entry.accountId),
    )
    if (!isNew) return
    this.#writes.booked(funds, () => {
      funds.balanceNanos += entry.amountNanos
    })
  }

  /** Tops up with a positive amount, takes back with a negative one; once per `ref`. */
  async credit(
    accountId: string,
    amountNanos: bigint,
    entry: { ref: string; note?: string; atMs: number },
    alongside: (tx: Tx) => Promise<void> = async () => {},
  ): Promise<CreditResult> {
    const takesBack = amountNanos < 0n
    const [before] = await findEntries(this.#store.read, entry.ref)
    if (before !== undefined) return before.amountNanos === amountNanos ? 'repeated' : 'mismatch'
    const kind = takesBack ? 'adjust' : 'credit'
    const write = async (tx: Tx) => {
      // One ref is one correction, whatever its sign.
      if ((await findEntries(tx, entry.ref)).length > 0) return 'repeated'
      if (!(await appendEntry(tx, { ...entry, accountId, kind, amountNanos }))) return 'repeated'
      if (!takesBack) await clearShort(tx, accountId)
      await alongside(tx)
      return 'done'
    }
    const taken = takesBack ? -amountNanos : 0n
    const result = await this.#writes.take(accountId, taken, write, (funds) => {
      funds.balanceNanos += amountNanos
    })
    if (result === 'done' && !takesBack) this.#creditLeases?.funded(this.#balances.of(accountId))
    return result
  }

  /**
   * A hold that outlives the process; written together with `alongside`, usually the task's row. If
   * that returns false, nothing is written and nothing is held: `undone`.
   */
  async holdTask(
    taskId: string,
    accountId: string,
    amountNanos: bigint,
    atMs: number,
    alongside: (tx: Tx) => Promise<unknown> = async () => {},
  ): Promise<'done' | 'repeated' | 'insufficient' | 'undone'> {
    ensure(amountNanos >= 0n, 'a hold is never negative')
    const entry: Entry = { atMs, accountId, kind: 'hold', amountNanos: -amountNanos, ref: taskId }
    const write = async (tx: Tx) => {
      if (!(await appendEntry(tx, entry))) return 'repeated'
      if ((await alongside(tx)) === false) throw undo
      return 'done'
    }
    try {
      return await this.#writes.take(accountId, amountNanos, write, (funds) => {
        funds.taskHoldsNanos += amountNanos
      })
    } catch (error) {
      if (error === undo) return 'undone'
      throw error
    }
  }

  /**
   * Ends a task's hold, with a charge if there is one. The part of a charge beyond the hold comes
   * from the free balance; `alongside` receives what was booked, or that nothing was because the
   * account was short before. False: it had ended.
   */
  endTask(
    accountId: string,
    task: { taskId: string; atMs: number },
    charge?: TaskSettlement,
    alongside: EndingHold['alongside'] = async () => {},
  ): Promise<boolean> {
    return this.#writes.endTask({ accountId, ...task, charge, alongside })
  }
}
