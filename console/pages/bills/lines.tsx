// The lines behind a bill, page after page, each leading to its request or task.

import { Button, Center, Table } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { ErrorAlert } from '../../components/page.tsx'
import { ScrollBox } from '../../components/scroll-box.tsx'
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
  const format = useFormat()
  const server = useServerText()
  const { currency } = useSession()
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
  return (
    <>
      <ErrorAlert error={list.error} />
      <ScrollBox label={t('lines')} minWidth={700}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('time')}</Table.Th>
              <Table.Th>{t('kind')}</Table.Th>
              <Table.Th>{t('model')}</Table.Th>
              <Table.Th ta="right">{t('quantity')}</Table.Th>
              <Table.Th ta="right">{t('amount')}</Table.Th>
              <Table.Th>{t('request_id')}</Table.Th>
              {onCredit !== undefined && <Table.Th />}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((line) => {
              const ref = line.task_id ?? line.request_id
              const page = pageOf(ref)
              return (
                <Table.Tr key={line.id}>
                  <Table.Td>
                    <Time at={line.at} how="short" />
                  </Table.Td>
                  <Table.Td>{t(line.kind)}</Table.Td>
                  <Table.Td>{line.model}</Table.Td>
                  <Table.Td ta="right">
                    {line.quantity !== null &&
                      `${format.number(line.quantity)} ${server.text('unit', line.unit ?? '')}`}
                  </Table.Td>
                  <Table.Td ta="right">
                    <Money amount={line.amount} currency={currency} />
                  </Table.Td>
                  <Table.Td>{page && <Link to={page}>{ref}</Link>}</Table.Td>
                  {onCredit !== undefined && (
                    <Table.Td>
                      {line.kind === 'charge' && (
                        <Button
                          size="compact-xs"
                          variant="subtle"
                          aria-label={t('credit_note_for', { ref: ref ?? line.id })}
                          onClick={() => onCredit(line)}
                        >
                          {t('credit_note')}
                        </Button>
                      )}
                    </Table.Td>
                  )}
                </Table.Tr>
              )
            })}
          </Table.Tbody>
        </Table>
      </ScrollBox>
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
