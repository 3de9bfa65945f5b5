// Hold, settle, release, credit, adjust: each happens once only, by the id it is for.
// Knows accounts and amounts; knows no caller, model or upstream beyond the labels it writes down.
//
//   a call:  hold (memory) ── settle ──> charge entry + request row, one commit
//                          └─ release ─> nothing to write
//   a task:  hold entry ───── settle ──> release entry + charge entry, one commit
//                          └─ release ─> release entry
//
// Where gateways share a database, calls are held against what this one has drawn (purses.ts) and
// everything else is decided by the store.
import type { Entry } from '../contract/ledger.ts'
import type { RequestRecord } from '../contract/requests.ts'
import { crashPoint } from '../lib/crash-point.ts'
import { ensure } from '../lib/ensure.ts'
import { listBalances } from '../store/accounts.ts'
import { appendEntry, findEntries } from '../store/entries.ts'
import type { Store, Tx } from '../store/index.ts'
import { lockFreeNanos } from '../store/purses.ts'
import { absorbShort } from './absorb.ts'
import {
  type AccountFunds,
  availableNanos,
  Balances,
  type StoredBalance,
  undo,
} from './balances.ts'
import { Disowned } from './disowned.ts'
import {
  type BeyondHold,
  type ChargeLabels,
  type EndingHold,
  endHold,
  type TaskSettlement,
} from './end-hold.ts'
import { Purses } from './purses.ts'

export interface Hold {
  readonly accountId: string
  readonly amountNanos: bigint
  open: boolean
}

/** `mismatch`: this ref has been used for another amount. */
export type CreditResult = 'done' | 'repeated' | 'insufficient' | 'mismatch'

export class Ledger {
  readonly #store: Store
  readonly #balances: Balances
  /** Absent when this is the only gateway there can be. */
  readonly #purses: Purses | undefined
  /** Accounts whose books do not add up; swapped as a whole. */
  stopped: ReadonlySet<string> = new Set()
  readonly #disowned: Disowned

  /** Told of every entry that has been written; must cost nothing. */
  onEntry: () => void = () => {}

  private constructor(store: Store) {
    this.#store = store
    this.#balances = new Balances(store)
    this.#disowned = new Disowned(store, (entry) => this.#giveBack(entry), store.clock.nowMs)
    if (store.sharing !== undefined) this.#purses = new Purses(store, store.sharing, this.#balances)
  }

