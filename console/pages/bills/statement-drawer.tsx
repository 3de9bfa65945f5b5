// One upstream statement by line: matched, different, or known to one side only.

import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Confirm } from '../../components/confirm.tsx'
import { CopyId } from '../../components/copy.tsx'
import { DetailsDrawer } from '../../components/drawer.tsx'
import { ErrorAlert } from '../../components/page.tsx'
import { type Column, DataTable } from '../../components/table/data-table.tsx'
import { Money, State, Time } from '../../components/values.tsx'
import { api, type Query, queryString } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { tableProps, useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { outcomes, pageOf, type Statement, type StatementLine } from '../../lib/resources/bill.ts'
import { Link, useQueryValue } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'
import { mismatches, OutcomeSums, outcomeColors, sumOf } from './outcome-sums.tsx'

export function StatementDrawer({
  id,
  onClose,
  onDeleted,
}: {
  id: string | undefined
  onClose: () => void
  onDeleted: () => void
}) {
  const { data: statement, error } = useResource<Statement>(
    `/statements/${encodeURIComponent(id ?? '')}`,
    { enabled: id !== undefined },
  )
  const isShown = statement !== undefined && statement.id === id
  return (
    <DetailsDrawer
      title={isShown ? `${statement.name} · ${statement.channel}` : (id ?? '')}
      isOpen={id !== undefined}
      onClose={onClose}
      size="90%"
    >
      <ErrorAlert error={error} />
      {isShown && <StatementBody statement={statement} onDeleted={onDeleted} />}
    </DetailsDrawer>
  )
}

function StatementBody({ statement, onDeleted }: { statement: Statement; onDeleted: () => void }) {
  const t = useMessages(messages)
  const format = useFormat()
  const [asked, setOutcome] = useQueryValue('outcome')
  const mismatched = sumOf(statement, mismatches).lines
  const first: Choice = mismatched > 0 ? 'mismatched' : 'all'
  const choice = choicesOf.find((each) => each === asked) ?? first
  const filter = filterOf(choice)
  const [isDeleting, setDeleting] = useState(false)
  const choices = [
    { value: 'mismatched', label: `${t('mismatched')} ${format.number(mismatched)}` },
    { value: 'all', label: `${t('all_lines')} ${format.number(sumOf(statement, outcomes).lines)}` },
    ...outcomes.map((each) => ({
      value: each,
      label: `${t(each)} ${format.number(statement.outcomes[each].lines)}`,
    })),
  ]
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {t('statement_of', { from: format.day(statement.from), to: format.day(statement.to) })}
        </Text>
        <Group>
          <Button
            component="a"
            variant="default"
            href={`/admin/v1/statements/${statement.id}/lines${queryString({ ...filter, format: 'csv' })}`}
            download
          >
            {t('differences')}
          </Button>
          <Button variant="default" color="red" onClick={() => setDeleting(true)}>
            {t('delete_statement')}
          </Button>
        </Group>
      </Group>
      <OutcomeSums statement={statement} />
      <div style={{ overflowX: 'auto' }}>
        <SegmentedControl
          aria-label={t('outcome')}
          data={choices}
          value={choice}
          onChange={(value) => setOutcome(value === first ? undefined : value)}
        />
      </div>
      <Lines statement={statement} filter={filter} />
      <Confirm
        title={t('delete_statement')}
        text={t('delete_text')}
        action={t('delete_statement')}
        keep={t('keep_statement')}
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        onConfirm={async () => {
          await api('DELETE', `/statements/${statement.id}`)
          onDeleted()
        }}
      />
    </Stack>
  )
}

const choicesOf = ['mismatched', 'all', ...outcomes] as const
type Choice = (typeof choicesOf)[number]

const filterOf = (choice: Choice): Query => {
  if (choice === 'all') return {}
  return choice === 'mismatched' ? { mismatched: true } : { outcome: choice }
}

function Lines({ statement, filter }: { statement: Statement; filter: Query }) {
  const t = useMessages(messages)
  const list = useList<StatementLine>(`/statements/${statement.id}/lines`, filter)
  const columns = useColumns(statement.currency)
  return (
    <DataTable
      label={t('lines')}
      columns={columns}
      {...tableProps(list)}
      rowKey={({ line }) => String(line)}
      empty={<Text c="dimmed">{t('no_lines')}</Text>}
      height="60vh"
    />
  )
}

function useColumns(currency: string): Column<StatementLine>[] {
  const server = useServerText()
  const t = useMessages(messages)
  const format = useFormat()
  const right = (title: string, width: string, cell: Column<StatementLine>['cell']) => ({
    ...{ title, width, cell },
    align: 'right' as const,
  })
  const money = (amount: string | null) => <Money amount={amount} currency={currency} />
  return [
    right(t('line_number'), '70px', ({ line }) => line),
    {
      title: t('outcome'),
      width: '175px',
      cell: ({ outcome, loss }) => (
        <span title={loss === null ? undefined : server.text('loss', loss)}>
          <State state={outcomeColors[outcome]} label={t(outcome)} />
        </span>
      ),
    },
    { title: t('time'), width: '150px', cell: ({ at }) => <Time at={at} how="short" /> },
    { title: t('model'), width: '130px', cell: ({ model }) => model ?? '–' },
    {
      title: t('upstream_id'),
      width: '180px',
      cell: ({ upstream_id }) => <CopyId id={upstream_id} />,
    },
    right(t('theirs'), '130px', ({ amount }) => money(amount)),
    right(t('ours'), '130px', ({ our_amount }) => money(our_amount)),
    { title: t('ours_is'), width: '180px', cell: ({ ref }) => <Ours id={ref} /> },
    right(t('their_quantity'), '110px', ({ quantity }) => format.number(quantity)),
    right(t('our_quantity'), '110px', (line) => format.number(line.our_quantity)),
  ]
}

function Ours({ id }: { id: string | null }) {
  const page = pageOf(id)
  if (page === undefined) return id ?? '–'
  return (
    <Link to={page} title={id ?? ''}>
      {id}
    </Link>
  )
}
