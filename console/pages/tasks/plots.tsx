// What became of the tasks of the last hours, and how long those of each model took.
import { Group, Select, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ask, type Query } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useWords } from '../../lib/words.ts'
import { Bars } from '../../parts/chart.tsx'
import { ErrorNote, Panel } from '../../parts/page.tsx'
import { type State, states } from './task.ts'
import { words } from './words.ts'

interface Summary {
  from: string
  counted_since: string
  slots: { at: string; counts: Partial<Record<State, number>> }[]
  durations: Durations[]
}

interface Durations {
  model: string
  tasks: number
  p50_ms: number
  p90_ms: number
  bars: { from_ms: number; to_ms: number; tasks: number }[]
}

const everyMs = 10_000

const colors: Readonly<Record<State, string>> = {
  accepted: 'var(--mantine-color-gray-5)',
  unknown: 'var(--mantine-color-yellow-6)',
  queued: 'var(--mantine-color-gray-6)',
  running: 'var(--mantine-color-blue-6)',
  succeeded: 'var(--mantine-color-teal-6)',
  failed: 'var(--mantine-color-red-6)',
  cancelled: 'var(--mantine-color-dark-3)',
}

export function TaskPlots({ filters }: { filters: Query }) {
  const say = useWords(words)
  const format = useFormat()
  const [hours = '24', setHours] = useQueryValue('hours')
  const { state: _, ...rest } = filters
  const query = { ...rest, hours: ['1', '24', '168'].includes(hours) ? hours : '24' }
  const { data, error } = useQuery({
    queryKey: ['task-summary', query],
    queryFn: ({ signal }) => ask<Summary>('GET', '/tasks/summary', { query, signal }),
    refetchInterval: everyMs,
  })
  if (data === undefined) return <ErrorNote error={error} />
  const seen = states.filter((state) => data.slots.some(({ counts }) => (counts[state] ?? 0) > 0))
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      <Panel title={say('by_state')}>
        <Group justify="flex-end">
          <Select
            size="xs"
            w={130}
            aria-label={say('span')}
            allowDeselect={false}
            value={query.hours}
            onChange={(next) =>
              setHours(next === '24' ? undefined : (next ?? undefined), 'replace')
            }
            data={[
              { value: '1', label: say('hour') },
              { value: '24', label: say('day') },
              { value: '168', label: say('week') },
            ]}
          />
        </Group>
        <Bars
          label={say('by_state')}
          labels={data.slots.map(({ at }) => format.stamp(at))}
          series={seen.map((state) => ({
            name: say(state),
            color: colors[state],
            values: data.slots.map(({ counts }) => counts[state] ?? 0),
          }))}
          format={(value) => format.number(value)}
        />
        {data.counted_since !== data.from && (
          <Text size="xs" c="dimmed">
            {say('counted_since', { when: format.time(data.counted_since) })}
          </Text>
        )}
      </Panel>
      <Panel title={say('durations')}>
        {data.durations.length === 0 && (
          <Text size="sm" c="dimmed">
            {say('no_durations')}
          </Text>
        )}
        <Stack gap="xs" mah={260} style={{ overflow: 'auto' }} tabIndex={0}>
          {data.durations.map((each) => (
            <Spread key={each.model} of={each} />
          ))}
        </Stack>
      </Panel>
    </SimpleGrid>
  )
}

const [width, height] = [120, 32]
/** A single bar is no wall. */
const widest = 10

/** One model: how many took how long, from the shortest to the longest. */
function Spread({ of: { model, tasks, p50_ms, p90_ms, bars } }: { of: Durations }) {
  const say = useWords(words)
  const format = useFormat()
  const most = Math.max(...bars.map((bar) => bar.tasks), 1)
  const step = Math.min(widest, width / bars.length)
  const between = (from: number, to: number) => `${format.ms(from)} – ${format.ms(to)}`
  return (
    <Group justify="space-between" gap="xs" align="flex-end" wrap="nowrap">
      <div>
        <Text size="sm" fw={600}>
          {model}
        </Text>
        <Text size="xs" c="dimmed">
          {say('spread', { n: tasks, p50: format.ms(p50_ms), p90: format.ms(p90_ms) })}
        </Text>
      </div>
      <svg
        width={step * bars.length}
        height={height}
        role="img"
        aria-label={`${say('durations')}: ${model}`}
      >
        {bars.map(({ from_ms, to_ms, tasks: count }, i) => {
          const tall = (count / most) * (height - 2)
          return (
            <rect
              key={`${from_ms} ${to_ms}`}
              x={i * step + 0.5}
              y={height - tall}
              width={Math.max(1, step - 1)}
              height={tall}
              fill="var(--mantine-color-teal-6)"
            >
              <title>{`${between(from_ms, to_ms)}: ${format.number(count)}`}</title>
            </rect>
          )
        })}
      </svg>
    </Group>
  )
}
