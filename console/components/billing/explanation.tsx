// ChargeExplanation a request or a task cost what it cost: the price as it was, the arithmetic, and what was booked.

import { List } from '@mantine/core'
import { useMessages } from '../../lib/messages.ts'
import type { Explanation } from '../../lib/resources/request.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useResource } from '../../lib/use-resource.ts'
import { CopyId } from '../copy.tsx'
import { PropertyList } from '../drawer.tsx'
import { SectionTitle } from '../page.tsx'
import { withUnit } from '../table/data-table.tsx'
import { SimpleTable } from '../table/simple-table.tsx'
import { Money, Time } from '../values.tsx'
import { billingMessages } from './messages.ts'
import { Terms } from './price-terms.tsx'

export function ChargeExplanation({ id }: { id: string }) {
  const t = useMessages(billingMessages)
  const server = useServerText()
  const { data } = useResource<Explanation>(`/explain/${encodeURIComponent(id)}`)
  if (data === undefined) return null
  const { price, tier, steps, entries, currency } = data
  return (
    <>
      <SectionTitle>{t('why')}</SectionTitle>
      {price !== null && (
        <PropertyList
          rows={[
            [t('price_version'), <CopyId key="p" id={price.id} max={40} />],
            [t('effective_from'), <Time key="f" at={price.effective_from} />],
            [t('tier'), tier],
            ['', <Terms key="t" price={price} />],
          ]}
        />
      )}
      <List size="sm">
        {steps.map((step) => (
          <List.Item key={step}>{server.sentence(step)}</List.Item>
        ))}
      </List>
      {entries.length > 0 && (
        <SimpleTable
          label={t('entries')}
          rows={entries}
          rowKey={({ id }) => id}
          columns={[
            { title: t('entry'), cell: ({ kind }) => server.text('entry', kind) },
            {
              title: withUnit(t('entry_amount'), currency),
              align: 'right',
              cell: ({ amount }) => <Money amount={amount} currency={currency} how="cost" isBare />,
            },
          ]}
        />
      )}
    </>
  )
}
