// A month of one account as a bill: what was there, what came in, what each model cost, what is left.
// Months are of UTC. Made from the ledger each time: nothing of it is stored.
import { formatNanos } from '../lib/decimal.ts'
import { type BillSum, balanceBefore, type Stretch, sumStretch } from '../store/bills.ts'
import type { Store } from '../store/index.ts'

/** Undefined when the text names no month. */
export function monthOf(text: string): { fromMs: number; untilMs: number } | undefined {
  const [, year, month] = /^(\d{4})-(\d{2})$/.exec(text) ?? []
  if (year === undefined || Number(month) < 1 || Number(month) > 12) return undefined
  const first = (plus: number) => Date.UTC(Number(year), Number(month) - 1 + plus, 1)
  return { fromMs: first(0), untilMs: first(1) }
}

export async function makeBill(store: Store, stretch: Stretch) {
  const opening = await balanceBefore(store.read, stretch.accountId, stretch.fromMs)
  const sums = await sumStretch(store.read, stretch)
  const total = (kind: BillSum['kind']) =>
    sums.reduce((sum, each) => (each.kind === kind ? sum + each.amountNanos : sum), 0n)
  const moved = sums.reduce((sum, { amountNanos }) => sum + amountNanos, 0n)
  return {
    opening_balance: formatNanos(opening),
    credits: formatNanos(total('credit')),
    adjustments: formatNanos(total('adjust')),
    // What a month cost is told as people say it, without a sign.
    charges: formatNanos(-total('charge')),
    closing_balance: formatNanos(opening + moved),
    totals: sums
      .filter(({ kind }) => kind === 'charge')
      .map(({ model, unit, entries, quantity, amountNanos }) => ({
        model,
        unit,
        charges: entries,
        quantity,
        amount: formatNanos(-amountNanos),
      })),
  }
}
