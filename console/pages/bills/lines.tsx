// The lines behind a bill, page after page, each leading to its request or task.
import { Button, Center, Table } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { ask } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { ErrorNote } from '../../parts/page.tsx'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { Money, Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { type Line, pageOf } from './bill.ts'
import { words } from './words.ts'

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
  const say = useWords(words)
  const shared = useWords(common)
  const format = useFormat()
  const { currency } = useSession()
  const list = useInfiniteQuery({
    queryKey: ['bill-lines', account, month],
    queryFn: ({ pageParam }) =>
      ask<{ lines: Line[]; next_cursor: string | null }>('GET', '/bills', {
        query: { account, month, lines: true, limit: pageRows, cursor: pageParam },
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  })
  const rows = list.data?.pages.flatMap(({ lines }) => lines) ?? []
  return (
    <>
      <ErrorNote error={list.error} />
      <ScrollBox label={say('lines')} minWidth={700}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{shared('time')}</Table.Th>
              <Table.Th>{say('kind')}</Table.Th>
              <Table.Th>{shared('model')}</Table.Th>
              <Table.Th ta="right">{say('quantity')}</Table.Th>
              <Table.Th ta="right">{say('amount')}</Table.Th>
              <Table.Th>{shared('request_id')}</Table.Th>
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
                  <Table.Td>{say(line.kind)}</Table.Td>
                  <Table.Td>{line.model}</Table.Td>
                  <Table.Td ta="right">
                    {line.quantity !== null && `${format.number(line.quantity)} ${line.unit ?? ''}`}
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
                          aria-label={say('credit_note_for', { ref: ref ?? line.id })}
                          onClick={() => onCredit(line)}
                        >
                          {say('credit_note')}
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
            {shared('more')}
          </Button>
        </Center>
      )}
    </>
  )
}
