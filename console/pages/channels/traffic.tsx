// How the calls of each channel went, from the sums of traffic: its share of good ones, its usual
// duration, its errors hour by hour.
import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Sparkline } from '../../components/charts/sparkline.tsx'
import { None, quiet } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { messages } from './messages.ts'
import {
  type ChannelRow,
  type ChannelTraffic,
  hourMs,
  hoursShown,
  trafficOf,
} from './traffic-rows.ts'

const refetchMs = 15_000

/** By the name of the channel; those without a call are not in it. */
export function useChannelTraffic(): ReadonlyMap<string, ChannelTraffic> {
  const toMs = Math.ceil(Date.now() / hourMs) * hourMs
  const bounds = {
    from: new Date(toMs - hoursShown * hourMs).toISOString(),
    to: new Date(toMs).toISOString(),
  }
  const asked = (by: string) => ({
    queryKey: ['traffic', 'channels', by, bounds],
    queryFn: () => api<{ items: ChannelRow[] }>('GET', '/traffic', { query: { ...bounds, by } }),
    refetchInterval: refetchMs,
  })
  const whole = useQuery(asked('channel')).data?.items ?? []
  const statuses = useQuery(asked('channel,status')).data?.items ?? []
  const hours = useQuery(asked('hour,channel')).data?.items ?? []
  return trafficOf({ whole, statuses, hours }, toMs - hoursShown * hourMs)
}

export function SuccessCell({ traffic }: { traffic: ChannelTraffic | undefined }) {
  const format = useFormat()
  if (traffic === undefined || traffic.attempts === 0) return <None />
  return <>{format.percent(1 - traffic.failed / traffic.attempts)}</>
}

export function CachedCell({ traffic }: { traffic: ChannelTraffic | undefined }) {
  const format = useFormat()
  return traffic?.cacheShare === undefined ? <None /> : format.percent(traffic.cacheShare)
}

export function ErrorCell({ traffic }: { traffic: ChannelTraffic | undefined }) {
  const t = useMessages(messages)
  const format = useFormat()
  if (traffic === undefined) return <None />
  const label = t('errors_text', { n: format.number(traffic.failed) })
  return (
    <Group gap="xs" wrap="nowrap" title={label}>
      {/* Without an error there is nothing to be drawn in red. */}
      <div style={{ width: 80 }}>
        {traffic.failed > 0 && <Sparkline values={traffic.failedByHour} color="var(--bad-mark)" />}
      </div>
      <Text size="sm" component="div">
        {quiet(format.number(traffic.failed))}
      </Text>
    </Group>
  )
}
