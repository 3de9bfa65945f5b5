// The lines behind a bill, page after page, each leading to its request or task.
import { Button, Center, Table } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { ask } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { ErrorNote } from '../../parts/page.tsx'
import { Money, Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import type { Line } from './bill.ts'
import { words } from './words.ts'

const pageRows = 50

function targetOf({ request_id, task_id }: Line): [string, string] | undefined {
  if (task_id !== null) return [task_id, `/tasks?open=${task_id}`]
  return request_id === null ? undefined : [request_id, `/requests?open=${request_id}`]
}

export function BillLines({ account, month }: { account: string; month: string }) {
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
      <Table.ScrollContainer minWidth={700}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{shared('time')}</Table.Th>
              <Table.Th>{say('kind')}</Table.Th>
              <Table.Th>{shared('model')}</Table.Th>
              <Table.Th ta="right">{say('quantity')}</Table.Th>
              <Table.Th ta="right">{say('amount')}</Table.Th>
              <Table.Th>{shared('request_id')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((line) => {
              const target = targetOf(line)
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
                  <Table.Td>{target && <Link to={target[1]}>{target[0]}</Link>}</Table.Td>
                </Table.Tr>
              )
            })}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
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
