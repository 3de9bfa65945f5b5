// The first page: how much is asked, how well it is answered, what it brings in, and what needs
// somebody.
import { Card, Grid, SegmentedControl, SimpleGrid, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ask, type Page as ListPage } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { Link, useQueryValue } from '../../lib/router.tsx'
import { maySee, useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { Bars, Spark } from '../../parts/chart.tsx'
import { ErrorNote, Page, Panel } from '../../parts/page.tsx'
import { periodOf, useUsage } from '../usage/usage.ts'
import { Alerts } from './alerts.tsx'
import { ChannelList } from './channel-list.tsx'
import { FirstSteps } from './first-steps.tsx'
import { columnsOf, type Range, spans, spendOf, type TrafficRow, useTraffic } from './traffic.ts'
import { words } from './words.ts'

const green = 'var(--mantine-color-teal-6)'
const orange = 'var(--mantine-color-orange-6)'
const red = 'var(--mantine-color-red-6)'
const blue = 'var(--mantine-color-indigo-5)'

export default function Overview() {
  const say = useWords(words)
  const session = useSession()
  const [asked = 'day', setRange] = useQueryValue('range')
  const range: Range = asked === 'week' || asked === 'month' ? asked : 'day'
  const isStaff = session.role !== 'member'
  const traffic = useTraffic(range, `${spans[range].by},status`)
  const rows = traffic.data?.items ?? []
  return (
    <Page
      title={say('title')}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={say('range')}
          value={range}
          onChange={(value) => setRange(value === 'day' ? undefined : value, 'replace')}
          data={(['day', 'week', 'month'] as const).map((value) => ({ value, label: say(value) }))}
        />
      }
    >
      <FirstSteps hasRequests={rows.length > 0} />
      <ErrorNote error={traffic.error} />
      <Cards range={range} rows={rows} />
      <Charts range={range} rows={rows} />
      {isStaff && (
        <Grid>
          <Grid.Col span={{ base: 12, md: 4 }}>
            <Panel title={say('alerts')}>
              <Alerts />
            </Panel>
          </Grid.Col>
          {maySee(session, ['operator']) && (
            <Grid.Col span={{ base: 12, md: 4 }}>
              <Panel title={say('channels')}>
                <ChannelList />
              </Panel>
            </Grid.Col>
          )}
          <Grid.Col span={{ base: 12, md: 4 }}>
            <Panel title={say('models')}>
              <TopModels range={range} />
            </Panel>
          </Grid.Col>
        </Grid>
      )}
    </Page>
  )
}

const sum = (rows: readonly TrafficRow[], value: (row: TrafficRow) => number): number =>
  rows.reduce((total, row) => total + value(row), 0)

function useRunning() {
  return useQuery({
    queryKey: ['running-tasks'],
    queryFn: () =>
      ask<ListPage<unknown>>('GET', '/tasks', { query: { state: 'running', limit: 500 } }),
    refetchInterval: 5_000,
  })
}

/** Tasks are charged when they end, apart from the request that made them. */
const useSpend = (range: Range) => {
  const { hours, by } = spans[range]
  return useUsage(periodOf(hours / 24), by).data
}

function Cards({ range, rows }: { range: Range; rows: readonly TrafficRow[] }) {
  const say = useWords(words)
  const format = useFormat()
  const { currency, role } = useSession()
  const whole = useTraffic(range, role === 'member' ? 'day' : '')
  const running = useRunning()
  const spend = useSpend(range)
  const spent = spendOf(range, spend?.items ?? [])
  const columns = columnsOf(range, rows, (at) => at)
  const requests = sum(rows, (row) => row.requests)
  const good = sum(rows, (row) => ((row.status ?? 200) < 400 ? row.requests : 0))
  const all = whole.data?.items[0]
  const live = running.data?.items.length ?? 0
  const trend = (value: (column: (typeof columns)[number]) => number) => columns.map(value)
  const cards: [string, string, readonly number[] | undefined, string][] = [
    [say('spend'), format.money(spend?.total.amount, currency), spent, '/usage'],
    [
      say('requests'),
      format.number(requests),
      trend((c) => c.ok + c.client + c.server),
      '/requests',
    ],
    [
      say('success'),
      requests === 0 ? '–' : format.percent(good / requests),
      undefined,
      '/requests',
    ],
    [say('latency'), format.ms(all?.p95_ms), undefined, '/requests'],
    [say('first_byte'), format.ms(all?.average_first_byte_ms), undefined, '/requests'],
    [say('tasks'), live >= 500 ? '500+' : format.number(live), undefined, '/tasks?state=running'],
  ]
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }}>
      {cards.map(([title, value, values, to]) => (
        <Card key={title} withBorder padding="sm">
          <Text size="xs" c="dimmed">
            {title}
          </Text>
          <Link to={to} className="card-link">
            {value}
          </Link>
          {values !== undefined && <Spark values={values} />}
        </Card>
      ))}
    </SimpleGrid>
  )
}

function Charts({ range, rows }: { range: Range; rows: readonly TrafficRow[] }) {
  const say = useWords(words)
  const format = useFormat()
  const { currency } = useSession()
  const columns = columnsOf(range, rows, (at) =>
    spans[range].by === 'day' ? format.day(at) : format.stamp(at).slice(0, -3),
  )
  const labels = columns.map(({ label }) => label)
  const spent = spendOf(range, useSpend(range)?.items ?? [])
  return (
    <Grid>
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Panel title={say('over_time')}>
          <Bars
            label={say('over_time')}
            labels={labels}
            format={(value) => format.number(value)}
            series={[
              { name: say('ok'), color: green, values: columns.map(({ ok }) => ok) },
              { name: say('client'), color: orange, values: columns.map(({ client }) => client) },
              { name: say('server'), color: red, values: columns.map(({ server }) => server) },
            ]}
          />
        </Panel>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Panel title={say('spend_over_time')}>
          <Bars
            label={say('spend_over_time')}
            labels={labels}
            format={(value) => format.money(value.toFixed(6), currency)}
            series={[{ name: say('spend'), color: blue, values: spent }]}
          />
        </Panel>
      </Grid.Col>
    </Grid>
  )
}

const mostModels = 8

function TopModels({ range }: { range: Range }) {
  const format = useFormat()
  const { data } = useTraffic(range, 'model')
  const top = [...(data?.items ?? [])].sort((a, b) => b.requests - a.requests).slice(0, mostModels)
  if (top.length === 0) return <Text c="dimmed">–</Text>
  return top.map(({ model, requests }) => (
    <Text key={model ?? ''} size="sm" style={{ display: 'flex', justifyContent: 'space-between' }}>
      <Link to={`/requests?model=${encodeURIComponent(model ?? '')}`}>{model ?? '–'}</Link>
      <span>{format.number(requests)}</span>
    </Text>
  ))
}
