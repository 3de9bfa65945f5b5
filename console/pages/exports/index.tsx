// Exports of the last day: how far each is, its file, and a way to stop or delete it.
import { ActionIcon, Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { ExportProgress } from '../../components/exports/export-button.tsx'
import { exportMessages } from '../../components/exports/messages.ts'
import { Icon } from '../../components/icon.tsx'
import { ErrorAlert, Page } from '../../components/page.tsx'
import { type Column, DataTable } from '../../components/table/data-table.tsx'
import { Dim, State, Time } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { deleteExport, type ExportJob, fileOf, isUnfinished } from '../../lib/resources/export.ts'
import { messages } from './messages.ts'

const refetchMs = 2_000
const stateColours = { waiting: 'queued', running: 'running', done: 'good', failed: 'failed' }

export default function Exports() {
  const t = useMessages(messages)
  const list = useList<ExportJob>('/exports', {}, refetchMs)
  const columns = useColumns(list.refetch)
  return (
    <Page title={t('title')} hint={t('hint')}>
      <DataTable
        label={t('title')}
        columns={columns}
        rows={list.rows}
        rowKey={({ id }) => id}
        rowHeight={56}
        isLoading={list.isLoading}
        error={list.error}
        empty={<Text c="dimmed">{t('no_exports')}</Text>}
        hasMore={list.hasMore}
        isLoadingMore={list.isLoadingMore}
        onMore={list.loadMore}
      />
    </Page>
  )
}

function useColumns(onChanged: () => void): Column<ExportJob>[] {
  const t = useMessages(messages)
  const jobs = useMessages(exportMessages)
  const format = useFormat()
  return [
    {
      title: t('time'),
      width: '145px',
      cell: ({ created_at }) => <Time at={created_at} how="short" />,
    },
    {
      title: t('list'),
      width: '130px',
      cell: ({ kind, format: form }) => (
        <>
          <Text component="span" size="sm" fw={600}>
            {jobs(kind)}
          </Text>{' '}
          <Dim>{form.toUpperCase()}</Dim>
        </>
      ),
    },
    {
      title: t('state'),
      width: '95px',
      cell: ({ state }) => <State state={stateColours[state]} label={jobs(`state_${state}`)} />,
    },
    {
      title: t('progress'),
      width: '130px',
      cell: (job) => (
        <Stack gap={2}>
          <ExportProgress job={job} />
        </Stack>
      ),
    },
    {
      title: '',
      width: '165px',
      cell: (job) => <Actions job={job} onChanged={onChanged} />,
    },
    { title: t('size'), width: '90px', align: 'right', cell: ({ bytes }) => format.size(bytes) },
    {
      title: t('filters'),
      isPrivate: true,
      cell: ({ filters }) => <Filters filters={filters} />,
    },
    { title: t('by'), width: '90px', isPrivate: true, cell: ({ created_by }) => created_by },
    {
      title: t('expires'),
      width: '105px',
      cell: ({ expires_at }) => <Time at={expires_at} how="ago" />,
    },
  ]
}

function Filters({ filters }: { filters: Readonly<Record<string, string>> }) {
  const t = useMessages(messages)
  const text = Object.entries(filters)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')
  return <span title={text}>{text === '' ? <Dim>{t('everything')}</Dim> : text}</span>
}

function Actions({ job, onChanged }: { job: ExportJob; onChanged: () => void }) {
  const jobs = useMessages(exportMessages)
  const t = useMessages()
  const [error, setError] = useState<Error>()
  const remove = () => deleteExport(job.id).then(onChanged, setError)
  return (
    <Group gap="xs" wrap="nowrap">
      {job.state === 'done' && (
        <Button
          component="a"
          size="compact-sm"
          variant="default"
          style={{ flexShrink: 0 }}
          href={fileOf(job)}
          download
        >
          {jobs('download')}
        </Button>
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={isUnfinished(job) ? jobs('stop') : t('delete')}
        onClick={() => void remove()}
      >
        <Icon name="close" size={16} />
      </ActionIcon>
      <ErrorAlert error={error} />
    </Group>
  )
}
