// How the gateway is doing: processes, store, poller, memory, and the books proven on request.
import { Alert, Button, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useAction } from '../../lib/action.ts'
import { ask } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { maySee, useSession } from '../../lib/session.ts'
import { defineWords, useWords } from '../../lib/words.ts'
import { CopyId } from '../../parts/copy.tsx'
import { ErrorNote, Page, Panel } from '../../parts/page.tsx'
import { Facts } from '../../parts/sheet.tsx'
import { State, Time } from '../../parts/values.tsx'

const words = defineWords({
  en: {
    title: 'Health',
    hint: 'This gateway, those it shares its database with, and the books.',
    version: 'Version',
    started: 'Started',
    store: 'Database',
    schema: 'Schema',
    good: 'Can write',
    bad: 'Cannot write',
    calls: 'Calls running',
    memory: 'Memory',
    delay: 'Event loop delay, mean / p99',
    load: 'Load of the machine',
    poller: 'Task poller',
    looks: 'Looks so far',
    lag: 'Lateness, median / p99',
    gateways: 'Gateways on this database',
    alone: 'This one alone.',
    books: 'Books',
    audit: 'Prove the books now',
    clean: 'Clean: {accounts} accounts, {entries} entries recomputed.',
    problems: '{n} problems found',
    this_one: 'this one',
  },
  zh: {
    title: '健康状况',
    hint: '本网关、与其共享数据库的网关，以及账目。',
    version: '版本',
    started: '启动时间',
    store: '数据库',
    schema: '表结构版本',
    good: '可写',
    bad: '不可写',
    calls: '进行中的调用',
    memory: '内存',
    delay: '事件循环延迟，均值 / p99',
    load: '机器负载',
    poller: '任务轮询',
    looks: '累计查询次数',
    lag: '延迟，中位数 / p99',
    gateways: '共享此数据库的网关',
    alone: '仅此一个。',
    books: '账目',
    audit: '立即核对账目',
    clean: '无误：已重算 {accounts} 个账户、{entries} 条账目。',
    problems: '发现 {n} 个问题',
    this_one: '本网关',
  },
})

interface Health {
  version: string
  started_at: string
  gateway: string
  gateways: { id: string; started_at: string }[]
  store: { engine: string; healthy: boolean; schema: number }
  calls_running: number
  poller: { looks: number; lag_p50_ms: number; lag_p99_ms: number }
  memory: { rss_bytes: number; heap_bytes: number }
  event_loop_delay_ms: { mean: number; p99: number }
  load: number
}

interface Audit {
  ok: boolean
  accounts: number
  entries: number
  problems: { account?: string; ref?: string; problem: string }[]
}

const everyMs = 3_000

export default function HealthPage() {
  const say = useWords(words)
  const session = useSession()
  const { data, error } = useQuery({
    queryKey: ['health'],
    queryFn: () => ask<Health>('GET', '/health'),
    refetchInterval: everyMs,
  })
  return (
    <Page title={say('title')} hint={say('hint')}>
      <ErrorNote error={error} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {data !== undefined && <Figures health={data} />}
        {data !== undefined && <Gateways health={data} />}
        {maySee(session, ['finance']) && <Books />}
      </SimpleGrid>
    </Page>
  )
}

function Figures({ health }: { health: Health }) {
  const say = useWords(words)
  const format = useFormat()
  const { store, memory, event_loop_delay_ms: delay, poller } = health
  return (
    <Panel>
      <Facts
        rows={[
          [say('version'), health.version],
          [say('started'), <Time key="s" at={health.started_at} />],
          [say('store'), store.engine],
          [
            '',
            <State
              key="w"
              state={store.healthy ? 'good' : 'failed'}
              label={say(store.healthy ? 'good' : 'bad')}
            />,
          ],
          [say('schema'), store.schema],
          [say('calls'), format.number(health.calls_running)],
          [say('memory'), `${format.number(Math.round(memory.rss_bytes / 1e6))} MB`],
          [say('delay'), `${delay.mean} / ${delay.p99} ms`],
          [say('load'), health.load.toFixed(2)],
          [say('looks'), format.number(poller.looks)],
          [say('lag'), `${format.ms(poller.lag_p50_ms)} / ${format.ms(poller.lag_p99_ms)}`],
        ]}
      />
    </Panel>
  )
}

function Gateways({ health: { gateway, gateways } }: { health: Health }) {
  const say = useWords(words)
  return (
    <Panel title={say('gateways')}>
      {gateways.length === 0 ? (
        <Text c="dimmed">{say('alone')}</Text>
      ) : (
        <Table>
          <Table.Tbody>
            {gateways.map(({ id, started_at }) => (
              <Table.Tr key={id}>
                <Table.Td>
                  <CopyId id={id} most={30} />
                </Table.Td>
                <Table.Td>
                  <Time at={started_at} how="ago" />
                </Table.Td>
                <Table.Td>{id === gateway && say('this_one')}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Panel>
  )
}

function Books() {
  const say = useWords(words)
  const [audit, setAudit] = useState<Audit>()
  const { error, isBusy, run } = useAction()
  const prove = () => run(async () => setAudit(await ask<Audit>('POST', '/audit')))
  return (
    <Panel title={say('books')}>
      <Stack>
        <Button variant="default" loading={isBusy} onClick={prove}>
          {say('audit')}
        </Button>
        <ErrorNote error={error} />
        {audit?.ok === true && <Alert color="teal">{say('clean', { ...count(audit) })}</Alert>}
        {audit?.ok === false && (
          <Alert color="red" title={say('problems', { n: audit.problems.length })}>
            {audit.problems.slice(0, 50).map(({ account, ref, problem }) => (
              <Text key={`${account}${ref}${problem}`} size="sm">
                {account ?? ref}: {problem}
              </Text>
            ))}
          </Alert>
        )}
      </Stack>
    </Panel>
  )
}

const count = ({ accounts, entries }: Audit) => ({ accounts, entries })
