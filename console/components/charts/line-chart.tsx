// A line chart over time, with gaps where there are no values. Plain SVG without a library.
import { Legend } from './legend.tsx'

interface Line {
  name: string
  /** A color of the theme, as in `var(--mantine-color-teal-6)`. */
  color: string
  /** One for each label; null leaves a gap. */
  values: readonly (number | null)[]
  /** The figure for all of it in the legend. */
  whole?: string
}

const [width, height, above] = [800, 160, 8]

export function LineChart({
  label,
  labels,
  lines,
  format = String,
}: {
  label: string
  labels: readonly string[]
  lines: readonly Line[]
  format?: (value: number) => string
}) {
  const max = Math.max(...lines.flatMap(({ values }) => values.map((value) => value ?? 0)), 0)
  const step = width / Math.max(labels.length, 1)
  const y = (value: number) => height - 1 - (max === 0 ? 0 : (value / max) * (height - above - 1))
  return (
    <figure style={{ margin: 0 }}>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width="100%"
        height={height}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}, ≤ ${format(max)}`}
      >
        {lines.map(({ name, color, values }) => (
          <path
            key={name}
            d={pathOf(values, (i) => (i + 0.5) * step, y)}
            fill="none"
            stroke={color}
            strokeWidth="2"
            strokeLinecap="round"
            strokeLinejoin="round"
            vectorEffect="non-scaling-stroke"
          />
        ))}
        {labels.map((at, i) => (
          <rect key={at} x={i * step} y={0} width={step} height={height} fill="transparent">
            <title>{titleOf(at, i, lines, format)}</title>
          </rect>
        ))}
      </svg>
      <Legend
        from={labels[0]}
        to={labels.at(-1)}
        mark="●"
        items={lines.map(({ name, color, whole = '' }) => ({ name, color, value: whole }))}
      />
    </figure>
  )
}

function titleOf(
  at: string,
  i: number,
  lines: readonly Line[],
  format: (value: number) => string,
): string {
  const shown = lines.flatMap(({ name, values }) => {
    const value = values[i]
    return value === null || value === undefined ? [] : [`${name} ${format(value)}`]
  })
  return [at, ...shown].join('\n')
}

/** A value between two gaps is a point; round line ends make it visible. */
function pathOf(
  values: readonly (number | null)[],
  x: (i: number) => number,
  y: (value: number) => number,
): string {
  const steps: string[] = []
  let isOn = false
  for (const [i, value] of values.entries()) {
    if (value === null) {
      isOn = false
      continue
    }
    const place = `${x(i).toFixed(1)} ${y(value).toFixed(1)}`
    steps.push(isOn ? `L${place}` : `M${place}h0.01`)
    isOn = true
  }
  return steps.join('')
}
