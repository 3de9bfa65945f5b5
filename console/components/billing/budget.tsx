// The budget of a token, an account or a tag: what is spent, held and left of it, and the fields that set it.
import { Group, Progress, Select, Stack, Text, TextInput } from '@mantine/core'
import { useFieldError } from '../../lib/field-errors.ts'
import { browserZone, zoneNames } from '../../lib/format/time-zone.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Token } from '../../lib/resources/token.ts'
import { useSession } from '../../lib/session.ts'
import { PropertyList } from '../drawer.tsx'
import { Money, None, Time } from '../values.tsx'
import { budgetMessages } from './budget-messages.ts'

export type Budget = NonNullable<Token['budget']>

/** Without an amount there is none. */
export interface BudgetDraft {
  amount: string
  per: Budget['per']
  zone: string
}

const periods = ['day', 'week', 'month', 'total'] as const
const zones = zoneNames()

export const draftOf = (budget: Budget | null | undefined): BudgetDraft => ({
  amount: budget?.amount ?? '',
  per: budget?.per ?? 'month',
  zone: budget?.zone ?? browserZone(),
})

export const budgetFrom = ({ amount, per, zone }: BudgetDraft) =>
  amount.trim() === '' ? null : { amount: amount.trim(), per, zone }

export function BudgetFields({
  draft,
  onChange,
}: {
  draft: BudgetDraft
  onChange: (draft: BudgetDraft) => void
}) {
  const t = useMessages(budgetMessages)
  const wrong = useFieldError()
  return (
    <Group grow align="start" preventGrowOverflow={false} wrap="wrap">
      <TextInput
        label={t('budget_amount')}
        description={t('budget_hint')}
        inputMode="decimal"
        value={draft.amount}
        error={wrong('amount', draft.amount)}
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
      <Select
        label={t('budget_zone')}
        description={t('budget_zone_hint')}
        allowDeselect={false}
        searchable
        limit={50}
        data={zones.includes(draft.zone) ? zones : [draft.zone, ...zones]}
        value={draft.zone}
        onChange={(next) => onChange({ ...draft, zone: next ?? 'UTC' })}
      />
    </Group>
  )
}

/** From 0 on; for drawing only. */
function usedShare({ amount, spent, held }: Budget): number {
  const used = Number(spent) + Number(held)
  const whole = Number(amount)
  return whole === 0 ? 1 : used / whole
}

/** How much is used of it, as a bar and a number; used up, it refuses calls. */
export function BudgetBar({ budget }: { budget: Budget | null | undefined }) {
  const t = useMessages(budgetMessages)
  const format = useFormat()
  const { currency } = useSession()
  if (budget === null || budget === undefined) return <None />
  const share = usedShare(budget)
  const label = t('budget_used', {
    share: format.percent(share),
    amount: format.money(budget.amount, currency),
    left: format.money(budget.left, currency),
  })
  const used = Number(budget.left) <= 0 ? t('budget_used_up') : format.percent(share)
  return (
    <Group gap={6} wrap="nowrap" title={label}>
      <Progress
        value={Math.round(Math.min(share, 1) * 100)}
        color={share > 0.9 ? 'red' : share > 0.7 ? 'orange' : 'teal'}
        aria-label={label}
        style={{ flex: 1, minWidth: 20 }}
      />
      {/* As wide for 5% as for 10%, so that bars can be compared. */}
      <Text size="xs" miw={34} ta="right" {...(share > 0.9 && { c: 'red' })}>
        {used}
      </Text>
    </Group>
  )
}

/** What is spent, held and left. */
export function BudgetFigures({ budget, name }: { budget: Budget; name?: string }) {
  const t = useMessages(budgetMessages)
  const { currency } = useSession()
  const money = (amount: string) => <Money amount={amount} currency={currency} />
  return (
    <Stack gap={4}>
      {name !== undefined && (
        <Text size="sm" fw={600}>
          {name}
        </Text>
      )}
      <BudgetBar budget={budget} />
      <PropertyList
        rows={[
          [t('budget_amount'), money(budget.amount)],
          [t('budget_per'), `${t(`budget_per_${budget.per}`)} · ${budget.zone}`],
          [t('budget_spent'), money(budget.spent)],
          [t('budget_held'), money(budget.held)],
          [t('budget_left'), money(budget.left)],
          [
            t('budget_resets'),
            budget.resets_at === null ? t('budget_never') : <Time at={budget.resets_at} />,
          ],
        ]}
      />
    </Stack>
  )
}
