// Hold, settle, release, credit, adjust: each happens once only, by the id it is for.
// Knows accounts and amounts; knows no caller, model or upstream beyond the labels it writes down.
//
//   a call:  hold (memory) ── settle ──> charge entry + request row, one commit
//                          └─ release ─> nothing to write
//   a task:  hold entry ───── settle ──> release entry + charge entry, one commit
//                          └─ release ─> release entry
import type { Entry } from '../contract/ledger.ts'
import type { RequestRecord } from '../contract/requests.ts'
import { crashPoint } from '../lib/crash-point.ts'
import { ensure } from '../lib/ensure.ts'
import { findAccount, listBalances } from '../store/accounts.ts'
import { appendEntry, findEntries, findEntry } from '../store/entries.ts'
import type { Store, Tx } from '../store/index.ts'
import { type AccountFunds, availableNanos, fundsFrom, type StoredBalance } from './balances.ts'

export interface Hold {
  readonly accountId: string
  readonly amountNanos: bigint
  open: boolean
}

/** Labels of a charge; the ledger copies them into the entry. */
export type ChargeLabels = Pick<Entry, 'model' | 'unit' | 'quantity' | 'priceId' | 'estimated'>

export interface TaskSettlement extends ChargeLabels {
  taskId: string
  chargeNanos: bigint
}

/** `mismatch`: this ref has been used for another amount. */
export type CreditResult = 'done' | 'repeated' | 'insufficient' | 'mismatch'

const rereadEveryMs = 100

export class Ledger {
  readonly #store: Store
  readonly #accounts = new Map<string, AccountFunds>()

  private constructor(store: Store) {
    this.#store = store
  }

  static async open(store: Store): Promise<Ledger> {
    const ledger = new Ledger(store)
    for (const stored of await listBalances(store.read)) ledger.add(stored)
    return ledger
  }

  /** An account that has just been created. */
  add(stored: StoredBalance): void {
    this.#accounts.set(stored.id, fundsFrom(stored))
  }

  funds(accountId: string): Readonly<AccountFunds> | undefined {
    return this.#accounts.get(accountId)
  }

