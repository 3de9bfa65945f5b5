// Requests over time above their list, stacked by status. Dragging over some bars, or Shift with the arrow
// keys and Enter, narrows the list to that time.

import { Button, Group, Stack, Text } from '@mantine/core'
import { keepPreviousData } from '@tanstack/react-query'
import { useMessages } from '../../lib/messages.ts'
import { setQuery } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { useResource } from '../../lib/use-resource.ts'
import type { TrafficRow } from '../overview/traffic.ts'
import { HistogramBars, HistogramTable } from './histogram-bars.tsx'
import { messages } from './messages.ts'
import { bucketsIn, dayMs, type TimeRange, timeRangeFor } from './time-buckets.ts'

type Filters = Readonly<Record<string, string | undefined>>

/** Totals can be filtered by these; the others need the log itself. */
const counted = ['model', 'channel', 'status', 'error_code'] as const
const countedOfAccount = ['account', 'status', 'error_code'] as const

const refetchMs = 10_000
/** Rounded, so that the query stays the same for a while. */
const roundMs = 60_000

export function RequestHistogram({ filters }: { filters: Filters }) {
  const t = useMessages(messages)
  const { account } = useSession()
  const isOfAccount = account !== null || filters['account'] !== undefined
  const nowMs = Math.ceil(Date.now() / roundMs) * roundMs
  const range = timeRangeFor({ from: filters['from'], to: filters['to'], isOfAccount, nowMs })
  const known: readonly string[] = isOfAccount ? countedOfAccount : counted
  const applied = Object.fromEntries(known.map((name) => [name, filters[name]]))
  const ignored = Object.entries(filters)
    .filter(([name, value]) => value !== undefined && !known.includes(name))
    .filter(([name]) => name !== 'from' && name !== 'to')
  const { data } = useTraffic(range, applied)
  const nameOf = (name: string) => t(name as 'token')
  if (filters['id'] !== undefined) return null
  const buckets = bucketsIn(range, data?.items ?? [])
  const zoom = (fromMs: number, toMs: number) =>
    setQuery({ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() })
  const choices = <Ranges isZoomed={filters['from'] !== undefined || filters['to'] !== undefined} />
  return (
    <Stack gap={4}>
      <HistogramBars
        // another range is another histogram: what was marked on the old one means nothing here.
        key={`${range.fromMs} ${range.stepMs}`}
        label={t('histogram')}
        buckets={buckets}
        stepMs={range.stepMs}
        onZoom={zoom}
      />
      {ignored.length > 0 && (
        <Text size="xs" c="dimmed">
          {t('not_counted', { filters: ignored.map(([name]) => nameOf(name)).join(', ') })}
        </Text>
      )}
      {buckets.some(({ ok, client, server }) => ok + client + server > 0) ? (
        <HistogramTable
          label={t('histogram')}
          buckets={buckets}
          stepMs={range.stepMs}
          lead={choices}
        />
      ) : (
        choices
      )}
    </Stack>
  )
}

function useTraffic({ fromMs, toMs, by }: TimeRange, applied: Filters) {
  const query = {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    by: `${by},status`,
    ...applied,
  }
  return useResource<{ items: TrafficRow[] }>('/traffic', {
    query,
    refetchInterval: refetchMs,
    placeholderData: keepPreviousData,
  })
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
