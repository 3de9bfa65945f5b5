// An account at a glance: balance and how long it lasts, charges and margin over time, budgets with a
// forecast, its newest tokens, bills and refunds, and beside them who it is and what happened last.
import { Group, SimpleGrid, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Account } from '../../../src/admin/money/account-schema.ts'
import { profileNames } from '../../../src/contract/config-schema/profile-fields.ts'
import { Chart } from '../../components/charts/chart.tsx'
import { restColor } from '../../components/charts/series.ts'
import { PropertyList } from '../../components/drawer.tsx'
import { Panel } from '../../components/page.tsx'
import { tabularNumbers } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { thisMonth } from '../../lib/resources/bill.ts'
import { shareOf } from '../../lib/resources/margin.ts'
import {
  monthPeriod,
  periodOf,
  timesOf,
  type UsageRow,
  useUsage,
} from '../../lib/resources/usage.ts'
import { Link } from '../../lib/router.tsx'
import { hasRole, useSession } from '../../lib/session.ts'
import { AccountBudgets, AccountSettings } from './figures.tsx'
import { AccountBills, AccountRefunds, AccountTokens } from './lists.tsx'
import { messages } from './messages.ts'
import { profileMessages } from './profile-messages.ts'
import { Timeline } from './timeline.tsx'

const daysShown = 30
const weekDays = 7
/** Beyond a year it says nothing. */
const maxDaysLeft = 365
const newestTokens = 5
const newestMonths = 3
const newestEvents = 8

export function AccountSummary({ account }: { account: Account }) {
  const t = useMessages(messages)
  const session = useSession()
  const { name } = account
  return (
    <div className="account-summary">
      <Stack>
        <Figures account={account} />
        <Panel title={t('over_time')}>
          <MoneyChart account={name} />
        </Panel>
        <Panel title={t('budgets')}>
          <AccountBudgets account={account} />
        </Panel>
        {hasRole(session, ['operator']) && (
          <Panel title={t('newest_tokens')}>
            <AccountTokens account={name} limit={newestTokens} />
          </Panel>
        )}
        {hasRole(session, ['finance']) && (
          <Panel title={t('newest_bills')}>
            <AccountBills account={name} limit={newestMonths} />
          </Panel>
        )}
        <AccountRefunds account={name} />
      </Stack>
      <Stack>
        <Panel title={t('profile')}>
          <ProfileFacts account={account} />
        </Panel>
        <Panel title={t('timeline')}>
          <Timeline account={account} shown={newestEvents} />
        </Panel>
        <Panel title={t('settings')}>
          <AccountSettings account={account} />
        </Panel>
      </Stack>
    </div>
  )
}

function Figures({ account }: { account: Account }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const month = useUsage(monthPeriod(thisMonth()), 'unit', true, account.name).data?.total
  const week = useUsage(periodOf(weekDays), 'unit', true, account.name).data?.total
  const days = daysLeft(account.available, week?.amount)
  const money = (amount: string | undefined) => format.money(amount, currency)
  const share = month && shareOf(month)
  const requests = `/requests?account=${encodeURIComponent(account.name)}`
  const isLow =
    account.balance_low !== null && Number(account.available) < Number(account.balance_low)
  return (
    <Panel>
      <SimpleGrid cols={{ base: 2, lg: 4 }}>
        <Figure title={t('balance')} amount={money(account.balance)} exact={account.balance}>
          {days !== undefined && t(days === 1 ? 'lasts_one' : 'lasts', { n: days })}
          {isLow && ` · ${t('below', { amount: money(account.balance_low ?? undefined) })}`}
        </Figure>
        <Figure title={t('available')} amount={money(account.available)} exact={account.available}>
          {t('held_note', { amount: money(account.held) })}
        </Figure>
        <Figure title={t('spend')} amount={money(month?.amount)} exact={month?.amount}>
          {t('spend_hint')} <Link to={requests}>{t('its_requests')}</Link>
        </Figure>
        <Figure title={t('margin')} amount={money(month?.margin)} exact={month?.margin}>
          {share !== undefined && t('of_charges', { share: format.percent(share) })}
          {(month?.cost_unknown ?? 0) > 0 &&
            ` · ${t('cost_unknown', { n: format.number(month?.cost_unknown) })}`}
        </Figure>
      </SimpleGrid>
    </Panel>
  )
}

function daysLeft(available: string, spent: string | undefined): number | undefined {
  const perDay = Number(spent ?? 0) / weekDays
  if (perDay <= 0) return undefined
  const days = Math.floor(Math.max(0, Number(available)) / perDay)
  return days > maxDaysLeft ? undefined : days
}

const Figure = ({
  title,
  amount,
  exact,
  children,
}: {
  title: string
  amount: string
  exact: string | undefined
  children?: ReactNode
}) => (
  <div>
    <Text size="xs" c="dimmed">
      {title}
    </Text>
    <Text fw={600} fz={20} style={tabularNumbers} title={exact ?? ''}>
      {amount}
    </Text>
    <Text size="xs" c="dimmed" component="div">
      {children}
    </Text>
  </div>
)

/** A bar a day: what upstreams took, and what is left; a loss shows below nothing else. */
function MoneyChart({ account }: { account: string }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const period = periodOf(daysShown)
  const { data } = useUsage(period, 'day', true, account)
  const times = timesOf(period, 'day')
  const byDay = new Map((data?.items ?? []).map((row) => [row.day, row]))
  const values = (of: (row: UsageRow) => number) =>
    times.map((day) => {
      const row = byDay.get(day)
      return row === undefined ? 0 : of(row)
    })
  const cost = (row: UsageRow) => Number(row.cost ?? 0)
  const margin = (row: UsageRow) => Number(row.margin ?? 0)
  return (
    <>
      <Chart
        label={t('over_time')}
        by="day"
        moments={times.map((day) => Date.parse(day))}
        format={(value) => format.drawn(value, currency)}
        axis={(value) => format.amountTick(value, currency)}
        series={[
          { name: t('cost'), color: restColor, values: values(cost) },
          {
            name: t('margin_by_day'),
            color: 'var(--c1)',
            values: values((row) => Math.max(0, margin(row))),
          },
        ]}
      />
      <Group justify="flex-end">
        <Link to={`/margins?account=${encodeURIComponent(account)}`}>{t('margins')}</Link>
      </Group>
    </>
  )
}

function ProfileFacts({ account }: { account: Account }) {
  const t = useMessages(messages)
  const profile = useMessages(profileMessages)
  const rows = profileNames
    .filter((field) => account[field] != null)
    .map(
      (field) =>
        [
          profile(field),
          <Text key={field} size="sm" className={`${privateClass} lines`}>
            {account[field]}
          </Text>,
        ] as const,
    )
  if (rows.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t('no_profile')}
      </Text>
    )
  }
  return <PropertyList rows={rows} />
}
