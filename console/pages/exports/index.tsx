// Exports of the last day: progress, file, stop and delete.
import { ActionIcon, Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { ExportProgress } from '../../components/exports/export-button.tsx'
import { exportMessages } from '../../components/exports/messages.ts'
import { Icon } from '../../components/icon.tsx'
import { ErrorAlert, Page } from '../../components/page.tsx'
import { type Column, column, DataTable, numberColumn } from '../../components/table/data-table.tsx'
import { Dim, State, Time } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { tableProps, useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { deleteExport, type ExportJob, fileOf, isUnfinished } from '../../lib/resources/export.ts'
import { messages } from './messages.ts'

const refetchMs = 2_000
const stateColors = { waiting: 'queued', running: 'running', done: 'good', failed: 'failed' }

export default function Exports() {
  const t = useMessages(messages)
  const list = useList<ExportJob>('/exports', {}, refetchMs)
  const columns = useColumns(list.refetch)
  return (
    <Page title={t('title')} hint={t('hint')}>
      <DataTable
        label={t('title')}
        columns={columns}
        {...tableProps(list)}
        rowKey={({ id }) => id}
        rowHeight={56}
        empty={<Text c="dimmed">{t('no_exports')}</Text>}
      />
    </Page>
  )
}

function useColumns(onChanged: () => void): Column<ExportJob>[] {
  const t = useMessages(messages)
  const job = useMessages(exportMessages)
  const format = useFormat()
  return [
    column(t('time'), '145px', ({ created_at }) => <Time at={created_at} how="short" />),
    column(t('list'), '130px', ({ kind, format: file }) => (
      <>
        <Text component="span" size="sm" fw={600}>
          {job(kind)}
        </Text>{' '}
        <Dim>{file.toUpperCase()}</Dim>
      </>
    )),
    column(t('state'), '95px', ({ state }) => (
      <State state={stateColors[state]} label={job(`state_${state}`)} />
    )),
    column(t('progress'), '130px', (row) => (
      <Stack gap={2}>
        <ExportProgress job={row} />
      </Stack>
    )),
    column('', '165px', (row) => <Actions job={row} onChanged={onChanged} />),
    numberColumn(t('size'), '90px', ({ bytes }) => format.size(bytes)),
    column(t('filters'), 'minmax(90px, 1fr)', (row) => <Filters filters={row.filters} />, {
      isPrivate: true,
    }),
    column(t('by'), '90px', ({ created_by }) => created_by, { isPrivate: true }),
    column(t('expires'), '105px', ({ expires_at }) => <Time at={expires_at} how="ago" />),
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
