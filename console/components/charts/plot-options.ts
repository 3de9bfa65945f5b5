// The options of uPlot for a chart: axes, colors of the theme, bars, lines and points.
import uPlot from 'uplot'
import { axisPx, gutterPx } from './plot-layout.ts'
import { type ChartKind, lonePoints, type Series, stacked, stepOf, tickSteps } from './series.ts'

export interface PlotProps {
  kind: ChartKind
  /** Seconds since 1970 where `isTime`, else any numbers, in order. */
  xs: readonly number[]
  series: readonly Series[]
  heightPx: number
  /** The zone of the time axis; undefined: x is no time. */
  zone: string | undefined
  /** What the axes say; without them there are none. */
  axes?: { x: (x: number, stepSeconds: number) => string; y: (value: number) => string }
  /** Powers of ten upwards. */
  isLog?: boolean
  /** The x under the pointer, by its place; null when it leaves. */
  onCursor?: (index: number | null, leftPx: number) => void
  onPick?: (index: number) => void
}

const maxBarPx = 40
/** So few values are easier to read with their points. */
const maxPoints = 40
const daySeconds = 86_400

/** Colors are names of CSS; a canvas needs values. */
function colorOf(element: Element, color: string): string {
  const [, name] = /^var\((--[\w-]+)\)$/.exec(color) ?? []
  return name === undefined ? color : getComputedStyle(element).getPropertyValue(name).trim()
}

/** Stacked bars are drawn from the highest to the lowest, each over the one before. */
export function dataOf({ kind, xs, series }: PlotProps): uPlot.AlignedData {
  const rows = kind === 'bars' ? stacked(series, xs.length).reverse() : series.map((s) => s.values)
  return [[...xs], ...rows.map((row) => [...row])] as uPlot.AlignedData
}

function seriesOf(element: Element, props: PlotProps): uPlot.Series[] {
  const { kind, series, xs, axes } = props
  const drawn = kind === 'bars' ? [...series].reverse() : series
  return drawn.map(({ color, name }) => {
    const stroke = colorOf(element, color)
    if (kind === 'bars') {
      const paths = uPlot.paths.bars?.({ size: [0.8, maxBarPx], gap: 0 })
      return {
        label: name,
        fill: stroke,
        width: 0,
        points: { show: false },
        ...(paths && { paths }),
      }
    }
    if (kind === 'dots') {
      return {
        label: name,
        stroke,
        paths: () => null,
        points: { show: true, size: 7, fill: stroke },
      }
    }
    return {
      ...{ label: name, stroke, width: 2, spanGaps: false },
      points: {
        ...{ show: true, size: 6, fill: stroke },
        filter: (self: uPlot, at: number) =>
          axes !== undefined && xs.length <= maxPoints
            ? null
            : lonePoints(self.data[at] as (number | null)[]),
      },
    }
  })
}

/** Of things that are counted there are no halves. */
const countSteps = [1, 2, 5].flatMap((each) => Array.from({ length: 10 }, (_, i) => each * 10 ** i))

const isCounted = ({ series }: PlotProps): boolean =>
  series.every(({ values }) => values.every((value) => Number.isInteger(value ?? 0)))

/** Lines at these alone. */
const powersOfTen = (_: uPlot, splits: number[]): (number | null)[] =>
  splits.map((value) => (Math.abs(Math.log10(value) % 1) < 1e-9 ? value : null))

function axesOf(element: Element, props: PlotProps): uPlot.Axis[] {
  const { axes, zone, xs, isLog = false } = props
  if (axes === undefined) return [{ show: false }, { show: false }]
  const stroke = colorOf(element, 'var(--mantine-color-dimmed)')
  const grid = {
    ...{ stroke: colorOf(element, 'var(--mantine-color-default-border)'), width: 1 },
    ...(isLog && { filter: powersOfTen }),
  }
  const font = `11px ${getComputedStyle(element).fontFamily}`
  const ticks = { show: false }
  const steps = zone === undefined ? undefined : tickSteps(xs)
  return [
    {
      ...{ stroke, font, ticks, size: axisPx, gap: 4, grid: { show: false } },
      space: zone === undefined ? 70 : 60,
      ...(steps !== undefined && { incrs: steps }),
      values: (_, splits, __, ___, step) => splits.map((x) => axes.x(x, step)),
    },
    {
      ...{ stroke, font, ticks, grid, size: gutterPx.left, gap: 6, space: 28 },
      ...(!isLog && isCounted(props) && { incrs: countSteps.toSorted((a, b) => a - b) }),
      values: (_, splits) => splits.map((value) => (value === null ? '' : axes.y(value))),
    },
  ]
}

function scalesOf({ kind, xs, zone, axes, isLog = false }: PlotProps): uPlot.Scales {
  const isWide = kind === 'bars' || (kind === 'lines' && axes !== undefined)
  const half = isWide ? stepOf(xs, zone === undefined ? 1 : daySeconds) / 2 : 0
  return {
    x: {
      time: zone !== undefined,
      // A lone point stands in the middle, and bars are whole at both ends.
      range: (_, min, max) =>
        min === max && half === 0 ? [min - 1, max + 1] : [min - half, max + half],
    },
    y: isLog
      ? { distr: 3, range: (_, min, max) => [Math.max(min / 2, 1), Math.max(max * 2, 10)] }
      : { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] },
  }
}

export function optionsFor(element: HTMLElement, props: PlotProps): uPlot.Options {
  const { kind, heightPx, zone, axes, onCursor } = props
  const isQuiet = axes === undefined
  return {
    width: element.clientWidth,
    height: heightPx,
    padding: isQuiet ? [2, 2, 2, 2] : [8, gutterPx.right, 0, 0],
    legend: { show: false },
    cursor: {
      show: !isQuiet,
      ...{ y: false, drag: { x: false, y: false, setScale: false } },
      points: { show: kind === 'lines' },
    },
    ...(zone !== undefined && {
      tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), zone),
    }),
    scales: scalesOf(props),
    axes: axesOf(element, props),
    series: [{}, ...seriesOf(element, props)],
    hooks: {
      setCursor: [
        ({ cursor: { idx, left = -1 } }) => onCursor?.(left < 0 ? null : (idx ?? null), left),
      ],
    },
  }
}
