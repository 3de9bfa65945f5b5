// Bills: a month of all accounts, or all months of one; a bill with its lines beside it.
import { Button, Group, Select, Tabs, Text } from '@mantine/core'
import { useList } from '../../lib/lists.ts'
import { setQuery, useQueryValue } from '../../lib/router.tsx'
import { maySee, useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { ExportButton } from '../../parts/export-button.tsx'
import { Page } from '../../parts/page.tsx'
import { Money, State } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { lastMonths, type MonthRow, thisMonth } from './bill.ts'
import { Reconciliation } from './reconciliation.tsx'
import { BillSheet } from './sheet.tsx'
import { words } from './words.ts'

const monthsShown = 36

export default function Bills() {
  const say = useWords(words)
  const session = useSession()
  const [account] = useQueryValue('account')
  const [asked, setTab] = useQueryValue('tab')
  const tab = asked === 'reconcile' && maySee(session, ['finance']) ? asked : 'bills'
  const own = session.account ?? account
  return (
    <Page title={say('title')} hint={say('hint')}>
      <Tabs
        value={tab}
        onChange={(next) => setTab(next === 'bills' ? undefined : (next ?? undefined))}
      >
        {maySee(session, ['finance']) && (
          <Tabs.List>
            <Tabs.Tab value="bills">{say('title')}</Tabs.Tab>
            <Tabs.Tab value="reconcile">{say('reconcile')}</Tabs.Tab>
          </Tabs.List>
        )}
        <Tabs.Panel value="bills" pt="md">
          {own === undefined ? <AllAccounts /> : <OneAccount account={own} />}
        </Tabs.Panel>
        <Tabs.Panel value="reconcile" pt="md">
          <Reconciliation />
        </Tabs.Panel>
      </Tabs>
      <BillSheet />
    </Page>
  )
}

function useColumns(first: Column<MonthRow>): Column<MonthRow>[] {
  const say = useWords(words)
  const shared = useWords(common)
  const { currency } = useSession()
  const money = (title: string, of: (row: MonthRow) => string): Column<MonthRow> => ({
    title,
    align: 'right',
    width: '150px',
    cell: (row) => <Money amount={of(row)} currency={currency} />,
  })
  return [
    first,
    {
      title: shared('state'),
      width: '100px',
      cell: ({ state }) => <State state={state} label={say(state)} />,
    },
    money(say('opening'), (row) => row.opening_balance),
    money(say('credits'), (row) => row.credits),
    money(say('adjustments'), (row) => row.adjustments),
    money(say('charges'), (row) => row.charges),
    money(say('closing'), (row) => row.closing_balance),
  ]
}

const open = ({ account, month }: MonthRow) => setQuery({ open: `${month} ${account}` })

function AllAccounts() {
  const say = useWords(words)
  const shared = useWords(common)
  const [month = thisMonth(), setMonth] = useQueryValue('month')
  const [opened] = useQueryValue('open')
  const list = useList<MonthRow>('/bills/accounts', { month })
  const columns = useColumns({
    title: shared('account'),
    isPrivate: true,
    cell: ({ account }) => (
      <Text size="sm" fw={600}>
        {account}
      </Text>
    ),
  })
  return (
    <>
      <Group mb="sm">
        <Select
          aria-label={say('month')}
          data={lastMonths(monthsShown)}
          value={month}
          allowDeselect={false}
          onChange={(value) => setMonth(value ?? undefined)}
        />
      </Group>
      <DataTable
        label={say('accounts', { month })}
        columns={columns}
        rows={list.rows}
        keyOf={({ account }) => account}
        opened={opened?.split(' ').slice(1).join(' ')}
        onOpen={open}
        isLoading={list.isLoading}
        error={list.error}
        empty={<Text c="dimmed">{say('empty')}</Text>}
        hasMore={list.hasMore}
        isLoadingMore={list.isLoadingMore}
        onMore={list.more}
      />
    </>
  )
}

function OneAccount({ account }: { account: string }) {
  const say = useWords(words)
  const session = useSession()
  const [opened] = useQueryValue('open')
  const list = useList<MonthRow>('/bills/months', { account })
  const columns = useColumns({ title: say('month'), width: '110px', cell: ({ month }) => month })
  return (
    <>
      <Group mb="sm" justify="space-between">
        {session.account === null && (
          <Button variant="subtle" size="xs" onClick={() => setQuery({ account: undefined })}>
            ← {say('back')}
          </Button>
        )}
        <ExportButton kind="ledger" filters={{ account }} label={say('ledger')} />
      </Group>
      <DataTable
        label={say('months', { account })}
        columns={columns}
        rows={list.rows}
        keyOf={({ month }) => month}
        opened={opened?.split(' ')[0]}
        onOpen={open}
        isLoading={list.isLoading}
        error={list.error}
        hasMore={list.hasMore}
        isLoadingMore={list.isLoadingMore}
        onMore={list.more}
      />
    </>
  )
}
