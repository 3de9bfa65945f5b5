// Channels: how each upstream account is doing, one click to test it, and its settings.
import { Button, Text } from '@mantine/core'
import { useState } from 'react'
import { useList } from '../../lib/lists.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useWords } from '../../lib/words.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Page } from '../../parts/page.tsx'
import type { Channel } from './channel.ts'
import { ChannelForm } from './form.tsx'
import { HealthPill } from './health-pill.tsx'
import { ChannelSheet } from './sheet.tsx'
import { TestCell, useTests } from './tests.tsx'
import { words } from './words.ts'

const everyMs = 5_000
export default function Channels() {
  const say = useWords(words)
  const list = useList<Channel>('/channels', {}, everyMs)
  const [opened, setOpened] = useQueryValue('open')
  const [isAdding, setAdding] = useState(false)
  const tests = useTests(list.again)
  const columns: Column<Channel>[] = [
    { title: say('name'), cell: ({ name }) => <Text fw={600}>{name}</Text> },
    { title: say('health'), width: '130px', cell: (channel) => <HealthPill channel={channel} /> },
    { title: say('region'), width: '80px', cell: ({ region }) => region },
    { title: say('protocols'), cell: ({ protocols }) => Object.keys(protocols).join(', ') },
    { title: say('models'), cell: ({ models }) => Object.keys(models).join(', ') },
    { title: say('priority'), align: 'right', width: '100px', cell: ({ priority }) => priority },
    { title: say('weight'), align: 'right', width: '90px', cell: ({ weight }) => weight },
    {
      title: say('busy'),
      align: 'right',
      width: '110px',
      cell: ({ health, max_concurrency }) => `${health.busy} / ${max_concurrency}`,
    },
    {
      title: say('test'),
      width: 'minmax(160px, 1fr)',
      cell: (channel) => <TestCell channel={channel} tests={tests} />,
    },
  ]
  return (
    <Page
      title={say('title')}
      hint={say('hint')}
      actions={
        <>
          <Button variant="default" onClick={() => tests.runAll(list.rows)}>
            {say('test_all')}
          </Button>
          <Button onClick={() => setAdding(true)}>{say('add')}</Button>
        </>
      }
    >
      <DataTable
        label={say('title')}
        columns={columns}
        rows={list.rows}
        keyOf={({ id }) => id}
        opened={opened}
        onOpen={({ id }) => setOpened(id)}
        isLoading={list.isLoading}
        error={list.error}
        empty={<Text c="dimmed">{say('empty')}</Text>}
        hasMore={list.hasMore}
        isLoadingMore={list.isLoadingMore}
        onMore={list.more}
      />
      <ChannelSheet
        channel={list.rows.find(({ id }) => id === opened)}
        tests={tests}
        onClose={() => setOpened(undefined)}
        onChanged={list.again}
      />
      <ChannelForm isOpen={isAdding} onClose={() => setAdding(false)} onDone={list.again} />
    </Page>
  )
}
