// Verifies refunds and bills: no charge is given back more than once, a bill has what the ledger has in its month
// and never changes, bills are numbered without gaps, and what is given back later is on the next bill.
import { makeBill, nanosOf } from '../../src/billing/bills/bill.ts'
import type { ClosedBill } from '../../src/billing/bills/read-bill.ts'
import { monthBounds } from '../../src/lib/text/month.ts'
import { type Calling, closedMonth } from '../callers/calling.ts'
import type { RefundInput } from '../callers/records.ts'
import { shown } from './check-commit.ts'
import { readNow } from './read-now.ts'

interface RefundRow {
  ref: string
  refund_of: string
  account_id: string
  amount_nanos: bigint
}

export function verifyRefunds({ context, records }: Calling): void {
  const { db, world } = context
  const { rows } = db.query<RefundRow>(
    'SELECT ref, refund_of, account_id, amount_nanos FROM entries WHERE refund_of IS NOT NULL',
  )
  const refunded = new Map<string, bigint>()
  for (const { refund_of: of, amount_nanos: nanos } of rows) {
    refunded.set(of, (refunded.get(of) ?? 0n) + nanos)
  }
  const left = new Map<string, bigint>()
  for (const [of, nanos] of refunded) {
    left.set(of, leftOf(context.db, of) - nanos)
    if (left.get(of)! < 0n) world.addViolation(`${of} was given back ${nanos}, which is too much`)
  }
  const voided = db.query<{ ref: string }>(
    `SELECT ref FROM entries WHERE kind = 'credit' AND ref LIKE 'req_%'`,
  )
  for (const { ref } of voided.rows) {
    const rest = left.get(ref) ?? leftOf(db, ref)
    if (rest !== 0n) world.addViolation(`${ref} was not answered, and ${rest} of it is charged`)
  }
  for (const refund of records.refunds) {
    const wrong = wrongWith(refund, rows, left.get(refund.of) ?? leftOf(db, refund.of))
    if (wrong !== undefined) world.addViolation(`${refund.ref} of ${refund.of} ${wrong}`)
  }
}

/** What was charged, less what was credited because the call was not answered. */
const leftOf = (db: Calling['context']['db'], ref: string): bigint =>
  db
    .query<{ amount_nanos: bigint }>(
      `SELECT amount_nanos FROM ledger WHERE ref = ? AND kind IN ('charge', 'credit')`,
      [ref],
    )
    .rows.reduce((sum, { amount_nanos }) => sum - amount_nanos, 0n)

function wrongWith(
  { ref, of, accountId, amountNanos, answer }: RefundInput,
  rows: readonly RefundRow[],
  leftNanos: bigint,
): string | undefined {
  const booked = rows.filter((row) => row.ref === ref)
  const [row] = booked
  if (booked.length > 1) return 'was booked twice'
  if (row !== undefined) {
    const isAsked = amountNanos === undefined || row.amount_nanos === amountNanos
    if (!isAsked || row.refund_of !== of || row.account_id !== accountId)
      return `was booked as ${shown(row)}`
  }
  if (answer === undefined) return undefined
  if (typeof answer === 'object') {
    if (row === undefined) return 'was confirmed and is missing'
    return row.amount_nanos === answer.amountNanos ? undefined : 'was confirmed as another one'
  }
  if (row !== undefined) return `was refused (${answer}) and is booked`
  // What is left only becomes less.
  const isPossible = amountNanos === undefined ? leftNanos > 0n : leftNanos >= amountNanos
  return isPossible ? `was refused (${answer}) with ${leftNanos} left` : undefined
}

const kinds = ['credit', 'adjust', 'charge', 'refund'] as const
type Sums = Record<(typeof kinds)[number], bigint>

function sumsOf({ context }: Calling, accountId: string, fromMs: number, untilMs: number): Sums {
  const { rows } = context.db.query<{ kind: keyof Sums; sum: bigint }>(
    `SELECT kind, sum(amount_nanos) AS sum FROM ledger
     WHERE account_id = ? AND at_ms >= ? AND at_ms < ? GROUP BY kind`,
    [accountId, fromMs, untilMs],
  )
  const sums = Object.fromEntries(rows.map(({ kind, sum }) => [kind, BigInt(sum)]))
  return Object.fromEntries(kinds.map((kind) => [kind, sums[kind] ?? 0n])) as Sums
}

export function verifyBills(calling: Calling): void {
  const { context, records } = calling
  const { db, world } = context
  const { rows } = db.query<{ account_id: string; body: string }>(
    'SELECT account_id, body FROM closed_months WHERE month = ? ORDER BY account_id',
    [closedMonth],
  )
  const bills = new Map(rows.map((row) => [row.account_id, JSON.parse(row.body) as ClosedBill]))
  for (const id of records.closed) {
    if (!bills.has(id)) world.addViolation(`the month of ${id} is said to be closed and is not`)
  }
  const numbers = [...bills.values()].map(({ number }) => number ?? '').sort()
  const right = numbers.map((_, at) => `${closedMonth}-${String(at + 1).padStart(4, '0')}`)
  if (shown(numbers) !== shown(right)) world.addViolation(`the bills are numbered ${numbers}`)
  const { untilMs } = monthBounds(closedMonth)!
  const next = { month: '2027-02', ...monthBounds('2027-02')! }
  for (const { id: accountId } of records.accounts) {
    const before = sumsOf(calling, accountId, 0, untilMs)
    const closed = bills.get(accountId)
    if (closed !== undefined) compare(calling, closed, before, 0n)
    const opening = kinds.reduce((sum, kind) => sum + before[kind], 0n)
    readNow(context, async (read) => {
      const of = { accountId, account: accountId, month: next.month, currency: 'CNY' }
      const bill = await makeBill(read, of)
      compare(calling, bill, sumsOf(calling, accountId, next.fromMs, next.untilMs), opening)
    })
  }
}

type Figures = Pick<
  ClosedBill,
  'account_id' | 'month' | 'credits' | 'adjustments' | 'charges' | 'refunds' | 'closing_balance'
>

function compare({ context }: Calling, bill: Figures, sums: Sums, openingNanos: bigint): void {
  const { account_id: id, month, credits, adjustments, charges, refunds = '0' } = bill
  const closing = kinds.reduce((sum, kind) => sum + sums[kind], openingNanos)
  const has = [credits, adjustments, charges, refunds, bill.closing_balance].map(nanosOf)
  const should = [sums.credit, sums.adjust, -sums.charge, sums.refund, closing]
  if (has.join() === should.join()) return
  context.world.addViolation(`the bill of ${id} for ${month} has ${has}, the ledger has ${should}`)
}