  /** What of a stored balance can be spent, holds of calls in flight taken off. */
  spendable({ id, balanceNanos, heldNanos }: StoredBalance) {
    const held = heldNanos + (this.#accounts.get(id)?.callHoldsNanos ?? 0n)
    return { heldNanos: held, availableNanos: balanceNanos - held }
  }

  /** False while the account's last write has an open outcome. */
  usable(accountId: string): boolean {
    return this.#accounts.get(accountId)?.stale === false
  }

  /**
   * Reserves `wantedNanos`, or whatever is available if that is at least `leastNanos`.
   * Undefined: the account cannot pay for it.
   */
  hold(accountId: string, wantedNanos: bigint, leastNanos = wantedNanos): Hold | undefined {
    const funds = this.#accounts.get(accountId)
    if (funds === undefined || funds.stale) return undefined
    const available = availableNanos(funds)
    const amountNanos = available < wantedNanos ? available : wantedNanos
    if (amountNanos < leastNanos || amountNanos < 0n) return undefined
    if (amountNanos === 0n && wantedNanos > 0n) return undefined
    funds.callHoldsNanos += amountNanos
    return { accountId, amountNanos, open: true }
  }

  release(hold: Hold): void {
    const funds = this.#end(hold)
    ensure(funds.callHoldsNanos >= 0n, 'holds of calls never fall below zero')
  }

  /**
   * Ends a hold with a charge and writes it together with the call's log row; durable when this
   * resolves. What the account cannot cover is not charged but noted on the row as absorbed.
   */
  async settle(
    hold: Hold,
    amountNanos: bigint,
    record: RequestRecord,
    labels: ChargeLabels,
  ): Promise<void> {
    ensure(amountNanos >= 0n, 'a charge is never negative')
    const funds = this.#end(hold)
    const room = availableNanos(funds)
    const chargeNanos = amountNanos > room ? room : amountNanos
    if (chargeNanos < amountNanos) {
      record.detail.absorbedNanos = (amountNanos - chargeNanos).toString()
    }
    record.chargeNanos = chargeNanos
    funds.balanceNanos -= chargeNanos
    funds.pending++
    crashPoint('call-answered')
    try {
      await this.#store.record(record, {
        ...labels,
        atMs: record.atMs,
        accountId: hold.accountId,
        kind: 'charge',
        amountNanos: -chargeNanos,
        ref: record.requestId,
      })
      crashPoint('call-settled')
    } catch (error) {
      this.#suspect(funds)
      throw error
    } finally {
      written(funds)
    }
  }

  /** Top up with a positive amount, take back with a negative one; once per `ref`. */
  async credit(
    accountId: string,
    amountNanos: bigint,
    entry: { ref: string; note?: string; atMs: number },
    alongside: (tx: Tx) => Promise<void> = async () => {},
  ): Promise<CreditResult> {
    const funds = this.#of(accountId)
    const takesBack = amountNanos < 0n
    const [before] = await findEntries(this.#store.read, entry.ref)
    if (before !== undefined) return before.amountNanos === amountNanos ? 'repeated' : 'mismatch'
    if (takesBack) {
      if (funds.stale || availableNanos(funds) < -amountNanos) return 'insufficient'
      funds.balanceNanos += amountNanos
    }
    const kind = takesBack ? 'adjust' : 'credit'
    const fresh = await this.#tracked(funds, () =>
      this.#store.tx(async (tx) => {
        // One ref is one correction, whichever its sign.
        if ((await findEntries(tx, entry.ref)).length > 0) return false
        const first = await appendEntry(tx, { ...entry, accountId, kind, amountNanos })
        if (first) await alongside(tx)
        return first
      }),
    )
    if (fresh && !takesBack) funds.balanceNanos += amountNanos
    if (!fresh && takesBack) funds.balanceNanos -= amountNanos
    return fresh ? 'done' : 'repeated'
  }

  /** A hold that outlives the process; written together with `alongside`, usually the task's row. */
  async holdTask(
    taskId: string,
    accountId: string,
    amountNanos: bigint,
    atMs: number,
    alongside: (tx: Tx) => Promise<void> = async () => {},
  ): Promise<'done' | 'repeated' | 'insufficient'> {
    ensure(amountNanos >= 0n, 'a hold is never negative')
    const funds = this.#of(accountId)
    if (funds.stale || availableNanos(funds) < amountNanos) return 'insufficient'
    funds.taskHoldsNanos += amountNanos
    const fresh = await this.#tracked(funds, () =>
      this.#store.tx(async (tx) => {
        const entry: Entry = {
          atMs,
          accountId,
          kind: 'hold',
          amountNanos: -amountNanos,
          ref: taskId,
        }
        const first = await appendEntry(tx, entry)
        if (first) await alongside(tx)
        return first
      }),
    )
    if (!fresh) funds.taskHoldsNanos -= amountNanos
    return fresh ? 'done' : 'repeated'
  }

  /** Ends a task's hold: with a charge if there is one, else with nothing. False: it had ended. */
  async endTask(
    accountId: string,
    task: { taskId: string; atMs: number },
    charge?: TaskSettlement,
    alongside: (tx: Tx) => Promise<void> = async () => {},
  ): Promise<boolean> {
    const funds = this.#of(accountId)
    const heldNanos = await this.#tracked(funds, () =>
      this.#store.tx(async (tx) => {
        const hold = await findEntry(tx, task.taskId, 'hold')
        if (hold === undefined) return undefined
        const base = { atMs: task.atMs, accountId, ref: task.taskId }
        const amountNanos = -hold.amountNanos
        if (!(await appendEntry(tx, { ...base, kind: 'release', amountNanos }))) return undefined
        if (charge !== undefined) {
          const { taskId: _, chargeNanos, ...labels } = charge
          ensure(
            chargeNanos >= 0n && chargeNanos <= amountNanos,
            'a task is charged within its hold',
          )
          await appendEntry(tx, { ...base, ...labels, kind: 'charge', amountNanos: -chargeNanos })
        }
        await alongside(tx)
        return amountNanos
      }),
    )
    if (heldNanos === undefined) return false
    funds.taskHoldsNanos -= heldNanos
    if (charge !== undefined) funds.balanceNanos -= charge.chargeNanos
    return true
  }

  #of(accountId: string): AccountFunds {
    const funds = this.#accounts.get(accountId)
    ensure(funds !== undefined, `account ${accountId} is known`)
    return funds
  }

  #end(hold: Hold): AccountFunds {
    ensure(hold.open, 'a hold ends once')
    hold.open = false
    const funds = this.#of(hold.accountId)
    funds.callHoldsNanos -= hold.amountNanos
    return funds
  }

  async #tracked<T>(funds: AccountFunds, write: () => Promise<T>): Promise<T> {
    funds.pending++
    try {
      return await write()
    } catch (error) {
      this.#suspect(funds)
      throw error
    } finally {
      written(funds)
    }
  }

  /** A failed write may still have been stored: the account waits until the store has been asked. */
  #suspect(funds: AccountFunds): void {
    if (funds.stale) return
    funds.stale = true
    setTimeout(() => this.#reread(funds), rereadEveryMs)
  }

  async #reread(funds: AccountFunds): Promise<void> {
    const version = funds.version
    const stored = await findAccount(this.#store.read, funds.id).catch(() => undefined)
    const raced = funds.version !== version || funds.pending > 0
    if (stored === undefined || raced || !this.#store.healthy) {
      setTimeout(() => this.#reread(funds), rereadEveryMs)
      return
    }
    funds.balanceNanos = stored.balanceNanos
    funds.taskHoldsNanos = stored.heldNanos
    funds.stale = false
  }
}

function written(funds: AccountFunds): void {
  funds.pending--
  funds.version++
}
