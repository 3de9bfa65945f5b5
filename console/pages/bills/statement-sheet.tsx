// One statement of an upstream, line by line: what matched, what differs and what only one side knows.
import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask, queryText } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useList } from '../../lib/lists.ts'
import { Link, useQueryValue } from '../../lib/router.tsx'
import { useWords } from '../../lib/words.ts'
import { ConfirmByName } from '../../parts/confirm.tsx'
import { CopyId } from '../../parts/copy.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { ErrorNote } from '../../parts/page.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { Money, State, Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { type Outcome, outcomes, pageOf, type Statement, type StatementLine } from './bill.ts'
import { words } from './words.ts'

const colours: Readonly<Record<Outcome, string>> = {
  matched: 'matched',
  quantity_differs: 'unknown',
  amount_differs: 'unknown',
  absorbed: 'queued',
  only_here: 'failed',
  only_there: 'failed',
}

export function StatementSheet({
  id,
  onClose,
  onDeleted,
}: {
  id: string | undefined
  onClose: () => void
  onDeleted: () => void
}) {
  const { data: statement, error } = useQuery({
    queryKey: ['statement', id],
    queryFn: () => ask<Statement>('GET', `/statements/${encodeURIComponent(id ?? '')}`),
    enabled: id !== undefined,
  })
  const isShown = statement !== undefined && statement.id === id
  return (
    <Sheet
      title={isShown ? `${statement.name} · ${statement.channel}` : (id ?? '')}
      isOpen={id !== undefined}
      onClose={onClose}
      size="90%"
    >
      <ErrorNote error={error} />
      {isShown && <StatementBody statement={statement} onDeleted={onDeleted} />}
    </Sheet>
  )
}

function StatementBody({ statement, onDeleted }: { statement: Statement; onDeleted: () => void }) {
  const say = useWords(words)
  const format = useFormat()
  const [asked, setOutcome] = useQueryValue('outcome')
  const outcome = outcomes.find((each) => each === asked)
  const [isDeleting, setDeleting] = useState(false)
  const choices = [
    { value: '', label: `${say('all_lines')} ${format.number(linesIn(statement))}` },
    ...outcomes.map((each) => ({
      value: each,
      label: `${say(each)} ${format.number(statement.outcomes[each].lines)}`,
    })),
  ]
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {say('statement_of', { from: format.day(statement.from), to: format.day(statement.to) })}
        </Text>
        <Group>
          <Button
            component="a"
            variant="default"
            href={`/admin/v1/statements/${statement.id}/export${queryText({ outcome })}`}
            download
          >
            {say('differences')}
          </Button>
          <Button variant="default" color="red" onClick={() => setDeleting(true)}>
            {say('delete_statement')}
          </Button>
        </Group>
      </Group>
      <div style={{ overflowX: 'auto' }}>
        <SegmentedControl
          aria-label={say('outcome')}
          data={choices}
          value={outcome ?? ''}
          onChange={(value) => setOutcome(value || undefined)}
        />
      </div>
      <Lines statement={statement} outcome={outcome} />
      <ConfirmByName
        name={statement.name}
        title={say('delete_statement')}
        text={say('delete_text')}
        action={say('delete_statement')}
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        onConfirm={async () => {
          await ask('DELETE', `/statements/${statement.id}`)
          onDeleted()
        }}
      />
    </Stack>
  )
}

/** Theirs and ours: what only we have is no line of the file. */
const linesIn = ({ outcomes: sums }: Statement): number =>
  outcomes.reduce((sum, outcome) => sum + sums[outcome].lines, 0)

function Lines({ statement, outcome }: { statement: Statement; outcome: Outcome | undefined }) {
  const say = useWords(words)
  const list = useList<StatementLine>(`/statements/${statement.id}/lines`, { outcome })
  const columns = useColumns(statement.currency)
  return (
    <DataTable
      label={say('lines')}
      columns={columns}
      rows={list.rows}
      keyOf={({ line }) => String(line)}
      isLoading={list.isLoading}
      error={list.error}
      empty={<Text c="dimmed">{say('no_lines')}</Text>}
      height="60vh"
      hasMore={list.hasMore}
      isLoadingMore={list.isLoadingMore}
      onMore={list.more}
    />
  )
}

function useColumns(currency: string): Column<StatementLine>[] {
  const say = useWords(words)
  const shared = useWords(common)
  const format = useFormat()
  const money = (title: string, of: (line: StatementLine) => string | null) => ({
    title,
    align: 'right' as const,
    width: '130px',
    cell: (line: StatementLine) => <Money amount={of(line)} currency={currency} />,
  })
  const quantity = (title: string, of: (line: StatementLine) => number | null) => ({
    title,
    align: 'right' as const,
    width: '140px',
    cell: (line: StatementLine) => format.number(of(line)),
  })
  return [
    { title: say('line_number'), width: '70px', align: 'right', cell: ({ line }) => line },
    {
      title: say('outcome'),
      width: '175px',
      cell: ({ outcome, loss }) => (
        <span title={loss ?? undefined}>
          <State state={colours[outcome]} label={say(outcome)} />
        </span>
      ),
    },
    { title: shared('time'), width: '150px', cell: ({ at }) => <Time at={at} how="short" /> },
    { title: shared('model'), width: '130px', cell: ({ model }) => model ?? '–' },
    {
      title: say('upstream_id'),
      width: '200px',
      cell: ({ upstream_id }) => <CopyId id={upstream_id} />,
    },
    money(say('theirs'), ({ amount }) => amount),
    money(say('ours'), ({ our_amount }) => our_amount),
    { title: say('ours_is'), width: '300px', cell: ({ ref }) => <Ours id={ref} /> },
    quantity(say('their_quantity'), (line) => line.quantity),
    quantity(say('our_quantity'), (line) => line.our_quantity),
  ]
}

function Ours({ id }: { id: string | null }) {
  const page = pageOf(id)
  if (page === undefined) return id ?? '–'
  return <Link to={page}>{id}</Link>
}
