// A month of all accounts: its sums, how many are closed, closing the others, their bills as one archive, sending
// them and verifying the ledger.
import { Button, Card, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { MonthTotals as Totals } from '../../../src/admin/closing/closing-schema.ts'
import { ErrorAlert } from '../../components/page.tsx'
import { Money } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { thisMonth } from '../../lib/resources/bill.ts'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'
import { ArchiveButton, type MonthDialog, MonthDialogs } from './month-dialogs.tsx'
import { VerifyLedger } from './verify.tsx'

const sums = [
  ['opening', 'opening_balance'],
  ['credits', 'credits'],
  ['adjustments', 'adjustments'],
  ['charges', 'charges'],
  ['refunds', 'refunds'],
  ['closing', 'closing_balance'],
] as const

export function MonthTotals({ month, onClosed }: { month: string; onClosed: () => void }) {
  const t = useMessages(messages)
  const format = useFormat()
  const totals = useResource<Totals>('/bills/totals', { query: { month } })
  const [dialog, setDialog] = useState<MonthDialog>()
  const { data } = totals
  return (
    <Card withBorder component="section" aria-label={t('totals_of', { month })}>
      <Stack>
        <ErrorAlert error={totals.error} />
        {data !== undefined && (
          <SimpleGrid cols={{ base: 2, sm: 4, lg: 7 }}>
            <Figure title={t('accounts_count')}>
              {t('open_of', { open: format.number(data.open), n: format.number(data.accounts) })}
            </Figure>
            {sums.map(([title, field]) => (
              <Figure key={field} title={t(title)}>
                <Money amount={data[field]} currency={data.currency} />
              </Figure>
            ))}
          </SimpleGrid>
        )}
        <Group align="flex-start">
          {data !== undefined && data.open > 0 && month < thisMonth() && (
            <Button onClick={() => setDialog('closing')}>{t('close_all')}</Button>
          )}
          {data !== undefined && data.accounts > 0 && <ArchiveButton month={month} />}
          {data !== undefined && data.closed > 0 && (
            <Button variant="default" onClick={() => setDialog('sending')}>
              {t('send_all')}
            </Button>
          )}
          <VerifyLedger />
        </Group>
        <MonthDialogs
          month={month}
          accounts={data?.accounts ?? 0}
          opened={dialog}
          onOpen={setDialog}
          onChanged={() => {
            void totals.refetch()
            onClosed()
          }}
        />
      </Stack>
    </Card>
  )
}

const Figure = ({ title, children }: { title: string; children: React.ReactNode }) => (
  <div>
    <Text size="xs" c="dimmed">
      {title}
    </Text>
    <Text size="sm" fw={600}>
      {children}
    </Text>
  </div>
)
