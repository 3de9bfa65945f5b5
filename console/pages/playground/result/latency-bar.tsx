// The time of a call as a bar: the wait for the first byte, then the answer with a mark for every event.
import { Legend } from '../../../components/charts/legend.tsx'
import { useFormat } from '../../../lib/format.ts'
import { useMessages } from '../../../lib/messages.ts'
import { messages } from '../messages.ts'
import type { Outcome } from '../send.ts'

const [width, height] = [1_000, 10]
/** More marks than these are a solid bar. */
const maxMarks = 250

export function LatencyBar({ outcome }: { outcome: Outcome }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { firstMs = 0, totalMs = 0, events } = outcome
  const x = (ms: number) => Math.min(width, (ms / Math.max(totalMs, 1)) * width)
  const every = Math.max(1, Math.ceil(events.length / maxMarks))
  const marks = events.filter((_, i) => i % every === 0)
  if (events.length === 0) return null
  return (
    <div>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width="100%"
        height={height}
        preserveAspectRatio="none"
        role="img"
        aria-label={t('took', { ms: format.ms(totalMs), first: format.ms(firstMs) })}
      >
        <rect width={width} height={height} fill="var(--mantine-color-default-hover)" />
        <rect width={x(firstMs)} height={height} fill="var(--c-rest)" />
        <rect
          x={x(firstMs)}
          width={Math.max(2, x(totalMs) - x(firstMs))}
          height={height}
          fill="var(--c5)"
        />
        <path
          d={marks.map(({ afterMs }) => `M${x(afterMs).toFixed(1)} 0v${height}`).join('')}
          stroke="var(--c1)"
          strokeWidth="1"
          vectorEffect="non-scaling-stroke"
        />
      </svg>
      <Legend
        items={[
          { name: t('first_byte'), color: 'var(--c-rest)', value: format.ms(firstMs) },
          { name: t('rest_of_answer'), color: 'var(--c5)', value: format.ms(totalMs - firstMs) },
        ]}
      />
    </div>
  )
}
