// What the overview says: sums of rows, and how they compare with the time before. Pure.
import { decimalOf, drawn, groupRows, measured, type UsageRow } from '../../lib/resources/usage.ts'
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

/** From so many times as much on, it is worth a look. */
export const unusual = 3

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

/** What is left of charges; where the cost of some is unknown, at most so much is. */
export interface Margin {
  /** Of the charges; undefined where there are none, or none whose cost is known. */
  share: number | undefined
  isAtMost: boolean
}

export function marginOf({ amount, margin, charges, cost_unknown = 0 }: UsageRow): Margin {
  const isKnown = margin !== undefined && Number(amount) > 0 && cost_unknown < charges
  return {
    share: isKnown ? Number(margin) / Number(amount) : undefined,
    isAtMost: cost_unknown > 0,
  }
}

const isUnknown = ({ charges, cost_unknown = 0 }: UsageRow): boolean =>
  charges > 0 && cost_unknown === charges

/**
 * For drawing: cost that charges cover, what is left of them, cost beyond them; and charges of rows of
 * which no cost is known.
 */
export function earningsOf(
  rows: readonly UsageRow[],
  moments: readonly number[],
  by: 'hour' | 'day',
): { covered: number[]; margin: number[]; loss: number[]; unknown: number[] } {
  const known = rows.filter((row) => !isUnknown(row))
  const line = (value: (cost: number, margin: number) => number) =>
    lineOf(known, moments, by, ({ cost = '0', margin = '0' }) =>
      value(Number(cost), Number(margin)),
    )
  return {
    covered: line((cost, margin) => Math.max(0, Math.min(cost, cost + margin))),
    margin: line((_, margin) => Math.max(0, margin)),
    loss: line((_, margin) => Math.max(0, -margin)),
    unknown: lineOf(rows.filter(isUnknown), moments, by, ({ amount }) => Number(amount)),
  }
}

export interface TopRow {
  name: string
  amount?: string
  requests?: number
  /** As many times as before: 1 is the same, infinity is new; undefined while that is not known. */
  times: number | undefined
  margin?: Margin
  /** How many of its requests succeeded. */
  success?: number | undefined
}

type Named = (row: UsageRow) => string | null | undefined

const timesOf = (now: number, before: number | undefined): number | undefined => {
  if (before === undefined || (now === 0 && before === 0)) return undefined
  return before === 0 ? Number.POSITIVE_INFINITY : now / before
}

/** The largest, each by a name of its own; rows without a name are no part of it. */
export function topRows(
  now: readonly UsageRow[],
  before: readonly UsageRow[] | undefined,
  nameOf: Named,
  top: number,
): TopRow[] {
  const old = before && new Map(before.map((row) => [nameOf(row), measured(row, 'amount')]))
  return now
    .flatMap((row) => {
      const name = nameOf(row)
      return typeof name === 'string' ? [{ name, row, amount: measured(row, 'amount') }] : []
    })
    .filter(({ amount, row }) => amount > 0n || Number(row.cost ?? 0) > 0)
    .sort((a, b) => (a.amount < b.amount ? 1 : a.amount > b.amount ? -1 : 0))
    .slice(0, top)
    .map(({ name, row, amount }) => ({
      ...{ name, amount: decimalOf(amount), margin: marginOf(row) },
      times: timesOf(drawn(amount), old && drawn(old.get(name) ?? 0n)),
    }))
}

/** By channel and status; known channels without a request come last. */
export function channelRows(
  now: readonly TrafficRow[],
  before: readonly TrafficRow[] | undefined,
  known: readonly string[],
  top: number,
): TopRow[] {
  const of = (rows: readonly TrafficRow[], name: string) =>
    rows.filter(({ channel }) => channel === name)
  const asked = now.flatMap(({ channel }) => (channel ? [channel] : []))
  return [...new Set([...asked, ...known])]
    .map((name) => {
      const rows = of(now, name)
      const requests = requestsIn(rows)
      return {
        ...{ name, requests, success: requests === 0 ? undefined : successIn(rows) },
        times: timesOf(requests, before && requestsIn(of(before, name))),
      }
    })
    .sort((a, b) => b.requests - a.requests)
    .slice(0, top)
}
