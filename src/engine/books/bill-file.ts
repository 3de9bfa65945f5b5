// All lines of a bill as one spreadsheet file, signed at its end. Reads one page at a time and
// keeps no more in memory.
import { BillTable } from '../../billing/bills/bill-table.ts'
import {
  type BillLine,
  billColumns,
  billView,
  endUserColumn,
  tagColumn,
} from '../../contract/bills/bill-line.ts'
import { tagIn, tagsView } from '../../contract/tags/index.ts'
import { csvRow } from '../../lib/text/csv.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import type { Stretch } from '../../store/ledger/bills.ts'
import type { BooksDeps } from './bill-deps.ts'

/** With a UTF-8 byte order mark, and no cell that would be a formula. */
export async function openBillFile(
  { store, receiptWriter, log }: BooksDeps,
  stretch: Stretch,
): Promise<ReadableStream<Uint8Array>> {
  await receiptWriter.drain(stretch.accountId)
  const account = await findAccount(store.read, stretch.accountId)
  const names = account?.tagNames ?? []
  const head = [...billColumns, endUserColumn, ...names.map(tagColumn)]
  const table = new BillTable(store.read, receiptWriter.keys, stretch)
  const pages = table.pages()
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(`\uFEFF${csvRow(head)}`)),
    async pull(controller) {
      const page = await pages.next()
      if (!page.done) {
        controller.enqueue(encoder.encode(page.value.map((line) => rowOf(line, names)).join('')))
        return
      }
      if (table.broken !== undefined) {
        const { accountId: account_id } = stretch
        log.error('a bill is given out unsigned', { account_id, ...table.broken })
      }
      controller.close()
    },
    async cancel() {
      await pages.return(undefined)
    },
  })
}

/** The columns of tags and end users repeat what `tags` has, for spreadsheets. */
function rowOf(line: BillLine, names: readonly string[]): string {
  const cells = billView(line)
  const { tags } = line.entry
  const endUser = tags === undefined ? undefined : tagsView(tags).end_user
  const ofTags = [endUser, ...names.map((name) => tagIn(tags, name))]
  return csvRow([...billColumns.map((column) => cells[column]), ...ofTags])
}
