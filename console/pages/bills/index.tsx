// Bills: one month of all accounts, or all months of one; the open bill in a drawer.
import { Box, Button, Group, Select, Tabs, Text, Title } from '@mantine/core'
import { AccountName, useDisplayNames } from '../../components/billing/account-name.tsx'
import { Page } from '../../components/page.tsx'
import { type Column, DataTable, withUnit } from '../../components/table/data-table.tsx'
import { ExportButton } from '../../components/table/export-button.tsx'
import { Money, State } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { tableProps, useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { lastMonths, type MonthRow, thisMonth } from '../../lib/resources/bill.ts'
import { setQuery, useQueryValue } from '../../lib/router.tsx'
import { hasRole, useSession } from '../../lib/session.ts'
import { BillDrawer } from './drawer.tsx'
import { messages } from './messages.ts'
import { MonthTotals } from './month-totals.tsx'
import { Reconciliation } from './reconciliation.tsx'

const monthsShown = 36

export default function Bills() {
  const t = useMessages(messages)
  const session = useSession()
  const [account] = useQueryValue('account')
  const [asked, setTab] = useQueryValue('tab')
  const tab = asked === 'reconcile' && hasRole(session, ['finance']) ? asked : 'bills'
  const own = session.account ?? account
  const staffHint = account === undefined ? t('hint') : t('hint_of', { account })
  return (
    <Page title={t('title')} hint={session.account === null ? staffHint : t('hint_own')}>
      <Tabs
        value={tab}
        onChange={(next) => setTab(next === 'bills' ? undefined : (next ?? undefined))}
      >
        {hasRole(session, ['finance']) && (
          <Tabs.List>
            <Tabs.Tab value="bills">{t('title')}</Tabs.Tab>
            <Tabs.Tab value="reconcile">{t('reconcile')}</Tabs.Tab>
          </Tabs.List>
        )}
        <Tabs.Panel value="bills" pt="md">
          {own === undefined ? <AllAccounts /> : <OneAccount account={own} />}
        </Tabs.Panel>
        <Tabs.Panel value="reconcile" pt="md">
          <Reconciliation />
        </Tabs.Panel>
      </Tabs>
      <BillDrawer />
    </Page>
  )
}

function useColumns(first: Column<MonthRow>): Column<MonthRow>[] {
  const t = useMessages(messages)
  const { currency } = useSession()
  // All of them fit beside the menu on a screen of 1280 pixels.
  const money = (title: string, of: (row: MonthRow) => string, width = '100px') => ({
    ...{ title: withUnit(title, currency), width, align: 'right' as const },
    cell: (row: MonthRow) => <Money amount={of(row)} currency={currency} isBare />,
  })
  return [
    first,
    {
      title: t('state'),
      width: '90px',
      cell: ({ state }) => <State state={state} label={t(state)} />,
    },
    money(t('opening'), (row) => row.opening_balance, '135px'),
    money(t('credits'), (row) => row.credits),
    money(t('adjustments'), (row) => row.adjustments, '120px'),
    money(t('charges'), (row) => row.charges),
    money(t('refunds'), (row) => row.refunds),
    money(t('closing'), (row) => row.closing_balance, '135px'),
  ]
}

const open = ({ account, month }: MonthRow) => setQuery({ open: `${month} ${account}` })

function AllAccounts() {
  const t = useMessages(messages)
  const [month = thisMonth(), setMonth] = useQueryValue('month')
  const [opened] = useQueryValue('open')
  const list = useList<MonthRow>('/bills/accounts', { month })
  const displayName = useDisplayNames()
  const columns = useColumns({
    title: t('account'),
    isPrivate: true,
    width: '200px',
    cell: ({ account }) => <AccountName name={account} displayName={displayName(account)} />,
  })
  return (
    <>
      <Group mb="sm">
        <Select
          aria-label={t('month')}
          data={lastMonths(monthsShown)}
          value={month}
          allowDeselect={false}
          onChange={(value) => setMonth(value ?? undefined)}
        />
      </Group>
      <Box mb="md">
        <MonthTotals key={month} month={month} onClosed={list.refetch} />
      </Box>
      <DataTable
        label={t('accounts', { month })}
        columns={columns}
        {...tableProps(list)}
        rowKey={({ account }) => account}
        opened={opened?.split(' ').slice(1).join(' ')}
        onOpen={open}
        empty={<Text c="dimmed">{t('empty')}</Text>}
      />
    </>
  )
}

function OneAccount({ account }: { account: string }) {
  const t = useMessages(messages)
  const session = useSession()
  const [opened] = useQueryValue('open')
  const list = useList<MonthRow>('/bills/months', { account })
  const format = useFormat()
  const columns = useColumns({
    ...{ title: t('month'), width: '150px' },
    cell: ({ month }) => format.utcMonth(month),
  })
  return (
    <>
      <Group mb="sm" justify="space-between">
        <Group>
          {session.account === null && (
            <Button variant="subtle" size="xs" onClick={() => setQuery({ account: undefined })}>
              ← {t('back')}
            </Button>
          )}
          <Title order={2} size="h4" className={privateClass}>
            {t('months', { account })}
          </Title>
        </Group>
        <ExportButton
          path={`/accounts/${encodeURIComponent(account)}/ledger`}
          label={t('ledger')}
        />
      </Group>
      <DataTable
        label={t('months', { account })}
        columns={columns}
        {...tableProps(list)}
        rowKey={({ month }) => month}
        opened={opened?.split(' ')[0]}
        onOpen={open}
      />
    </>
  )
}
