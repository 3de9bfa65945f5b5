// What belongs to an account: its tokens, the people who sign in for it, its bills by month.
import { Stack, Text } from '@mantine/core'
import type { Person } from '../../../src/admin/people/person-schema.ts'
import { BudgetBar } from '../../components/billing/budget.tsx'
import { ErrorAlert } from '../../components/page.tsx'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { Money, State, Time } from '../../components/values.tsx'
import type { Page } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import type { MonthRow } from '../../lib/resources/bill.ts'
import type { Token } from '../../lib/resources/token.ts'
import { Link } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useSession } from '../../lib/session.ts'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'

/** The page of tokens has the others. */
const shownTokens = 50
const shownMonths = 12

export function AccountTokens({ account }: { account: string }) {
  const t = useMessages(messages)
  const { data, error } = useResource<Page<Token>>('/tokens', {
    query: { account, limit: shownTokens },
  })
  const rows = data?.items ?? []
  return (
    <Stack>
      <ErrorAlert error={error} />
      {data !== undefined && rows.length === 0 && <Text c="dimmed">{t('no_tokens')}</Text>}
      {rows.length > 0 && (
        <SimpleTable
          label={t('tokens')}
          minWidth={420}
          rows={rows}
          rowKey={({ id }) => id}
          columns={[
            {
              title: t('name'),
              isPrivate: true,
              cell: ({ id, name }) => <Link to={`/tokens?open=${id}`}>{name}</Link>,
            },
            { title: t('prefix'), isPrivate: true, cell: ({ prefix }) => `${prefix}…` },
            { title: t('models'), cell: ({ models }) => models.join(', ') },
            { title: t('budget'), cell: ({ budget }) => <BudgetBar budget={budget} /> },
            { title: t('state'), cell: ({ disabled }) => <Enabled isDisabled={disabled} /> },
          ]}
        />
      )}
      <Link to={`/tokens?account=${encodeURIComponent(account)}`}>
        {t('all_tokens', { account })}
      </Link>
    </Stack>
  )
}

export function AccountPeople({ account }: { account: string }) {
  const t = useMessages(messages)
  const server = useServerText()
  const { data, error } = useResource<Page<Person>>('/people')
  const rows = data?.items.filter((person) => person.account === account) ?? []
  return (
    <Stack>
      <ErrorAlert error={error} />
      {data !== undefined && rows.length === 0 && <Text c="dimmed">{t('no_people')}</Text>}
      {rows.length > 0 && (
        <SimpleTable
          label={t('people')}
          minWidth={360}
          rows={rows}
          rowKey={({ id }) => id}
          columns={[
            { title: t('name'), isPrivate: true, cell: ({ name }) => name },
            { title: t('role'), cell: ({ role }) => server.text('role', role) },
            { title: t('state'), cell: ({ disabled }) => <Enabled isDisabled={disabled} /> },
            { title: t('created'), cell: ({ created_at }) => <Time at={created_at} /> },
          ]}
        />
      )}
      <Link to="/people">{t('people_page')}</Link>
    </Stack>
  )
}

export function AccountBills({ account }: { account: string }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const { data, error } = useResource<Page<MonthRow>>('/bills/months', {
    query: { account, limit: shownMonths },
  })
  const money = (title: string, of: (row: MonthRow) => string) => ({
    title,
    align: 'right' as const,
    cell: (row: MonthRow) => <Money amount={of(row)} currency={currency} />,
  })
  const bill = (month: string) => `/bills?open=${encodeURIComponent(`${month} ${account}`)}`
  return (
    <Stack>
      <ErrorAlert error={error} />
      <SimpleTable
        label={t('bills')}
        minWidth={480}
        rows={data?.items ?? []}
        rowKey={({ month }) => month}
        columns={[
          {
            title: t('month'),
            cell: ({ month }) => <Link to={bill(month)}>{format.utcMonth(month)}</Link>,
          },
          { title: t('state'), cell: ({ state }) => <State state={state} label={t(state)} /> },
          money(t('credits'), (row) => row.credits),
          money(t('charges'), (row) => row.charges),
          money(t('closing'), (row) => row.closing_balance),
        ]}
      />
      <Link to={`/bills?account=${encodeURIComponent(account)}`}>
        {t('all_bills', { account })}
      </Link>
    </Stack>
  )
}

function Enabled({ isDisabled }: { isDisabled: boolean }) {
  const t = useMessages(messages)
  return (
    <State
      state={isDisabled ? 'cancelled' : 'good'}
      label={t(isDisabled ? 'disabled' : 'active')}
    />
  )
}
