// What a caller may read about the money of its account: usage, grouped as asked, and its bills.
// Reads only, so it works for a suspended account. Bounded by time, rows and concurrent reports.

import type { BillOf } from '../../billing/bills/bill.ts'
import { listMonths } from '../../billing/bills/months.ts'
import { readBill } from '../../billing/bills/read-bill.ts'
import { sumUsage } from '../../billing/prices/usage-rows.ts'
import type { UsageAsk } from '../../contract/caller-api.ts'
import type { Token } from '../../contract/catalog.ts'
import { type Refusal, refuse } from '../../contract/errors.ts'
import { monthAt, monthBounds } from '../../lib/text/month.ts'
import { BadCursor, type PageQuery } from '../../store/index.ts'
import { numberCursor, pageOf } from '../../store/sql/cursor.ts'
import type { Engine } from '../engine.ts'
import { billDeps } from './bill-deps.ts'
import { openBillFile } from './bill-file.ts'

const dayMs = 86_400_000
/** Maximum period of a report, and of one by the hour. */
const max = { days: 400, daysByHour: 31 }
/** Rows of a report, over all its pages. */
const maxRows = 50_000
/** Concurrent reports for one account. */
const reportsAtOnce = 4

export async function reportUsage(
  engine: Engine,
  token: Token,
  ask: UsageAsk,
): Promise<object | Refusal> {
  const { fromMs, untilMs, by, ownOnly, limit, cursor } = ask
  const days = by.includes('hour') ? max.daysByHour : max.days
  if (untilMs - fromMs > days * dayMs) {
    const what = by.includes('hour') ? 'a report by the hour' : 'a report'
    return refuse('invalid_request', `${what} covers at most ${days} days`, { param: 'from' })
  }
  const { accountId } = token
  return atOnce(engine, accountId, async () => {
    const tokenId = ownOnly ? token.id : undefined
    const question = { accountId, fromMs, untilMs, by, tokenId }
    const { rows, total } = await sumUsage(engine.store.read, question)
    if (rows.length > maxRows) {
      const message = `this has over ${maxRows} rows: ask for a shorter time, or by less`
      return refuse('invalid_request', message, { param: 'by' })
    }
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
      currency: engine.declared.file.currency,
      from: new Date(fromMs).toISOString(),
      to: new Date(untilMs).toISOString(),
      by,
      total,
      items: page.items,
      next_cursor: page.nextCursor ?? null,
    }
  })
}

export async function listOwnMonths(
  engine: Engine,
  token: Token,
  page: PageQuery,
): Promise<object | Refusal> {
  const account = { id: token.accountId, name: token.accountName }
  const nowMs = engine.clock.nowMs()
  return atOnce(engine, account.id, async () => {
    const { items, nextCursor } = await listMonths(engine.store.read, account, { ...page, nowMs })
    const { currency } = engine.declared.file
    return {
      items: items.map((row) => ({ ...row, currency })),
      next_cursor: nextCursor ?? null,
    }
  })
}

/** The same bill that the operator sees. */
export const showOwnBill = (
  engine: Engine,
  token: Token,
  month: string,
): Promise<object | Refusal> =>
  atOnce(engine, token.accountId, () => readBill(billDeps(engine), ownBill(engine, token, month)))

/** Its lines, as a file. */
export const openOwnBillFile = (
  engine: Engine,
  token: Token,
  month: string,
): Promise<ReadableStream<Uint8Array> | Refusal> =>
  atOnce(engine, token.accountId, () =>
    openBillFile(engine, { accountId: token.accountId, ...monthBounds(month)! }),
  )

const ownBill = (engine: Engine, token: Token, month: string): BillOf => ({
  accountId: token.accountId,
  account: token.accountName,
  month,
  currency: engine.declared.file.currency,
})

/** A month that has begun, or why it is invalid. */
export function begunMonth(engine: Engine, month: string): string | Refusal {
  const wrong = (message: string) =>
    refuse('invalid_request', `'month' ${message}`, { param: 'month' })
  if (monthBounds(month) === undefined) return wrong('must be of the form 2026-11')
  const isFuture = month > monthAt(engine.clock.nowMs())
  return isFuture ? wrong(`is ${month}, which has not begun`) : month
}

const running = new WeakMap<Engine, Map<string, number>>()

async function atOnce<T>(
  engine: Engine,
  accountId: string,
  work: () => Promise<T | Refusal>,
): Promise<T | Refusal> {
  const counts = running.get(engine) ?? new Map<string, number>()
  running.set(engine, counts)
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
