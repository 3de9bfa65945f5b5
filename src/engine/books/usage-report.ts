// What a caller may read about the money of its account: usage, grouped as asked, and its bills.
// Reads only, so it works for a suspended account. Bounded by time, rows and concurrent reports.

import type { BillOf } from '../../billing/bills/bill.ts'
import { listMonths } from '../../billing/bills/months.ts'
import type { Ledger } from '../../billing/ledger.ts'
import { sumTaggedUsage, untaggedKeys } from '../../billing/prices/tagged-usage.ts'
import { sumUsage } from '../../billing/prices/usage-rows.ts'
import type { UsageAsk } from '../../contract/caller-api.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { monthAt, monthBounds } from '../../lib/text/month.ts'
import { BadCursor, inSnapshot, type PageQuery } from '../../store/index.ts'
import { sumDays, sumMoney } from '../../store/proof/totals.ts'
import { numberCursor, pageOf } from '../../store/sql/cursor.ts'
import type { Declares } from '../base-deps.ts'
import { readTaggedBill, tagKeyIn } from './bill-by-tag.ts'
import type { BooksDeps } from './bill-deps.ts'
import { openBillFile } from './bill-file.ts'
import { ownBudgets } from './own-budgets.ts'

type ReportDeps = BooksDeps & Declares & { readonly ledger: Ledger }

const dayMs = 86_400_000
/** Maximum period of a report, and of one by the hour. */
const max = { days: 400, daysByHour: 31 }
/** Concurrent reports for one account. */
const reportsAtOnce = 4

export async function reportUsage(
  deps: ReportDeps,
  token: Token,
  ask: UsageAsk,
): Promise<object | Refusal> {
  const { fromMs, untilMs, by, tagKey, ownOnly, limit, cursor } = ask
  const refused = unfit(ask)
  if (refused !== undefined) return refused
  return atOnce(deps, token.accountId, async () => {
    const { rows, total } = await sumAsked(deps, token, ask)
    const after = cursor === undefined ? 0 : numberCursor(cursor)
    const numbered = rows.map((row, index) => ({ row, number: index + 1 })).slice(after)
    const page = pageOf(
      numbered,
      limit,
      ({ number }) => number,
      ({ row }) => row,
    )
    return {
      account: token.accountName,
      token: { id: token.id, name: token.name },
      scope: ownOnly ? 'token' : 'account',
      currency: deps.declared.file.currency,
      from: new Date(fromMs).toISOString(),
      to: new Date(untilMs).toISOString(),
      by: tagKey === undefined ? by : [tagKey, ...by],
      budgets: await ownBudgets(deps, { ...token, tags: token.tagDefaults }),
      total,
      items: page.items,
      next_cursor: page.nextCursor ?? null,
    }
  })
}

/** Why a report cannot be made. */
function unfit({ fromMs, untilMs, by, tagKey }: UsageAsk): Refusal | undefined {
  if (tagKey !== undefined && by.some((key) => untaggedKeys.includes(key))) {
    const message = `'by' cannot have ${untaggedKeys.join(' or ')} beside a tag or end_user`
    return refuse('invalid_request', message, { param: 'by' })
  }
  const days = by.includes('hour') ? max.daysByHour : max.days
  if (untilMs - fromMs <= days * dayMs) return undefined
  const what = by.includes('hour') ? 'a report by the hour' : 'a report'
  return refuse('invalid_request', `${what} covers at most ${days} days`, { param: 'from' })
}

function sumAsked(
  { store }: ReportDeps,
  { accountId, id }: Token,
  { fromMs, untilMs, by, tagKey, ownOnly }: UsageAsk,
) {
  const question = { accountId, fromMs, untilMs, by, tokenId: ownOnly ? id : undefined }
  if (tagKey === undefined) {
    return sumUsage(store.read, question, by.includes('hour') ? sumMoney : sumDays)
  }
  return inSnapshot(store, (db) => sumTaggedUsage(db, { ...question, tagKey }))
}

export async function listOwnMonths(
  deps: ReportDeps,
  token: Token,
  page: PageQuery,
): Promise<object | Refusal> {
  const account = { id: token.accountId, name: token.accountName }
  const nowMs = deps.clock.nowMs()
  return atOnce(deps, account.id, async () => {
    const { items, nextCursor } = await listMonths(deps.store.read, account, { ...page, nowMs })
    const { currency } = deps.declared.file
    return {
      items: items.map((row) => ({ ...row, currency })),
      next_cursor: nextCursor ?? null,
    }
  })
}

/** The same bill that the operator sees. */
export const showOwnBill = (
  deps: ReportDeps,
  token: Token,
  month: string,
  groupBy?: string,
): Promise<object | Refusal> =>
  atOnce<object>(deps, token.accountId, async () => {
    const key = tagKeyIn(groupBy)
    if (key instanceof Refusal) return key
    const shown = await readTaggedBill(deps, ownBill(deps, token, month), key)
    if (shown instanceof Refusal) return shown
    const { bill, ...items } = shown
    return { ...bill, ...items }
  })

/** Its lines, as a file. */
export const openOwnBillFile = (
  deps: ReportDeps,
  token: Token,
  month: string,
): Promise<ReadableStream<Uint8Array> | Refusal> =>
  atOnce(deps, token.accountId, () =>
    openBillFile(deps, { accountId: token.accountId, ...monthBounds(month)! }),
  )

const ownBill = (deps: ReportDeps, token: Token, month: string): BillOf => ({
  accountId: token.accountId,
  account: token.accountName,
  month,
  currency: deps.declared.file.currency,
})

/** A month that has begun, or why it is invalid. */
export function begunMonth(deps: ReportDeps, month: string): string | Refusal {
  const wrong = (message: string) =>
    refuse('invalid_request', `'month' ${message}`, { param: 'month' })
  if (monthBounds(month) === undefined) return wrong('must be of the form 2026-11')
  const isFuture = month > monthAt(deps.clock.nowMs())
  return isFuture ? wrong(`is ${month}, which has not begun`) : month
}

const running = new WeakMap<ReportDeps, Map<string, number>>()

async function atOnce<T>(
  deps: ReportDeps,
  accountId: string,
  work: () => Promise<T | Refusal>,
): Promise<T | Refusal> {
  const counts = running.get(deps) ?? new Map<string, number>()
  running.set(deps, counts)
  const now = counts.get(accountId) ?? 0
  if (now >= reportsAtOnce) {
    const message = `${reportsAtOnce} reports are being made for this account; try again`
    return refuse('rate_limit_exceeded', message, { retryAfterSeconds: 1 })
  }
  counts.set(accountId, now + 1)
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof BadCursor)) throw error
    return refuse('invalid_request', "'cursor' is not one of ours", { param: 'cursor' })
  } finally {
    const left = counts.get(accountId)! - 1
    if (left === 0) counts.delete(accountId)
    else counts.set(accountId, left)
  }
}
