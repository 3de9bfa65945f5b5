// The request log: filters in the address, newest first, any row in full beside it.
import { Button, Switch, Text } from '@mantine/core'
import { useState } from 'react'
import type { Query } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { type List, useList, useNewer } from '../../lib/lists.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { isStaff, useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { CopyBlock, CopyId } from '../../parts/copy.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ExportButton } from '../../parts/export-button.tsx'
import { type Filter, useFilters } from '../../parts/filter-bar.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Page } from '../../parts/page.tsx'
import { HttpStatus, Money, Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { snippets } from '../tokens/snippets.ts'
import type { LoggedRequest } from './request.ts'
import { LatencyScatter } from './scatter.tsx'
import { RequestSheet } from './sheet.tsx'
import { TimeStrip } from './strip.tsx'
import { words } from './words.ts'

/** How often new rows are asked for: while they are put on top, and else. */
const liveMs = 2_000
const idleMs = 5_000

function useColumns(): Column<LoggedRequest>[] {
  const say = useWords(words)
  const shared = useWords(common)
  const format = useFormat()
  const session = useSession()
  const { currency } = session
  return [
    { title: shared('time'), width: '135px', cell: ({ at }) => <Time at={at} how="short" /> },
    {
      title: shared('status'),
      width: '75px',
      cell: ({ status }) => <HttpStatus status={status} />,
    },
    {
      title: say('interface'),
      width: '130px',
      cell: (row) => (row.stream ? `${row.interface} · ${say('stream')}` : row.interface),
    },
    {
      title: shared('model'),
      width: '160px',
      cell: ({ model, upstream_model }) =>
        upstream_model == null || upstream_model === model ? model : `${model} → ${upstream_model}`,
    },
    {
      title: shared('token'),
      width: '140px',
      cell: ({ account, token }) => `${account ?? ''} / ${token ?? ''}`,
    },
    ...(isStaff(session) ? [channelColumn(shared('channel'))] : []),
    {
      title: shared('cost'),
      align: 'right',
      width: '125px',
      cell: ({ charge }) => <Money amount={charge} currency={currency} />,
    },
    {
      title: say('total'),
      align: 'right',
      width: '85px',
      cell: ({ total_ms }) => format.ms(total_ms),
    },
    {
      title: say('first_byte'),
      align: 'right',
      width: '95px',
      cell: ({ first_byte_ms }) => format.ms(first_byte_ms),
    },
    {
      title: say('tokens'),
      align: 'right',
      width: '185px',
      cell: ({ usage }) =>
        usage === null || !('input_tokens' in usage)
          ? '–'
          : [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens]
              .map((count) => format.number(count))
              .join(' / '),
    },
    {
      title: shared('request_id'),
      width: '240px',
      cell: ({ request_id }) => <CopyId id={request_id} />,
    },
  ]
}

const channelColumn = (title: string): Column<LoggedRequest> => ({
  title,
  width: '100px',
  cell: ({ channel }) => channel ?? '–',
})

const keyOf = ({ request_id }: LoggedRequest) => request_id

export default function Requests() {
  const say = useWords(words)
  const shared = useWords(common)
  const session = useSession()
  const { public_url } = session
  const filters: Filter[] = [
    { name: 'id', title: say('any_id') },
    { name: 'account', title: shared('account') },
    { name: 'token', title: shared('token') },
    { name: 'model', title: shared('model') },
    ...(isStaff(session) ? [{ name: 'channel', title: shared('channel') }] : []),
    { name: 'status', title: shared('status') },
    { name: 'error_code', title: say('error_code') },
    { name: 'from', title: shared('from'), isTime: true },
    { name: 'to', title: shared('to'), isTime: true },
  ]
  const query = useFilters(filters)
  const list = useList<LoggedRequest>('/requests', query)
  const [opened, setOpened] = useQueryValue('open')
  const [plot, setPlot] = useQueryValue('plot')
  const columns = useColumns()
  return (
    <Page title={say('title')} hint={say('hint')}>
      <ListTable
        label={say('title')}
        list={list}
        columns={columns}
        keyOf={keyOf}
        filters={filters}
        tools={
          <>
            <Button
              variant={plot === undefined ? 'subtle' : 'light'}
              size="xs"
              aria-pressed={plot !== undefined}
              onClick={() => setPlot(plot === undefined ? 'latency' : undefined, 'replace')}
            >
              {say('latency')}
            </Button>
            <LiveTail list={list} query={query} />
            <ExportButton kind="requests" filters={query} size="xs" />
          </>
        }
        empty={
          <EmptyState icon="requests" text={say('empty')}>
            <CopyBlock text={snippets(public_url)[0]!.code} label="curl" />
            <Text size="xs" c="dimmed">
              {say('kept_none')}
            </Text>
          </EmptyState>
        }
      >
        <TimeStrip filters={query} />
        {plot !== undefined && <LatencyScatter rows={list.rows} onOpen={setOpened} />}
      </ListTable>
      <RequestSheet id={opened} onClose={() => setOpened(undefined)} />
    </Page>
  )
}

/** New rows on top as they come, until paused; else a button that says how many there are. */
function LiveTail({ list, query }: { list: List<LoggedRequest>; query: Query }) {
  const say = useWords(words)
  const shared = useWords(common)
  const [isOn, setOn] = useState(false)
  const [isPaused, setPaused] = useState(false)
  const isLive = isOn && !isPaused
  const everyMs = isOn ? liveMs : idleMs
  const newer = useNewer(list, { path: '/requests', query, keyOf, everyMs, isLive })
  return (
    <>
      {newer.count > 0 && !isLive && (
        <Button size="xs" radius="xl" variant="light" onClick={newer.take}>
          {shared('newer', { n: `${newer.count}${newer.isMore ? '+' : ''}` })}
        </Button>
      )}
      {isOn && (
        <Button size="xs" variant="default" onClick={() => setPaused(!isPaused)}>
          {say(isPaused ? 'resume' : 'pause')}
        </Button>
      )}
      <Switch
        label={say('live')}
        checked={isOn}
        onChange={(event) => {
          setOn(event.currentTarget.checked)
          setPaused(false)
        }}
      />
    </>
  )
}
