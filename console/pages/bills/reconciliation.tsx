// Statements of upstreams compared with the ledger: the imported ones, and a new one.

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
import { type SubmitEvent, useState } from 'react'
import { ErrorAlert } from '../../components/page.tsx'
import { type Column, DataTable, numberColumn } from '../../components/table/data-table.tsx'
import { Money, Time } from '../../components/values.tsx'
import { type Page, parseResponse, queryString } from '../../lib/api.ts'
import { tableProps, useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { type Outcome, outcomes, type Statement } from '../../lib/resources/bill.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'
import { differenceOf, mismatches, sumOf } from './outcome-sums.tsx'
import { StatementDrawer } from './statement-drawer.tsx'

export function Reconciliation() {
  const t = useMessages(messages)
  const list = useList<Statement>('/statements')
  const [opened, setOpened] = useQueryValue('statement')
  const amount = (title: string, of: (statement: Statement) => string) =>
    numberColumn<Statement>(title, '140px', (statement) => (
      <Money amount={of(statement)} currency={statement.currency} />
    ))
  const lines = (title: string, of: readonly Outcome[]) =>
    numberColumn<Statement>(title, '110px', (statement) => sumOf(statement, of).lines)
  const columns: Column<Statement>[] = [
    { title: t('taken'), width: '150px', cell: ({ at }) => <Time at={at} how="short" /> },
    { title: t('channel'), cell: ({ channel }) => channel },
    { title: t('file'), cell: ({ name }) => name },
    amount(t('theirs'), (statement) => sumOf(statement, outcomes).amount),
    amount(t('ours'), (statement) => sumOf(statement, outcomes).our_amount),
    amount(t('difference'), (statement) => differenceOf(sumOf(statement, outcomes))),
    lines(t('mismatched'), mismatches),
    lines(t('matched'), ['matched']),
  ]
  return (
    <Stack>
      <Text size="sm">{t('reconcile_hint')}</Text>
      <Upload
        onDone={({ id }) => {
          list.refetch()
          setOpened(id)
        }}
      />
      <DataTable
        label={t('statements')}
        columns={columns}
        {...tableProps(list)}
        rowKey={({ id }) => id}
        opened={opened}
        onOpen={({ id }) => setOpened(id)}
      />
      <StatementDrawer
        id={opened}
        onClose={() => setOpened(undefined)}
        onDeleted={() => {
          setOpened(undefined)
          list.refetch()
        }}
      />
    </Stack>
  )
}

/** Midnight, by UTC, so that the query stays the same for a day. */
const daysAgo = (days: number): string =>
  new Date((Math.floor(Date.now() / 86_400_000) - days) * 86_400_000).toISOString()

/** Channels with recent traffic. */
function useChannels(): string[] {
  const used = useResource<Page<{ channel: string | null }>>('/traffic', {
    query: { by: 'day,channel', from: daysAgo(90) },
  })
  return [...new Set(used.data?.items.flatMap((row) => row.channel || []))]
}

const noOptions = { cost_factor: '', tolerance: '', zone: '', map: '' }
type Options = typeof noOptions

function Upload({ onDone }: { onDone: (statement: Statement) => void }) {
  const t = useMessages(messages)
  const [file, setFile] = useState<File | null>(null)
  const [channel, setChannel] = useState<string | null>(null)
  const [options, setOptions] = useState<Options>(noOptions)
  const [showsOptions, setShowsOptions] = useState(false)
  const [warnings, setWarnings] = useState<readonly string[]>([])
  const { error, isBusy, run } = useAction()
  const names = useChannels()
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void run(async () => {
      const query = queryString({ channel: channel ?? '', name: file?.name, ...options })
      const response = await fetch(`/admin/v1/statements${query}`, {
        method: 'POST',
        headers: { 'content-type': 'text/csv' },
        body: file,
      })
      const done = await parseResponse<Statement>(response)
      setWarnings(done.warnings ?? [])
      onDone(done)
    })
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Group align="flex-end">
          <FileInput
            label={t('file')}
            placeholder={t('choose_file')}
            accept=".csv,text/csv"
            required
            value={file}
            onChange={setFile}
            w={260}
          />
          <Select
            label={t('channel')}
            data={names}
            required
            searchable
            value={channel}
            onChange={setChannel}
          />
          <Button type="submit" loading={isBusy} disabled={file === null || channel === null}>
            {t('compare')}
          </Button>
          <Button
            variant="subtle"
            aria-expanded={showsOptions}
            onClick={() => setShowsOptions(!showsOptions)}
          >
            {t('options')}
          </Button>
        </Group>
        <Collapse expanded={showsOptions}>
          <OptionFields options={options} onChange={setOptions} />
        </Collapse>
        <ErrorAlert error={error} />
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
  const t = useMessages(messages)
  const hints: Readonly<Record<keyof Options, string>> = {
    cost_factor: t('cost_factor_hint'),
    tolerance: t('tolerance_hint'),
    zone: '+08:00',
    map: t('map_hint', { example: mapExample }),
  }
  return (
    <Group align="flex-start">
      {(Object.keys(noOptions) as (keyof Options)[]).map((name) => (
        <TextInput
          key={name}
          label={t(name)}
          description={hints[name]}
          value={options[name]}
          maw={280}
          onChange={(event) => onChange({ ...options, [name]: event.currentTarget.value.trim() })}
        />
      ))}
    </Group>
  )
}
