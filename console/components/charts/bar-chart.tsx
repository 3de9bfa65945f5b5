// BarChart over time, stacked by a few series, and a line without axes. Plain SVG: nothing to load.
import { Legend } from './legend.tsx'

interface Series {
  name: string
  /** A color of the theme, as in `var(--mantine-color-teal-6)`. */
  color: string
  /** One for each label. */
  values: readonly number[]
}

const [width, height] = [800, 160]

export function BarChart({
  label,
  labels,
  series,
  format = String,
  onPick,
}: {
  label: string
  labels: readonly string[]
  series: readonly Series[]
  format?: (value: number) => string
  /** A bar was clicked. */
  onPick?: (index: number) => void
}) {
  const sums = labels.map((_, i) => series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0))
  const max = Math.max(...sums, 0)
  const step = width / Math.max(labels.length, 1)
  return (
    <figure style={{ margin: 0 }}>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width="100%"
        height={height}
        preserveAspectRatio="none"
      >
        <title>{label}</title>
        {labels.map((name, i) => {
          let top = height
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for what filters can do
            <g
              key={name}
              onClick={onPick && (() => onPick(i))}
              style={onPick && { cursor: 'pointer' }}
            >
              <title>{`${name}: ${format(sums[i] ?? 0)}`}</title>
              <rect x={i * step} y={0} width={step} height={height} fill="transparent" />
              {series.map(({ name: each, color, values }) => {
                const tall = max === 0 ? 0 : ((values[i] ?? 0) / max) * (height - 8)
                top -= tall
                const gap = Math.min(1.5, step / 6)
                return (
                  <rect
                    key={each}
                    x={i * step + gap}
                    y={top}
                    width={Math.max(step - 2 * gap, 0.5)}
                    height={tall}
                    fill={color}
                  />
                )
              })}
            </g>
          )
        })}
      </svg>
      <Legend
        from={labels[0]}
        to={labels.at(-1)}
        items={series.map(({ name, color, values }) => ({
          ...{ name, color },
          value: format(values.reduce((sum, value) => sum + value, 0)),
        }))}
      />
    </figure>
  )
}

export function Sparkline({
  values,
  color = 'var(--mantine-color-blue-6)',
}: {
  values: readonly number[]
  color?: string
}) {
  const max = Math.max(...values, 1e-9)
  const points = values.map(
    (value, i) => `${(i / Math.max(values.length - 1, 1)) * 100},${28 - (value / max) * 26}`,
  )
  return (
    <svg
      viewBox="0 0 100 30"
      width="100%"
      height={30}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke={color}
        strokeWidth="1.5"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  )
}
