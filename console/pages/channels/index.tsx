// Channels: how each upstream account is doing, one click to test it, and its settings.
import { Button, Progress, Text } from '@mantine/core'
import { useState } from 'react'
import { ChannelHealth } from '../../components/channel-health.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Page } from '../../components/page.tsx'
import type { Column } from '../../components/table/data-table.tsx'
import { ListTable } from '../../components/table/list-table.tsx'
import { useFormat } from '../../lib/format.ts'
import { useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Channel } from '../../lib/resources/channel.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { ChannelDrawer } from './drawer.tsx'
import { ImportChannels } from './import.tsx'
import { messages } from './messages.ts'
import { TestCell, type Tests, useTests } from './tests.tsx'
import { ErrorCell, SuccessCell, useChannelTraffic } from './traffic.tsx'
import { ChannelWizard } from './wizard.tsx'
import { channelsYaml, saveText } from './yaml.ts'

const refetchMs = 5_000

function useColumns(tests: Tests): Column<Channel>[] {
  const t = useMessages(messages)
  const format = useFormat()
  const traffic = useChannelTraffic()
  return [
    {
      title: t('name'),
      width: '150px',
      isPrivate: true,
      cell: ({ name }) => (
        <Text size="sm" fw={600} truncate>
          {name}
        </Text>
      ),
    },
    { title: t('health'), width: '120px', cell: (channel) => <ChannelHealth channel={channel} /> },
    {
      title: t('success'),
      align: 'right',
      width: '120px',
      cell: ({ name }) => <SuccessCell traffic={traffic.get(name)} />,
    },
    {
      title: t('errors'),
      width: '150px',
      cell: ({ name }) => <ErrorCell traffic={traffic.get(name)} />,
    },
    {
      title: t('median'),
      align: 'right',
      width: '100px',
      cell: ({ name }) => format.ms(traffic.get(name)?.p50Ms),
    },
    {
      title: t('busy'),
      align: 'right',
      width: '110px',
      cell: ({ health, max_concurrency }) => `${health.busy} / ${max_concurrency}`,
    },
    {
      title: t('test'),
      width: '220px',
      cell: (channel) => <TestCell channel={channel} tests={tests} />,
    },
    {
      title: t('models'),
      align: 'right',
      width: '90px',
      cell: ({ models }) => (
        <span title={Object.keys(models).join('\n')}>
          {format.number(Object.keys(models).length)}
        </span>
      ),
    },
    {
      title: t('order'),
      align: 'right',
      width: '150px',
      cell: ({ priority, weight }) => `${priority} / ${weight}`,
    },
    {
      title: t('protocols'),
      width: '220px',
      cell: ({ protocols }) => Object.keys(protocols).join(', '),
    },
    { title: t('region'), width: '80px', cell: ({ region }) => region },
  ]
}

export default function Channels() {
  const t = useMessages(messages)
  const list = useList<Channel>('/channels', {}, refetchMs)
  const [opened, setOpened] = useQueryValue('open')
  const [isAdding, setAdding] = useState(false)
  const [isImporting, setImporting] = useState(false)
  const tests = useTests(list.refetch)
  const columns = useColumns(tests)
  const add = <Button onClick={() => setAdding(true)}>{t('add')}</Button>
  return (
    <Page
      title={t('title')}
      hint={t('hint')}
      actions={
        <>
          <Button variant="default" onClick={() => setImporting(true)}>
            {t('import')}
          </Button>
          <Button
            variant="default"
            onClick={() => saveText('channels.yaml', channelsYaml(list.rows))}
          >
            {t('export')}
          </Button>
          <Button
            variant="default"
            loading={tests.progress !== undefined}
            onClick={() => tests.runAll(list.rows)}
          >
            {t('test_all')}
          </Button>
          {add}
        </>
      }
    >
      <TestProgress progress={tests.progress} />
      <ListTable
        label={t('title')}
        list={list}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<EmptyState icon="channels" text={t('empty')} />}
      />
      <ChannelDrawer
        channel={list.rows.find(({ id, name }) => id === opened || name === opened)}
        tests={tests}
        onClose={() => setOpened(undefined)}
        onChanged={list.refetch}
      />
      <ImportChannels
        isOpen={isImporting}
        onClose={() => setImporting(false)}
        onDone={list.refetch}
      />
      <ChannelWizard isOpen={isAdding} onClose={() => setAdding(false)} onDone={list.refetch} />
    </Page>
  )
}

function TestProgress({ progress }: { progress: Tests['progress'] }) {
  const t = useMessages(messages)
  if (progress === undefined) return null
  const label = t('tested', progress)
  return (
    <div aria-live="polite">
      <Text size="xs">{label}</Text>
      <Progress value={(progress.done / Math.max(progress.of, 1)) * 100} aria-label={label} />
    </div>
  )
}
