// Requests over time above their list: bars stacked by how they ended. Dragging over some of them, or
// Shift and the arrow keys and Enter, makes them the time the list is narrowed down to.
import { Button, Group, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { figures } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { setQuery } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import type { TrafficRow } from '../overview/traffic.ts'
import { HistogramBars, statusColors } from './histogram-bars.tsx'
import { messages } from './messages.ts'
import { bucketsIn, dayMs, type TimeBucket, type TimeRange, timeRangeFor } from './time-buckets.ts'

type Filters = Readonly<Record<string, string | undefined>>

/** Sums know these; the others would need the log itself. */
const counted = ['model', 'channel', 'status', 'error_code'] as const
const countedOfAccount = ['account', 'status', 'error_code'] as const

const refetchMs = 10_000
/** So that the question stays the same for a while. */
const roundMs = 60_000

export function RequestHistogram({ filters }: { filters: Filters }) {
  const t = useMessages(messages)
  const { account } = useSession()
  const isOfAccount = account !== null || filters['account'] !== undefined
  const nowMs = Math.ceil(Date.now() / roundMs) * roundMs
  const stretch = timeRangeFor({ from: filters['from'], to: filters['to'], isOfAccount, nowMs })
  const known: readonly string[] = isOfAccount ? countedOfAccount : counted
  const asked = Object.fromEntries(known.map((name) => [name, filters[name]]))
  const left = Object.entries(filters)
    .filter(([name, value]) => value !== undefined && !known.includes(name))
    .filter(([name]) => name !== 'from' && name !== 'to')
  const { data } = useTraffic(stretch, asked)
  if (filters['id'] !== undefined) return null
  const columns = bucketsIn(stretch, data?.items ?? [])
  const zoom = (fromMs: number, toMs: number) =>
    setQuery({ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() })
  return (
    <Stack gap={4}>
      <HistogramBars
        // another range is another histogram: what was marked on the old one means nothing here.
        key={`${stretch.fromMs} ${stretch.stepMs}`}
        label={t('histogram')}
        columns={columns}
        stepMs={stretch.stepMs}
        onZoom={zoom}
      />
      <Legend columns={columns} stretch={stretch} />
      {left.length > 0 && (
        <Text size="xs" c="dimmed">
          {t('not_counted', { filters: left.map(([name]) => name).join(', ') })}
        </Text>
      )}
      <Ranges isZoomed={filters['from'] !== undefined || filters['to'] !== undefined} />
    </Stack>
  )
}

function useTraffic({ fromMs, toMs, by }: TimeRange, asked: Filters) {
  const query = {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    by: `${by},status`,
    ...asked,
  }
  return useQuery({
    queryKey: ['traffic', 'histogram', query],
    queryFn: ({ signal }) => api<{ items: TrafficRow[] }>('GET', '/traffic', { query, signal }),
    refetchInterval: refetchMs,
    placeholderData: keepPreviousData,
  })
}

function Legend({ columns, stretch }: { columns: readonly TimeBucket[]; stretch: TimeRange }) {
  const t = useMessages(messages)
  const format = useFormat()
  const shown = (ms: number) => {
    const at = new Date(ms).toISOString()
    return stretch.stepMs < dayMs ? format.stamp(at) : format.day(at)
  }
  const kinds = [
    ['ok', 'ok'],
    ['client', 'client_error'],
    ['server', 'server_error'],
  ] as const
  return (
    <Group justify="space-between" gap="xs">
      <Text size="xs" c="dimmed" style={figures}>
        {shown(stretch.fromMs)}
      </Text>
      <Group gap="md">
        {kinds.map(([kind, word]) => (
          <Text key={kind} size="xs" style={figures}>
            <span aria-hidden="true" style={{ color: statusColors[kind] }}>
              ■{' '}
            </span>
            {t(word)} {format.number(columns.reduce((sum, column) => sum + column[kind], 0))}
          </Text>
        ))}
      </Group>
      <Text size="xs" c="dimmed" style={figures}>
        {shown(stretch.toMs)}
      </Text>
    </Group>
  )
}

const ranges = [
  ['last_hour', dayMs / 24],
  ['last_day', dayMs],
  ['last_week', 7 * dayMs],
  ['last_month', 30 * dayMs],
] as const

function Ranges({ isZoomed }: { isZoomed: boolean }) {
  const t = useMessages(messages)
  const choose = (ms: number) => {
    const from = Math.floor((Date.now() - ms) / roundMs) * roundMs
    setQuery({ from: new Date(from).toISOString(), to: undefined })
  }
  return (
    <Group gap={4}>
      {ranges.map(([name, ms]) => (
        <Button key={name} size="compact-xs" variant="default" onClick={() => choose(ms)}>
          {t(name)}
        </Button>
      ))}
      {isZoomed && (
        <Button
          size="compact-xs"
          variant="subtle"
          onClick={() => setQuery({ from: undefined, to: undefined })}
        >
          {t('all_time')}
        </Button>
      )}
      <Text size="xs" c="dimmed" visibleFrom="sm">
        {t('histogram_hint')}
      </Text>
    </Group>
  )
}
