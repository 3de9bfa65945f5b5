// The request log: filters in the address, newest first, any row in full beside it.
import { Stack, Switch, Text } from '@mantine/core'
import { useState } from 'react'
import { useFormat } from '../../lib/format.ts'
import { useList } from '../../lib/lists.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { CopyBlock, CopyId } from '../../parts/copy.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { FilterBar, useFilters } from '../../parts/filter-bar.tsx'
import { Page } from '../../parts/page.tsx'
import { HttpStatus, Money, Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { snippets } from '../tokens/snippets.ts'
import type { LoggedRequest } from './request.ts'
import { RequestSheet } from './sheet.tsx'
import { words } from './words.ts'

/** How often a live list is asked for again. */
const liveMs = 2_000

function useColumns(): Column<LoggedRequest>[] {
  const say = useWords(words)
  const shared = useWords(common)
  const format = useFormat()
  const { currency } = useSession()
  return [
    { title: shared('time'), width: '140px', cell: ({ at }) => <Time at={at} how="short" /> },
    {
      title: shared('status'),
      width: '80px',
      cell: ({ status }) => <HttpStatus status={status} />,
    },
    { title: say('interface'), width: '110px', cell: (row) => row.interface },
    { title: shared('model'), width: '160px', cell: ({ model }) => model },
    { title: shared('token'), cell: ({ account, token }) => `${account ?? ''} / ${token ?? ''}` },
    { title: shared('channel'), cell: ({ channel }) => channel ?? '–' },
    {
      title: say('tokens'),
      align: 'right',
      width: '140px',
      cell: ({ usage }) =>
        usage === null
          ? '–'
          : `${format.number(usage.input_tokens)} / ${format.number(usage.output_tokens)}`,
    },
    {
      title: shared('cost'),
      align: 'right',
      width: '130px',
      cell: ({ charge }) => <Money amount={charge} currency={currency} />,
    },
    {
      title: say('first_byte'),
      align: 'right',
      width: '100px',
      cell: ({ first_byte_ms }) => format.ms(first_byte_ms),
    },
    {
      title: say('total'),
      align: 'right',
      width: '100px',
      cell: ({ total_ms }) => format.ms(total_ms),
    },
    {
      title: shared('request_id'),
      width: '240px',
      cell: ({ request_id }) => <CopyId id={request_id} />,
    },
  ]
}

export default function Requests() {
  const say = useWords(words)
  const shared = useWords(common)
  const { public_url } = useSession()
  const filters = [
    { name: 'id', title: shared('request_id') },
    { name: 'account', title: shared('account') },
    { name: 'token', title: shared('token') },
    { name: 'model', title: shared('model') },
    { name: 'channel', title: shared('channel') },
    { name: 'status', title: shared('status') },
    { name: 'error_code', title: say('error_code') },
    { name: 'from', title: shared('from') },
    { name: 'to', title: shared('to') },
  ]
  const [isLive, setLive] = useState(false)
  const list = useList<LoggedRequest>('/requests', useFilters(filters), isLive ? liveMs : undefined)
  const [opened, setOpened] = useQueryValue('open')
  const columns = useColumns()
  return (
    <Page
      title={say('title')}
      hint={say('hint')}
      actions={
        <Switch
          label={say('live')}
          checked={isLive}
          onChange={(event) => setLive(event.currentTarget.checked)}
        />
      }
    >
      <FilterBar filters={filters} />
      <DataTable
        label={say('title')}
        columns={columns}
        rows={list.rows}
        keyOf={({ request_id }) => request_id}
        opened={opened}
        onOpen={({ request_id }) => setOpened(request_id)}
        isLoading={list.isLoading}
        error={list.error}
        empty={
          <Stack>
            <Text c="dimmed">{say('empty')}</Text>
            <CopyBlock text={snippets(public_url)[0]!.code} label="curl" />
          </Stack>
        }
        hasMore={list.hasMore}
        isLoadingMore={list.isLoadingMore}
        onMore={list.more}
      />
      <RequestSheet id={opened} onClose={() => setOpened(undefined)} />
    </Page>
  )
}