  static async open(store: Store): Promise<Ledger> {
    const ledger = new Ledger(store)
    if (ledger.#purses !== undefined) return ledger
    for (const stored of await listBalances(store.read)) ledger.add(stored)
    return ledger
  }

  close(): void {
    this.#disowned.close()
    this.#purses?.close()
  }

  /** An account that has just been created. */
  add(stored: StoredBalance): void {
    if (this.#purses === undefined) this.#balances.add(stored)
  }

  /** What this gateway knows it can spend; asking the store may bring more. */
  funds(accountId: string): Readonly<AccountFunds> {
    return this.#balances.of(accountId)
  }

  /** What of a stored balance can be spent, holds of calls in flight taken off. */
  spendable({ id, balanceNanos, heldNanos }: StoredBalance) {
    const held = heldNanos + (this.#balances.find(id)?.callHoldsNanos ?? 0n)
    return { heldNanos: held, availableNanos: balanceNanos - held }
  }

  /** False while the account's last write has an open outcome. */
  usable(accountId: string): boolean {
    return this.#balances.find(accountId)?.stale === false
  }

  /**
   * Reserves `wantedNanos`, or whatever is available if that is at least `leastNanos`.
   * Undefined: the account cannot pay for it.
   */
  hold(accountId: string, wantedNanos: bigint, leastNanos = wantedNanos): Hold | undefined {
    const funds = this.#balances.find(accountId)
    if (funds === undefined || funds.stale) return undefined
    funds.touched = true
    const available = availableNanos(funds)
    const amountNanos = available < wantedNanos ? available : wantedNanos
    if (amountNanos < leastNanos || amountNanos < 0n) return undefined
    if (amountNanos === 0n && wantedNanos > 0n) return undefined
    funds.callHoldsNanos += amountNanos
    return { accountId, amountNanos, open: true }
  }

  /**
   * For a call that cannot be held yet: asks the store for credit where that can help.
   * Undefined: there is nobody to ask.
   */
  draw(accountId: string, wantedNanos: bigint): Promise<void> | undefined {
    return this.#purses?.draw(this.#balances.of(accountId), wantedNanos)
  }

  release(hold: Hold): void {
    this.#end(hold)
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
    ensure(record.accountId === hold.accountId, 'who is held on is who pays')
    if (this.#lacks(hold, amountNanos)) {
      await this.draw(hold.accountId, amountNanos - hold.amountNanos)?.catch(() => {})
    }
    const funds = this.#end(hold)
    const room = availableNanos(funds)
    const most = room < 0n ? 0n : room
    const chargeNanos = amountNanos > most ? most : amountNanos
    if (chargeNanos < amountNanos) absorbShort(record, labels, amountNanos - chargeNanos)
    record.chargeNanos = chargeNanos
    funds.balanceNanos -= chargeNanos
    crashPoint('call-answered')
    await this.#balances.tracked(funds, () =>
      this.#store.record(record, {
        ...labels,
        // Of the month in which it was booked; the store moves it out of one that is closed.
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
  }

  /** The caller of a charge that could not be written hears that it failed: it must be free. */
  disown(record: RequestRecord): void {
    this.#disowned.add(record)
  }

  async #giveBack(entry: Entry): Promise<void> {
    const funds = this.#balances.of(entry.accountId)
    const isNew = await this.#balances.tracked(funds, () =>
      this.#store.tx((tx) => appendEntry(tx, entry)),
    )
    if (!isNew) return
    this.#booked(funds, () => {
      funds.balanceNanos += entry.amountNanos
    })
  }

  /** Top up with a positive amount, take back with a negative one; once per `ref`. */
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
      // One ref is one correction, whichever its sign.
      if ((await findEntries(tx, entry.ref)).length > 0) return 'repeated'
      if (!(await appendEntry(tx, { ...entry, accountId, kind, amountNanos }))) return 'repeated'
      await alongside(tx)
      return 'done'
    }
    return this.#take(accountId, takesBack ? -amountNanos : 0n, write, (funds) => {
      funds.balanceNanos += amountNanos
    })
  }

  /**
   * A hold that outlives the process; written together with `alongside`, usually the task's row.
   * If that gives false, nothing at all is written and nothing is held: `undone`.
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
      return await this.#take(accountId, amountNanos, write, (funds) => {
        funds.taskHoldsNanos += amountNanos
      })
    } catch (error) {
      if (error === undo) return 'undone'
      throw error
    }
  }

  /**
   * Ends a task's hold: with a charge if there is one, else with nothing. What a charge has beyond the
   * hold comes from the free balance; `alongside` is told what of it was booked. False: it had ended.
   */
  async endTask(
    accountId: string,
    task: { taskId: string; atMs: number },
    charge?: TaskSettlement,
    alongside: EndingHold['alongside'] = async () => {},
  ): Promise<boolean> {
    const funds = this.#balances.of(accountId)
    const ending = { accountId, ...task, charge, alongside }
    const isShared = this.#purses !== undefined
    const beyond: BeyondHold = { reservedNanos: isShared ? undefined : 0n, isLast: false }
    try {
      for (let tries = 0; ; tries++) {
        const ended = await this.#balances.tracked(funds, () =>
          this.#store.tx((tx) => endHold(tx, ending, beyond)),
        )
        if (ended === undefined) return false
        if ('missingNanos' in ended) {
          if (this.#purses === undefined) setAside(funds, beyond, ended.missingNanos)
          else beyond.isLast = !(await this.#purses.gather(funds, tries))
          continue
        }
        this.#booked(funds, () => {
          funds.taskHoldsNanos -= ended.heldNanos
          funds.balanceNanos -= ended.chargeNanos
        })
        return true
      }
    } finally {
      funds.callHoldsNanos -= beyond.reservedNanos ?? 0n
    }
  }

  /**
   * A write that takes money off an account, if it has that much: set aside in memory while it
   * is written, or looked for by the store, with every gateway's help.
   */
  async #take(
    accountId: string,
    amountNanos: bigint,
    write: (tx: Tx) => Promise<'done' | 'repeated'>,
    shadow: (funds: AccountFunds) => void,
  ): Promise<'done' | 'repeated' | 'insufficient'> {
    const funds = this.#balances.of(accountId)
    const isShared = this.#purses !== undefined
    if (!isShared && amountNanos > 0n) {
      if (funds.stale || availableNanos(funds) < amountNanos) return 'insufficient'
      funds.callHoldsNanos += amountNanos
    }
    let written: 'done' | 'repeated' | 'insufficient' | undefined
    try {
      for (let tries = 0; ; tries++) {
        written = await this.#balances.tracked(funds, () =>
          this.#store.tx(async (tx) => {
            const free =
              isShared && amountNanos > 0n ? await lockFreeNanos(tx, accountId) : undefined
            return free !== undefined && free < amountNanos ? 'insufficient' : write(tx)
          }),
        )
        if (written !== 'insufficient') return written
        if (!(await this.#purses?.gather(funds, tries))) return written
      }
    } finally {
      if (!isShared && amountNanos > 0n) funds.callHoldsNanos -= amountNanos
      if (written === 'done') this.#booked(funds, () => shadow(funds))
    }
  }

  /** The shadow follows what has been written; a purse is only touched by what it pays for. */
  #booked(funds: AccountFunds, shadow: () => void): void {
    this.onEntry()
    if (this.#purses === undefined) shadow()
    else this.#purses.freed(funds.id)
  }

  /** Whether a charge needs more than its hold and what else can be spent. */
  #lacks(hold: Hold, amountNanos: bigint): boolean {
    if (this.#purses === undefined || amountNanos <= hold.amountNanos) return false
    return availableNanos(this.#balances.of(hold.accountId)) < amountNanos - hold.amountNanos
  }

  #end(hold: Hold): AccountFunds {
    ensure(hold.open, 'a hold ends once')
    hold.open = false
    const funds = this.#balances.of(hold.accountId)
    funds.callHoldsNanos -= hold.amountNanos
    ensure(funds.callHoldsNanos >= 0n, 'holds of calls never fall below zero')
    return funds
  }
}

/** Out of the reach of calls while a charge beyond its hold is written. */
function setAside(funds: AccountFunds, beyond: BeyondHold, missingNanos: bigint): void {
  const free = availableNanos(funds)
  const most = free > 0n ? free : 0n
  beyond.reservedNanos = missingNanos < most ? missingNanos : most
  beyond.isLast = true
  funds.callHoldsNanos += beyond.reservedNanos
}
