// Compares closed months with the current ledger: the signature, the last receipt, every figure.
import { monthBounds } from '../../lib/text/month.ts'
import type { Tx } from '../../store/index.ts'
import { lastNumberBefore } from '../../store/ledger/bills.ts'
import { type ClosedMonth, closedMonthPages } from '../../store/ledger/closed-months.ts'
import type { AuditScope } from '../../store/proof/audit.ts'
import { makeBill } from '../bills/bill.ts'
import { type ClosedBill, differencesOf } from '../bills/read-bill.ts'
import type { Knows } from './audit-chain.ts'
import type { Findings } from './audit-findings.ts'

export async function compareMonths(
  db: Tx,
  { accountId }: AuditScope,
  findings: Findings,
  knows: Knows,
): Promise<void> {
  for await (const page of closedMonthPages(db, accountId)) {
    for (const closed of page) {
      const problem = await problemOfMonth(db, closed, knows).catch((error: unknown) => {
        // No bill can be computed from tampered numbers.
        if (findings.isEmpty) throw error
        return `the closed month ${closed.month} cannot be made again: ${(error as Error).message}`
      })
      if (problem !== undefined) {
        findings.add('closed_months', { accountId: closed.accountId, problem })
      }
    }
  }
}

async function problemOfMonth(
  db: Tx,
  closed: ClosedMonth,
  knows: Knows,
): Promise<string | undefined> {
  const { accountId, month, body, lastNumber } = closed
  const wrong = (what: string) => `the closed month ${month}: ${what}`
  if (!knows(body, closed)) return wrong('its signature is not of its text and this gateway')
  const bill = JSON.parse(body) as ClosedBill
  const isSame =
    bill.account_id === accountId &&
    bill.month === month &&
    bill.closed_at === new Date(closed.closedAtMs).toISOString() &&
    bill.note === (closed.note ?? null) &&
    bill.last_number === lastNumber
  if (!isSame) return wrong('its row is not what was signed')
  const { untilMs } = monthBounds(month)!
  if ((await lastNumberBefore(db, accountId, untilMs)) !== lastNumber) {
    return wrong('it does not end with the receipt it was closed with')
  }
  const of = { accountId, account: bill.account, month, currency: bill.currency }
  const [first] = differencesOf(bill, await makeBill(db, of))
  if (first === undefined) return undefined
  return wrong(`${first.what} was ${first.closed} and is ${first.ledger}`)
}
