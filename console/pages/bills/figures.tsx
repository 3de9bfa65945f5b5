// The figures of one bill: its state, the balances around it and what moved them.
import { Group, Text } from '@mantine/core'
import { PropertyList } from '../../components/drawer.tsx'
import { Money, State } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Bill } from '../../lib/resources/bill.ts'
import { messages } from './messages.ts'

export function BillFigures({ bill }: { bill: Bill }) {
  const t = useMessages(messages)
  const format = useFormat()
  const money = (amount: string) => <Money amount={amount} currency={bill.currency} />
  return (
    <PropertyList
      rows={[
        [
          t('state'),
          <Group key="s" gap="xs">
            <State state={bill.state} label={t(bill.state)} />
            {bill.closed_at !== null && (
              <Text size="sm">{t('closed_on', { when: format.time(bill.closed_at) })}</Text>
            )}
          </Group>,
        ],
        [t('opening'), money(bill.opening_balance)],
        [t('credits'), money(bill.credits)],
        [t('adjustments'), money(bill.adjustments)],
        [t('charges'), money(bill.charges)],
        [t('refunds'), money(bill.refunds ?? '0.00')],
        [t('count'), format.number(bill.charge_count)],
        [t('closing'), money(bill.closing_balance)],
      ]}
    />
  )
}
