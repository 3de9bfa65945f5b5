// A change of an account's money that shares a transaction with other rows: a correction, the hold
// of a task, its end. Its amount is reserved in memory while it is written; where gateways share a
// database, it is reserved in the database, and all gateways return unused credit for it.
import type { Entry } from '../contract/ledger.ts'
import { Rollback, type Store, type Tx } from '../store/index.ts'
import { lockFreeNanos } from '../store/ledger/credit-leases.ts'
import { appendEntry, findEntries, findEntry, type StoredEntry } from '../store/ledger/entries.ts'
import { refundedOf, servingChannel } from '../store/ledger/refunds.ts'
import { clearShort } from '../store/ledger/short-accounts.ts'
import { type AccountFunds, availableNanos, type Balances } from './balances.ts'
import type { CreditLeases } from './credit/credit-leases.ts'
import { type EndingHold, endHold, type TaskBooking } from './end-hold.ts'

/** The parts of a ledger that its steps use. */
export interface StepDeps {
  readonly store: Store
  readonly balances: Balances
  /** Absent when the database cannot be shared. */
  readonly creditLeases: CreditLeases | undefined
  onEntry(accountId: string): void
}

/**
 * The engine opens a transaction, writes its own rows in it and calls `write` for the money.
 * `commit` runs that transaction, again if credit had to be gathered for it; once it is committed,
 * and not before, the balance in memory follows.
 */
abstract class LedgerStep<Written, Refused extends string = never> {
  readonly accountId: string
  protected readonly deps: StepDeps
  protected readonly funds: AccountFunds
  /** Kept from calls until the step is over. */
  protected reservedNanos = 0n
  #follow: (() => void) | undefined
  #gather: ((tries: number) => Promise<boolean>) | undefined

  constructor(deps: StepDeps, accountId: string) {
    this.deps = deps
    this.accountId = accountId
    this.funds = deps.balances.of(accountId)
  }

  /** In the transaction; where that runs again after a deadlock, only the last time counts. */
  write(tx: Tx): Promise<Written> {
    this.#follow = undefined
    this.#gather = undefined
    return this.book(tx)
  }

  /** Without a transaction, of one that writes nothing else. */
  commit(): Promise<Written | Refused>
  commit<Result>(transaction: () => Promise<Result>): Promise<Result | Refused>
  async commit(transaction = (): Promise<unknown> => this.#alone()): Promise<unknown> {
    const refused = await this.prepare()
    if (refused !== undefined) return refused
    try {
      for (let tries = 0; ; tries++) {
        const result = await this.funds.tracked(transaction, this.reservedNanos)
        if (await this.#gather?.(tries)) continue
        if (this.#follow !== undefined) this.#apply(this.#follow)
        return result
      }
    } catch (error) {
      if (error instanceof Rollback) return error.result
      throw error
    } finally {
      this.funds.unhold(this.reservedNanos)
      this.reservedNanos = 0n
    }
  }

  #alone(): Promise<Written> {
    return this.deps.store.tx((tx) => this.write(tx), this.accountId)
  }

  /** The in-memory balance follows what was written; a lease changes only by what it pays for. */
  #apply(follow: () => void): void {
    const { creditLeases, onEntry } = this.deps
    onEntry(this.accountId)
    if (creditLeases === undefined) follow()
    else this.freed(creditLeases)
  }

  protected freed(creditLeases: CreditLeases): void {
    creditLeases.freed(this.funds)
  }

  /** Reserves what is known to be needed, or says why there is nothing to write. */
  protected abstract prepare(): Promise<Refused | undefined>

  protected abstract book(tx: Tx): Promise<Written>

  /** It is booked: with the commit, this happens in memory. */
  protected booked(follow: () => void): void {
    this.#follow = follow
  }

  /** Nothing is booked; `gather` resolves to whether another transaction is worthwhile. */
  protected lacks(gather: (tries: number) => Promise<boolean>): void {
    this.#gather = gather
  }

  protected reserve(nanos: bigint): void {
    this.reservedNanos += nanos
    this.funds.hold(nanos)
  }
}

