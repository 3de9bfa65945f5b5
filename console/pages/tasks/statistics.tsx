// Tasks of the last hours by state, and the durations by model.

import { Group, Select, SimpleGrid, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type {
  TaskDurations as Durations,
  TaskSummary as Summary,
} from '../../../src/admin/tasks/task-schema.ts'
import { Chart } from '../../components/charts/chart.tsx'
import { LazyPlot } from '../../components/charts/lazy-plot.tsx'
import { gutterPx } from '../../components/charts/plot-layout.ts'
import { TipBox } from '../../components/charts/tip-box.tsx'
import { ErrorAlert, Panel } from '../../components/page.tsx'
import { taskStateColors } from '../../components/tasks/state-colors.ts'
import type { Query } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { states } from '../../lib/resources/task.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'

const refetchMs = 10_000

export function TaskStatistics({ filters }: { filters: Query }) {
  const t = useMessages(messages)
  const format = useFormat()
  const [hours = '24', setHours] = useQueryValue('hours')
  const { state: _, ...rest } = filters
  const query = { ...rest, hours: ['1', '24', '168'].includes(hours) ? hours : '24' }
  const { data, error } = useResource<Summary>('/tasks/summary', {
    query,
    refetchInterval: refetchMs,
  })
  if (data === undefined) return <ErrorAlert error={error} />
  const shown = states.filter((state) => data.slots.some(({ counts }) => (counts[state] ?? 0) > 0))
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      <Panel title={t('by_state')}>
        <Group justify="flex-end">
          <Select
            size="xs"
            w={130}
            aria-label={t('span')}
            allowDeselect={false}
            value={query.hours}
            onChange={(next) =>
              setHours(next === '24' ? undefined : (next ?? undefined), 'replace')
            }
            data={[
              { value: '1', label: t('hour') },
              { value: '24', label: t('day') },
              { value: '168', label: t('week') },
            ]}
          />
        </Group>
        <Chart
          label={t('by_state')}
          moments={data.slots.map(({ at }) => Date.parse(at))}
          series={shown.map((state) => ({
            name: t(state),
            color: taskStateColors[state],
            values: data.slots.map(({ counts }) => counts[state] ?? 0),
          }))}
          format={(value) => format.number(value)}
        />
        {data.counted_since !== data.from && (
          <Text size="xs" c="dimmed">
            {t('counted_since', { when: format.time(data.counted_since) })}
          </Text>
        )}
      </Panel>
      <Panel title={t('durations')}>
        {data.durations.length === 0 && (
          <Text size="sm" c="dimmed">
            {t('no_durations')}
          </Text>
        )}
        <Stack gap="xs" mah={260} style={{ overflow: 'auto' }} tabIndex={0}>
          {data.durations.map((each) => (
            <DurationHistogram key={each.model} of={each} />
          ))}
        </Stack>
      </Panel>
    </SimpleGrid>
  )
}

const heightPx = 90

/** One model: how many took how long, from the shortest to the longest. */
function DurationHistogram({ of: { model, tasks, p50_ms, p90_ms, bars } }: { of: Durations }) {
  const t = useMessages(messages)
  const format = useFormat()
  const [at, setAt] = useState<{ index: number; leftPx: number }>()
  const bar = bars[at?.index ?? -1]
  const color = 'var(--c1)'
  return (
    <div>
      <Text size="sm" fw={600}>
        {model}
      </Text>
      <Text size="xs" c="dimmed">
        {t('spread', { n: tasks, p50: format.ms(p50_ms), p90: format.ms(p90_ms) })}
      </Text>
      <div
        style={{ position: 'relative' }}
        role="img"
        aria-label={`${t('durations')}: ${model}, ${bars
          .map((each) => `≤ ${format.ms(each.to_ms)}: ${format.number(each.tasks)}`)
          .join(', ')}`}
      >
        <LazyPlot
          kind="bars"
          xs={bars.map((_, i) => i)}
          series={[{ name: model, color, values: bars.map((each) => each.tasks) }]}
          heightPx={heightPx}
          zone={undefined}
          axes={{
            x: (x) => (Number.isInteger(x) && bars[x] ? format.ms(bars[x].from_ms) : ''),
            y: format.compact,
          }}
          onCursor={(index, leftPx) => setAt(index === null ? undefined : { index, leftPx })}
        />
        {bar !== undefined && (
          <TipBox
            leftPx={(at?.leftPx ?? 0) + gutterPx.left}
            title={`${format.ms(bar.from_ms)} – ${format.ms(bar.to_ms)}`}
            rows={[{ name: t('title'), color, value: bar.tasks }]}
            format={format.number}
            totalName={undefined}
          />
        )}
      </div>
    </div>
  )
}
