// gateway verify: whether a bill, a single receipt or the closing of a channel's month is what the gateway signed. Reads a file and
// calls no server.
import { billColumns, billHead, cellsUnder } from '../../contract/bills/bill-line.ts'
import { isPublicKey } from '../../lib/crypto/signing.ts'
import { isObject } from '../../lib/json/parse.ts'
import { CsvReader, unmarked } from '../../lib/text/csv.ts'
import { formatNanos } from '../../lib/text/decimal.ts'
import type { Command, Outcome } from '../terminal/command.ts'
import { cell, record } from '../terminal/show.ts'
import { misuse } from '../terminal/stop.ts'
import { BillCheck, type VerifiedBill, verifyReceipt } from './verify-bill.ts'
import { closingIn, verifyClosing } from './verify-closing.ts'

/** Where in the file, and what. Line 0 is the file as a whole. */
interface Problem {
  line: number
  problem: string
}

const maxReceiptChars = 1_000_000

/** Pieces of text; undecodable bytes are a problem, not a replacement character. */
type Assets = AsyncIterable<Uint8Array>

export async function verifyTable(
  assets: Assets,
  wantedKey?: string,
): Promise<VerifiedBill | Problem> {
  const reader = new CsvReader()
  const check = new BillCheck(wantedKey)
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let line = 1
  let head: ReturnType<typeof billHead>
  const take = (rows: ReturnType<CsvReader['push']>): Problem | undefined => {
    for (const row of rows) {
      line = row.line
      if ('problem' in row) return row
      if (line === 1) {
        head = billHead(row.cells)
        if (head === undefined)
          return { line, problem: 'it is not the head of a bill of the gateway' }
        continue
      }
      const cells = head && cellsUnder(head, row.cells.map(unmarked))
      const problem = typeof cells === 'object' ? check.add(cells) : cells
      if (problem !== undefined) return { line, problem }
    }
    return undefined
  }
  try {
    for await (const piece of assets) {
      const found = take(reader.push(decoder.decode(piece, { stream: true })))
      if (found !== undefined) return found
    }
    const found = take([...reader.push(decoder.decode()), ...reader.end()])
    if (found !== undefined) return found
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return { line: line + 1, problem: 'here or below, it is not UTF-8 text' }
  }
  const bill = check.end()
  return typeof bill === 'string' ? { line: 0, problem: bill } : bill
}

function valueIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A receipt by itself, or an explanation that has one. */
function cellsOfReceipt(value: unknown): string[] | undefined {
  const receipt = isObject(value) && isObject(value['receipt']) ? value['receipt'] : value
  if (!isObject(receipt)) return undefined

  return billColumns.map((column) => String(receipt[column] ?? ''))
}

function billOutcome(file: string, bill: VerifiedBill, key: string | undefined): Outcome {
  const answer = {
    valid: true,
    account_id: bill.accountId,
    lines: bill.lines,
    first: bill.first,
    last: bill.last,
    from: new Date(bill.fromMs).toISOString(),
    to: new Date(bill.untilMs).toISOString(),
    currency: bill.currency,
    opening_balance: formatNanos(bill.openingNanos),
    charges: formatNanos(bill.chargedNanos),
    sum: formatNanos(bill.sumNanos),
    closing_balance: formatNanos(bill.closingNanos),
    elsewhere: bill.elsewhere,
    seals: bill.seals,
    keys: bill.keys,
  }
  const money = (amount: string) => `${amount} ${cell(bill.currency)}`
  const rows = {
    account: bill.accountId,
    lines: `${bill.lines}, receipts ${bill.first} to ${bill.last}`,
    ...(bill.elsewhere > 0 && { 'other months': `${bill.elsewhere} receipts in between` }),
    from: answer.from,
    to: answer.to,
    'opening balance': money(answer.opening_balance),
    charges: money(answer.charges),
    'sum of lines': money(answer.sum),
    'closing balance': money(answer.closing_balance),
    signatures: `${bill.seals}, the last line included`,
    key: bill.keys.join(', '),
  }
  const text = `${file} is valid: no line was changed, added or taken out.\n\n${record(rows)}`
  return { answer, text, ...(key === undefined && { note: compareKey }) }
}

const compareKey =
  'The key is only as good as where you got it: compare it with GET /gateway/v1/keys, or give --key.'

function notValid(file: string, { line, problem }: Problem): Outcome {
  const where = line === 0 ? '' : `line ${line}: `
  return {
    answer: { valid: false, line: line === 0 ? null : line, problem },
    text: `${file} is NOT valid. ${where}${cell(problem)}.`,
    ok: false,
  }
}

function closingOutcome(
  file: string,
  closing: Record<string, unknown>,
  key: string | undefined,
): Outcome {
  const verified = verifyClosing(closing, key)
  if (typeof verified === 'string') return notValid(file, { line: 0, problem: verified })
  const { currency, ...rows } = verified
  const money = (amount: string) => `${cell(amount)} ${cell(currency)}`
  const shown = {
    ...rows,
    ...{ invoice: money(rows.invoice), ours: money(rows.ours) },
    difference: money(rows.difference),
  }
  return {
    answer: { valid: true, ...verified },
    text: `${file} is valid: the gateway signed this closing.\n\n${record(shown)}`,
    ...(key === undefined && { note: compareKey }),
  }
}

function jsonOutcome(file: string, text: string, key: string | undefined): Outcome {
  const value = valueIn(text)
  const closing = closingIn(value)
  return closing === undefined
    ? receiptOutcome(file, value, key)
    : closingOutcome(file, closing, key)
}

function receiptOutcome(file: string, value: unknown, key: string | undefined): Outcome {
  const cells = cellsOfReceipt(value)
  const line = cells === undefined ? 'it holds no receipt' : verifyReceipt(cells, key)
  if (typeof line === 'string') return notValid(file, { line: 0, problem: line })
  const { entry, number, currency } = line
  const amount = `${formatNanos(entry.amountNanos)} ${cell(currency)}`
  const rows = { receipt: number, account: entry.accountId, for: entry.ref, amount, key: line.key }
  return {
    answer: { valid: true, account_id: entry.accountId, number, key: line.key },
    text: `${file} is valid: the gateway signed this receipt.\n\n${record(rows)}`,
    ...(key === undefined && { note: compareKey }),
  }
}

async function looksLikeJson(file: Bun.BunFile): Promise<boolean> {
  const start = await file.slice(0, 64).text()
  return start.trimStart().startsWith('{')
}

export const verifyCommands: readonly Command[] = [
  {
    path: ['verify'],
    args: ['FILE'],
    summary:
      'whether a bill (CSV), a receipt or the closing of a month (JSON) is as the gateway signed it',
    flags: { key: { value: 'KEY', summary: "the gateway's public key; another one is refused" } },
    async run({ line }) {
      const name = line.arg(0)
      const key = line.text('key')
      if (key !== undefined && !isPublicKey(key)) {
        throw misuse('--key takes a public key as GET /gateway/v1/keys shows it')
      }
      const file = Bun.file(name)
      if (!(await file.exists())) throw misuse(`there is no file ${name}`)
      if (await looksLikeJson(file)) {
        if (file.size > maxReceiptChars) throw misuse(`${name} is too long for a receipt`)
        return jsonOutcome(name, await file.text(), key)
      }
      const bill = await verifyTable(file.stream(), key)
      return 'problem' in bill ? notValid(name, bill) : billOutcome(name, bill, key)
    },
  },
]
