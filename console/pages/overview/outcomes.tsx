// How much is asked and how it ends: requests and their success, and a bar for every hour or day of it.
import { Group } from '@mantine/core'
import { Chart } from '../../components/charts/chart.tsx'
import { restColor } from '../../components/charts/series.ts'
import { Panel } from '../../components/page.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { Figure } from './figure.tsx'
import { requestsIn, successIn } from './figures.ts'
import { requestsAt } from './links.ts'
import { messages } from './messages.ts'
import type { Chosen } from './period.ts'
import { bucketsOf, momentsOf, spans, useTraffic, useTrafficIn } from './traffic.ts'

export function Outcomes({ chosen }: { chosen: Chosen }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { range, period, pick } = chosen
  const { by } = spans[range]
  const columns = bucketsOf(range, useTraffic(range, `${by},status`).data?.items ?? [])
  const rows = useTrafficIn(period, 'status').data?.items
  const before = useTrafficIn(chosen.before, 'status', rows !== undefined).data?.items
  const success = rows === undefined ? Number.NaN : successIn(rows)
  const moments = momentsOf(range, by)
  const of = (name: 'ok' | 'client' | 'server', color: string) => ({
    ...{ name: t(name), color },
    values: columns.map((column) => column[name]),
  })
  return (
    <Panel title={t('requests')}>
      <Group gap="xl" align="flex-start" mb="xs">
        <Figure
          title={t('requests')}
          value={format.number(rows && requestsIn(rows))}
          to={requestsAt(period)}
          against={rows && { now: requestsIn(rows), before: before && requestsIn(before) }}
        />
        <Figure
          title={t('success')}
          value={Number.isNaN(success) ? '–' : format.percent(success)}
          to={requestsAt(period)}
          against={{ now: success, before: before && successIn(before) }}
          kind="share"
          good="up"
        />
      </Group>
      <Chart
        label={t('over_time')}
        by={by}
        moments={moments}
        format={(value) => format.number(value)}
        onPick={(index) => pick(moments[index]!, by)}
        series={[
          of('ok', restColor),
          of('client', 'var(--warn-mark)'),
          of('server', 'var(--bad-mark)'),
        ]}
      />
    </Panel>
  )
}
