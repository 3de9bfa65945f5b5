// The budgets that bind an account: its own, those of its tags and of its tokens, each as a bar.
import { Group, Stack, Text } from '@mantine/core'
import type { Account } from '../../../../src/admin/money/account-schema.ts'
import { type Budget, BudgetBar } from '../../../components/billing/budget.tsx'
import { useFormat } from '../../../lib/format.ts'
import { useMessages } from '../../../lib/messages.ts'
import { privateClass } from '../../../lib/privacy.ts'
import { forecastOf } from '../../../lib/resources/budget-forecast.ts'
import type { Token } from '../../../lib/resources/token.ts'
import { useSession } from '../../../lib/session.ts'
import { messages } from './messages.ts'

export function Budgets({
  account,
  tokens = [],
}: {
  account: Account | undefined
  tokens: readonly Token[] | undefined
}) {
  const t = useMessages(messages)
  if (account === undefined) return null
  const named: [name: string, budget: Budget | null][] = [
    [t('whole_account'), account.budget],
    ...account.tag_budgets.map(({ tag, ...budget }): [string, Budget] => [
      t('of_tag', { name: tag }),
      budget,
    ]),
    ...tokens.map(({ name, budget }): [string, Budget | null] => [t('of_token', { name }), budget]),
  ]
  const set = named.flatMap(([name, budget]) => (budget === null ? [] : [{ name, budget }]))
  if (set.length === 0) return <Text c="dimmed">{t('no_budgets')}</Text>
  return (
    <Stack gap="xs">
      {set.map(({ name, budget }) => (
        <NamedBudget key={name} name={name} budget={budget} />
      ))}
    </Stack>
  )
}

const lasting = (days: number | 'lasts') => {
  if (days === 'lasts') return 'budget_lasts'
  if (days === 0) return 'budget_soon'
  return days === 1 ? 'budget_day' : 'budget_days'
}

function NamedBudget({ name, budget }: { name: string; budget: Budget }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const used = t('used', {
    spent: format.money(budget.spent),
    amount: format.money(budget.amount, currency),
  })
  const days = forecastOf(budget, Date.now())
  const forecast = days === undefined ? undefined : t(lasting(days), { n: days })
  const reset =
    budget.resets_at === null ? '' : ` · ${t('resets', { when: format.ago(budget.resets_at) })}`
  return (
    <div>
      <Group justify="space-between" gap="xs">
        <Text size="sm" className={privateClass}>
          {name}
        </Text>
        <Text size="xs" c="dimmed">
          {used}
          {reset}
        </Text>
      </Group>
      <BudgetBar budget={budget} />
      {forecast !== undefined && (
        <Text size="xs" c="dimmed">
          {forecast}
        </Text>
      )}
    </div>
  )
}
