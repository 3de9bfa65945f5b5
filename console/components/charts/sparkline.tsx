// A line without axes, for cards and cells; the figure beside it says what it is.
import { LazyPlot } from './lazy-plot.tsx'

const heightPx = 30

export function Sparkline({
  values,
  color = 'var(--c1)',
}: {
  values: readonly number[]
  color?: string
}) {
  return (
    <div aria-hidden="true" style={{ height: heightPx, pointerEvents: 'none' }}>
      {values.length > 0 && (
        <LazyPlot
          kind="lines"
          xs={values.map((_, i) => i)}
          series={[{ name: '', color, values }]}
          heightPx={heightPx}
          zone={undefined}
        />
      )}
    </div>
  )
}
