// The numbers of the closed bills of an account, by month.
import { monthPlus } from '../../lib/text/month.ts'
import type { Tx } from '../../store/index.ts'
import { findClosedMonth } from '../../store/ledger/closed-months.ts'
import type { ClosedBill } from './read-bill.ts'

export async function findInvoices(
  db: Tx,
  accountId: string,
  first: string,
  last: string,
): Promise<Map<string, string>> {
  const numbers = new Map<string, string>()
  for (let month = first; month <= last; month = monthPlus(month, 1)) {
    const closed = await findClosedMonth(db, accountId, month)
    const { number } = closed === undefined ? {} : (JSON.parse(closed.body) as ClosedBill)
    if (number !== undefined) numbers.set(month, number)
  }
  return numbers
}
