// Which column of an upstream's statement is what, and how to read its cells. Formats vary: an
// ambiguous statement is refused rather than guessed.
import { parseNanos } from '../../lib/text/decimal.ts'
import type { StatementLine } from '../../store/ledger/statements.ts'

export const statementFields = ['id', 'at', 'model', 'quantity', 'amount', 'currency'] as const
type StatementField = (typeof statementFields)[number]

/** Header by field; a quantity may sum several columns, as in `input_tokens+output_tokens`. */
export type ColumnMap = Partial<Record<StatementField, string>>

export interface StatementForm {
  map: ColumnMap
  /** Offset of its clock from UTC. */
  zoneMs: number
  /** Which comes first where days and months are written with slashes or dots. */
  dates?: 'dmy' | 'mdy' | undefined
  decimal: '.' | ','
  /** The ledger's, and what one of another is worth in it; absent: all amounts are in the ledger's. */
  currencies?: { own: string; rates: Readonly<Record<string, string>> } | undefined
}

/** Known column names of upstreams, compared without case, blanks and punctuation. */
const usualNames: Readonly<Record<StatementField, string>> = {
  id: 'upstreamid requestid taskid operationid traceid 请求id 任务id',
  at:
    'at time timestamp datetime date createdat createtime requesttime usagetime billingtime ' +
    'consumetime starttime usagedate billingdate 时间 请求时间 消费时间 日期 账单日期',
  model: 'model modelname modelid modelcode 模型 模型名称',
  quantity:
    'quantity totaltokens tokens usage units usagequantity seconds duration images count ' +
    '用量 数量 总tokens',
  amount:
    'amount cost charge totalcost totalamount pretaxamount payable fee total price ' +
    '金额 费用 应付金额 消费金额',
  currency: 'currency currencycode 币种 货币',
}

/** Column index of each field. */
export interface Columns {
  places: Readonly<Partial<Record<StatementField, readonly number[]>>>
  /** The detected names, for the record. */
  map: ColumnMap
}

/** A string result is the problem with the header row. */
export function findColumns(header: readonly string[], wanted: ColumnMap): Columns | string {
  const names = header.map((name) => name.trim())
  const places: Partial<Record<StatementField, readonly number[]>> = {}
  const map: ColumnMap = {}
  for (const field of statementFields) {
    const found = wanted[field] === undefined ? guess(names, field) : named(names, wanted[field])
    if (typeof found === 'string') return found
    if (found.length === 0) continue
    places[field] = found
    map[field] = found.map((place) => names[place]).join('+')
  }
  if (places.quantity === undefined && places.amount === undefined) {
    return `no column is known for the quantity or the amount; the columns are: ${names.join(', ')}`
  }
  if (places.id === undefined && places.at === undefined && places.model === undefined) {
    return `no column is known for the id, the time or the model; the columns are: ${names.join(', ')}`
  }
  return { places, map }
}

function named(names: readonly string[], wanted: string): number[] | string {
  const places: number[] = []
  for (const name of wanted.includes('+') && !names.includes(wanted)
    ? wanted.split('+')
    : [wanted]) {
    const place = names.indexOf(name.trim())
    if (place === -1) return `there is no column '${name.trim()}'; there are: ${names.join(', ')}`
    if (names.indexOf(name.trim(), place + 1) !== -1)
      return `two columns are called '${name.trim()}'`
    places.push(place)
  }
  return places
}

/**
 * The first usual name that a column has; a person must choose between two columns with one name.
 */
function guess(names: readonly string[], field: StatementField): number[] | string {
  const plain = names.map(plainName)
  for (const usual of usualNames[field].split(' ')) {
    const place = plain.indexOf(usual)
    if (place === -1) continue
    if (plain.indexOf(usual, place + 1) === -1) return [place]
    return `two columns may be the ${field}: say which by map`
  }
  return []
}

const plainName = (name: string): string => name.toLowerCase().replace(/[\s_\-./()（）]/g, '')

interface ReadLine extends Omit<StatementLine, 'number'> {
  /** Decimal places of its amount. */
  decimals: number
}

/** Parses one row; a string result is the problem. */
export function readLine(
  cells: readonly string[],
  { places }: Columns,
  form: StatementForm,
): ReadLine | string {
  const cell = (field: StatementField) => {
    const [place] = places[field] ?? []
    return place === undefined ? '' : (cells[place] ?? '').trim()
  }
  const line: ReadLine = { decimals: 0 }
  const [id, model, at, amount] = [cell('id'), cell('model'), cell('at'), cell('amount')]
  if (id.includes('\0') || model.includes('\0')) return 'an id or model has a NUL in it'
  if (id.length > maxName || model.length > maxName) return 'an id or model is too long'
  if (id !== '') line.upstreamId = id
  if (model !== '') line.model = model
  if (places.at !== undefined) {
    const atMs = readTime(at, form)
    if (atMs === undefined) return `'${brief(at)}' is no time that could be read`
    line.atMs = atMs
  }
  if (places.quantity !== undefined) {
    const quantity = sumOf(
      places.quantity.map((place) => cells[place] ?? ''),
      form,
    )
    if (quantity === undefined) return 'the quantity is not a number'
    line.quantity = quantity
  }
  if (places.amount !== undefined) {
    const read = readAmount(amount, form)
    if (read === undefined) return `'${brief(amount)}' is not an amount`
    const own = inLedgerCurrency(read, cell('currency') || read.currency, form)
    if (typeof own === 'string') return own
    return { ...line, ...own }
  }
  return line
}

const billion = 1_000_000_000n

