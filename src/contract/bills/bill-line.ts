// A bill line as table cells, and back. Parsing is strict: a cell has one spelling only, so that a
// line is exactly what was hashed.
import { formatNanos } from '../../lib/text/decimal.ts'
import { type ChargeTextColumn, chargeTextColumns, chargeTexts } from '../ledger.ts'
import { tagIn, tagsView } from '../tags/index.ts'
import { bookedKinds, type ReceiptLine, requestIdOf, taskIdOf } from './receipt.ts'

const firstColumns = [
  'id',
  'at',
  'kind',
  'model',
  'unit',
  'quantity',
  'amount',
  'currency',
  'request_id',
  'task_id',
  'price_id',
  'estimated',
  'note',
  'account_id',
  'token_id',
  'tier',
  'ref',
  'number',
  'balance',
  'previous',
  'hash',
  'key',
  'signature',
  'bill_signature',
  'tags',
] as const

type BillColumn = (typeof firstColumns)[number] | ChargeTextColumn

export const billColumns: readonly BillColumn[] = [
  ...firstColumns,
  ...chargeTexts.map(({ column }) => column),
]

/** Columns after these, which repeat what `tags` has. */
export const endUserColumn = 'end_user'
export const tagColumn = (name: string): string => `tag:${name}`

/** Tables of earlier releases end before it. */
const columnsOfFirst = billColumns.indexOf('tags')

/** What a head says of the cells below it; undefined: it is not the head of a bill. */
export function billHead(head: readonly string[]): BillHead | undefined {
  const known = billColumns.filter((column, i) => i < columnsOfFirst || head.includes(column))
  if (known.some((column, i) => head[i] !== column)) return undefined
  const names = head.slice(known.length)
  if (!names.every((name) => name === endUserColumn || name.startsWith('tag:'))) return undefined
  return { columns: known, names }
}

interface BillHead {
  columns: readonly BillColumn[]
  /** Of the columns that repeat tags. */
  names: readonly string[]
}

/** The cells of a row in the order of `billColumns`, or a text that says what is wrong with them. */
export function cellsUnder({ columns, names }: BillHead, cells: readonly string[]) {
  const width = columns.length + names.length
  if (cells.length !== width) return `it has ${cells.length} cells instead of ${width}`
  const tags = cells[columns.indexOf('tags')] || undefined
  const wrong = names.find((name, i) => cells[columns.length + i] !== repeatedCell(tags, name))
  if (wrong !== undefined) return `its ${wrong} is not that of its tags`
  return billColumns.map((column) => cells[columns.indexOf(column)] ?? '')
}

const repeatedCell = (tags: string | undefined, column: string): string =>
  (column === endUserColumn ? tagsView(tags).end_user : tagIn(tags, column.slice('tag:'.length))) ??
  ''

export interface BillLine extends ReceiptLine {
  currency: string
  /** Hash of the previous receipt, where that is not the line above; else empty. */
  previous: string
  hash: string
  /** Public key and signature of a seal on this line; empty without one. */
  key: string
  signature: string
  /** On the last line: signs all lines of the table. */
  billSignature: string
}

/** The text of each column; absent is an empty cell. */
export const billView = (line: BillLine): Record<BillColumn, string | number | undefined> => {
  const { entry } = line
  return {
    id: entry.id,
    at: new Date(entry.atMs).toISOString(),
    kind: entry.kind,
    model: entry.model,
    unit: entry.unit,
    quantity: entry.quantity,
    amount: formatNanos(entry.amountNanos),
    currency: line.currency,
    request_id: requestIdOf(entry),
    task_id: taskIdOf(entry.ref),
    price_id: entry.priceId,
    estimated: String(entry.estimated === true),
    note: entry.note,
    account_id: entry.accountId,
    token_id: entry.tokenId,
    tier: entry.tier,
    ref: entry.ref,
    number: line.number,
    balance: formatNanos(line.balanceNanos),
    previous: line.previous,
    hash: line.hash,
    key: line.key,
    signature: line.signature,
    bill_signature: line.billSignature,
    tags: entry.tags,
    ...chargeTextColumns(({ field }) => entry[field]),
  }
}

