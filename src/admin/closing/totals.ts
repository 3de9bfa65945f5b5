// A month of all accounts as one sum.
import { listAccountsOf, type MonthRow } from '../../billing/bills/months.ts'
import { Refusal } from '../../contract/errors.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import { monthIn } from '../money/bills.ts'
import { forFinance } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import { monthTotals, totalsQuery } from './closing-schema.ts'

const accountsPerPage = 500

const amounts = [
  'opening_balance',
  'credits',
  'adjustments',
  'charges',
  'refunds',
  'closing_balance',
] as const satisfies readonly (keyof MonthRow)[]

async function sumMonth({ engine, query }: Ask<{ query: typeof totalsQuery }>) {
  const month = monthIn(engine, query.month)
  if (month instanceof Refusal) return month
  const nanos = Object.fromEntries(amounts.map((name) => [name, 0n])) as Record<
    (typeof amounts)[number],
    bigint
  >
  const counts = { accounts: 0, open: 0, closed: 0, charge_count: 0 }
  let cursor: string | undefined
  do {
    const query = { limit: accountsPerPage, ...(cursor !== undefined && { cursor }) }
    const page = await listAccountsOf(engine.store.read, month, query)
    for (const row of page.items) {
      counts.accounts++
      counts[row.state]++
      counts.charge_count += row.charge_count
      for (const name of amounts) nanos[name] += nanosOf(row[name])
    }
    cursor = page.nextCursor
  } while (cursor !== undefined)
  const sums = Object.fromEntries(amounts.map((name) => [name, formatNanos(nanos[name])]))
  return {
    month,
    currency: engine.declared.file.currency,
    ...counts,
    ...(sums as Record<(typeof amounts)[number], string>),
  }
}

/** Amounts as the ledger writes them, of any size. */
function nanosOf(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.')
  const size = BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'))
  return amount.startsWith('-') ? -size : size
}

const route = routesOf({ tag: 'Bills', thing: 'month', permission: forFinance })

export const billTotalRoutes = [
  route('GET /bills/totals', {
    id: 'sumMonth',
    summary: 'A month of all accounts, added up',
    query: totalsQuery,
    answer: monthTotals,
    returns: 'The sums.',
    handle: sumMonth,
  }),
]
