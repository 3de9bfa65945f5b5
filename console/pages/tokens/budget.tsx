// The budget of a token or an account: what is spent, held and left of it, and the fields that set it.
import { Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { PropertyList } from '../../components/drawer.tsx'
import { Money, Time } from '../../components/values.tsx'
import { useMessages } from '../../lib/messages.ts'
import type { Token } from '../../lib/resources/token.ts'
import { useSession } from '../../lib/session.ts'
import { messages } from './messages.ts'

type Budget = NonNullable<Token['budget']>

/** Without an amount there is none. */
interface BudgetDraft {
  amount: string
  per: Budget['per']
  zone: string
}

const periods = ['day', 'week', 'month', 'total'] as const

export const draftOf = (budget: Budget | null | undefined): BudgetDraft => ({
  amount: budget?.amount ?? '',
  per: budget?.per ?? 'month',
  zone: budget?.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
})

export const budgetFrom = ({ amount, per, zone }: BudgetDraft) =>
  amount.trim() === '' ? null : { amount: amount.trim(), per, zone: zone.trim() || 'UTC' }

export function BudgetFields({
  draft,
  onChange,
}: {
  draft: BudgetDraft
  onChange: (draft: BudgetDraft) => void
}) {
  const t = useMessages(messages)
  return (
    <Group grow align="start">
      <TextInput
        label={t('budget_amount')}
        description={t('budget_hint')}
        inputMode="decimal"
        value={draft.amount}
        onChange={(event) => onChange({ ...draft, amount: event.currentTarget.value })}
      />
      <Select
        label={t('budget_per')}
        description={t('budget_per_hint')}
        allowDeselect={false}
        data={periods.map((value) => ({ value, label: t(`budget_per_${value}`) }))}
        value={draft.per}
        onChange={(next) => onChange({ ...draft, per: (next ?? 'month') as Budget['per'] })}
      />
      <TextInput
        label={t('budget_zone')}
        description={t('budget_zone_hint')}
        value={draft.zone}
        onChange={(event) => onChange({ ...draft, zone: event.currentTarget.value })}
      />
    </Group>
  )
}

/** What is spent, held and left. */
export function BudgetFigures({ budget, name }: { budget: Budget; name?: string }) {
  const t = useMessages(messages)
  const { currency } = useSession()
  const money = (amount: string) => <Money amount={amount} currency={currency} />
  return (
    <Stack gap={4}>
      {name !== undefined && (
        <Text size="sm" fw={600}>
          {name}
        </Text>
      )}
      <PropertyList
        rows={[
          [t('budget_amount'), money(budget.amount)],
          [t('budget_per'), `${t(`budget_per_${budget.per}`)} · ${budget.zone}`],
          [t('budget_spent'), money(budget.spent)],
          [t('budget_held'), money(budget.held)],
          [t('budget_left'), money(budget.left)],
          [
            t('budget_resets'),
            budget.resets_at === null ? t('never') : <Time at={budget.resets_at} />,
          ],
        ]}
      />
    </Stack>
  )
}
