// How the gateway is doing: the process, its database, work in the background, what it complained of,
// and the books proven on request.
import { Alert, Button, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useAction } from '../../lib/action.ts'
import { ask } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { maySee, useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { CopyId } from '../../parts/copy.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ErrorNote, Page, Panel } from '../../parts/page.tsx'
import { Facts } from '../../parts/sheet.tsx'
import { State, Time } from '../../parts/values.tsx'
import { Complaints } from './complaints.tsx'
import type { Health } from './health.ts'
import { words } from './words.ts'

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
    <Page
      title={say('title')}
      hint={say('hint')}
      actions={session.role === 'administrator' ? <Bundle /> : undefined}
    >
      <ErrorNote error={error} />
      {data !== undefined && (
        <>
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <Process health={data} />
            <Database health={data} />
            <Work health={data} />
            <Gateways health={data} />
          </SimpleGrid>
          <Complaints health={data} />
        </>
      )}
      {maySee(session, ['finance']) && <Books />}
    </Page>
  )
}

function Bundle() {
  const say = useWords(words)
  return (
    <Button
      component="a"
      href="/admin/v1/diagnostics"
      download
      variant="default"
      title={say('bundle_hint')}
      leftSection={<Icon name="download" size={16} />}
    >
      {say('bundle')}
    </Button>
  )
}

function Process({ health }: { health: Health }) {
  const say = useWords(words)
  const format = useFormat()
  const { memory, event_loop_delay_ms: delay } = health
  return (
    <Panel title={say('process')}>
      <Facts
        rows={[
          [say('version'), health.version],
          [say('started'), <Time key="s" at={health.started_at} />],
          [say('calls'), format.number(health.calls_running)],
          [say('memory'), format.size(memory.rss_bytes)],
          [say('delay'), `${delay.mean} / ${delay.p99} ms`],
          [say('load'), health.load.toFixed(2)],
        ]}
      />
    </Panel>
  )
}

function Database({ health: { store, disk } }: { health: Health }) {
  const say = useWords(words)
  const format = useFormat()
  const state = store.healthy ? 'good' : 'bad'
  const free =
    disk === null
      ? undefined
      : say('disk_value', {
          free: format.size(disk.free_bytes),
          total: format.size(disk.total_bytes),
        })
  return (
    <Panel title={say('store')}>
      <Facts
        rows={[
          [say('version'), `${store.engine} ${store.version ?? ''}`],
          [
            say('writes'),
            <State key="w" state={store.healthy ? 'good' : 'failed'} label={say(state)} />,
          ],
          [say('schema'), store.schema],
          [say('size'), store.bytes === null ? undefined : format.size(store.bytes)],
          [say('disk'), free],
        ]}
      />
    </Panel>
  )
}

function Work({ health: { jobs, poller } }: { health: Health }) {
  const say = useWords(words)
  const format = useFormat()
  return (
    <Panel title={say('work')}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{say('job')}</Table.Th>
            <Table.Th ta="right">{say('waiting')}</Table.Th>
            <Table.Th ta="right">{say('late')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {jobs.map(({ name, waiting, late_ms }) => (
            <Table.Tr key={name}>
              <Table.Td>{say(name)}</Table.Td>
              <Table.Td ta="right">{format.number(waiting)}</Table.Td>
              <Table.Td ta="right">{format.ms(late_ms)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Facts
        rows={[
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
        <Button
          variant="default"
          loading={isBusy}
          onClick={prove}
          style={{ alignSelf: 'flex-start' }}
        >
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
