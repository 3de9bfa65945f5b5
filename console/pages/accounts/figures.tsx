// What an account has, has spent and may spend, and its settings.
import { Card, SimpleGrid, Stack, Text } from '@mantine/core'
import type { Account } from '../../../src/admin/money/account-schema.ts'
import { BudgetFigures } from '../../components/billing/budget.tsx'
import { CopyId } from '../../components/copy.tsx'
import { PropertyList } from '../../components/drawer.tsx'
import { Qualifying } from '../../components/fields/require-fields.tsx'
import { SectionTitle } from '../../components/page.tsx'
import { Money, Time } from '../../components/values.tsx'
import { useMessages } from '../../lib/messages.ts'
import { dataText } from '../../lib/resources/data-terms.ts'
import { Link } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useSession } from '../../lib/session.ts'
import { messages } from './messages.ts'
import { useChargesOf } from './month-charges.ts'

export function AccountFigures({ account }: { account: Account }) {
  const t = useMessages(messages)
  const { currency } = useSession()
  const charges = useChargesOf(account.name)
  const money = [
    [t('balance'), account.balance],
    [t('held'), account.held],
    [t('available'), account.available],
    [t('spend'), charges],
  ] as const
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        {money.map(([title, amount]) => (
          <Card key={title} withBorder padding="xs">
            <Text size="xs" c="dimmed">
              {title}
            </Text>
            <Text fw={600}>
              <Money amount={amount} currency={currency} />
            </Text>
          </Card>
        ))}
      </SimpleGrid>
      <Text size="xs" c="dimmed">
        {t('spend_hint')}
      </Text>
      <section>
        <SectionTitle>{t('budget')}</SectionTitle>
        {account.budget === null ? (
          <Text size="sm" c="dimmed">
            {t('no_budget')}
          </Text>
        ) : (
          <BudgetFigures budget={account.budget} />
        )}
      </section>
      {account.tag_budgets.length > 0 && (
        <section>
          <SectionTitle>{t('tag_budgets')}</SectionTitle>
          {account.tag_budgets.map(({ tag, ...budget }) => (
            <BudgetFigures key={tag} name={tag} budget={budget} />
          ))}
        </section>
      )}
      <AccountSettings account={account} />
      <Link to={`/requests?account=${encodeURIComponent(account.name)}`}>
        {t('requests', { account: account.name })}
      </Link>
      <Link to="/alerts">{t('alerts')}</Link>
    </Stack>
  )
}

function AccountSettings({ account }: { account: Account }) {
  const t = useMessages(messages)
  const server = useServerText()
  const { currency } = useSession()
  return (
    <section>
      <SectionTitle>{t('settings')}</SectionTitle>
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
    </section>
  )
}
