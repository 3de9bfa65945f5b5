// How long the requests in the list took, each a dot: time to the right, duration upwards by powers of
// ten. A dot opens its request.
import { Text } from '@mantine/core'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import type { LoggedRequest } from '../../lib/resources/request.ts'
import { statusColors } from './histogram-bars.tsx'
import { messages } from './messages.ts'

const [width, height, margin] = [960, 180, 6]
/** More dots than this are a blot. */
const maxDots = 1_000

export function LatencyScatter({
  rows,
  onOpen,
}: {
  rows: readonly LoggedRequest[]
  onOpen: (id: string) => void
}) {
  const t = useMessages(messages)
  const format = useFormat()
  const dots = rows.slice(0, maxDots)
  if (dots.length === 0) return null
  const times = dots.map(({ at }) => Date.parse(at))
  const [first, last] = [Math.min(...times), Math.max(...times)]
  const top = Math.max(...dots.map(({ total_ms }) => total_ms), 10)
  const x = (ms: number) =>
    margin + ((ms - first) / Math.max(last - first, 1)) * (width - 2 * margin)
  const y = (ms: number) =>
    height - margin - (Math.log10(Math.max(ms, 1)) / Math.log10(top)) * (height - 2 * margin)
  return (
    <figure style={{ margin: 0 }}>
      <svg viewBox={`0 0 ${width} ${height}`} width="100%">
        <title>{t('scatter')}</title>
        {[10, 100, 1_000, 10_000, 100_000]
          .filter((ms) => ms < top)
          .map((ms) => (
            <g key={ms}>
              <line
                x1={0}
                x2={width}
                y1={y(ms)}
                y2={y(ms)}
                stroke="var(--mantine-color-default-border)"
              />
              <text x={4} y={y(ms) - 3} fontSize={10} fill="var(--mantine-color-dimmed)">
                {format.ms(ms)}
              </text>
            </g>
          ))}
        {dots.map((row, i) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: a shortcut for what the list can do
          <circle
            key={row.request_id}
            cx={x(times[i]!)}
            cy={y(row.total_ms)}
            r={3.5}
            fill={statusColors[row.status < 400 ? 'ok' : row.status < 500 ? 'client' : 'server']}
            fillOpacity={0.75}
            cursor="pointer"
            onClick={() => onOpen(row.request_id)}
          >
            <title>{`${format.stamp(row.at)} · ${row.model} · ${format.ms(row.total_ms)}`}</title>
          </circle>
        ))}
      </svg>
      <Text size="xs" c="dimmed">
        {t('scatter_hint', { n: format.number(dots.length) })}
      </Text>
    </figure>
  )
}
