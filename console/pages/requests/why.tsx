// Why a request or a task cost what it cost: the price as it was, the arithmetic, and what was booked.
import { List, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ask } from '../../lib/api.ts'
import { useWords } from '../../lib/words.ts'
import { CopyId } from '../../parts/copy.tsx'
import { SectionTitle } from '../../parts/page.tsx'
import { Facts } from '../../parts/sheet.tsx'
import { Money, Time } from '../../parts/values.tsx'
import { Terms } from '../prices/terms.tsx'
import type { Explanation } from './request.ts'
import { words } from './words.ts'

export function Why({ id }: { id: string }) {
  const say = useWords(words)
  const { data } = useQuery({
    queryKey: ['explain', id],
    queryFn: () => ask<Explanation>('GET', `/explain/${encodeURIComponent(id)}`),
  })
  if (data === undefined) return null
  const { price, tier, steps, entries, currency } = data
  return (
    <>
      <SectionTitle>{say('why')}</SectionTitle>
      {price !== null && (
        <Facts
          rows={[
            [say('price'), <CopyId key="p" id={price.id} most={40} />],
            [say('effective_from'), <Time key="f" at={price.effective_from} />],
            [say('tier'), tier],
            ['', <Terms key="t" price={price} />],
          ]}
        />
      )}
      <List size="sm">
        {steps.map((step) => (
          <List.Item key={step}>{step}</List.Item>
        ))}
      </List>
      {entries.length > 0 && (
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{say('entries')}</Table.Th>
              <Table.Th ta="right" />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {entries.map((entry) => (
              <Table.Tr key={entry.id}>
                <Table.Td>{entry.kind}</Table.Td>
                <Table.Td ta="right">
                  <Money amount={entry.amount} currency={currency} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </>
  )
}
