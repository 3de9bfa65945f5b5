// Requests over time above their list: bars stacked by how they ended. Dragging over some of them, or
// Shift and the arrow keys and Enter, makes them the time the list is narrowed down to.
import { Button, Group, Stack, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ask } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { setQuery } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { figures } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import type { TrafficRow } from '../overview/traffic.ts'
import { columnsIn, dayMs, type Stretch, stretchFor, type TimeColumn } from './columns-of-time.ts'
import { StripBars, stripColours } from './strip-bars.tsx'
import { words } from './words.ts'

type Filters = Readonly<Record<string, string | undefined>>

/** Sums know these; the others would need the log itself. */
const counted = ['model', 'channel', 'status', 'error_code'] as const
const countedOfAccount = ['account', 'status', 'error_code'] as const

const everyMs = 10_000
/** So that the question stays the same for a while. */
const roundMs = 60_000

export function TimeStrip({ filters }: { filters: Filters }) {
  const say = useWords(words)
  const { account } = useSession()
  const isOfAccount = account !== null || filters['account'] !== undefined
  const nowMs = Math.ceil(Date.now() / roundMs) * roundMs
  const stretch = stretchFor({ from: filters['from'], to: filters['to'], isOfAccount, nowMs })
  const known: readonly string[] = isOfAccount ? countedOfAccount : counted
  const asked = Object.fromEntries(known.map((name) => [name, filters[name]]))
  const left = Object.entries(filters)
    .filter(([name, value]) => value !== undefined && !known.includes(name))
    .filter(([name]) => name !== 'from' && name !== 'to')
  const { data } = useTraffic(stretch, asked)
  if (filters['id'] !== undefined) return null
  const columns = columnsIn(stretch, data?.items ?? [])
  const zoom = (fromMs: number, toMs: number) =>
    setQuery({ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() })
  return (
    <Stack gap={4}>
      <StripBars
        // Another stretch is another strip: what was marked on the old one means nothing here.
        key={`${stretch.fromMs} ${stretch.stepMs}`}
        label={say('histogram')}
        columns={columns}
        stepMs={stretch.stepMs}
        onZoom={zoom}
      />
      <Legend columns={columns} stretch={stretch} />
      {left.length > 0 && (
        <Text size="xs" c="dimmed">
          {say('not_counted', { filters: left.map(([name]) => name).join(', ') })}
        </Text>
      )}
      <Ranges isZoomed={filters['from'] !== undefined || filters['to'] !== undefined} />
    </Stack>
  )
}

function useTraffic({ fromMs, toMs, by }: Stretch, asked: Filters) {
  const query = {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    by: `${by},status`,
    ...asked,
  }
  return useQuery({
    queryKey: ['traffic', 'strip', query],
    queryFn: ({ signal }) => ask<{ items: TrafficRow[] }>('GET', '/traffic', { query, signal }),
    refetchInterval: everyMs,
    placeholderData: keepPreviousData,
  })
}

function Legend({ columns, stretch }: { columns: readonly TimeColumn[]; stretch: Stretch }) {
  const say = useWords(words)
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
            <span aria-hidden="true" style={{ color: stripColours[kind] }}>
              ■{' '}
            </span>
            {say(word)} {format.number(columns.reduce((sum, column) => sum + column[kind], 0))}
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
  const shared = useWords(common)
  const say = useWords(words)
  const choose = (ms: number) => {
    const from = Math.floor((Date.now() - ms) / roundMs) * roundMs
    setQuery({ from: new Date(from).toISOString(), to: undefined })
  }
  return (
    <Group gap={4}>
      {ranges.map(([name, ms]) => (
        <Button key={name} size="compact-xs" variant="default" onClick={() => choose(ms)}>
          {shared(name)}
        </Button>
      ))}
      {isZoomed && (
        <Button
          size="compact-xs"
          variant="subtle"
          onClick={() => setQuery({ from: undefined, to: undefined })}
        >
          {say('all_time')}
        </Button>
      )}
      <Text size="xs" c="dimmed" visibleFrom="sm">
        {say('strip_hint')}
      </Text>
    </Group>
  )
}
