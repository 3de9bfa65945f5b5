// The lines of a bill: pages of them, and all of them as a table for spreadsheets that can be checked
// without the gateway.
import { rangeOf } from '../../billing/bills/bill-table.ts'
import type { Refusal } from '../../contract/errors.ts'
import type { BooksDeps } from '../../engine/books/bill-deps.ts'
import { openBillFile } from '../../engine/books/bill-file.ts'
import { answerTable } from '../../http/answer-file.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import type { PageQuery } from '../../store/index.ts'
import type { Stretch } from '../../store/ledger/bills.ts'
import { findLines, type StoredReceipt } from '../../store/proof/receipt-lines.ts'
import { wrong } from '../answers.ts'
import type { View } from '../route.ts'
import { entryView } from './accounts.ts'
import type { shownBill } from './bill-schema.ts'

/** After which number a page begins, and how many lines came before it. */
const cursorPattern = /^(\d{1,15})(?:-(\d{1,15}))?$/

type Lines = Pick<View<typeof shownBill>, 'lines' | 'next_cursor'>

/** A page of them, by cursor. */
export async function linesOf(
  { store, receiptWriter }: BooksDeps,
  stretch: Stretch,
  page: PageQuery,
): Promise<Lines | Refusal> {
  const cursor = cursorPattern.exec(page.cursor ?? '0')
  if (cursor === null) return wrong('cursor', 'is not one of ours')
  await receiptWriter.drain(stretch.accountId)
  const { lines, ...range } = await rangeOf(store.read, stretch)
  const afterNumber = Math.max(range.afterNumber, Number(cursor[1]))
  const given = Number(cursor[2] ?? 0)
  const limit = Math.min(page.limit, Math.max(0, lines - given))
  const { lastNumber } = range
  const query = { ...stretch, afterNumber, lastNumber, limit }
  const shown = limit === 0 ? [] : await findLines(store.read, query)
  const [last, total] = [shown.at(-1), given + shown.length]
  const next = last !== undefined && total < lines ? `${last.number}-${total}` : null
  return { lines: shown.map(lineView), next_cursor: next }
}

const lineView = (receipt: StoredReceipt) => ({
  ...entryView(receipt.entry),
  number: receipt.number,
  balance: formatNanos(receipt.balanceNanos),
})

/** All of them, as spreadsheets read it. */
export const linesAsTable = async (
  engine: BooksDeps,
  x: RequestContext,
  stretch: Stretch,
  fileName: string,
): Promise<Response> => answerTable(x, await openBillFile(engine, stretch), fileName)
