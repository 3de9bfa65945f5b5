// Closes a month: its bill is computed again, verified from the first entry on, signed and stored
// permanently. Later corrections go into a later month.
import { crashPoint } from '../../lib/crash-point.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { monthAt, monthBounds } from '../../lib/text/month.ts'
import { nextBillNumber } from '../../store/catalog/issuer.ts'
import { Rollback, type Tx } from '../../store/index.ts'
import { lastNumberBefore } from '../../store/ledger/bills.ts'
import {
  type ClosedMonth,
  closeUntil,
  findClosedMonth,
  insertClosedMonth,
  lastClosedBefore,
} from '../../store/ledger/closed-months.ts'
import { sumMoney } from '../../store/proof/totals.ts'
import { type BillOf, makeBill, sumOf } from './bill.ts'
import { type BillDeps, type ClosedBill, partiesOf } from './read-bill.ts'

/** Wait after the end of a month, for entries of its last moments and for clock differences. */
const closeGraceMs = 5 * 60_000

export interface ClosingDeps extends BillDeps {
  /** Signs the end of the account's chain. */
  receiptWriter: { drain(accountId: string): Promise<unknown> }
}

export type Closing =
  /** Closed now, or `again`: it already was. */
  | { kind: 'closed'; again: boolean }
  | { kind: 'too_early'; fromMs: number }
  /** An earlier month with money in it is open: close that one first. */
  | { kind: 'earlier_open'; month: string }
  /** Entries were booked meanwhile. */
  | { kind: 'behind'; entries: number }
  /** The bill does not add up to the ledger. */
  | { kind: 'differs'; bill: string; ledger: string }

/** `alongside` runs in the transaction that closes the month, and only if this call closes it. */
export async function closeMonth(
  deps: ClosingDeps,
  of: BillOf,
  note: string | undefined,
  alongside: (tx: Tx, bill: ClosedBill) => Promise<void>,
): Promise<Closing> {
  const { store, clock } = deps
  const { accountId, month } = of
  const again = await findClosedMonth(store.read, accountId, month)
  if (again !== undefined) return { kind: 'closed', again: true }
  const { untilMs } = monthBounds(month)!
  const fromMs = untilMs + closeGraceMs
  if (clock.nowMs() < fromMs) return { kind: 'too_early', fromMs }
  const earlier = await firstOpenBefore(store.read, accountId, month)
  if (earlier !== undefined) return { kind: 'earlier_open', month: earlier }
  for (let tries = 1; ; tries++) {
    const done = await tryToClose(deps, of, note, alongside)
    if (done.kind !== 'behind' || tries === maxTries) return done
  }
}

/** Entries booked meanwhile change the bill: it is computed again, up to this many times. */
const maxTries = 5

async function tryToClose(
  deps: ClosingDeps,
  of: BillOf,
  note: string | undefined,
  alongside: (tx: Tx, bill: ClosedBill) => Promise<void>,
): Promise<Closing> {
  const { store } = deps
  const { accountId, month } = of
  const { untilMs } = monthBounds(month)!
  await deps.receiptWriter.drain(accountId)
  const made = await closingBill(deps, of, note)
  if ('kind' in made) return made
  crashPoint('month-closing')
  try {
    const again = await store.tx(async (tx) => {
      await closeUntil(tx, accountId, untilMs)
      if ((await findClosedMonth(tx, accountId, month)) !== undefined) return true
      // The account's row is locked: all entries so far are visible, and none can follow.
      const late = (await lastNumberBefore(tx, accountId, untilMs)) - made.last_number
      if (late > 0) throw new Rollback<Closing>({ kind: 'behind', entries: late })
      const parties = await partiesOf(tx, of, deps.issuer)
      const bill = { ...made, ...parties, number: await nextBillNumber(tx, month) }
      await insertClosedMonth(tx, signed(deps, accountId, bill))
      await alongside(tx, bill)
      return false
    }, accountId)
    crashPoint('month-closed')
    return { kind: 'closed', again }
  } catch (error) {
    if (error instanceof Rollback) return error.result
    throw error
  }
}

async function closingBill(
  deps: ClosingDeps,
  of: BillOf,
  note: string | undefined,
): Promise<ClosedBill | Closing> {
  const { bill, ledger, lastNumber } = await readMonth(deps, of)
  if (ledger !== bill.closing_balance) {
    return { kind: 'differs', bill: bill.closing_balance, ledger }
  }
  return {
    ...bill,
    state: 'closed',
    closed_at: new Date(deps.clock.nowMs()).toISOString(),
    note: note ?? null,
    last_number: lastNumber,
  }
}

function signed({ signer }: ClosingDeps, accountId: string, bill: ClosedBill): ClosedMonth {
  const { month, last_number: lastNumber, closed_at, note } = bill
  const body = JSON.stringify(bill)
  const closedAtMs = Date.parse(closed_at)
  const closed = { accountId, month, closedAtMs, lastNumber, body, ...signer.sign(body) }
  return note === null ? closed : { ...closed, note }
}

/** Its bill, and what the ledger says at the same moment: charges go on. */
async function readMonth({ store }: ClosingDeps, of: BillOf) {
  const { accountId, month } = of
  const { untilMs } = monthBounds(month)!
  const { db, end } = await store.snapshot()
  try {
    const bill = await makeBill(db, of)
    // From the first entry on, not from the closing balance of an earlier month.
    const whole = await sumMoney(db, { accountId, fromMs: 0, untilMs, by: [] })
    const lastNumber = await lastNumberBefore(db, accountId, untilMs)
    return { bill, ledger: formatNanos(sumOf(whole)), lastNumber }
  } finally {
    await end()
  }
}

/** The first month with money in it before this one and after the last closed one. */
async function firstOpenBefore(
  db: Tx,
  accountId: string,
  month: string,
): Promise<string | undefined> {
  const closed = await lastClosedBefore(db, accountId, month)
  const fromMs = closed === undefined ? 0 : monthBounds(closed.month)!.untilMs
  const { fromMs: untilMs } = monthBounds(month)!
  const [first] = await sumMoney(db, { accountId, fromMs, untilMs, by: ['hour'] })
  return first?.hourMs === undefined ? undefined : monthAt(first.hourMs)
}
