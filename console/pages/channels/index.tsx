// Channels: how each upstream account is doing, one click to test it, and its settings.
import { Button, Progress, Text } from '@mantine/core'
import { useState } from 'react'
import { useFormat } from '../../lib/format.ts'
import { useList } from '../../lib/lists.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useWords } from '../../lib/words.ts'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Page } from '../../parts/page.tsx'
import type { Channel } from './channel.ts'
import { HealthPill } from './health-pill.tsx'
import { ImportDialog } from './import.tsx'
import { ChannelSheet } from './sheet.tsx'
import { TestCell, type Tests, useTests } from './tests.tsx'
import { ErrorCell, SuccessCell, useChannelTraffic } from './traffic.tsx'
import { ChannelWizard } from './wizard.tsx'
import { words } from './words.ts'
import { channelsYaml, saveText } from './yaml.ts'

const everyMs = 5_000

function useColumns(tests: Tests): Column<Channel>[] {
  const say = useWords(words)
  const format = useFormat()
  const traffic = useChannelTraffic()
  return [
    {
      title: say('name'),
      width: '150px',
      isPrivate: true,
      cell: ({ name }) => (
        <Text size="sm" fw={600} truncate>
          {name}
        </Text>
      ),
    },
    { title: say('health'), width: '120px', cell: (channel) => <HealthPill channel={channel} /> },
    {
      title: say('success'),
      align: 'right',
      width: '120px',
      cell: ({ name }) => <SuccessCell traffic={traffic.get(name)} />,
    },
    {
      title: say('errors'),
      width: '150px',
      cell: ({ name }) => <ErrorCell traffic={traffic.get(name)} />,
    },
    {
      title: say('median'),
      align: 'right',
      width: '100px',
      cell: ({ name }) => format.ms(traffic.get(name)?.p50Ms),
    },
    {
      title: say('busy'),
      align: 'right',
      width: '110px',
      cell: ({ health, max_concurrency }) => `${health.busy} / ${max_concurrency}`,
    },
    {
      title: say('test'),
      width: '220px',
      cell: (channel) => <TestCell channel={channel} tests={tests} />,
    },
    {
      title: say('models'),
      align: 'right',
      width: '90px',
      cell: ({ models }) => (
        <span title={Object.keys(models).join('\n')}>
          {format.number(Object.keys(models).length)}
        </span>
      ),
    },
    {
      title: say('order'),
      align: 'right',
      width: '150px',
      cell: ({ priority, weight }) => `${priority} / ${weight}`,
    },
    {
      title: say('protocols'),
      width: '220px',
      cell: ({ protocols }) => Object.keys(protocols).join(', '),
    },
    { title: say('region'), width: '80px', cell: ({ region }) => region },
  ]
}

export default function Channels() {
  const say = useWords(words)
  const list = useList<Channel>('/channels', {}, everyMs)
  const [opened, setOpened] = useQueryValue('open')
  const [isAdding, setAdding] = useState(false)
  const [isImporting, setImporting] = useState(false)
  const tests = useTests(list.again)
  const columns = useColumns(tests)
  const add = <Button onClick={() => setAdding(true)}>{say('add')}</Button>
  return (
    <Page
      title={say('title')}
      hint={say('hint')}
      actions={
        <>
          <Button variant="default" onClick={() => setImporting(true)}>
            {say('import')}
          </Button>
          <Button
            variant="default"
            onClick={() => saveText('channels.yaml', channelsYaml(list.rows))}
          >
            {say('export')}
          </Button>
          <Button
            variant="default"
            loading={tests.progress !== undefined}
            onClick={() => tests.runAll(list.rows)}
          >
            {say('test_all')}
          </Button>
          {add}
        </>
      }
    >
      <TestProgress progress={tests.progress} />
      <ListTable
        label={say('title')}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<EmptyState icon="channels" text={say('empty')} />}
      />
      <ChannelSheet
        channel={list.rows.find(({ id, name }) => id === opened || name === opened)}
        tests={tests}
        onClose={() => setOpened(undefined)}
        onChanged={list.again}
      />
      <ImportDialog isOpen={isImporting} onClose={() => setImporting(false)} onDone={list.again} />
      <ChannelWizard isOpen={isAdding} onClose={() => setAdding(false)} onDone={list.again} />
    </Page>
  )
}

function TestProgress({ progress }: { progress: Tests['progress'] }) {
  const say = useWords(words)
  if (progress === undefined) return null
  const label = say('tested', progress)
  return (
    <div aria-live="polite">
      <Text size="xs">{label}</Text>
      <Progress value={(progress.done / Math.max(progress.of, 1)) * 100} aria-label={label} />
    </div>
  )
}