/** The line that these cells show, or a text that says what is wrong with them. */
export function readBillLine(cells: readonly string[]): BillLine | string {
  if (cells.length !== billColumns.length) {
    return `it has ${cells.length} cells instead of ${billColumns.length}`
  }
  const texts = Object.fromEntries(billColumns.map((column, i) => [column, cells[i]])) as Texts
  const wrong = billColumns.find((column) => checks[column]?.(texts) === false)
  return wrong === undefined ? lineFrom(texts) : `its ${wrong} is '${texts[wrong].slice(0, 60)}'`
}

type Texts = Record<BillColumn, string>

const isCount = (text: string) => /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text))
const isHash = (text: string) => /^[\w-]{43}$/.test(text)
const isSignature = (text: string) => /^[\w-]{86}$/.test(text)
const isTime = (text: string) =>
  !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text
const isAmount = (text: string) => nanosOf(text) !== undefined

const checks: Partial<Record<BillColumn, (texts: Texts) => boolean>> = {
  id: ({ id }) => isCount(id),
  at: ({ at }) => isTime(at),
  kind: ({ kind }) => bookedKinds.some((known) => known === kind),
  quantity: ({ quantity }) => quantity === '' || isQuantity(quantity),
  amount: ({ amount }) => isAmount(amount),
  // For a task it is the id of the creating request, which the line alone does not have.
  request_id: ({ request_id, ref }) =>
    taskIdOf(ref) === undefined
      ? request_id === (requestIdOf({ ref }) ?? '')
      : request_id === '' || /^req_[0-9a-z]{1,64}$/.test(request_id),
  task_id: ({ task_id, ref }) => task_id === (taskIdOf(ref) ?? ''),
  estimated: ({ estimated }) => estimated === 'true' || estimated === 'false',
  number: ({ number }) => isCount(number),
  balance: ({ balance }) => isAmount(balance),
  previous: ({ previous }) => previous === '' || isHash(previous),
  hash: ({ hash }) => isHash(hash),
  key: ({ key, signature }) => (key === '') === (signature === ''),
  signature: ({ signature }) => signature === '' || isSignature(signature),
  tags: ({ tags }) => tags === '' || isTagText(tags),
  bill_signature: ({ bill_signature }) => bill_signature === '' || isSignature(bill_signature),
}

const isTagText = (text: string) => /^[^=,]+=[^=,]+(?:,[^=,]+=[^=,]+)*$/.test(text)

const isQuantity = (text: string) => Number.isFinite(Number(text)) && String(Number(text)) === text

const amountPattern = /^(-?)(\d{1,10})\.(\d{2,9})$/

/** Only in the form that the gateway writes. */
function nanosOf(text: string): bigint | undefined {
  const [, sign, whole, fraction] = amountPattern.exec(text) ?? []
  if (whole === undefined || fraction === undefined) return undefined
  const size = BigInt(whole + fraction.padEnd(9, '0'))
  const nanos = sign === '-' ? -size : size
  return formatNanos(nanos) === text ? nanos : undefined
}

const lineFrom = (texts: Texts): BillLine => ({
  entry: {
    id: Number(texts.id),
    atMs: Date.parse(texts.at),
    accountId: texts.account_id,
    kind: texts.kind as (typeof bookedKinds)[number],
    amountNanos: nanosOf(texts.amount)!,
    ref: texts.ref,
    tokenId: texts.token_id,
    model: texts.model,
    unit: texts.unit,
    tier: texts.tier,
    ...Object.fromEntries(chargeTexts.map(({ column, field }) => [field, texts[column]])),
    ...(texts.quantity !== '' && { quantity: Number(texts.quantity) }),
    priceId: texts.price_id,
    estimated: texts.estimated === 'true',
    note: texts.note,
    ...(texts.tags !== '' && { tags: texts.tags }),
    ...(texts.request_id !== '' && { requestId: texts.request_id }),
  },
  number: Number(texts.number),
  balanceNanos: nanosOf(texts.balance)!,
  currency: texts.currency,
  previous: texts.previous,
  hash: texts.hash,
  key: texts.key,
  signature: texts.signature,
  billSignature: texts.bill_signature,
})
