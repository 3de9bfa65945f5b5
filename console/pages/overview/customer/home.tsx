// What a customer sees first: balance, charges of the month, budgets, tokens, failures, prices that change and documentation.
import { Alert, Card, SimpleGrid, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Account } from '../../../../src/admin/money/account-schema.ts'
import type { UsageRow } from '../../../../src/admin/traffic/traffic-schema.ts'
import { CopyId } from '../../../components/copy.tsx'
import { ErrorAlert, Panel } from '../../../components/page.tsx'
import { State, tabularNumbers } from '../../../components/values.tsx'
import type { Page } from '../../../lib/api.ts'
import { useFormat } from '../../../lib/format.ts'
import { useMessages } from '../../../lib/messages.ts'
import { privateClass } from '../../../lib/privacy.ts'
import { thisMonth } from '../../../lib/resources/bill.ts'
import type { Token } from '../../../lib/resources/token.ts'
import { Link } from '../../../lib/router.tsx'
import { useSession } from '../../../lib/session.ts'
import { useResource } from '../../../lib/use-resource.ts'
import { Budgets } from './budgets.tsx'
import { messages } from './messages.ts'
import { Failures, PriceNews } from './news.tsx'
import { TopUp } from './top-up.tsx'

const refetchMs = 15_000
const shownTokens = 100

export default function CustomerHome({ account: name }: { account: string }) {
  const t = useMessages(messages)
  const { role } = useSession()
  const path = `/accounts/${encodeURIComponent(name)}`
  const { data: account, error } = useResource<Account>(path, { refetchInterval: refetchMs })
  const tokens = useResource<Page<Token>>('/tokens', { query: { limit: shownTokens } })
  return (
    <>
      <ErrorAlert error={error} />
      {account?.suspended_since !== undefined && (
        <Alert color="red" title={t('suspended')}>
          {t('suspended_text')}
        </Alert>
      )}
      <MoneyCards account={account} />
      {role === 'member' && (
        <Panel title={t('top_up')}>
          <TopUp />
        </Panel>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Panel title={t('budgets')}>
          <Budgets account={account} tokens={tokens.data?.items} />
        </Panel>
        <Panel title={t('tokens')}>
          <Tokens tokens={tokens.data?.items} />
        </Panel>
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, md: 3 }}>
        <Panel title={t('failures')}>
          <Failures />
        </Panel>
        <Panel title={t('prices')}>
          <PriceNews account={name} />
        </Panel>
        <Panel title={t('documentation')}>
          <Documentation />
        </Panel>
      </SimpleGrid>
    </>
  )
}

function MoneyCards({ account }: { account: Account | undefined }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const month = thisMonth()
  const { data } = useResource<{ total: UsageRow }>('/usage', {
    query: { from: `${month}-01T00:00:00Z`, by: 'model' },
    refetchInterval: refetchMs,
  })
  const week = useLastWeek()
  const days = daysLeft(account?.available, week?.total.amount)
  const money = (amount: string | undefined) => format.money(amount, currency)
  const bill = `/bills?open=${encodeURIComponent(`${month} ${account?.name ?? ''}`)}`
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
      <MoneyCard title={t('balance')} amount={money(account?.balance)} exact={account?.balance}>
        {t('held', { amount: money(account?.held) })}
      </MoneyCard>
      <MoneyCard
        title={t('available')}
        amount={money(account?.available)}
        exact={account?.available}
      >
        {days !== undefined && t(lasting(days), { n: days })}
      </MoneyCard>
      <MoneyCard title={t('today')} amount={money(week?.today)} exact={week?.today}>
        {t('today_hint')}
      </MoneyCard>
      <MoneyCard title={t('spend')} amount={money(data?.total.amount)} exact={data?.total.amount}>
        {t('spend_hint', { month })} · <Link to={bill}>{t('bill')}</Link>
      </MoneyCard>
    </SimpleGrid>
  )
}

const weekDays = 7
const dayMs = 24 * 3_600_000
/** Beyond a year it says nothing. */
const maxDaysLeft = 365

/** Charges of the last seven whole days, and of today. */
function useLastWeek() {
  const todayMs = Date.now() - (Date.now() % dayMs)
  const time = (ms: number) => new Date(ms).toISOString()
  const today = useResource<{ total: UsageRow }>('/usage', {
    query: { from: time(todayMs), by: 'day' },
    refetchInterval: refetchMs,
  })
  const week = useResource<{ total: UsageRow }>('/usage', {
    query: { from: time(todayMs - weekDays * dayMs), to: time(todayMs), by: 'day' },
  })
  if (today.data === undefined || week.data === undefined) return undefined
  return { today: today.data.total.amount, total: week.data.total }
}

/** Undefined when nothing was spent, or it lasts for longer than anyone plans. */
function daysLeft(available: string | undefined, spent: string | undefined): number | undefined {
  const perDay = Number(spent ?? 0) / weekDays
  if (available === undefined || perDay <= 0) return undefined
  const days = Math.floor(Math.max(0, Number(available)) / perDay)
  return days > maxDaysLeft ? undefined : days
}

const lasting = (days: number) => {
  if (days === 0) return 'lasts_less'
  return days === 1 ? 'lasts_one' : 'lasts'
}

const MoneyCard = ({
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
  <Card withBorder padding="sm">
    <Text size="xs" c="dimmed">
      {title}
    </Text>
    <Text fw={600} fz={20} style={tabularNumbers} title={exact}>
      {amount}
    </Text>
    <Text size="xs" c="dimmed">
      {children}
    </Text>
  </Card>
)

const shownHere = 8

function Tokens({ tokens }: { tokens: readonly Token[] | undefined }) {
  const t = useMessages(messages)
  return (
    <Stack gap={6}>
      {tokens?.length === 0 && <Text c="dimmed">{t('no_tokens')}</Text>}
      {tokens?.slice(0, shownHere).map(({ id, name, prefix, disabled }) => (
        <Text key={id} size="sm" className={privateClass}>
          <Link to={`/tokens?open=${id}`}>{name}</Link> {prefix}…{' '}
          {disabled && <State state="cancelled" label={t('disabled')} />}
        </Text>
      ))}
      <Link to="/tokens">{t('all_tokens')}</Link>
    </Stack>
  )
}

function Documentation() {
  const t = useMessages(messages)
  const { public_url } = useSession()
  const links = [
    [t('guide'), `${public_url}/docs/guide`],
    [t('reference'), `${public_url}/docs`],
    ['OpenAPI', `${public_url}/openapi.json`],
  ] as const
  return (
    <Stack gap={6}>
      {links.map(([title, href]) => (
        <a key={href} href={href} target="_blank" rel="noreferrer">
          {title}
        </a>
      ))}
      <Text size="sm">
        {t('base_url')}: <CopyId id={`${public_url}/v1`} max={60} />
      </Text>
    </Stack>
  )
}
