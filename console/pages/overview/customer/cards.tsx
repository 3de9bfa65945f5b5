// Six figures with a sparkline, the change against the previous period, and a link to the details.
import { Box, Card, Group, SimpleGrid, Text } from '@mantine/core'
import type { TaskSlot } from '../../../../src/admin/tasks/task-schema.ts'
import { Sparkline } from '../../../components/charts/sparkline.tsx'
import { tabularNumbers } from '../../../components/values.tsx'
import { type Format, useFormat } from '../../../lib/format.ts'
import type { Translate } from '../../../lib/i18n.ts'
import { useMessages } from '../../../lib/messages.ts'
import { periodOf, type UsageRow, useUsage } from '../../../lib/resources/usage.ts'
import { Link } from '../../../lib/router.tsx'
import { useSession } from '../../../lib/session.ts'
import { useSpend } from '../charges.ts'
import { type Compared, Delta } from '../figure.tsx'
import { lineOf, quantityOf, requestsIn, retriesIn, successIn, successLine } from '../figures.ts'
import { requestsAt } from '../links.ts'
import { messages } from '../messages.ts'
import {
  countOf,
  madeIn,
  runningStates,
  splitSlots,
  useTaskSummary,
  waitingStates,
} from '../task-summary.ts'
import {
  bucketsOf,
  momentsOf,
  noGrouping,
  placed,
  type Range,
  spans,
  useTraffic,
} from '../traffic.ts'

interface Stat extends Compared {
  title: string
  value: string
  /** Where `value` is rounded. */
  exact?: string
  /** A second figure, in small. */
  note?: string
  values: readonly number[]
  to: string
}

interface Sources {
  range: Range
  t: Translate<keyof typeof messages>
  format: Format
  currency: string
}

export function StatCards({ range }: { range: Range }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const sources = { range, t, format, currency }
  const all = [...useBillingStats(sources), ...useTrafficStats(sources), useTaskStat(sources)]
  const order = ['spend', 'requests', 'success', 'latency', 'tasks', 'media'] as const
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm">
      {order.map((name) => {
        const found = all.find(([each]) => each === name)
        return found && <StatCard key={name} figure={found[1]} />
      })}
    </SimpleGrid>
  )
}

/** How much of the charges is not by the usage that upstreams reported. */
const estimatedNote = (
  total: UsageRow | undefined,
  t: Sources['t'],
  format: Format,
): Pick<Stat, 'note'> =>
  total === undefined || total.estimated === 0
    ? {}
    : { note: t('estimated_note', { share: format.percent(total.estimated / total.charges) }) }

type Named = [name: string, figure: Stat]

function useBillingStats({ range, t, format, currency }: Sources): Named[] {
  const { days, moneyBy } = spans[range]
  const { data } = useSpend(range)
  const { data: before } = useUsage(periodOf(days, 1), 'unit', data !== undefined)
  const rows = data?.items ?? []
  const moments = momentsOf(range, moneyBy)
  const per = `days=${days}${moneyBy === 'hour' ? '&per=hour' : ''}`
  const spend: Stat = {
    title: `${t('spend')}, ${currency}`,
    value: format.cost(data?.total.amount),
    exact: format.exact(data?.total.amount, currency),
    ...estimatedNote(data?.total, t, format),
    values: lineOf(rows, moments, moneyBy, ({ amount }) => Number(amount)),
    to: `/usage?${per}`,
    against: {
      now: Number(data?.total.amount ?? Number.NaN),
      before: before && Number(before.total.amount),
    },
  }
  const made: Stat = {
    title: t('images'),
    value: format.number(quantityOf(rows, 'image')),
    note: t('video_note', { seconds: format.number(quantityOf(rows, 'video_second')) }),
    values: lineOf(rows, moments, moneyBy, (row) => quantityOf([row], 'image')),
    to: `/usage?measure=images&${per}`,
    against: {
      now: quantityOf(rows, 'image'),
      before: before && quantityOf(before.items, 'image'),
    },
  }
  return [
    ['spend', spend],
    ['media', made],
  ]
}

