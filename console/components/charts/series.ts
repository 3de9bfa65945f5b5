// The data of a chart, made ready for drawing: stacked bars, lone points, steps. Pure.

export interface Series {
  name: string
  /** A color of the theme, as in `var(--c1)`. */
  color: string
  /** One for each x; null leaves a gap. */
  values: readonly (number | null)[]
  /** The figure for all of it in the legend; the sum if left out. */
  total?: string
}

/** In this order they are told apart under the common color-vision deficiencies; the rest is grey. */
export const seriesColors: readonly string[] = [1, 2, 3, 4, 5].map((n) => `var(--c${n})`)
export const restColor = 'var(--c-rest)'

export type ChartKind = 'bars' | 'lines' | 'dots'

/** What each series reaches on top of those before it. */
export function stacked(series: readonly Series[], count: number): number[][] {
  const top = Array.from({ length: count }, () => 0)
  return series.map(({ values }) => {
    for (let i = 0; i < count; i++) top[i]! += values[i] ?? 0
    return [...top]
  })
}

/** Values without a neighbour: a line cannot show them. */
export function lonePoints(values: readonly (number | null | undefined)[]): number[] {
  const isValue = (i: number) => values[i] !== null && values[i] !== undefined
  return values.flatMap((_, i) => (isValue(i) && !isValue(i - 1) && !isValue(i + 1) ? [i] : []))
}

/** The smallest distance between two x; the given one if there is only one x. */
export function stepOf(xs: readonly number[], otherwise: number): number {
  let step = Number.POSITIVE_INFINITY
  for (let i = 1; i < xs.length; i++) step = Math.min(step, xs[i]! - xs[i - 1]!)
  return Number.isFinite(step) && step > 0 ? step : otherwise
}

export const isEmpty = (series: readonly Series[]): boolean =>
  series.every(({ values }) => values.every((value) => value === null || value === 0))

export const sumOf = ({ values }: Series): number =>
  values.reduce<number>((sum, value) => sum + (value ?? 0), 0)

const daySeconds = 86_400
/** A day when clocks go forward is shorter. */
const shortDaySeconds = 82_800

/** Steps between the ticks of a time axis: where each value is of a day or more, no tick lies within a day. */
export const tickSteps = (xs: readonly number[]): number[] | undefined =>
  stepOf(xs, daySeconds) < shortDaySeconds
    ? undefined
    : [1, 2, 3, 7, 14, 28, 91, 182, 364].map((days) => days * daySeconds)
