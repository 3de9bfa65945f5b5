// Tokens: their rights, limits and charges.

import { Button, Group, Skeleton } from '@mantine/core'
import { AccountName, useDisplayNames } from '../../components/billing/account-name.tsx'
import { BudgetBar } from '../../components/billing/budget.tsx'
import { type BulkAction, BulkActions } from '../../components/bulk/bulk-actions.tsx'
import { type Selection, selectColumn, useSelection } from '../../components/bulk/selection.tsx'
import { switchActions } from '../../components/bulk/switch-actions.ts'
import { Sparkline } from '../../components/charts/sparkline.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Page } from '../../components/page.tsx'
import { type Column, column, numberColumn, withUnit } from '../../components/table/data-table.tsx'
import { type Filter, useFilters } from '../../components/table/filter-bar.tsx'
import { ListTable } from '../../components/table/list-table.tsx'
import { Money, Name, State, Time } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { type List, useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { dailySpend, modelsText, type Token } from '../../lib/resources/token.ts'
import { useFlag, useQueryValue } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { CreateToken } from './create.tsx'
import { TokenDrawer } from './drawer.tsx'
import { messages } from './messages.ts'

const isEditable = ({ source }: Token): boolean => source === 'api'
const nameOf = ({ name }: Token): string => name

function useColumns(selection: Selection | undefined): Column<Token>[] {
  const t = useMessages(messages)
  const displayName = useDisplayNames()
  const { currency } = useSession()
  const accountCell = ({ account }: Token) => (
    <AccountName name={account} displayName={displayName(account)} />
  )
  return [
    ...selectColumn(selection, t('select'), nameOf, isEditable),
    column(t('name'), '160px', nameCell, { id: 'name', isPrivate: true, sort: ({ name }) => name }),
    column(t('account'), '210px', accountCell, {
      id: 'account',
      sort: ({ account }) => account,
    }),
    column(t('state'), '110px', ({ disabled }) => (
      <State state={disabled ? 'cancelled' : 'good'} label={t(disabled ? 'disabled' : 'active')} />
    )),
    column(t('prefix'), '120px', ({ prefix }) => `${prefix}…`, {
      ...{ id: 'prefix', isPrivate: true, isOptional: true },
    }),
    column(t('translation'), '110px', ({ translation }) => t(`translation_${translation}`), {
      ...{ id: 'translation', isOptional: true },
    }),
    numberColumn(withUnit(t('spend'), currency), '180px', (token) => <SpendCell token={token} />, {
      id: 'spend',
      sort: ({ spend }) => spend,
    }),
    column(t('spending_budget'), '110px', ({ budget }) => <BudgetBar budget={budget} />),
    column(t('last_used'), '120px', (token) => <Time at={token.last_used_at} how="ago" />),
    column(t('models'), '110px', ({ models }) => modelsText(models, t('all'))),
    column(t('limits'), '110px', limitsText),
    column(t('expires'), '130px', ({ expires_at }) =>
      expires_at === null ? t('never') : <Time at={expires_at} how="ago" />,
    ),
  ]
}

const nameCell = ({ name }: Token) => <Name name={name} />

export default function Tokens() {
  const t = useMessages(messages)
  const filters: Filter[] = [{ name: 'account', title: t('account'), suggest: 'accounts' }]
  const query = useFilters(filters)
  const plain = useList<Token>('/tokens', query)
  // Summing a busy month takes longer than reading names, so the names come first.
  const spent = useList<Token>('/tokens', { ...query, spend: true })
  const list = withSpend(plain, spent)
  const [opened, setOpened] = useQueryValue('open')
  const [isCreating, setCreating] = useFlag('new')
  const selection = useSelection()
  const editable = list.rows.filter(isEditable)
  const columns = useColumns(editable.length > 1 ? selection : undefined)
  const bulk = useBulkActions()
  const actions = <Button onClick={() => setCreating(true)}>{t('new_token')}</Button>
  return (
    <Page title={t('title')} hint={t('hint')} actions={actions}>
      <ListTable
        label={t('title')}
        list={list}
        columns={columns}
        rowKey={({ id }) => id}
        filters={filters}
        empty={<EmptyState icon="tokens" text={t('empty')} />}
      >
        <BulkActions
          rows={editable}
          selection={selection}
          nameOf={nameOf}
          actions={bulk}
          onDone={list.refetch}
        />
      </ListTable>
      <TokenDrawer
        id={opened}
        known={list.rows.find(({ id }) => id === opened)}
        onClose={() => setOpened(undefined)}
        onChanged={list.refetch}
      />
      <CreateToken isOpen={isCreating} onClose={() => setCreating(false)} onDone={list.refetch} />
    </Page>
  )
}

function useBulkActions(): BulkAction<Token>[] {
  const t = useMessages(messages)
  return [
    ...switchActions(
      '/tokens',
      {
        label: (n) => t('disable_many', { n }),
        text: t('disable_text'),
        done: (n) => t('disabled_many', { n }),
      },
      {
        label: (n) => t('enable_many', { n }),
        text: t('enable_text'),
        done: (n) => t('enabled_many', { n }),
      },
    ),
    {
      label: (n) => t('revoke_many', { n }),
      text: t('revoke_text'),
      isDangerous: true,
      appliesTo: isEditable,
      run: ({ id }) => api('DELETE', `/tokens/${id}`),
      done: (n) => t('revoked_many', { n }),
    },
  ]
}

/** The rows as they are, with what is known of their spend. */
function withSpend(plain: List<Token>, spent: List<Token>): List<Token> {
  const known = new Map(spent.rows.map((token) => [token.id, token]))
  const both = (work: (list: List<Token>) => void) => () => {
    work(plain)
    work(spent)
  }
  return {
    ...plain,
    rows: plain.rows.map((token) => ({ ...known.get(token.id), ...token })),
    loadMore: both((list) => list.loadMore()),
    refetch: both((list) => list.refetch()),
  }
}

function SpendCell({ token }: { token: Token }) {
  const { currency } = useSession()
  if (token.spend === undefined) return <Skeleton height={14} />
  return (
    <Group gap="xs" wrap="nowrap">
      <div style={{ width: 70 }}>
        <Sparkline values={dailySpend(token, Date.now())} />
      </div>
      <div style={{ flex: 1, textAlign: 'right' }}>
        <Money amount={token.spend} currency={currency} isBare />
      </div>
    </Group>
  )
}

const limitsText = ({ limits: { rpm, tpm, concurrency } }: Token): string =>
  [rpm && `${rpm}/min`, tpm && `${tpm} tok/min`, concurrency && `×${concurrency}`]
    .filter(Boolean)
    .join(' · ') || '–'
