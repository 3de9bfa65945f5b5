// Tokens: their rights, limits and charges.

import { Button, Group, Skeleton } from '@mantine/core'
import { useState } from 'react'
import { AccountName, useDisplayNames } from '../../components/billing/account-name.tsx'
import { BudgetBar } from '../../components/billing/budget.tsx'
import { Sparkline } from '../../components/charts/sparkline.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Page } from '../../components/page.tsx'
import { type Column, column } from '../../components/table/data-table.tsx'
import { type Filter, useFilters } from '../../components/table/filter-bar.tsx'
import { ListTable } from '../../components/table/list-table.tsx'
import { Money, Name, State, Time } from '../../components/values.tsx'
import { type List, useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { dailySpend, type Token } from '../../lib/resources/token.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { CreateToken } from './create.tsx'
import { TokenDrawer } from './drawer.tsx'
import { messages } from './messages.ts'

function useColumns(): Column<Token>[] {
  const t = useMessages(messages)
  const displayName = useDisplayNames()
  const accountCell = ({ account }: Token) => (
    <AccountName name={account} displayName={displayName(account)} />
  )
  return [
    column(t('name'), '160px', nameCell, { id: 'name', isPrivate: true, sort: ({ name }) => name }),
    column(t('account'), '150px', accountCell, {
      id: 'account',
      sort: ({ account }) => account,
    }),
    column(t('prefix'), '120px', ({ prefix }) => `${prefix}…`, {
      ...{ id: 'prefix', isPrivate: true, isOptional: true },
    }),
    column(t('models'), '110px', ({ models }) => models.join(', ')),
    column(t('limits'), '110px', limitsText),
    column(t('translation'), '110px', ({ translation }) => t(`translation_${translation}`), {
      ...{ id: 'translation', isOptional: true },
    }),
    column(t('spend'), '200px', (token) => <SpendCell token={token} />, {
      id: 'spend',
      sort: ({ spend }) => spend,
    }),
    column(t('spending_budget'), '110px', ({ budget }) => <BudgetBar budget={budget} />),
    column(t('last_used'), '120px', (token) => <Time at={token.last_used_at} how="ago" />),
    column(t('state'), '110px', ({ disabled }) => (
      <State state={disabled ? 'cancelled' : 'good'} label={t(disabled ? 'disabled' : 'active')} />
    )),
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
  const [isCreating, setCreating] = useState(false)
  const columns = useColumns()
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
      />
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
      <Money amount={token.spend} currency={currency} />
    </Group>
  )
}

const limitsText = ({ limits: { rpm, tpm, concurrency } }: Token): string =>
  [rpm && `${rpm}/min`, tpm && `${tpm} tok/min`, concurrency && `×${concurrency}`]
    .filter(Boolean)
    .join(' · ') || '–'
