// What an account may spend, and its settings.
import { Stack, Text } from '@mantine/core'
import type { Account } from '../../../src/admin/money/account-schema.ts'
import { BudgetFigures } from '../../components/billing/budget.tsx'
import { CopyId } from '../../components/copy.tsx'
import { PropertyList } from '../../components/drawer.tsx'
import { Qualifying } from '../../components/fields/require-fields.tsx'
import { Money, Time } from '../../components/values.tsx'
import { useMessages } from '../../lib/messages.ts'
import { dataText } from '../../lib/resources/data-terms.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useSession } from '../../lib/session.ts'
import { messages } from './messages.ts'

export function AccountBudgets({ account }: { account: Account }) {
  const t = useMessages(messages)
  if (account.budget === null && account.tag_budgets.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t('no_budget')}
      </Text>
    )
  }
  return (
    <Stack>
      {account.budget !== null && <BudgetFigures budget={account.budget} />}
      {account.tag_budgets.map(({ tag, ...budget }) => (
        <BudgetFigures key={tag} name={tag} budget={budget} />
      ))}
    </Stack>
  )
}

export function AccountSettings({ account }: { account: Account }) {
  const t = useMessages(messages)
  const server = useServerText()
  const { currency } = useSession()
  return (
    <>
      {account.source === 'file' && (
        <Text size="sm" c="dimmed">
          {t('from_file')}
        </Text>
      )}
      <PropertyList
        rows={[
          ['ID', <CopyId key="id" id={account.id} max={40} />],
          [
            t('balance_low'),
            account.balance_low === null ? (
              '–'
            ) : (
              <Money key="low" amount={account.balance_low} currency={currency} />
            ),
          ],
          [t('tag_names'), account.tag_names.join(', ') || '–'],
          [t('end_users'), t(`end_users_${account.end_users}`)],
          [t('token_limit'), String(account.token_limit)],
          [t('require'), dataText(account.require) || '–'],
          ['', <Qualifying key="q" required={[account.require]} />],
          [t('source'), server.text('source', account.source)],
          [t('created'), <Time key="at" at={account.created_at} />],
        ]}
      />
    </>
  )
}
