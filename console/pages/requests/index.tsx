// The request log, newest first, with filters in the address.
import { Button, Switch, Text } from '@mantine/core'
import { useState } from 'react'
import { CopyBlock } from '../../components/copy.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Page } from '../../components/page.tsx'
import { ExportButton } from '../../components/table/export-button.tsx'
import { channelFilter, type Filter, useFilters } from '../../components/table/filter-bar.tsx'
import { ListTable } from '../../components/table/list-table.tsx'
import { useServedSort } from '../../components/table/served-sort.ts'
import type { Query } from '../../lib/api.ts'
import { snippets } from '../../lib/client-snippets.ts'
import { type List, useList, useNewRows } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import type { LoggedRequest } from '../../lib/resources/request.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { isStaff, useSession } from '../../lib/session.ts'
import { useColumns } from './columns.tsx'
import { RequestDrawer } from './drawer.tsx'
import { RequestHistogram } from './histogram.tsx'
import { LatencyScatter } from './latency-scatter.tsx'
import { messages } from './messages.ts'

/** How often new rows are asked for: while they are put on top, and else. */
const liveMs = 2_000
const idleMs = 5_000

/** Columns by which the server sorts. */
const served = { time: 'time', cost: 'charge', total: 'duration' }

const rowKey = ({ request_id }: LoggedRequest) => request_id

export default function Requests() {
  const t = useMessages(messages)
  const session = useSession()
  const { public_url } = session
  const filters: Filter[] = [
    { name: 'id', title: t(isStaff(session) ? 'any_id' : 'request_id') },
    { name: 'account', title: t('account'), suggest: 'accounts' },
    { name: 'token', title: t('token'), suggest: 'tokens' },
    { name: 'model', title: t('model'), suggest: 'models' },
    ...(isStaff(session) ? [channelFilter(t('channel'))] : []),
    { name: 'status', title: t('status'), suggest: 'status' },
    { name: 'error_code', title: t('error_code'), suggest: 'error_codes' },
    {
      name: 'retry',
      title: t('retry_filter'),
      options: [{ value: 'true', label: t('only_retries') }],
    },
    { name: 'tag', title: t('tag') },
    { name: 'end_user', title: t('end_user') },
    { name: 'from', title: t('from'), isTime: true },
    { name: 'to', title: t('to'), isTime: true },
  ]
  const query = useFilters(filters)
  const order = useServedSort(served)
  const list = useList<LoggedRequest>('/requests', { ...query, ...order })
  const [opened, setOpened] = useQueryValue('open')
  const [plot, setPlot] = useQueryValue('plot')
  const [, setStatus] = useQueryValue('status')
  const columns = useColumns()
  return (
    <Page title={t('title')} hint={t(isStaff(session) ? 'hint' : 'hint_own')}>
      <ListTable
        label={t('title')}
        list={list}
        columns={columns}
        rowKey={rowKey}
        filters={filters}
        served={served}
        tools={
          <>
            <Button
              variant={plot === undefined ? 'subtle' : 'light'}
              size="xs"
              aria-pressed={plot !== undefined}
              onClick={() => setPlot(plot === undefined ? 'latency' : undefined, 'replace')}
            >
              {t('latency')}
            </Button>
            <Button
              variant={query['status'] === 'failed' ? 'light' : 'subtle'}
              size="xs"
              aria-pressed={query['status'] === 'failed'}
              onClick={() => setStatus(query['status'] === 'failed' ? undefined : 'failed')}
            >
              {t('failed')}
            </Button>
            {order['sort'] === undefined && <LiveTail list={list} query={query} />}
            <ExportButton path="/requests" filters={query} size="xs" />
          </>
        }
        empty={
          <EmptyState icon="requests" text={t('empty')}>
            <CopyBlock text={snippets(public_url)[0]!.code} label="curl" />
            <Text size="xs" c="dimmed">
              {t('not_stored')}
            </Text>
          </EmptyState>
        }
      >
        <RequestHistogram filters={query} />
        {plot !== undefined && <LatencyScatter rows={list.rows} onOpen={setOpened} />}
      </ListTable>
      <RequestDrawer id={opened} onClose={() => setOpened(undefined)} />
    </Page>
  )
}

/** New rows on top as they come, until paused; else a button that says how many there are. */
function LiveTail({ list, query }: { list: List<LoggedRequest>; query: Query }) {
  const t = useMessages(messages)
  const [isOn, setOn] = useState(false)
  const [isPaused, setPaused] = useState(false)
  const isLive = isOn && !isPaused
  const refetchMs = isOn ? liveMs : idleMs
  const newer = useNewRows(list, { path: '/requests', query, rowKey, refetchMs, isLive })
  return (
    <>
      {newer.count > 0 && !isLive && (
        <Button size="xs" radius="xl" variant="light" onClick={newer.show}>
          {t('newer', { n: `${newer.count}${newer.isMore ? '+' : ''}` })}
        </Button>
      )}
      {isOn && (
        <Button size="xs" variant="default" onClick={() => setPaused(!isPaused)}>
          {t(isPaused ? 'resume' : 'pause')}
        </Button>
      )}
      <Switch
        label={t('live')}
        checked={isOn}
        onChange={(event) => {
          setOn(event.currentTarget.checked)
          setPaused(false)
        }}
      />
    </>
  )
}
