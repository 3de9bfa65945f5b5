// An upstream's statement held against our own books: upload, outcome by outcome, export.
import { Alert, Button, FileInput, Group, Select, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type SubmitEvent, useState } from 'react'
import { answerOf, ask, type Page, queryText } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useList } from '../../lib/lists.ts'
import { useWords } from '../../lib/words.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { ErrorNote } from '../../parts/page.tsx'
import { Time } from '../../parts/values.tsx'
import type { Statement } from './bill.ts'
import { words } from './words.ts'

const outcomes = [
  'matched',
  'quantity_differs',
  'amount_differs',
  'only_here',
  'only_there',
] as const

export function Reconciliation() {
  const say = useWords(words)
  const list = useList<Statement>('/statements')
  const columns: Column<Statement>[] = [
    { title: say('taken'), width: '150px', cell: ({ at }) => <Time at={at} how="short" /> },
    { title: say('channel'), cell: ({ channel }) => channel },
    { title: say('file'), cell: ({ name }) => name },
    ...outcomes.map(
      (outcome): Column<Statement> => ({
        title: say(outcome),
        align: 'right',
        width: '120px',
        cell: (statement) => statement.outcomes?.[outcome]?.lines ?? '–',
      }),
    ),
    {
      title: '',
      width: '140px',
      cell: ({ id }) => (
        <a href={`/admin/v1/statements/${id}/export`} download>
          {say('differences')}
        </a>
      ),
    },
  ]
  return (
    <Stack>
      <Text size="sm">{say('reconcile_hint')}</Text>
      <Upload onDone={list.again} />
      <DataTable
        label={say('statements')}
        columns={columns}
        rows={list.rows}
        keyOf={({ id }) => id}
        isLoading={list.isLoading}
        error={list.error}
        hasMore={list.hasMore}
        isLoadingMore={list.isLoadingMore}
        onMore={list.more}
      />
    </Stack>
  )
}

function Upload({ onDone }: { onDone: () => void }) {
  const say = useWords(words)
  const format = useFormat()
  const [file, setFile] = useState<File | null>(null)
  const [channel, setChannel] = useState<string | null>(null)
  const [error, setError] = useState<Error>()
  const [done, setDone] = useState<Statement>()
  const [busy, setBusy] = useState(false)
  const used = useQuery({
    queryKey: ['traffic-channels'],
    queryFn: () =>
      ask<Page<{ channel: string | null }>>('GET', '/traffic', {
        query: { by: 'day,channel', from: new Date(Date.now() - 90 * 86_400_000).toISOString() },
      }),
  })
  const names = [...new Set(used.data?.items.flatMap((row) => row.channel ?? []))]
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      const query = queryText({ channel: channel ?? '', name: file?.name })
      const response = await fetch(`/admin/v1/statements${query}`, {
        method: 'POST',
        headers: { 'content-type': 'text/csv' },
        body: file,
      })
      setDone(await answerOf<Statement>(response))
      onDone()
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form onSubmit={submit}>
      <Group align="flex-end">
        <FileInput
          label={say('file')}
          accept=".csv,text/csv"
          required
          value={file}
          onChange={setFile}
          w={260}
        />
        <Select
          label={say('channel')}
          data={names}
          required
          searchable
          value={channel}
          onChange={setChannel}
        />
        <Button type="submit" loading={busy} disabled={file === null || channel === null}>
          {say('compare')}
        </Button>
      </Group>
      <ErrorNote error={error} />
      {done !== undefined && (
        <Alert color="teal" mt="sm">
          <Table withRowBorders={false}>
            <Table.Tbody>
              {outcomes.map((outcome) => (
                <Table.Tr key={outcome}>
                  <Table.Td>{say(outcome)}</Table.Td>
                  <Table.Td>{format.number(done.outcomes?.[outcome]?.lines ?? 0)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Alert>
      )}
    </form>
  )
}
