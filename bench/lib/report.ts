// Tables and limits of the reports: a column is a heading and the cell of a row under it, a limit is a
// rule in words that a value is checked against. Refuses to know what was measured.

type Cell = string | number | undefined
export type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>

interface Limit {
  label: string
  /** In the unit of the limit. */
  value: number
  /** Such as '<= 5 ms' or '>= 20000/s'. */
  limit: string
  /** False when the run did not do what the limit is about: the limit is then missed. */
  valid?: boolean
  note?: string
}

export interface Verdict {
  label: string
  limit: string
  value: string
  met: boolean
}

const rules: Record<string, (value: number, limit: number) => boolean> = {
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
  '>=': (value, limit) => value >= limit,
  '=': (value, limit) => value === limit,
}

/** A value that is no number has not met its limit. */
export function check({ label, value, limit, valid = true, note }: Limit): Verdict {
  const [, rule = '', number, unit = ''] = /^(<|<=|>=|=) ([\d.]+)(.*)$/.exec(limit) ?? []
  const met = valid && rules[rule]!(value, Number(number))
  const more = note === undefined ? '' : ` (${note})`
  return { label, limit, value: `${formatExact(value)}${unit}${more}`, met }
}

export const formatVerdicts = (verdicts: readonly Verdict[]): string =>
  formatRows<Verdict>(
    {
      limit: ({ label }) => label,
      allowed: ({ limit }) => limit,
      measured: ({ value }) => value,
      verdict: ({ met }) => (met ? 'met' : 'MISSED'),
    },
    verdicts,
  )

export function formatRows<Row>(columns: Columns<Row>, rows: readonly Row[]): string {
  const text = (cell: Cell) => (typeof cell === 'string' ? cell : formatNumber(cell ?? Number.NaN))
  const cells = rows.map((row) => Object.values(columns).map((column) => text(column(row))))
  return formatTable([Object.keys(columns), ...cells])
}

/** The first row is the heading. Columns of words align left, columns of numbers right. */
export function formatTable(rows: readonly string[][]): string {
  const [heading = [], ...body] = rows
  const widths = heading.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  const isNumeric = heading.map((_, i) => body.every((row) => /^[-\d]|^$/.test(row[i] ?? '')))
  const pad = (text: string, i: number) =>
    isNumeric[i] ? text.padStart(widths[i]!) : text.padEnd(widths[i]!)
  const line = (row: string[]) => heading.map((_, i) => pad(row[i] ?? '', i)).join('  ')
  const rule = widths.map((width) => '-'.repeat(width)).join('  ')
  return [line(heading), rule, ...body.map(line)].map((text) => text.trimEnd()).join('\n')
}

/** Three significant digits: 5.123 -> '5.12', 51.23 -> '51.2', 5123.4 -> '5,123'; integers whole. */
export const formatNumber = (value: number): string => withDecimals(value, [10, 100])

/** One digit more where three would hide on which side of a limit a value is. */
const formatExact = (value: number): string => withDecimals(value, [10, 1000])

function withDecimals(value: number, [two, one]: readonly [number, number]): string {
  if (!Number.isFinite(value)) return '-'
  const size = Math.abs(value)
  const decimals = Number.isInteger(value) ? 0 : size < two ? 2 : size < one ? 1 : 0
  const [whole, fraction] = value.toFixed(decimals).split('.')
  const grouped = whole!.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

export const formatRatio = (value: number): string =>
  Number.isFinite(value) ? `${value.toFixed(2)}x` : '-'

export const formatPercent = (share: number): string =>
  Number.isFinite(share) ? `${formatNumber(share * 100)} %` : '-'

export const megabytes = (bytes: number): number => bytes / 1_000_000
