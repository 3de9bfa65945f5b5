// Overview of bills: the months of one account, and one month of all accounts. A row is the top of
// a bill. A closed month is shown as closed; its own bill compares that with the ledger.
import { formatNanos } from '../../lib/text/decimal.ts'
import { monthAt, monthBounds, monthPlus } from '../../lib/text/month.ts'
import { type Account, listAccounts } from '../../store/catalog/accounts.ts'
import { BadCursor, type Page, type PageQuery, type Tx } from '../../store/index.ts'
import { firstMoneyMs } from '../../store/ledger/bills.ts'
import {
  type ClosedMonth,
  lastClosedBefore,
  listClosedMonths,
  newestClosedMonths,
} from '../../store/ledger/closed-months.ts'
import { settledUntil } from '../../store/proof/settled.ts'
import type { MoneySum, sumDays } from '../../store/proof/totals.ts'
import { pageOf, textCursor } from '../../store/sql/cursor.ts'
import { sumGrowingMoney } from '../proof/settled-sums.ts'
import { balanceFrom, billIn, closingNanosOf, type Figures, figuresOf, sumOf } from './bill.ts'

export interface MonthRow extends Figures {
  account: string
  account_id: string
  month: string
  state: 'open' | 'closed'
  closed_at: string | null
  charge_count: number
}

type Owner = Pick<Account, 'id' | 'name'>

/** Months in which money moved, newest first, and the current one. */
export async function listMonths(
  db: Tx,
  account: Owner,
  { limit, cursor, nowMs }: PageQuery & { nowMs: number },
): Promise<Page<MonthRow>> {
  const end = cursor === undefined ? monthPlus(monthAt(nowMs), 1) : monthCursor(cursor)
  const firstMs = await firstMoneyMs(db, account.id)
  const oldest = firstMs === undefined ? monthAt(nowMs) : monthAt(firstMs)
  const from = [monthPlus(end, -limit), oldest].toSorted().at(-1)!
  const closed = await listClosedMonths(db, account.id, { from, until: end })
  let openingNanos = await balanceFrom(
    db,
    account.id,
    from,
    await lastClosedBefore(db, account.id, from),
    sumGrowingMoney,
  )
  const rows: MonthRow[] = []
  for (let month = from; month < end; month = monthPlus(month, 1)) {
    const own = closed.find((each) => each.month === month)
    if (own !== undefined) {
      rows.push(closedRow(account, own))
      openingNanos = closingNanosOf(own)
      continue
    }
    const sums = await sumsOf(db, account.id, month)
    if (sums.length > 0 || month === monthAt(nowMs)) {
      rows.push(openRow(account, month, openingNanos, sums))
    }
    openingNanos = openingNanos + sumOf(sums)
  }
  const page: Page<MonthRow> = { items: rows.reverse() }
  // The cursor is the month after the first one of the next page.
  const more = from > oldest ? pageOf([from, ''], 1, (key) => key, String).nextCursor : undefined
  return more === undefined ? page : { ...page, nextCursor: more }
}

function monthCursor(cursor: string): string {
  const month = textCursor(cursor)
  if (monthBounds(month) === undefined) throw new BadCursor('unknown cursor')
  return month
}

/** Accounts processed in parallel. */
const accountsAtOnce = 8

/** Every account that existed by the end of the month, in order of id. */
export async function listAccountsOf(
  db: Tx,
  month: string,
  query: PageQuery,
): Promise<Page<MonthRow>> {
  const page = await listAccounts(db, query)
  const ids = page.items.map(({ id }) => id)
  const closed = await newestClosedMonths(db, ids, month)
  // Known once: each account would ask for it twice.
  const settledMs = await settledUntil(db)
  const sum: typeof sumDays = (db, asked) => sumGrowingMoney(db, asked, settledMs)
  const items: MonthRow[] = []
  for (let at = 0; at < page.items.length; at += accountsAtOnce) {
    const some = page.items.slice(at, at + accountsAtOnce)
    const rows = await Promise.all(
      some.map((account) => rowFor(db, account, month, closed.get(account.id), sum)),
    )
    items.push(...rows.filter((row) => row !== undefined))
  }
  return { ...page, items }
}

async function rowFor(
  db: Tx,
  account: Account,
  month: string,
  closed: ClosedMonth | undefined,
  sum: typeof sumDays,
): Promise<MonthRow | undefined> {
  if (closed?.month === month) return closedRow(account, closed)
  const sums = await sumsOf(db, account.id, month, sum)
  const openingNanos = await balanceFrom(db, account.id, month, closed, sum)
  const isBefore =
    account.createdAtMs >= monthBounds(month)!.untilMs && openingNanos === 0n && sums.length === 0
  return isBefore ? undefined : openRow(account, month, openingNanos, sums)
}

const sumsOf = (
  db: Tx,
  accountId: string,
  month: string,
  sum: typeof sumDays = sumGrowingMoney,
): Promise<MoneySum[]> => sum(db, { accountId, ...monthBounds(month)!, by: ['kind'] })

function openRow(
  { id, name }: Owner,
  month: string,
  openingNanos: bigint,
  sums: readonly MoneySum[],
): MonthRow {
  const charges = sums.find(({ kind }) => kind === 'charge')
  return {
    account: name,
    account_id: id,
    month,
    state: 'open',
    closed_at: null,
    ...figuresOf(openingNanos, sums),
    charge_count: charges?.entries ?? 0,
  }
}

function closedRow({ id, name }: Owner, closed: ClosedMonth): MonthRow {
  const bill = billIn(closed)
  return {
    account: name,
    account_id: id,
    month: closed.month,
    state: 'closed',
    closed_at: new Date(closed.closedAtMs).toISOString(),
    opening_balance: bill.opening_balance,
    credits: bill.credits,
    adjustments: bill.adjustments,
    charges: bill.charges,
    refunds: bill.refunds ?? formatNanos(0n),
    closing_balance: bill.closing_balance,
    charge_count: bill.charge_count,
  }
}
