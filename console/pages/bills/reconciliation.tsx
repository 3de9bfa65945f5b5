// Upstreams' statements held against our own books: those that were taken in, and a new one.
import {
  Alert,
  Button,
  Collapse,
  FileInput,
  Group,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type SubmitEvent, useState } from 'react'
import { answerOf, ask, type Page, queryText } from '../../lib/api.ts'
import { useList } from '../../lib/lists.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useWords } from '../../lib/words.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { ErrorNote } from '../../parts/page.tsx'
import { Time } from '../../parts/values.tsx'
import { outcomes, type Statement } from './bill.ts'
import { StatementSheet } from './statement-sheet.tsx'
import { words } from './words.ts'

export function Reconciliation() {
  const say = useWords(words)
  const list = useList<Statement>('/statements')
  const [opened, setOpened] = useQueryValue('statement')
  const columns: Column<Statement>[] = [
    { title: say('taken'), width: '150px', cell: ({ at }) => <Time at={at} how="short" /> },
    { title: say('channel'), cell: ({ channel }) => channel },
    { title: say('file'), cell: ({ name }) => name },
    ...outcomes.map(
      (outcome): Column<Statement> => ({
        title: say(outcome),
        align: 'right',
        width: '120px',
        cell: (statement) => statement.outcomes[outcome].lines,
      }),
    ),
  ]
  return (
    <Stack>
      <Text size="sm">{say('reconcile_hint')}</Text>
      <Upload
        onDone={({ id }) => {
          list.again()
          setOpened(id)
        }}
      />
      <DataTable
        label={say('statements')}
        columns={columns}
        rows={list.rows}
        keyOf={({ id }) => id}
        opened={opened}
        onOpen={({ id }) => setOpened(id)}
        isLoading={list.isLoading}
        error={list.error}
        hasMore={list.hasMore}
        isLoadingMore={list.isLoadingMore}
        onMore={list.more}
      />
      <StatementSheet
        id={opened}
        onClose={() => setOpened(undefined)}
        onDeleted={() => {
          setOpened(undefined)
          list.again()
        }}
      />
    </Stack>
  )
}

/** Channels that did something lately. */
function useChannels(): string[] {
  const used = useQuery({
    queryKey: ['traffic-channels'],
    queryFn: () =>
      ask<Page<{ channel: string | null }>>('GET', '/traffic', {
        query: { by: 'day,channel', from: new Date(Date.now() - 90 * 86_400_000).toISOString() },
      }),
  })
  return [...new Set(used.data?.items.flatMap((row) => row.channel || []))]
}

const noOptions = { cost_factor: '', tolerance: '', zone: '', map: '' }
type Options = typeof noOptions

function Upload({ onDone }: { onDone: (statement: Statement) => void }) {
  const say = useWords(words)
  const [file, setFile] = useState<File | null>(null)
  const [channel, setChannel] = useState<string | null>(null)
  const [options, setOptions] = useState<Options>(noOptions)
  const [showsOptions, setShowsOptions] = useState(false)
  const [error, setError] = useState<Error>()
  const [warnings, setWarnings] = useState<readonly string[]>([])
  const [busy, setBusy] = useState(false)
  const names = useChannels()
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      const query = queryText({ channel: channel ?? '', name: file?.name, ...options })
      const response = await fetch(`/admin/v1/statements${query}`, {
        method: 'POST',
        headers: { 'content-type': 'text/csv' },
        body: file,
      })
      const done = await answerOf<Statement>(response)
      setWarnings(done.warnings ?? [])
      onDone(done)
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
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
          <Button
            variant="subtle"
            aria-expanded={showsOptions}
            onClick={() => setShowsOptions(!showsOptions)}
          >
            {say('options')}
          </Button>
        </Group>
        <Collapse expanded={showsOptions}>
          <OptionFields options={options} onChange={setOptions} />
        </Collapse>
        <ErrorNote error={error} />
        {warnings.length > 0 && <Alert color="yellow">{warnings.join('; ')}</Alert>}
      </Stack>
    </form>
  )
}

const mapExample = '{"id":"Request ID","amount":"Cost"}'

function OptionFields({
  options,
  onChange,
}: {
  options: Options
  onChange: (options: Options) => void
}) {
  const say = useWords(words)
  const hints: Readonly<Record<keyof Options, string>> = {
    cost_factor: say('cost_factor_hint'),
    tolerance: say('tolerance_hint'),
    zone: '+08:00',
    map: say('map_hint', { example: mapExample }),
  }
  return (
    <Group align="flex-start">
      {(Object.keys(noOptions) as (keyof Options)[]).map((name) => (
        <TextInput
          key={name}
          label={say(name)}
          description={hints[name]}
          value={options[name]}
          maw={280}
          onChange={(event) => onChange({ ...options, [name]: event.currentTarget.value.trim() })}
        />
      ))}
    </Group>
  )
}
