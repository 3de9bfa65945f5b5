// Accounts: balance, what is held and available, charges of the month, budget, and whether one is suspended.
import { Button, Text } from '@mantine/core'
import type { Account } from '../../../src/admin/money/account-schema.ts'
import { AccountName } from '../../components/billing/account-name.tsx'
import { BudgetBar } from '../../components/billing/budget.tsx'
import { BulkActions } from '../../components/bulk/bulk-actions.tsx'
import { type Selection, selectColumn, useSelection } from '../../components/bulk/selection.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { SearchField } from '../../components/fields/search-field.tsx'
import { Page } from '../../components/page.tsx'
import { type Column, column, numberColumn, withUnit } from '../../components/table/data-table.tsx'
import { ListTable } from '../../components/table/list-table.tsx'
import { useServedSort } from '../../components/table/served-sort.ts'
import { Money, State, Time } from '../../components/values.tsx'
import { useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { setQuery, useFlag, useQueryValue } from '../../lib/router.tsx'
import { hasRole, useSession } from '../../lib/session.ts'
import { AccountPage } from './account-page.tsx'
import { CreateAccount } from './create.tsx'
import { messages } from './messages.ts'
import { useMonthCharges } from './month-charges.ts'
import { useTokenActions } from './token-actions.ts'

/** Columns by which the server sorts. */
const served = { name: 'name', balance: 'balance', spend: 'spend', created: 'created' }

function useColumns(selection: Selection | undefined): Column<Account>[] {
  const t = useMessages(messages)
  const { currency } = useSession()
  const charges = useMonthCharges()
  const money = (amount: string | undefined) => <Money amount={amount} currency={currency} isBare />
  return [
    ...selectColumn<Account>(selection, t('select'), ({ name }) => name, isAny),
    column(t('name'), '240px', nameCell, {
      ...{ id: 'name', isPrivate: true },
      sort: ({ name }) => name,
    }),
    numberColumn(withUnit(t('balance'), currency), '140px', ({ balance }) => money(balance), {
      ...{ id: 'balance', sort: ({ balance }) => Number(balance) },
    }),
    numberColumn(withUnit(t('held'), currency), '110px', ({ held }) => money(held), {
      sort: ({ held }) => Number(held),
    }),
    numberColumn(
      withUnit(t('available'), currency),
      '140px',
      (account) => <Available account={account} />,
      {
        sort: ({ available }) => Number(available),
      },
    ),
    numberColumn(withUnit(t('spend'), currency), '150px', ({ name }) => money(charges(name)), {
      ...{ id: 'spend', sort: ({ name }) => Number(charges(name)) },
    }),
    column(t('budget'), '140px', ({ budget }) => <BudgetBar budget={budget} />),
    column(t('state'), '100px', ({ suspended_since }) => (
      <AccountState isSuspended={suspended_since !== undefined} />
    )),
    column(t('created'), '130px', ({ created_at }) => <Time at={created_at} how="ago" />, {
      ...{ id: 'created', sort: ({ created_at }) => created_at },
    }),
  ]
}

const isAny = () => true

const nameCell = ({ name, display_name }: Account) => (
  <AccountName name={name} displayName={display_name} />
)

/** Below its threshold it is marked, not by colour alone. */
function Available({ account }: { account: Account }) {
  const t = useMessages(messages)
  const { currency } = useSession()
  const { available, balance_low: low } = account
  const money = <Money amount={available} currency={currency} isBare />
  if (low === null || Number(available) >= Number(low)) return money
  return (
    <Text span size="sm" c="red" fw={600} title={t('below', { amount: `${low} ${currency}` })}>
      ▼ {money}
    </Text>
  )
}

function AccountState({ isSuspended }: { isSuspended: boolean }) {
  const t = useMessages(messages)
  return (
    <State
      state={isSuspended ? 'failed' : 'good'}
      label={t(isSuspended ? 'suspended' : 'active')}
    />
  )
}

/** An open account has the page to itself. */
export default function Accounts() {
  const [opened] = useQueryValue('open')
  return opened === undefined ? <AccountList /> : <AccountPage key={opened} name={opened} />
}

function AccountList() {
  const t = useMessages(messages)
  const session = useSession()
  const [search] = useQueryValue('search')
  const list = useList<Account>('/accounts', { search, ...useServedSort(served) })
  const selectable = hasRole(session, ['operator']) ? list.rows : []
  const selection = useSelection()
  const bulk = useTokenActions()
  const columns = useColumns(selectable.length > 1 ? selection : undefined)
  const [isCreating, setCreating] = useFlag('new')
  return (
    <Page
      title={t('title')}
      hint={t('hint')}
      actions={
        session.role === 'administrator' && (
          <Button onClick={() => setCreating(true)}>{t('new_account')}</Button>
        )
      }
    >
      <ListTable
        label={t('title')}
        lead={
          <SearchField
            label={t('find')}
            value={search ?? ''}
            onChange={(value) => setQuery({ search: value }, 'replace')}
          />
        }
        list={list}
        columns={columns}
        rowKey={({ name }) => name}
        served={served}
        empty={<EmptyState icon="accounts" text={t(search === undefined ? 'empty' : 'filtered')} />}
      >
        <BulkActions
          rows={selectable}
          selection={selection}
          nameOf={({ name }) => name}
          actions={bulk}
          onDone={list.refetch}
        />
      </ListTable>
      {isCreating && session.role === 'administrator' && (
        <CreateAccount
          onClose={() => setCreating(false)}
          onDone={(name) => setQuery({ new: undefined, open: name })}
        />
      )}
    </Page>
  )
}
