// Price lists as a table for spreadsheets: one row for a price, or one for each of its tiers.
//
//   unit           tier                          amounts
//   token          largest input, or empty       input, output and the other rates: per million; per_call:
//                                                tool=price, with spaces between them; service_tiers, geo: as JSON
//   image          1k, 2k, 4k, or empty          price: per image; default_size
//   video_second   resolution                    price: per second
//   video_token, character                       price: per million
//   search, audio_second                         price: per search, per minute
//   free                                         none
//   default                                      none: the account pays the general price
//
// Any but the last may have `hours`, as JSON. What is for the whole price stands in each of its rows.
import {
  checkDeclaration,
  maxListed,
  nearestName,
  priceDeclaration,
} from '../../contract/config-schema/index.ts'
import { callUnits, type Price, rateNames } from '../../contract/price.ts'
import { CsvReader, type CsvRow, csvRow, type Separator, unmarked } from '../../lib/text/csv.ts'
import { declarationOf, type ListedPrice, type ListProblem, type PriceList } from './price-list.ts'

const keyColumns = ['model', 'account', 'effective_from', 'unit'] as const
const rateColumns = rateNames
/** Lists and mappings, written as JSON. */
const jsonColumns = ['service_tiers', 'geo', 'hours'] as const
const columns = [
  ...keyColumns,
  'tier',
  ...rateColumns,
  'price',
  'default_size',
  'per_call',
  ...jsonColumns,
] as const
type Column = (typeof columns)[number]

const columnsOf: Readonly<Record<string, readonly Column[]>> = {
  token: ['tier', ...rateColumns, 'per_call', ...jsonColumns],
  image: ['tier', 'price', 'default_size', 'hours'],
  video_second: ['tier', 'price', 'hours'],
  video_token: ['price', 'hours'],
  ...Object.fromEntries(Object.keys(callUnits).map((unit) => [unit, ['price', 'hours'] as const])),
  free: ['hours'],
  default: [],
}

type Cells = Readonly<Record<Column, string>>
type WrittenCells = Partial<Record<Column, string | undefined>>
interface Row {
  line: number
  cells: Cells
}

export function writeCsvPrices(prices: readonly Price[]): string {
  const rows = prices.flatMap((price) => {
    const declared = declarationOf(price)
    const cells = { ...declared, ...jsonCells(declared) }
    return rowsOf(declared).map((row) =>
      csvRow(columns.map((each) => ({ ...cells, ...row })[each])),
    )
  })
  return `\uFEFF${csvRow(columns)}${rows.join('')}`
}

const jsonCells = (declared: object): WrittenCells =>
  Object.fromEntries(
    jsonColumns.map((name) => {
      const value = (declared as Record<string, unknown>)[name]
      return [name, value === undefined ? '' : JSON.stringify(value)]
    }),
  )

/** What is not JSON is refused as what it is: a text. */
function jsonIn(cells: Cells): Record<string, unknown> {
  const filledIn = jsonColumns.filter((name) => cells[name] !== '')
  return Object.fromEntries(
    filledIn.map((name) => {
      try {
        return [name, JSON.parse(cells[name]) as unknown]
      } catch {
        return [name, cells[name]]
      }
    }),
  )
}

function rowsOf(declared: ReturnType<typeof declarationOf>): WrittenCells[] {
  switch (declared.unit) {
    case 'token':
      return (declared.tiers ?? [{ per_million: declared.per_million! }]).map(
        ({ up_to, per_million }) => ({
          tier: up_to === undefined ? '' : String(up_to),
          ...per_million,
          per_call: callsText(declared.per_call),
        }),
      )
    case 'image': {
      const { per_image, default_size = '' } = declared
      if (typeof per_image === 'string') return [{ price: per_image }]
      return Object.entries(per_image).map(([tier, price]) => ({ tier, price, default_size }))
    }
    case 'video_second':
      return Object.entries(declared.per_second).map(([tier, price]) => ({ tier, price }))
    case 'video_token':
    case 'character':
      return [{ price: declared.per_million }]
    case 'search':
      return [{ price: declared.per_search }]
    case 'audio_second':
      return [{ price: declared.per_minute }]
    case 'free':
    case 'default':
      return [{}]
  }
}

/** web_search=0.05 web_fetch=0.01 */
const callsText = (calls: Readonly<Record<string, string>> = {}): string =>
  Object.entries(calls)
    .map(([tool, price]) => `${tool}=${price}`)
    .join(' ')

const callsIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(/\s+/).map((part) => {
      const [tool = '', price = ''] = part.split('=')
      return [tool, price]
    }),
  )

export function readCsvPrices(text: string): PriceList {
  const reader = new CsvReader(separatorIn(text))
  const rows: CsvRow[] = []
  for (const row of [...reader.push(text), ...reader.end()]) {
    if ('problem' in row) return broken(row.line, row.problem)
    rows.push(row)
  }
  const [head, ...body] = rows
  const names = head === undefined ? [] : head.cells.map((cell) => unmarked(cell).trim())
  const wrong = wrongHead(names)
  return wrong === undefined ? pricesIn(body, names) : { problems: [wrong] }
}

const broken = (line: number, problem: string): PriceList => ({
  problems: [{ line, field: 'the table', message: `is broken: ${problem}` }],
})

/** Spreadsheets of many countries use semicolons; no column name contains one. */
function separatorIn(text: string): Separator {
  const head = text.slice(0, text.indexOf('\n'))
  return ([';', '\t'] as const).find((each) => head.includes(each)) ?? ','
}

