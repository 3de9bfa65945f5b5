// The lines of a bill, page by page, with links to their requests and tasks.

import { Button, Center } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { ErrorAlert } from '../../components/page.tsx'
import type { Column } from '../../components/table/data-table.tsx'
import { withUnit } from '../../components/table/data-table.tsx'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { Money, Time } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { type Line, pageOf } from '../../lib/resources/bill.ts'
import { Link } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useSession } from '../../lib/session.ts'
import { messages } from './messages.ts'

const pageRows = 50

export function BillLines({
  account,
  month,
  onCredit,
}: {
  account: string
  month: string
  /** Absent for those who may not give any. */
  onCredit?: ((line: Line) => void) | undefined
}) {
  const t = useMessages(messages)
  const list = useInfiniteQuery({
    queryKey: ['bill-lines', account, month],
    queryFn: ({ pageParam }) =>
      api<{ lines: Line[]; next_cursor: string | null }>('GET', '/bills', {
        query: { account, month, lines: true, limit: pageRows, cursor: pageParam },
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  })
  const rows = list.data?.pages.flatMap(({ lines }) => lines) ?? []
  const columns = useColumns(onCredit)
  return (
    <>
      <ErrorAlert error={list.error} />
      <SimpleTable
        label={t('lines')}
        columns={columns}
        rows={rows}
        rowKey={({ id }) => id}
        minWidth={700}
      />
      {list.hasNextPage && (
        <Center>
          <Button
            variant="default"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            {t('more')}
          </Button>
        </Center>
      )}
    </>
  )
}

const refOf = ({ task_id, request_id }: Line) => task_id ?? request_id

function useColumns(onCredit: ((line: Line) => void) | undefined): (Column<Line> | false)[] {
  const t = useMessages(messages)
  const format = useFormat()
  const server = useServerText()
  const { currency } = useSession()
  return [
    { title: t('time'), cell: ({ at }) => <Time at={at} how="utc" /> },
    { title: t('kind'), cell: ({ kind }) => t(kind) },
    { title: t('model'), cell: ({ model }) => model },
    {
      title: t('quantity'),
      align: 'right',
      cell: ({ quantity, unit }) =>
        quantity !== null && `${format.number(quantity)} ${server.text('unit', unit ?? '')}`,
    },
    {
      title: withUnit(t('amount'), currency),
      align: 'right',
      cell: ({ amount }) => <Money amount={amount} currency={currency} isBare />,
    },
    { title: t('request_id'), cell: (line) => <RecordLink id={refOf(line)} /> },
    onCredit !== undefined && {
      title: '',
      cell: (line) =>
        line.kind === 'charge' && (
          <Button
            size="compact-xs"
            variant="subtle"
            aria-label={t('credit_note_for', { ref: refOf(line) ?? line.id })}
            onClick={() => onCredit(line)}
          >
            {t('credit_note')}
          </Button>
        ),
    },
  ]
}

function RecordLink({ id }: { id: string | null }) {
  const page = pageOf(id)
  return page === undefined ? null : <Link to={page}>{id}</Link>
}
