// The bars of the histogram, and the selection of some of them by pointer or keyboard.
import { type KeyboardEvent, type PointerEvent, useState } from 'react'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { messages } from './messages.ts'
import { minStepMs, type TimeBucket } from './time-buckets.ts'

export const statusColors = {
  ok: 'var(--mantine-color-teal-6)',
  client: 'var(--mantine-color-orange-6)',
  server: 'var(--mantine-color-red-6)',
} as const
const kinds = ['ok', 'client', 'server'] as const

const [width, height] = [960, 72]

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
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width="100%"
        height={height}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <Buckets buckets={buckets} />
        {marked !== undefined && <Mark marked={marked} count={buckets.length} />}
      </svg>
    </div>
  )
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
  const share = (event.clientX - box.left) / Math.max(box.width, 1)
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
  const step = width / count
  const from = Math.min(anchor, at)
  return (
    <rect
      data-marked=""
      x={from * step}
      y={0}
      width={(Math.max(anchor, at) - from + 1) * step}
      height={height}
      fill="var(--mantine-color-indigo-5)"
      fillOpacity={0.3}
    />
  )
}

function Buckets({ buckets }: { buckets: readonly TimeBucket[] }) {
  const max = Math.max(...buckets.map(({ ok, client, server }) => ok + client + server), 1)
  const step = width / buckets.length
  const gap = Math.min(1.5, step / 6)
  return buckets.map((bucket, i) => {
    let top = height
    return kinds.map((kind) => {
      if (bucket[kind] === 0) return null
      // Few among many are still to be seen.
      const tall = Math.max((bucket[kind] / max) * (height - 6), 1.5)
      top -= tall
      return (
        <rect
          key={`${bucket.fromMs} ${kind}`}
          x={i * step + gap}
          y={top}
          width={Math.max(step - 2 * gap, 0.5)}
          height={tall}
          fill={statusColors[kind]}
        />
      )
    })
  })
}
