// The health of the gateway: the process, its database, background jobs, recent errors, and the ledger
// verified on request.

import { Alert, Button, SimpleGrid, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Audit } from '../../../src/admin/money/audit-schema.ts'
import { CopyId } from '../../components/copy.tsx'
import { PropertyList } from '../../components/drawer.tsx'
import { Icon } from '../../components/icon.tsx'
import { ErrorAlert, Page, Panel } from '../../components/page.tsx'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { State, Time } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Health } from '../../lib/resources/health.ts'
import { Link } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'
import { RecentErrors } from './recent-errors.tsx'

const refetchMs = 3_000

export default function HealthPage() {
  const t = useMessages(messages)
  const session = useSession()
  const { data, error } = useResource<Health>('/health', { refetchInterval: refetchMs })
  return (
    <Page
      title={t('title')}
      hint={t('hint')}
      actions={session.role === 'administrator' ? <Bundle /> : undefined}
    >
      <ErrorAlert error={error} />
      {data !== undefined && (
        <>
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <Process health={data} />
            <Database health={data} />
            <Work health={data} />
            <Gateways health={data} />
          </SimpleGrid>
          <RecentErrors health={data} />
        </>
      )}
      {hasRole(session, ['finance']) && <LedgerAudit />}
    </Page>
  )
}

function Bundle() {
  const t = useMessages(messages)
  return (
    <Button
      component="a"
      href="/admin/v1/diagnostics"
      download
      variant="default"
      title={t('bundle_hint')}
      leftSection={<Icon name="download" size={16} />}
    >
      {t('bundle')}
    </Button>
  )
}

function Process({ health }: { health: Health }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { memory, event_loop_delay_ms: delay } = health
  return (
    <Panel title={t('process')}>
      <PropertyList
        rows={[
          [t('version'), health.version],
          [t('started'), <Time key="s" at={health.started_at} />],
          [t('calls'), format.number(health.requests_in_flight)],
          [t('memory'), format.size(memory.rss_bytes)],
          [t('delay'), `${delay.mean} / ${delay.p99} ms`],
          [t('load'), format.number(Math.round(health.load * 100) / 100)],
        ]}
      />
    </Panel>
  )
}

function Database({ health: { store, disk } }: { health: Health }) {
  const t = useMessages(messages)
  const format = useFormat()
  const state = store.healthy ? 'good' : 'bad'
  const free =
    disk === null
      ? undefined
      : t('disk_value', {
          free: format.size(disk.free_bytes),
          total: format.size(disk.total_bytes),
        })
  return (
    <Panel title={t('store')}>
      <PropertyList
        rows={[
          [t('version'), `${store.engine} ${store.version ?? ''}`],
          [
            t('writes'),
            <State key="w" state={store.healthy ? 'good' : 'failed'} label={t(state)} />,
          ],
          [t('schema'), store.schema],
          [t('size'), store.bytes === null ? undefined : format.size(store.bytes)],
          [t('disk'), free],
        ]}
      />
    </Panel>
  )
}

/** The tasks that a job has to do with. */
const waitingPaths = {
  tasks: '/tasks?state=running',
  callbacks: '/tasks?callback=waiting',
} as const satisfies Record<Health['jobs'][number]['name'], string>

function Work({ health: { jobs, poller } }: { health: Health }) {
  const t = useMessages(messages)
  const format = useFormat()
  return (
    <Panel title={t('work')}>
      <SimpleTable
        label={t('work')}
        rows={jobs}
        rowKey={({ name }) => name}
        columns={[
          { title: t('job'), cell: ({ name }) => t(name) },
          {
            title: t('waiting'),
            align: 'right',
            cell: ({ name, waiting }) => (
              <Link to={waitingPaths[name]} aria-label={`${t(name)}: ${format.number(waiting)}`}>
                {format.number(waiting)}
              </Link>
            ),
          },
          { title: t('late'), align: 'right', cell: ({ late_ms }) => format.ms(late_ms) },
        ]}
      />
      <PropertyList
        rows={[
          [t('polls'), format.number(poller.polls)],
          [t('lag'), `${format.ms(poller.lag_p50_ms)} / ${format.ms(poller.lag_p99_ms)}`],
        ]}
      />
    </Panel>
  )
}

function Gateways({ health: { gateway, gateways } }: { health: Health }) {
  const t = useMessages(messages)
  return (
    <Panel title={t('gateways')}>
      {gateways.length === 0 ? (
        <Text c="dimmed">{t('single_gateway')}</Text>
      ) : (
        <SimpleTable
          label={t('gateways')}
          rows={gateways}
          rowKey={({ id }) => id}
          columns={[
            { title: 'ID', cell: ({ id }) => <CopyId id={id} max={30} /> },
            { title: t('started'), cell: ({ started_at }) => <Time at={started_at} how="ago" /> },
            { title: '', cell: ({ id }) => id === gateway && t('this_one') },
          ]}
        />
      )}
    </Panel>
  )
}

function LedgerAudit() {
  const t = useMessages(messages)
  const server = useServerText()
  const [audit, setAudit] = useState<Audit>()
  const { error, isBusy, run } = useAction()
  const verify = () => run(async () => setAudit(await api<Audit>('POST', '/audit')))
  return (
    <Panel title={t('books')}>
      <Stack>
        <Button
          variant="default"
          loading={isBusy}
          onClick={verify}
          style={{ alignSelf: 'flex-start' }}
        >
          {t('audit')}
        </Button>
        <ErrorAlert error={error} />
        {audit?.ok === true && <Alert color="teal">{t('clean', { ...count(audit) })}</Alert>}
        {audit?.ok === false && (
          <Alert color="red" title={t('problems', { n: audit.problems.length })}>
            {audit.problems.slice(0, 50).map(({ check, account, ref, problem }) => (
              <Text key={`${account}${ref}${problem}`} size="sm">
                {server.text('ledger_check', check)} · {account ?? ref}: {server.sentence(problem)}
              </Text>
            ))}
          </Alert>
        )}
      </Stack>
    </Panel>
  )
}

const count = ({ accounts, entries }: Audit) => ({ accounts, entries })
