// What the cards say: sums of rows, and how they compare with the time before. Pure.
import { decimalOf, groupRows, measured, type UsageRow } from '../../lib/resources/usage.ts'
import type { Column, TrafficRow } from './traffic.ts'

/** A figure and what it was before; before is undefined until it is loaded. */
export interface Against {
  now: number
  before: number | undefined
}

interface Change {
  /** As a part of what was before, or as a difference of shares. */
  by: number
  way: 'up' | 'down' | 'same'
}

/** Less than this is no change: a thousandth. */
const minChange = 0.0005

/** Undefined where there is nothing to compare with. */
export function changeOf({ now, before }: Against, kind: 'amount' | 'share'): Change | undefined {
  if (before === undefined || Number.isNaN(now) || Number.isNaN(before)) return undefined
  if (kind === 'amount' && before === 0) return undefined
  const by = kind === 'share' ? now - before : (now - before) / before
  return { by, way: Math.abs(by) < minChange ? 'same' : by > 0 ? 'up' : 'down' }
}

export const requestsIn = (rows: readonly TrafficRow[]): number =>
  rows.reduce((sum, { requests }) => sum + requests, 0)

export const retriesIn = (rows: readonly TrafficRow[]): number =>
  rows.reduce((sum, { retries }) => sum + retries, 0)

/** Not a number where nothing was asked. */
export const successIn = (rows: readonly TrafficRow[]): number =>
  requestsIn(rows.filter(({ status = 200 }) => status < 400)) / requestsIn(rows)

/** For drawing: an hour without requests is as good as the one before. */
export function successLine(columns: readonly Column[]): number[] {
  let last = 1
  return columns.map(({ ok, client, server }) => {
    const all = ok + client + server
    if (all > 0) last = ok / all
    return last
  })
}

/** How much of a unit: pictures, seconds. */
export const quantityOf = (rows: readonly UsageRow[], unit: string): number =>
  rows.reduce((sum, row) => sum + (row.unit === unit ? (row.quantity ?? 0) : 0), 0)

/** How many images and videos were charged for, in these units. */
export const chargesOf = (rows: readonly UsageRow[], units: readonly string[]): number =>
  rows.reduce((sum, { unit = '', charges }) => sum + (units.includes(unit ?? '') ? charges : 0), 0)

const timeName = (atMs: number, by: 'hour' | 'day'): string => {
  const iso = new Date(atMs).toISOString()
  return by === 'hour' ? `${iso.slice(0, 13)}:00:00Z` : iso.slice(0, 10)
}

/** What was charged for the largest models, and for the rest, at each moment; for drawing. */
export function spendByModel(
  rows: readonly UsageRow[],
  moments: readonly number[],
  { by, top, other }: { by: 'hour' | 'day'; top: number; other: string },
): { name: string; values: number[] }[] {
  const how = { rollUp: by, measure: 'amount', top, other } as const
  const { names, values } = groupRows(rows, { group: 'model', subgroup: undefined }, how)
  return names.map((name) => ({
    name,
    values: moments.map((atMs) =>
      Number(decimalOf(values.get(name)?.get(timeName(atMs, by)) ?? 0n)),
    ),
  }))
}

/** Of all units together or of one, at each moment; for drawing. */
export function lineOf(
  rows: readonly UsageRow[],
  moments: readonly number[],
  by: 'hour' | 'day',
  value: (row: UsageRow) => number,
): number[] {
  const sums = new Map<string, number>()
  for (const row of rows) {
    const at = row[by] ?? ''
    sums.set(at, (sums.get(at) ?? 0) + value(row))
  }
  return moments.map((atMs) => sums.get(timeName(atMs, by)) ?? 0)
}

export interface Ranked {
  name: string
  charges: number
  amount: string
}

/** What most was charged for, or with; exact. */
export function rankOf(
  rows: readonly UsageRow[],
  nameOf: (row: UsageRow) => string | undefined,
  top: number,
): Ranked[] {
  const sums = new Map<string, { charges: number; amount: bigint }>()
  for (const row of rows) {
    const name = nameOf(row)
    if (name === undefined) continue
    const { charges, amount } = sums.get(name) ?? { charges: 0, amount: 0n }
    sums.set(name, {
      charges: charges + row.charges,
      amount: amount + measured(row, 'amount'),
    })
  }
  return [...sums]
    .sort(([, a], [, b]) => (a.amount < b.amount ? 1 : a.amount > b.amount ? -1 : 0))
    .slice(0, top)
    .map(([name, { charges, amount }]) => ({ name, charges, amount: decimalOf(amount) }))
}
