// All bills of a month as one archive: a page to print for each account, and one table of all of them. Reads one
// bill at a time.
import { listAccountsOf } from '../../billing/bills/months.ts'
import { billPage } from '../../billing/bills/page/page.ts'
import type { PageLanguage } from '../../billing/bills/page/words.ts'
import { readBill, type ShownBill } from '../../billing/bills/read-bill.ts'
import { csvRow } from '../../lib/text/csv.ts'
import { type ZipFile, zipOf } from '../../lib/text/zip.ts'
import { type BooksDeps, billDeps } from './bill-deps.ts'

interface MonthFile {
  month: string
  language: PageLanguage
}

const accountsPerPage = 100

export const openMonthFile = (deps: BooksDeps, asked: MonthFile): ReadableStream<Uint8Array> =>
  zipOf(filesOf(deps, asked), deps.clock.nowMs())

async function* filesOf(deps: BooksDeps, { month, language }: MonthFile): AsyncGenerator<ZipFile> {
  const { currency } = deps.declared.file
  // With a byte order mark, by which spreadsheets know UTF-8.
  let table = `\uFEFF${csvRow(columns.map(([name]) => name))}`
  let cursor: string | undefined
  do {
    const page = await listAccountsOf(deps.store.read, month, { limit: accountsPerPage, cursor })
    for (const { account, account_id: accountId } of page.items) {
      const bill = await readBill(billDeps(deps), { account, accountId, month, currency })
      table += csvRow(columns.map(([, of]) => of(bill)))
      yield { name: pageName(bill), text: billPage(bill, { language, nowMs: deps.clock.nowMs() }) }
    }
    cursor = page.nextCursor
  } while (cursor !== undefined)
  yield { name: `bills-${month}.csv`, text: table }
}

/** The number, or the id of the account, is in no other name. */
export function pageName({ number, account, account_id, month }: ShownBill): string {
  const name = account.replace(/[^\p{L}\p{N}._-]/gu, '_')
  return `${number ?? `${month}-${account_id}`}-${name}.html`
}

const columns: readonly [name: string, of: (bill: ShownBill) => unknown][] = [
  ['number', ({ number }) => number],
  ['month', ({ month }) => month],
  ['account', ({ account }) => account],
  ['account_id', ({ account_id }) => account_id],
  ['display_name', ({ customer }) => customer?.display_name],
  ['legal_name', ({ customer }) => customer?.legal_name],
  ['address', ({ customer }) => customer?.address],
  ['tax_id', ({ customer }) => customer?.tax_id],
  ['email', ({ customer }) => customer?.email],
  ['issuer', ({ issuer }) => issuer?.name],
  ['issuer_tax_id', ({ issuer }) => issuer?.tax_id],
  ['state', ({ state }) => state],
  ['closed_at', ({ closed_at }) => closed_at],
  ['currency', ({ currency }) => currency],
  ['opening_balance', (bill) => bill.opening_balance],
  ['credits', ({ credits }) => credits],
  ['adjustments', ({ adjustments }) => adjustments],
  ['charges', ({ charges }) => charges],
  ['refunds', ({ refunds }) => refunds ?? '0.00'],
  ['closing_balance', (bill) => bill.closing_balance],
  ['charge_count', (bill) => bill.charge_count],
  ['agrees_with_ledger', ({ differences }) => (differences.length === 0 ? 'yes' : 'no')],
  ['note', ({ note }) => note],
]
