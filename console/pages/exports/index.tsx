// Exports of the last day: how far each is, its file, and a way to stop or delete it.
import { ActionIcon, Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { deleteExport, type ExportJob, fileOf, isUnfinished } from '../../lib/exports.ts'
import { useFormat } from '../../lib/format.ts'
import { useList } from '../../lib/lists.ts'
import { useWords } from '../../lib/words.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { ExportProgress } from '../../parts/export-button.tsx'
import { exportWords } from '../../parts/export-words.ts'
import { Icon } from '../../parts/icon.tsx'
import { ErrorNote, Page } from '../../parts/page.tsx'
import { Dim, State, Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { words } from './words.ts'

const askEveryMs = 2_000
const stateColours = { waiting: 'queued', running: 'running', done: 'good', failed: 'failed' }

export default function Exports() {
  const say = useWords(words)
  const list = useList<ExportJob>('/exports', {}, askEveryMs)
  const columns = useColumns(list.again)
  return (
    <Page title={say('title')} hint={say('hint')}>
      <DataTable
        label={say('title')}
        columns={columns}
        rows={list.rows}
        keyOf={({ id }) => id}
        rowHeight={56}
        isLoading={list.isLoading}
        error={list.error}
        empty={<Text c="dimmed">{say('none')}</Text>}
        hasMore={list.hasMore}
        isLoadingMore={list.isLoadingMore}
        onMore={list.more}
      />
    </Page>
  )
}

function useColumns(onChanged: () => void): Column<ExportJob>[] {
  const say = useWords(words)
  const jobs = useWords(exportWords)
  const shared = useWords(common)
  const format = useFormat()
  return [
    {
      title: shared('time'),
      width: '145px',
      cell: ({ created_at }) => <Time at={created_at} how="short" />,
    },
    {
      title: say('list'),
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
      title: shared('state'),
      width: '95px',
      cell: ({ state }) => <State state={stateColours[state]} label={jobs(`state_${state}`)} />,
    },
    {
      title: say('progress'),
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
    { title: say('size'), width: '90px', align: 'right', cell: ({ bytes }) => format.size(bytes) },
    {
      title: say('filters'),
      isPrivate: true,
      cell: ({ filters }) => <Filters filters={filters} />,
    },
    { title: say('by'), width: '90px', isPrivate: true, cell: ({ created_by }) => created_by },
    {
      title: say('expires'),
      width: '105px',
      cell: ({ expires_at }) => <Time at={expires_at} how="ago" />,
    },
  ]
}

function Filters({ filters }: { filters: Readonly<Record<string, string>> }) {
  const say = useWords(words)
  const text = Object.entries(filters)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')
  return <span title={text}>{text === '' ? <Dim>{say('everything')}</Dim> : text}</span>
}

function Actions({ job, onChanged }: { job: ExportJob; onChanged: () => void }) {
  const jobs = useWords(exportWords)
  const shared = useWords(common)
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
        aria-label={isUnfinished(job) ? jobs('stop') : shared('delete')}
        onClick={() => void remove()}
      >
        <Icon name="close" size={16} />
      </ActionIcon>
      <ErrorNote error={error} />
    </Group>
  )
}
