// Charts over time: latency, and tasks by state.
import { Group, SimpleGrid, Text } from '@mantine/core'
import { Chart } from '../../components/charts/chart.tsx'
import { seriesColors } from '../../components/charts/series.ts'
import { Panel } from '../../components/page.tsx'
import { taskMessages } from '../../components/tasks/messages.ts'
import { taskStateColors } from '../../components/tasks/state-colors.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { states } from '../../lib/resources/task.ts'
import { Link } from '../../lib/router.tsx'
import { Figure } from './figure.tsx'
import { messages } from './messages.ts'
import {
  countOf,
  madeIn,
  runningStates,
  splitSlots,
  useTaskSummary,
  waitingStates,
} from './task-summary.ts'
import { momentsOf, noGrouping, placed, type Range, spans, useTraffic } from './traffic.ts'

export const Charts = ({ range }: { range: Range }) => (
  <SimpleGrid cols={{ base: 1, md: 2 }}>
    <LatencyChart range={range} />
    <TasksChart range={range} />
  </SimpleGrid>
)

function LatencyChart({ range }: { range: Range }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { by } = spans[range]
  const rows = placed(range, useTraffic(range, by).data?.items ?? [])
  const whole = useTraffic(range, noGrouping).data?.items[0]
  // An account's traffic has no shares of time, only the average.
  const isShare = whole === undefined || whole.p95_ms !== null
  const line = (
    name: 'p50_ms' | 'p95_ms' | 'average_ms' | 'average_first_byte_ms',
    shade: string,
  ) => ({
    name: t(name),
    color: shade,
    values: rows.map((row) => row?.[name] ?? null),
    total: format.ms(whole?.[name]),
  })
  const shown = isShare
    ? [line('p50_ms', seriesColors[0]!), line('p95_ms', seriesColors[1]!)]
    : [line('average_ms', seriesColors[0]!)]
  return (
    <Panel title={t('latency_over_time')}>
      <Chart
        label={t('latency_over_time')}
        kind="lines"
        by={by}
        moments={momentsOf(range, by)}
        format={(value) => format.ms(value)}
        axis={format.span}
        series={[...shown, line('average_first_byte_ms', seriesColors[4]!)]}
      />
    </Panel>
  )
}

function TasksChart({ range }: { range: Range }) {
  const t = useMessages(messages)
  const stateName = useMessages(taskMessages)
  const format = useFormat()
  const { data } = useTaskSummary(range)
  const slots = data?.slots ?? []
  const { now, before } = splitSlots(slots)
  const made = (all: typeof slots) => all.reduce((sum, slot) => sum + madeIn(slot), 0)
  const shownStates = states.filter((state) => countOf(now, [state]) > 0)
  return (
    <Panel title={t('tasks_over_time')}>
      <Figure
        title={t('tasks_created')}
        value={data === undefined ? '–' : format.number(made(now))}
        to="/tasks"
        against={{ now: made(now), before: made(before) }}
      />
      <Chart
        label={t('tasks_over_time')}
        moments={now.map(({ at }) => Date.parse(at))}
        format={(value) => format.number(value)}
        series={shownStates.map((state) => ({
          name: stateName(state),
          color: taskStateColors[state],
          values: now.map(({ counts }) => counts[state] ?? 0),
        }))}
      />
      <Group gap="md" mt="xs">
        <Text size="sm" c="dimmed">
          {t('queue')}
        </Text>
        {[...runningStates, ...waitingStates].map((state) => (
          <Text key={state} size="sm">
            <Link to={`/tasks?state=${state}`}>
              {stateName(state)} {format.number(countOf(slots, [state]))}
            </Link>
          </Text>
        ))}
      </Group>
    </Panel>
  )
}
