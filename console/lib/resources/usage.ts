// Usage as the admin API adds it up, grouped for a chart and a table: the largest groups, and the rest as
// one. Sums of money are exact and stay text; numbers are for drawing.
import type { UsageRow } from '../../../src/admin/traffic/traffic-schema.ts'
import { useResource } from '../use-resource.ts'

export type { UsageRow }

/** Quantities are measured unit by unit: tokens, images and seconds cannot be added. */
const unitMeasures = {
  images: 'image',
  video_seconds: 'video_second',
  video_tokens: 'video_token',
} as const
type UnitMeasure = keyof typeof unitMeasures

const rowMeasures = ['amount', 'charges', 'estimated', 'input_tokens', 'output_tokens'] as const
export const measures = [
  ...rowMeasures,
  ...(['images', 'video_seconds', 'video_tokens'] as const satisfies readonly UnitMeasure[]),
] as const
export type Measure = (typeof measures)[number]

const isUnitMeasure = (measure: Measure): measure is UnitMeasure =>
  Object.hasOwn(unitMeasures, measure)
export const groups = ['model', 'account', 'token', 'unit', 'tier', 'end_user'] as const
export type Group = (typeof groups)[number] | `tag:${string}`

/** Of these, one can be asked for, and no tier beside it. */
export const isTagged = (group: string): boolean => group === 'end_user' || group.startsWith('tag:')

export const goTogether = (group: Group, other: Group): boolean =>
  group !== other &&
  !(isTagged(group) && (isTagged(other) || other === 'tier')) &&
  !(group === 'tier' && isTagged(other))
export const rollUps = ['hour', 'day', 'month'] as const
export type RollUp = (typeof rollUps)[number]
export const ranges = [1, 7, 30, 90, 365] as const
/** How many groups are shown one by one; more cannot be told apart by colour. */
export const tops = ['3', '5', '7', '10'] as const

const hourMs = 3_600_000
const dayMs = 24 * hourMs

export interface Period {
  from: string
  to: string
}

/** The last so many days, or the same stretch before them. */
export function periodOf(days: number, back = 0): Period {
  const untilMs = Math.ceil(Date.now() / hourMs) * hourMs - back * days * dayMs
  return {
    from: new Date(untilMs - days * dayMs).toISOString(),
    to: new Date(untilMs).toISOString(),
  }
}

/** A calendar month by UTC, or the one so many before it; the running one ends with this hour. */
export function monthPeriod(month: string, back = 0): Period {
  const [year = 0, number = 1] = month.split('-').map(Number)
  const first = (plus: number) => Date.UTC(year, number - 1 - back + plus, 1)
  const untilMs = Math.min(first(1), Math.ceil(Date.now() / hourMs) * hourMs)
  return { from: new Date(first(0)).toISOString(), to: new Date(untilMs).toISOString() }
}

/** A calendar month, or so many days: '2026-10', '30'. */
export const isMonth = (range: string): boolean => /^\d{4}-\d{2}$/.test(range)

export const useUsage = (period: Period, by: string, isWanted = true, account?: string) =>
  useResource<{ items: UsageRow[]; total: UsageRow }>('/usage', {
    query: { ...period, by, account },
    enabled: isWanted,
  })

/** Every hour, day or month of a period, as rows name them. */
export function timesOf({ from, to }: Period, rollUp: RollUp): string[] {
  const [fromMs, untilMs] = [Date.parse(from), Date.parse(to)]
  const stepMs = rollUp === 'hour' ? hourMs : dayMs
  const names: Record<RollUp, (iso: string) => string> = {
    hour: (iso) => `${iso.slice(0, 13)}:00:00Z`,
    day: (iso) => iso.slice(0, 10),
    month: (iso) => iso.slice(0, 7),
  }
  const times = new Set<string>()
  for (let atMs = fromMs; atMs < untilMs; atMs += stepMs) {
    times.add(names[rollUp](new Date(atMs).toISOString()))
  }
  // What begins within a day ends within another.
  times.add(names[rollUp](new Date(untilMs - 1).toISOString()))
  return [...times]
}

function quantityIn(row: UsageRow, measure: Measure): string | number {
  if (!isUnitMeasure(measure)) return row[measure] ?? 0
  return row.unit === unitMeasures[measure] ? (row.quantity ?? 0) : 0
}

/** What rows must be grouped by, for a measure by these keys. */
export const groupingFor = ({ group, subgroup }: Keys, measure: Measure): string =>
  [...new Set([group, subgroup, ...(isUnitMeasure(measure) ? ['unit'] : [])])]
    .filter((key) => key !== undefined)
    .join(',')

/** In billionths, whatever is measured: what is added stays exact. */
export function measured(row: UsageRow, measure: Measure): bigint {
  const text = String(quantityIn(row, measure))
  const [, sign, whole = '0', places = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  const size = BigInt(whole + places.slice(0, 9).padEnd(9, '0'))
  return sign === '-' ? -size : size
}

export const billionths = 1_000_000_000n

/** A decimal, as the admin API writes amounts. */
export function decimalOf(value: bigint): string {
  const digits = String(value < 0n ? -value : value).padStart(10, '0')
  const places = digits.slice(-9).replace(/0+$/, '').padEnd(2, '0')
  return `${value < 0n ? '-' : ''}${digits.slice(0, -9)}.${places}`
}

/** For drawing. */
export const drawn = (value: bigint): number => Number(value) / Number(billionths)

/** By one key, or by two. */
export interface Keys {
  group: Group
  subgroup: Group | undefined
}

/** Between the names of two keys. */
export const separator = ' / '

const groupValue = (row: UsageRow, group: Group): string =>
  (group.startsWith('tag:') ? row.tag : row[group as (typeof groups)[number]]) ?? '–'

export function nameOf(row: UsageRow, { group, subgroup }: Keys): string {
  const name = groupValue(row, group)
  return subgroup === undefined ? name : `${name}${separator}${groupValue(row, subgroup)}`
}

/** What every group adds up to, largest first. */
export function sumsOf(
  rows: readonly UsageRow[],
  keys: Keys,
  measure: Measure,
): [name: string, sum: bigint][] {
  const sums = new Map<string, bigint>()
  for (const row of rows) {
    const name = nameOf(row, keys)
    sums.set(name, (sums.get(name) ?? 0n) + measured(row, measure))
  }
  return [...sums].sort(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0))
}

interface Grouped {
  /** Largest first; the rest comes last, under a name of its own. */
  names: string[]
  /** By name, then by time. */
  values: Map<string, Map<string, bigint>>
}

export function groupRows(
  rows: readonly UsageRow[],
  keys: Keys,
  { rollUp, measure, top, other }: { rollUp: RollUp; measure: Measure; top: number; other: string },
): Grouped {
  const ranked = sumsOf(rows, keys, measure).map(([name]) => name)
  const shown = ranked.slice(0, top)
  const names = ranked.length > top ? [...shown, other] : shown
  const values = new Map(names.map((name) => [name, new Map<string, bigint>()]))
  const known = new Set(shown)
  for (const row of rows) {
    const time = row[rollUp] ?? ''
    const name = nameOf(row, keys)
    const of = values.get(known.has(name) ? name : other)!
    of.set(time, (of.get(time) ?? 0n) + measured(row, measure))
  }
  return { names, values }
}

/** The largest one by one, the rest as one. */
export function topOf(
  sums: readonly [string, bigint][],
  top: number,
  other: string,
): [string, bigint][] {
  if (sums.length <= top) return [...sums]
  const rest = sums.slice(top).reduce((sum, [, value]) => sum + value, 0n)
  return [...sums.slice(0, top), [other, rest]]
}
