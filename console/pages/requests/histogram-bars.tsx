// The bars of the histogram, and the selection of some of them by pointer or keyboard.
import { type KeyboardEvent, type PointerEvent, type ReactNode, useState } from 'react'
import { Chart } from '../../components/charts/chart.tsx'
import { axisPx, gutterPx } from '../../components/charts/plot-layout.ts'
import type { Series } from '../../components/charts/series.ts'
import { TableToggle } from '../../components/charts/table-toggle.tsx'
import { useMoments } from '../../components/charts/use-moments.ts'
import { ValueTable } from '../../components/charts/value-table.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { messages } from './messages.ts'
import { dayMs, minStepMs, type TimeBucket } from './time-buckets.ts'

export const statusColors = {
  ok: 'var(--c-rest)',
  client: 'var(--warn-mark)',
  server: 'var(--bad-mark)',
} as const
const kinds = ['ok', 'client', 'server'] as const

const heightPx = 120

/** From one bucket to another, both included; `at` is where the pointer or the cursor is. */
interface Marked {
  anchor: number
  at: number
}

export function HistogramBars({
  label,
  buckets,
  stepMs,
  onZoom,
}: {
  label: string
  buckets: readonly TimeBucket[]
  stepMs: number
  onZoom: (fromMs: number, toMs: number) => void
}) {
  const format = useFormat()
  const series = useSeries(buckets)
  const bucketText = useBucketText()
  const [marked, setMarked] = useState<Marked>()
  const last = buckets.length - 1
  const at = Math.min(marked?.at ?? last, last)
  const zoom = ({ anchor, at: end }: Marked) => {
    setMarked(undefined)
    const [first, final] = [buckets[Math.min(anchor, end)], buckets[Math.max(anchor, end)]]
    if (first !== undefined && final !== undefined) onZoom(first.fromMs, final.fromMs + stepMs)
  }
  const pressed = (event: KeyboardEvent) => {
    const step = stepOf(event.key, at, last)
    if (step !== undefined) {
      const next = Math.min(Math.max(at + step, 0), last)
      setMarked({ anchor: event.shiftKey ? (marked?.anchor ?? at) : next, at: next })
    } else if (event.key === 'Enter') zoom(marked ?? { anchor: at, at })
    else if (event.key === 'Escape' && marked !== undefined) setMarked(undefined)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div
      className="histogram"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at}
      aria-valuetext={bucketText(buckets[at])}
      onKeyDown={pressed}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        setMarked({ anchor: bucketAt(event, buckets.length), at: bucketAt(event, buckets.length) })
      }}
      onPointerMove={(event) => {
        if (event.buttons === 1 && marked !== undefined)
          setMarked({ ...marked, at: bucketAt(event, buckets.length) })
      }}
      onPointerUp={(event) => {
        if (marked === undefined) return
        const end = { ...marked, at: bucketAt(event, buckets.length) }
        // One bar of the finest kind cannot be looked at more closely.
        if (end.anchor === end.at && stepMs === minStepMs) setMarked(undefined)
        else zoom(end)
      }}
    >
      <Chart
        label={label}
        by={stepSize(stepMs)}
        moments={buckets.map(({ fromMs }) => fromMs)}
        heightPx={heightPx}
        format={(value) => format.number(value)}
        series={series}
        hasTable={false}
        overlay={marked && <Mark marked={marked} count={buckets.length} />}
      />
    </div>
  )
}

const stepSize = (stepMs: number) => (stepMs < dayMs ? 'minute' : 'day')

function useSeries(buckets: readonly TimeBucket[]): Series[] {
  const t = useMessages(messages)
  const names = { ok: t('ok'), client: t('client_error'), server: t('server_error') }
  return kinds.map((kind) => ({
    name: names[kind],
    color: statusColors[kind],
    values: buckets.map((bucket) => bucket[kind]),
  }))
}

/** Beside the bars, which are a control of their own. */
export function HistogramTable({
  label,
  buckets,
  stepMs,
  lead,
}: {
  label: string
  buckets: readonly TimeBucket[]
  stepMs: number
  /** In the line of the button. */
  lead: ReactNode
}) {
  const format = useFormat()
  const series = useSeries(buckets)
  const { name } = useMoments(stepSize(stepMs))
  const moments = buckets.map(({ fromMs }) => fromMs)
  const table = () => <ValueTable {...{ label, moments, series, format: format.number, name }} />
  return <TableToggle legend={lead} table={table} />
}

function useBucketText(): (bucket: TimeBucket | undefined) => string | undefined {
  const t = useMessages(messages)
  const format = useFormat()
  return (bucket) =>
    bucket &&
    t('column', {
      when: format.stamp(new Date(bucket.fromMs).toISOString()),
      ok: format.number(bucket.ok),
      client: format.number(bucket.client),
      server: format.number(bucket.server),
    })
}

/** The bucket under the pointer. */
function bucketAt(event: PointerEvent<HTMLElement>, count: number): number {
  const box = event.currentTarget.getBoundingClientRect()
  const widthPx = Math.max(box.width - gutterPx.left - gutterPx.right, 1)
  const share = (event.clientX - box.left - gutterPx.left) / widthPx
  return Math.min(Math.max(Math.floor(share * count), 0), count - 1)
}

function stepOf(key: string, at: number, last: number): number | undefined {
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return -1
    case 'ArrowRight':
    case 'ArrowUp':
      return 1
    case 'PageUp':
      return 10
    case 'PageDown':
      return -10
    case 'Home':
      return -at
    case 'End':
      return last - at
    default:
      return undefined
  }
}

function Mark({ marked: { anchor, at }, count }: { marked: Marked; count: number }) {
  const step = 1 / count
  const from = Math.min(anchor, at)
  const place = (share: number) =>
    `calc(${gutterPx.left}px + (100% - ${gutterPx.left + gutterPx.right}px) * ${share})`
  return (
    <div
      data-marked=""
      style={{
        ...{ position: 'absolute', top: 0, bottom: axisPx, pointerEvents: 'none' },
        left: place(from * step),
        width: `calc((100% - ${gutterPx.left + gutterPx.right}px) * ${(Math.max(anchor, at) - from + 1) * step})`,
        background: 'var(--accent)',
        opacity: 0.3,
      }}
    />
  )
}
