// A channel over the last day: its requests by outcome, how long they took, and what share of the input came
// from the upstream's prompt cache.
import { Text } from '@mantine/core'
import { Chart } from '../../components/charts/chart.tsx'
import { restColor, seriesColors } from '../../components/charts/series.ts'
import { SectionTitle } from '../../components/page.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import type { TrafficRow } from '../../lib/resources/traffic.ts'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'
import { cacheShare, hourMs, hoursShown } from './traffic-rows.ts'

const refetchMs = 30_000

export function HealthChart({ channel }: { channel: string }) {
  const t = useMessages(messages)
  const format = useFormat()
  const toMs = Math.ceil(Date.now() / hourMs) * hourMs
  const fromMs = toMs - hoursShown * hourMs
  const rows = (by: string) => ({
    query: { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString(), by, channel },
    refetchInterval: refetchMs,
  })
  const outcomes = useResource<{ items: TrafficRow[] }>('/traffic', rows('hour,status'))
  const hours = useResource<{ items: TrafficRow[] }>('/traffic', rows('hour'))
  const moments = Array.from({ length: hoursShown }, (_, i) => fromMs + i * hourMs)
  const sum = (isOf: (status: number) => boolean) =>
    moments.map((ms) =>
      (outcomes.data?.items ?? [])
        .filter(({ hour = '', status = 200 }) => Date.parse(hour) === ms && isOf(status))
        .reduce((all, { requests }) => all + requests, 0),
    )
  const took = (name: 'p50_ms' | 'p95_ms') => {
    const known = new Map(hours.data?.items.map((row) => [Date.parse(row.hour ?? ''), row[name]]))
    return moments.map((ms) => known.get(ms) ?? null)
  }
  const share = cacheShare(hours.data?.items ?? [])
  const line = (name: string, of: 'p50_ms' | 'p95_ms', shade: string) => ({
    ...{ name, color: shade, values: took(of), total: '' },
  })
  return (
    <>
      <SectionTitle>{t('last_day')}</SectionTitle>
      <Chart
        label={t('requests_by_outcome')}
        moments={moments}
        heightPx={140}
        format={format.number}
        series={[
          { name: t('ok_calls'), color: restColor, values: sum((status) => status < 400) },
          {
            name: '4xx',
            color: 'var(--warn-mark)',
            values: sum((status) => status >= 400 && status < 500),
          },
          { name: '5xx', color: 'var(--bad-mark)', values: sum((status) => status >= 500) },
        ]}
      />
      <Chart
        label={t('latency')}
        kind="lines"
        moments={moments}
        heightPx={140}
        format={format.ms}
        axis={format.span}
        series={[line('p50', 'p50_ms', seriesColors[0]!), line('p95', 'p95_ms', seriesColors[1]!)]}
      />
      <Text size="sm">
        {t('cache_share')}: {share === undefined ? '–' : format.percent(share)}
      </Text>
    </>
  )
}
