// What belongs to an account: its tokens, the people who sign in for it, its bills by month.
import { Stack, Text } from '@mantine/core'
import type { Entry } from '../../../src/admin/money/account-schema.ts'
import type { Person } from '../../../src/admin/people/person-schema.ts'
import { BudgetBar } from '../../components/billing/budget.tsx'
import { ErrorAlert, Panel } from '../../components/page.tsx'
import { withUnit } from '../../components/table/columns.ts'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { Money, State, Time } from '../../components/values.tsx'
import type { Page } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { type MonthRow, pageOf } from '../../lib/resources/bill.ts'
import { modelsText, type Token } from '../../lib/resources/token.ts'
import { Link } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { useSession } from '../../lib/session.ts'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'

/** The page of tokens has the others. */
const shownTokens = 50
const shownMonths = 12
/** Among what was booked by hand. */
const refundsSought = 100
const shownRefunds = 5

export function AccountTokens({
  account,
  limit = shownTokens,
}: {
  account: string
  limit?: number
}) {
  const t = useMessages(messages)
  const { data, error } = useResource<Page<Token>>('/tokens', {
    query: { account, limit },
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
            { title: t('models'), cell: ({ models }) => modelsText(models, t('all')) },
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

export function AccountBills({
  account,
  limit = shownMonths,
}: {
  account: string
  limit?: number
}) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const { data, error } = useResource<Page<MonthRow>>('/bills/months', {
    query: { account, limit },
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

/** Nothing where there are none. */
export function AccountRefunds({ account }: { account: string }) {
  const t = useMessages(messages)
  const { currency } = useSession()
  const { data } = useResource<Page<Entry>>(`/accounts/${encodeURIComponent(account)}/ledger`, {
    query: { by_hand: true, limit: refundsSought },
  })
  const rows = (data?.items ?? []).filter(({ kind }) => kind === 'refund').slice(0, shownRefunds)
  if (rows.length === 0) return null
  const charged = ({ refund_of, model }: Entry) => {
    const to = pageOf(refund_of)
    const name = model ?? refund_of ?? '–'
    return to === undefined ? name : <Link to={to}>{name}</Link>
  }
  return (
    <Panel title={t('refunds')}>
      <SimpleTable
        label={t('refunds')}
        minWidth={420}
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          { title: t('refund_of'), cell: charged },
          { title: t('when'), cell: ({ at }) => <Time at={at} how="ago" /> },
          { title: t('reason'), cell: ({ note }) => note ?? '–' },
          {
            title: withUnit(t('amount'), currency),
            align: 'right',
            cell: ({ amount }) => <Money amount={amount} currency={currency} how="cost" isBare />,
          },
        ]}
      />
    </Panel>
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