type Taken = 'done' | 'repeated' | 'insufficient'

/** One entry, which takes from the account if its amount is negative, and if there is enough. */
export class EntryStep<Refused extends string = never> extends LedgerStep<
  Taken,
  Refused | 'insufficient'
> {
  protected readonly entry: Entry

  constructor(deps: StepDeps, entry: Entry) {
    super(deps, entry.accountId)
    this.entry = entry
  }

  get #takenNanos(): bigint {
    return this.entry.amountNanos < 0n ? -this.entry.amountNanos : 0n
  }

  protected async prepare(): Promise<Refused | 'insufficient' | undefined> {
    const { funds, deps } = this
    if (deps.creditLeases !== undefined || this.#takenNanos === 0n) return undefined
    while (funds.stale) await funds.known()
    if (availableNanos(funds) < this.#takenNanos) return 'insufficient'
    this.reserve(this.#takenNanos)
    return undefined
  }

  protected async book(tx: Tx, entry = this.entry): Promise<Taken> {
    const { funds, accountId } = this
    const { creditLeases } = this.deps
    if (creditLeases !== undefined && this.#takenNanos > 0n) {
      const freeNanos = await lockFreeNanos(tx, accountId)
      if (freeNanos < this.#takenNanos) {
        this.lacks((tries) => creditLeases.of(funds).gather(tries))
        return 'insufficient'
      }
    }
    if (!(await appendEntry(tx, entry))) return 'repeated'
    this.booked(() => {
      if (entry.kind === 'hold') funds.holdTask(-entry.amountNanos)
      else funds.add(entry.amountNanos)
    })
    return 'done'
  }
}

/** Tops up with a positive amount, takes back with a negative one. */
export class CreditStep extends EntryStep<'repeated' | 'mismatch'> {
  protected override async prepare() {
    const { ref, amountNanos } = this.entry
    const [before] = await findEntries(this.deps.store.read, ref)
    if (before === undefined) return super.prepare()
    return before.amountNanos === amountNanos ? 'repeated' : 'mismatch'
  }

  protected override async book(tx: Tx): Promise<Taken> {
    // One ref is one correction, whatever its sign.
    if ((await findEntries(tx, this.entry.ref)).length > 0) return 'repeated'
    const taken = await super.book(tx)
    if (taken === 'done' && this.entry.amountNanos > 0n) await clearShort(tx, this.accountId)
    return taken
  }

  /** Other gateways found the account empty, and check again. */
  protected override freed(creditLeases: CreditLeases): void {
    if (this.entry.amountNanos > 0n) creditLeases.funded(this.funds)
    else super.freed(creditLeases)
  }
}

/** Gives back the charge of a call that was not answered, less what was refunded of it. */
export class VoidStep extends EntryStep {
  protected override async book(tx: Tx): Promise<Taken> {
    const { entry, deps, accountId } = this
    if (deps.creditLeases !== undefined) await lockFreeNanos(tx, accountId)
    const refundedNanos = (await refundedOf(tx, [entry.ref])).get(entry.ref) ?? 0n
    const amountNanos = entry.amountNanos - refundedNanos
    return amountNanos === 0n ? 'repeated' : super.book(tx, { ...entry, amountNanos })
  }
}

export interface RefundOrder {
  /** Of this refund; one that exists is not booked again. */
  ref: string
  /** The request or task. */
  refundOf: string
  accountId: string
  /** Undefined: all that is left of the charge. */
  amountNanos: bigint | undefined
  reason: string
  atMs: number
}

/** What was booked, now or before, and all that was given back of the charge. */
interface Refunded {
  entryId: number
  amountNanos: bigint
  refundedNanos: bigint
  isRepeated: boolean
}

type NotRefunded = 'nothing_to_refund' | 'refund_exceeds_charge' | 'mismatch'

/** Gives back a charge, or a part of it; never more than is left, with any number of others at once. */
export class RefundStep extends LedgerStep<Refunded | NotRefunded> {
  readonly #order: RefundOrder

  constructor(deps: StepDeps, order: RefundOrder) {
    super(deps, order.accountId)
    this.#order = order
  }

  protected async prepare(): Promise<undefined> {}

  protected async book(tx: Tx): Promise<Refunded | NotRefunded> {
    const { ref, refundOf, accountId, reason: note, atMs } = this.#order
    // From here on no other refund of the account is booked; without leases, transactions are alone.
    if (this.deps.creditLeases !== undefined) await lockFreeNanos(tx, accountId)
    const before = (await refundedOf(tx, [refundOf])).get(refundOf) ?? 0n
    const known = await findEntry(tx, ref, 'refund')
    if (known !== undefined) return this.#repeated(known, before)
    const charge = await findEntry(tx, refundOf, 'charge')
    const chargedNanos = charge?.accountId === accountId ? -charge.amountNanos : 0n
    // Of a call that was not answered.
    const voided = await findEntry(tx, refundOf, 'credit')
    const leftNanos = chargedNanos - before - (voided?.amountNanos ?? 0n)
    const amountNanos = this.#order.amountNanos ?? leftNanos
    if (chargedNanos === 0n || amountNanos <= 0n) return 'nothing_to_refund'
    if (amountNanos > leftNanos) return 'refund_exceeds_charge'
    const channel = await servingChannel(tx, refundOf)
    const labels = { ...charge!, channel, quantity: undefined, estimated: undefined }
    await appendEntry(tx, { ...labels, kind: 'refund', ref, refundOf, amountNanos, note, atMs })
    await clearShort(tx, accountId)
    this.booked(() => this.funds.add(amountNanos))
    const { id: entryId } = (await findEntry(tx, ref, 'refund'))!
    return { entryId, amountNanos, refundedNanos: before + amountNanos, isRepeated: false }
  }

  #repeated(known: StoredEntry, refundedNanos: bigint): Refunded | NotRefunded {
    const { refundOf, amountNanos, reason } = this.#order
    const isSame = known.refundOf === refundOf && known.note === reason
    if (!isSame || known.amountNanos !== (amountNanos ?? known.amountNanos)) return 'mismatch'
    const { id: entryId } = known
    return { entryId, amountNanos: known.amountNanos, refundedNanos, isRepeated: true }
  }

  /** Other gateways found the account empty, and check again. */
  protected override freed(creditLeases: CreditLeases): void {
    creditLeases.funded(this.funds)
  }
}

/** The end of a task's hold. Undefined: it had ended. */
export class EndStep extends LedgerStep<TaskBooking | undefined> {
  readonly #ending: EndingHold
  #isLast = false

  constructor(deps: StepDeps, ending: EndingHold) {
    super(deps, ending.accountId)
    this.#ending = ending
  }

  protected async prepare(): Promise<undefined> {}

  protected async book(tx: Tx): Promise<TaskBooking | undefined> {
    const { funds, reservedNanos } = this
    const isShared = this.deps.creditLeases !== undefined
    const beyond = { reservedNanos: isShared ? undefined : reservedNanos, isLast: this.#isLast }
    const ended = await endHold(tx, this.#ending, beyond)
    if (ended === undefined) return undefined
    if ('missingNanos' in ended) {
      this.lacks((tries) => this.#gather(ended.missingNanos, tries))
      return undefined
    }
    const { heldNanos, ...booking } = ended
    this.booked(() => {
      funds.holdTask(-heldNanos)
      funds.add(-booking.chargeNanos)
    })
    return booking
  }

  /** What is missing beyond the hold comes from the free balance, as far as that goes. */
  async #gather(missingNanos: bigint, tries: number): Promise<true> {
    const { creditLeases } = this.deps
    if (creditLeases !== undefined) {
      this.#isLast = !(await creditLeases.of(this.funds).gather(tries))
      return true
    }
    const { funds } = this
    while (funds.stale && availableNanos(funds) < missingNanos) await funds.known()
    const free = availableNanos(funds)
    const maxNanos = free > 0n ? free : 0n
    this.reserve(missingNanos < maxNanos ? missingNanos : maxNanos)
    this.#isLast = true
    return true
  }
}