function wrongHead(names: readonly string[]): ListProblem | undefined {
  const known: readonly string[] = columns
  const stranger = names.find((name) => !known.includes(name))
  const wrong = (field: string, message: string) => ({ line: 1, field, message })
  if (names.length < 2) {
    return wrong('the first row', `must name the columns, with commas: ${columns.join(',')}`)
  }
  if (stranger !== undefined) {
    const near = nearestName(stranger, known)
    return wrong(`column '${stranger}'`, `is not known; did you mean '${near}'?`)
  }
  if (new Set(names).size < names.length) return wrong('the first row', 'names a column twice')
  const missing = ['model', 'unit'].find((name) => !names.includes(name))
  return missing === undefined ? undefined : wrong(`column '${missing}'`, 'is missing')
}

function pricesIn(rows: readonly CsvRow[], names: readonly string[]): PriceList {
  const read: Row[] = []
  for (const { line, cells } of rows) {
    const values = cells.map((cell) => unmarked(cell).trim())
    if (values.every((value) => value === '')) continue
    if (values.length > names.length) return broken(line, 'there are more cells than columns')
    if (read.length === maxListed) return broken(line, `there are more than ${maxListed} rows`)
    const named = columns.map((column) => [column, values[names.indexOf(column)] ?? ''])
    read.push({ line, cells: Object.fromEntries(named) as Cells })
  }
  return pricesOf(read)
}

function pricesOf(rows: readonly Row[]): PriceList {
  const prices: ListedPrice[] = []
  const groups = Map.groupBy(rows, ({ cells }) => keyColumns.map((key) => cells[key]).join(','))
  const problems = [...rows.flatMap(strayCells), ...[...groups.values()].flatMap(repeated)]
  if (problems.length > 0) return { problems }
  for (const group of groups.values()) {
    const checked = checkDeclaration(priceDeclaration, declaredBy(group))
    const [{ line }] = group as [Row]
    if ('value' in checked) prices.push({ declared: checked.value, line })
    else problems.push(...checked.problems.map((problem) => placed(group, problem)))
  }
  return problems.length > 0 ? { problems } : { prices, models: [] }
}

/** An amount in a column that its unit does not use would be silently lost. */
function strayCells({ line, cells }: Row): ListProblem[] {
  const taken = columnsOf[cells.unit]
  if (taken === undefined) return []
  const stray = columns
    .slice(keyColumns.length)
    .filter((column) => cells[column] !== '' && !taken.includes(column))
  return stray.map((field) => ({ line, field, message: `must be empty for ${cells.unit}` }))
}

/** Of two rows for one tier only one could count. */
function repeated(group: readonly Row[]): ListProblem[] {
  const lines = new Map<string, number>()
  return group.flatMap(({ line, cells: { tier } }) => {
    const first = lines.get(tier)
    if (first === undefined) lines.set(tier, line)
    const message = `is the same as in line ${first}, in the same price`
    return first === undefined ? [] : [{ line, field: 'tier', message }]
  })
}

function declaredBy(group: readonly Row[]): object {
  const [{ cells }] = group as [Row]
  const base = { ...filled(cells, keyColumns), unit: cells.unit, ...jsonIn(cells) }
  const byTier = () => Object.fromEntries(group.map((row) => [row.cells.tier, row.cells.price]))
  const isPlain = group.length === 1 && cells.tier === ''
  switch (cells.unit) {
    case 'token': {
      const calls = cells.per_call !== '' && { per_call: callsIn(cells.per_call) }
      if (isPlain) return { ...base, per_million: filled(cells, rateColumns), ...calls }
      const tiers = group.map(({ cells: own }) => ({
        ...(own.tier !== '' && { up_to: numberIn(own.tier) }),
        per_million: filled(own, rateColumns),
      }))
      return { ...base, tiers, ...calls }
    }
    case 'image':
      return {
        ...base,
        ...filled(cells, ['default_size']),
        per_image: isPlain ? cells.price : byTier(),
      }
    case 'video_second':
      return { ...base, per_second: byTier() }
    case 'video_token':
    case 'search':
    case 'character':
    case 'audio_second': {
      const field = cells.unit === 'video_token' ? 'per_million' : callUnits[cells.unit].field
      return { ...base, ...(cells.price !== '' && { [field]: cells.price }) }
    }
    default:
      return base
  }
}

const filled = (cells: Cells, names: readonly Column[]): Partial<Cells> =>
  Object.fromEntries(names.filter((name) => cells[name] !== '').map((name) => [name, cells[name]]))

const numberIn = (text: string): number | string => (/^\d{1,15}$/.test(text) ? Number(text) : text)

/** Maps a path in the declaration to its source row and column. */
function placed(
  group: readonly Row[],
  { path, message }: { path: readonly (string | number)[]; message: string },
): ListProblem {
  const [top, which] = path
  const byIndex = top === 'tiers' && typeof which === 'number' ? group[which] : undefined
  const byTier = group.find(({ cells }) => path.length > 1 && cells.tier === which)
  const line = (byIndex ?? byTier ?? group[0]!).line
  const last = path.at(-1)
  const isWhole = top === 'per_call' || jsonColumns.some((column) => column === top)
  const field = columns.find((column) => column === (isWhole ? top : last))
  const isTier = last === 'up_to' || message.includes('known key') || last === ''
  return { line, field: field ?? (isTier ? 'tier' : 'price'), message }
}