function useTrafficStats(sources: Sources): Named[] {
  const { range, t, format } = sources
  const { by, days } = spans[range]
  const rows = useTraffic(range, `${by},status`).data?.items ?? []
  const before = useTraffic(range, 'status', 1, rows.length > 0).data?.items
  const buckets = bucketsOf(range, rows)
  const success = successIn(rows)
  const retries = retriesIn(rows)
  const requests: Stat = {
    title: t('requests'),
    value: format.number(requestsIn(rows)),
    ...(retries > 0 && { note: t('retries_note', { n: format.number(retries) }) }),
    values: buckets.map(({ ok, client, server }) => ok + client + server),
    to: requestsAt(periodOf(days)),
    against: { now: requestsIn(rows), before: before && requestsIn(before) },
  }
  const answered: Stat = {
    title: t('success'),
    value: Number.isNaN(success) ? '–' : format.percent(success),
    values: successLine(buckets),
    to: requestsAt(periodOf(days)),
    against: { now: success, before: before && successIn(before) },
    kind: 'share',
    good: 'up',
  }
  return [
    ['requests', requests],
    ['success', answered],
    ['latency', useLatencyStat(sources)],
  ]
}

function useLatencyStat({ range, t, format }: Sources): Stat {
  const now = useTraffic(range, noGrouping).data
  const whole = now?.items[0]
  const wholeBefore = useTraffic(range, noGrouping, 1, now !== undefined).data?.items[0]
  const rows = placed(range, useTraffic(range, spans[range].by).data?.items ?? [])
  // The traffic of an account has no percentiles, only the average.
  const hasPercentiles = whole === undefined || whole.p95_ms !== null
  const took = (row: typeof whole) => (hasPercentiles ? row?.p95_ms : row?.average_ms) ?? undefined
  return {
    title: t(hasPercentiles ? 'latency' : 'latency_average'),
    value: format.ms(took(whole)),
    note: t('first_byte_note', { ms: format.ms(whole?.average_first_byte_ms) }),
    values: rows.map((row) => took(row) ?? 0),
    to: requestsAt(periodOf(spans[range].days), '&plot=latency'),
    against: { now: took(whole) ?? Number.NaN, before: took(wholeBefore) },
    good: 'down',
  }
}

function useTaskStat({ range, t, format }: Sources): Named {
  const { data } = useTaskSummary(range)
  const slots = data?.slots ?? []
  const { now, before } = splitSlots(slots)
  const made = (all: readonly TaskSlot[]) => all.reduce((sum, slot) => sum + madeIn(slot), 0)
  const figure: Stat = {
    title: t('tasks_created'),
    value: data === undefined ? '–' : format.number(made(now)),
    note: t('tasks_note', {
      running: format.number(countOf(slots, runningStates)),
      n: format.number(countOf(slots, waitingStates)),
    }),
    values: now.map(madeIn),
    to: '/tasks',
    against: { now: made(now), before: made(before) },
  }
  return ['tasks', figure]
}

function StatCard({ figure }: { figure: Stat }) {
  const { title, value, exact = value, note, values, to } = figure
  return (
    <Card component={Link} to={to} withBorder padding="sm" style={{ minWidth: 0 }}>
      <Text size="xs" c="dimmed" truncate title={title}>
        {title}
      </Text>
      <Group gap={6} justify="space-between" align="baseline">
        <Text fw={600} fz="xl" lh={1.3} style={tabularNumbers} title={exact}>
          {value}
        </Text>
        <Delta {...figure} />
      </Group>
      <Text size="xs" c="dimmed" style={{ ...tabularNumbers, whiteSpace: 'normal' }} mih={18}>
        {note}
      </Text>
      <Box mt="auto">
        <Sparkline values={values} />
      </Box>
    </Card>
  )
}