/** Half up, below zero as above it. */
function inLedgerCurrency(
  { nanos, decimals }: { nanos: bigint; decimals: number },
  currency: string,
  { currencies }: StatementForm,
): Pick<ReadLine, 'amountNanos' | 'decimals' | 'currency'> | string {
  const code = currency.toUpperCase().replace(/^RMB$/, 'CNY')
  if (currencies === undefined || code === '' || code === currencies.own) {
    return { amountNanos: nanos, decimals }
  }
  const rate = parseNanos(Object.hasOwn(currencies.rates, code) ? currencies.rates[code]! : '')
  if (rate === undefined) return `amounts in ${brief(code)} have no rate in 'exchange'`
  const size = ((nanos < 0n ? -nanos : nanos) * rate + billion / 2n) / billion
  return { amountNanos: nanos < 0n ? -size : size, decimals, currency: code }
}

const maxName = 500
const brief = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text)

function sumOf(cells: readonly string[], form: StatementForm): number | undefined {
  let sum = 0
  for (const cell of cells) {
    const text = plainNumber(cell.trim(), form)
    const value = text === '' ? 0 : Number(text)
    if (text === undefined || !Number.isFinite(value)) return undefined
    sum += value
  }
  return sum
}

const grouped = {
  '.': /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/,
  ',': /^[+-]?\d{1,3}(?:\.\d{3})+(?:,\d+)?$/,
}
const bare = {
  '.': /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/,
  ',': /^[+-]?\d+(?:,\d+)?(?:[eE][+-]?\d{1,3})?$/,
}

/** The number with a decimal point and no separators; undefined when it is not a number. */
function plainNumber(text: string, { decimal }: StatementForm): string | undefined {
  if (text === '') return ''
  const isGrouped = grouped[decimal].test(text)
  if (!isGrouped && !bare[decimal].test(text)) return undefined
  return decimal === '.' ? text.replaceAll(',', '') : text.replaceAll('.', '').replace(',', '.')
}

const nanosPerUnit = 9

/** Exact to the nano-unit, rounded half up below it. Empty is zero. */
function readAmount(
  cell: string,
  form: StatementForm,
): { nanos: bigint; decimals: number; currency: string } | undefined {
  const currency = /[A-Z]{3}$/.exec(cell)?.[0] ?? ''
  const bareCell = cell.replace(/^([+-]?)\s*[¥￥$€£]\s*/, '$1').replace(/\s*(?:[A-Z]{3}|元)$/, '')
  const text = plainNumber(bareCell, form)
  if (text === undefined) return undefined
  if (text === '') return { nanos: 0n, decimals: 0, currency }
  const [, sign, whole, fraction = '', exponent = '0'] =
    /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  if (whole === undefined || Math.abs(Number(exponent)) > 30 || text.length > 60) return undefined
  const decimals = Math.max(0, fraction.length - Number(exponent))
  const size = scaled(BigInt(whole + fraction), nanosPerUnit - fraction.length + Number(exponent))
  if (size >= 2n ** 63n) return undefined
  const nanos = sign === '-' ? -size : size
  return { nanos, decimals: Math.min(nanosPerUnit, decimals), currency }
}

function scaled(digits: bigint, power: number): bigint {
  if (power >= 0) return digits * 10n ** BigInt(power)
  const divisor = 10n ** BigInt(-power)
  return (digits + divisor / 2n) / divisor
}

const yearFirst =
  /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?$/i
const yearLast =
  /^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?:[T ,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?$/i

/** Dates and timestamps in common formats; undefined when ambiguous. */
export function readTime(
  text: string,
  { zoneMs, dates }: Pick<StatementForm, 'zoneMs' | 'dates'>,
): number | undefined {
  if (/^\d{8}$/.test(text)) {
    const day = `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`
    return readTime(day, { zoneMs })
  }
  if (/^\d{10}(?:\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000)
  if (/^\d{13}$/.test(text)) return Number(text)
  const first = yearFirst.exec(text)
  if (first !== null) {
    const [, year, month, day, ...rest] = first
    return momentOf([year, month, day], rest, zoneMs)
  }
  const last = dates === undefined ? null : yearLast.exec(text)
  if (last === null) return undefined
  const [, a, b, year, ...rest] = last
  return momentOf(dates === 'dmy' ? [year, b, a] : [year, a, b], rest, zoneMs)
}

function momentOf(
  date: readonly (string | undefined)[],
  [hour, minute, second, fraction, zone]: readonly (string | undefined)[],
  zoneMs: number,
): number | undefined {
  const [year, month, day] = date.map(Number) as [number, number, number]
  const [h, m, s] = [hour, minute, second].map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
  ]
  const ms = Math.floor(Number(`0.${fraction ?? '0'}`) * 1000)
  const atMs = Date.UTC(year, month - 1, day, h, m, s, ms)
  const back = new Date(atMs)
  // The 31st of a short month, or the 25th hour, is not valid.
  if (back.getUTCMonth() !== month - 1 || back.getUTCDate() !== day || h > 23 || m > 59 || s > 60) {
    return undefined
  }
  return atMs - (zone === undefined ? zoneMs : (readZone(zone) ?? 0))
}

/** `+08:00` -> eight hours; undefined when it is not an offset. */
export function readZone(text: string): number | undefined {
  if (/^(?:Z|UTC)$/i.test(text)) return 0
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(text) ?? []
  if (sign === undefined || Number(hours) > 14 || Number(minutes) > 59) return undefined
  const ms = (Number(hours) * 60 + Number(minutes)) * 60_000
  return sign === '-' ? -ms : ms
}
