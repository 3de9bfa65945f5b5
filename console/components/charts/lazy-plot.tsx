// The library that draws, loaded with the first chart; its place is kept until then.
import { lazy, Suspense } from 'react'
import { loadWithRetry } from '../../lib/loading/load.ts'
import type { PlotProps } from './plot-options.ts'

const Plot = lazy(() => loadWithRetry(() => import('./plot.tsx')))

export const LazyPlot = (props: PlotProps) => (
  <Suspense fallback={<div style={{ height: props.heightPx }} />}>
    <Plot {...props} />
  </Suspense>
)
