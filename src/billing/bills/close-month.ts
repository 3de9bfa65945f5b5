// Closes a month: its bill is computed again, verified from the first entry on, signed and stored
// permanently. Later corrections go into a later month.
import { crashPoint } from '../../lib/crash-point.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { monthAt, monthBounds } from '../../lib/text/month.ts'
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
import type { BillDeps, ClosedBill } from './read-bill.ts'

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
  const closed = await signedMonth(deps, of, note)
  if ('kind' in closed) return closed
  crashPoint('month-closing')
  try {
    const again = await store.tx(async (tx) => {
      await closeUntil(tx, accountId, untilMs)
      if (!(await insertClosedMonth(tx, closed))) return true
      // The account's row is locked: all entries so far are visible, and none can follow.
      const late = await countLate(tx, closed, untilMs)
      if (late > 0) throw new Rollback<Closing>({ kind: 'behind', entries: late })
      await alongside(tx, JSON.parse(closed.body) as ClosedBill)
      return false
    }, accountId)
    crashPoint('month-closed')
    return { kind: 'closed', again }
  } catch (error) {
    if (error instanceof Rollback) return error.result
    throw error
  }
}

/** Entries of the month, or of an earlier one, that are not in its bill. */
async function countLate(tx: Tx, { accountId, lastNumber }: ClosedMonth, untilMs: number) {
  return (await lastNumberBefore(tx, accountId, untilMs)) - lastNumber
}

async function signedMonth(
  deps: ClosingDeps,
  of: BillOf,
  note: string | undefined,
): Promise<ClosedMonth | Closing> {
  const { signer, clock } = deps
  const { accountId, month } = of
  const { bill, ledger, lastNumber } = await readMonth(deps, of)
  if (ledger !== bill.closing_balance) {
    return { kind: 'differs', bill: bill.closing_balance, ledger }
  }
  const closedAtMs = clock.nowMs()
  const signedBill: ClosedBill = {
    ...bill,
    state: 'closed',
    closed_at: new Date(closedAtMs).toISOString(),
    note: note ?? null,
    last_number: lastNumber,
  }
  const body = JSON.stringify(signedBill)
  const { key, signature } = signer.sign(body)
  const closed: ClosedMonth = { accountId, month, closedAtMs, lastNumber, body, key, signature }
  return note === undefined ? closed : { ...closed, note }
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
