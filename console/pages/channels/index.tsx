// Channels: health, traffic, tests and settings of each upstream account.
import { Button, Progress, Text } from '@mantine/core'
import { useState } from 'react'
import { type BulkAction, BulkActions } from '../../components/bulk/bulk-actions.tsx'
import { type Selection, selectColumn, useSelection } from '../../components/bulk/selection.tsx'
import { switchActions } from '../../components/bulk/switch-actions.ts'
import { ChannelHealth } from '../../components/channels/channel-health.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Page } from '../../components/page.tsx'
import { type Column, column, numberColumn } from '../../components/table/data-table.tsx'
import { ListTable } from '../../components/table/list-table.tsx'
import { Name } from '../../components/values.tsx'
import { downloadText } from '../../lib/download.ts'
import { useFormat } from '../../lib/format.ts'
import { useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Channel } from '../../lib/resources/channel.ts'
import { useFlag, useQueryValue } from '../../lib/router.tsx'
import { ChannelDrawer } from './drawer.tsx'
import { ImportChannels } from './import.tsx'
import { messages } from './messages.ts'
import { hasFailed, TestCell, type Tests, useTests } from './tests.tsx'
import { CachedCell, ErrorCell, SuccessCell, useChannelTraffic } from './traffic.tsx'
import { ChannelWizard } from './wizard.tsx'
import { channelsYaml } from './yaml.ts'

const refetchMs = 5_000

const isEditable = ({ source }: Channel): boolean => source === 'api'
const nameOf = ({ name }: Channel): string => name

function useColumns(tests: Tests, selection: Selection | undefined): Column<Channel>[] {
  const t = useMessages(messages)
  const format = useFormat()
  const traffic = useChannelTraffic()
  const names = (values: Readonly<Record<string, string>>) => Object.keys(values)
  return [
    ...selectColumn(selection, t('select'), nameOf, isEditable),
    column(t('name'), '170px', nameCell, { id: 'name', isPrivate: true, sort: ({ name }) => name }),
    column(t('health'), '145px', (channel) => (
      <ChannelHealth channel={channel} hasFailedTest={hasFailed(tests, channel)} />
    )),
    numberColumn(t('success'), '120px', ({ name }) => <SuccessCell traffic={traffic.get(name)} />),
    column(t('errors'), '150px', ({ name }) => <ErrorCell traffic={traffic.get(name)} />),
    column(t('test'), '180px', (channel) => <TestCell channel={channel} tests={tests} />),
    numberColumn(t('median'), '100px', ({ name }) => format.ms(traffic.get(name)?.p50Ms)),
    numberColumn(t('cached'), '110px', ({ name }) => <CachedCell traffic={traffic.get(name)} />, {
      id: 'cached',
      sort: ({ name }) => traffic.get(name)?.cacheShare,
    }),
    numberColumn(t('busy'), '100px', (row) => `${row.health.busy} / ${row.max_concurrency}`),
    numberColumn(t('models'), '90px', ({ models }) => (
      <span title={names(models).join('\n')}>{format.number(names(models).length)}</span>
    )),
    numberColumn(t('order'), '150px', ({ priority, weight }) => `${priority} / ${weight}`),
    column(t('protocols'), '220px', ({ protocols }) => names(protocols).join(', ')),
    column(t('region'), '80px', ({ region }) => region),
  ]
}

const nameCell = ({ name }: Channel) => <Name name={name} />

export default function Channels() {
  const t = useMessages(messages)
  const list = useList<Channel>('/channels', {}, refetchMs)
  const [opened, setOpened] = useQueryValue('open')
  const [isAdding, setAdding] = useFlag('new')
  const [isImporting, setImporting] = useState(false)
  const tests = useTests(list.refetch)
  const selection = useSelection()
  const editable = list.rows.filter(isEditable)
  const columns = useColumns(tests, editable.length > 1 ? selection : undefined)
  const bulk = useBulkActions()
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
            onClick={() => downloadText('channels.yaml', channelsYaml(list.rows))}
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
      >
        <BulkActions
          rows={editable}
          selection={selection}
          nameOf={nameOf}
          actions={bulk}
          onDone={list.refetch}
        />
      </ListTable>
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

function useBulkActions(): BulkAction<Channel>[] {
  const t = useMessages(messages)
  return [
    ...switchActions(
      '/channels',
      {
        label: (n) => t('drain_many', { n }),
        text: t('drain_hint'),
        done: (n) => t('drained_many', { n }),
      },
      {
        label: (n) => t('resume_many', { n }),
        text: t('resume_hint'),
        done: (n) => t('resumed_many', { n }),
      },
    ),
  ]
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
