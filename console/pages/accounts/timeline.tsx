// What happened to an account, newest first: money that was booked by hand, months that were closed, tokens
// that were made, open alerts, and (for administrators) changes of its settings.
import { Timeline as Dots, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Account, Entry } from '../../../src/admin/money/account-schema.ts'
import type { AuditRow } from '../../../src/admin/money/audit-schema.ts'
import type { Alert } from '../../../src/admin/system/system-schema.ts'
import { ErrorAlert } from '../../components/page.tsx'
import { Money, Time } from '../../components/values.tsx'
import type { Page, Query } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { type MonthRow, pageOf } from '../../lib/resources/bill.ts'
import type { Token } from '../../lib/resources/token.ts'
import { Link } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'

interface Event {
  key: string
  at: string
  what: ReactNode
  /** The person, or a note. */
  note?: string | null
}

/** Of each kind; the newest of all of them are among these. */
const maxOfEach = 100

/** What the ledger and the timeline have an entry of their own for. */
const toldElsewhere = ['account.credit', 'account.create', 'bill.close']

export function Timeline({ account, shown }: { account: Account; shown: number }) {
  const t = useMessages(messages)
  const { error, events } = useEvents(account)
  if (error !== null) return <ErrorAlert error={error} />
  return (
    <Dots bulletSize={8} lineWidth={1} className="timeline">
      {events.slice(0, shown).map(({ key, at, what, note }) => (
        <Dots.Item key={key}>
          <Text size="sm" component="div" className={privateClass}>
            {what}
          </Text>
          <Text size="xs" c="dimmed" component="div">
            <Time at={at} how="ago" />
            {note != null && note !== '' && ` · ${note}`}
          </Text>
        </Dots.Item>
      ))}
      <Dots.Item key="opened">
        <Stack gap={0}>
          <Text size="sm">{t('opened')}</Text>
          <Text size="xs" c="dimmed" component="div">
            <Time at={account.created_at} how="ago" />
          </Text>
        </Stack>
      </Dots.Item>
    </Dots>
  )
}

const useNewest = <T,>(path: string, isWanted: boolean, query: Query = {}) =>
  useResource<Page<T>>(path, { query: { limit: maxOfEach, ...query }, enabled: isWanted })

function useEvents(account: Account): { error: Error | null; events: Event[] } {
  const all = [useMoney(account), useTokens(account), useAlertsOf(account), useChanges(account)]
  return {
    error: all.find(({ error }) => error !== null)?.error ?? null,
    events: all.flatMap(({ events }) => events).toSorted((a, b) => (a.at < b.at ? 1 : -1)),
  }
}

/** What was booked by hand, and months that were closed. */
function useMoney({ name }: Account) {
  const t = useMessages(messages)
  const format = useFormat()
  const session = useSession()
  const path = `/accounts/${encodeURIComponent(name)}/ledger`
  const entries = useNewest<Entry>(path, true, { by_hand: true })
  const isWanted = hasRole(session, ['finance'])
  const months = useNewest<MonthRow>('/bills/months', isWanted, { account: name })
  const booked: Event[] = (entries.data?.items ?? []).map((entry) => ({
    key: `entry ${entry.id}`,
    at: entry.at,
    what: <Booked entry={entry} />,
    note: entry.note,
  }))
  const closed: Event[] = (months.data?.items ?? []).flatMap(({ month, closed_at, charges }) => {
    if (closed_at == null) return []
    const amount = format.money(charges, session.currency)
    const what = (
      <Link to={`/bills?open=${encodeURIComponent(`${month} ${name}`)}`}>
        {t('month_closed', { month: format.utcMonth(month), amount })}
      </Link>
    )
    return [{ key: `month ${month}`, at: closed_at, what }]
  })
  return { error: entries.error ?? months.error, events: [...booked, ...closed] }
}

function useTokens({ name }: Account) {
  const t = useMessages(messages)
  const isWanted = hasRole(useSession(), ['operator'])
  const { data, error } = useNewest<Token>('/tokens', isWanted, { account: name })
  const events: Event[] = (data?.items ?? []).map((token) => ({
    key: token.id,
    at: token.created_at,
    what: <Link to={`/tokens?open=${token.id}`}>{t('token_made', { name: token.name })}</Link>,
  }))
  return { error, events }
}

function useAlertsOf({ id, name }: Account) {
  const server = useServerText()
  const { data, error } = useNewest<Alert>('/alerts', true, { all: true })
  const own = data?.items.filter(({ subject }) => subject === id || subject === name) ?? []
  const events: Event[] = own.map((alert) => ({
    key: alert.id,
    at: alert.since,
    what: server.text('alert', alert.kind),
    note: server.sentence(alert.message),
  }))
  return { error, events }
}

function useChanges({ id }: Account) {
  const server = useServerText()
  const isWanted = useSession().role === 'administrator'
  const { data, error } = useNewest<AuditRow>('/audit-log', isWanted, { subject: id })
  const own = data?.items.filter(({ action }) => !toldElsewhere.includes(action)) ?? []
  const events: Event[] = own.map((change) => ({
    key: `change ${change.id}`,
    at: change.at,
    what: (
      <Link to={`/audit-log?subject=${id}&open=${change.id}`}>
        {server.text('audit_action', change.action)}
      </Link>
    ),
    note: change.actor,
  }))
  return { error, events }
}

/** A refund leads to what was charged. */
function Booked({ entry }: { entry: Entry }) {
  const t = useMessages(messages)
  const { currency } = useSession()
  const amount = <Money amount={entry.amount.replace('-', '')} currency={currency} how="cost" />
  if (entry.kind === 'refund') {
    const of = pageOf(entry.refund_of)
    return (
      <>
        <b>{t('refunded')}</b> {amount}{' '}
        {of !== undefined && <Link to={of}>{entry.model ?? t('charge')}</Link>}
      </>
    )
  }
  return (
    <>
      <b>{t(entry.amount.startsWith('-') ? 'taken_back' : 'credited')}</b> {amount}
    </>
  )
}
