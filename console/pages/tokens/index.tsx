// Tokens: their rights, limits and charges.
import { Button, Group, Progress, Skeleton, Text } from '@mantine/core'
import { useState } from 'react'
import { Sparkline } from '../../components/charts/sparkline.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Page } from '../../components/page.tsx'
import { type Column, column } from '../../components/table/data-table.tsx'
import { useFilters } from '../../components/table/filter-bar.tsx'
import { ListTable } from '../../components/table/list-table.tsx'
import { Money, State, Time } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { type List, useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { dailySpend, spentShare, type Token } from '../../lib/resources/token.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { hasRole, useSession } from '../../lib/session.ts'
import { AccountBudget } from './account-budget.tsx'
import { AccountTags } from './account-tags.tsx'
import { CreateToken } from './create.tsx'
import { TokenDrawer } from './drawer.tsx'
import { useAccounts } from './form.tsx'
import { messages } from './messages.ts'

function useColumns(): Column<Token>[] {
  const t = useMessages(messages)
  return [
    column(t('name'), '160px', nameCell, { isPrivate: true }),
    column(t('account'), '110px', ({ account }) => account),
    column(t('prefix'), '120px', ({ prefix }) => `${prefix}…`, { isPrivate: true }),
    column(t('models'), '110px', ({ models }) => models.join(', ')),
    column(t('limits'), '110px', limitsText),
    column(t('translation'), '110px', ({ translation }) => t(`translation_${translation}`)),
    column(t('spend'), '200px', (token) => <SpendCell token={token} />),
    column(t('budget'), '110px', (token) => <Budget token={token} />),
    column(t('last_used'), '120px', (token) => <Time at={token.last_charged_at} how="ago" />),
    column(t('state'), '110px', ({ disabled }) => (
      <State state={disabled ? 'cancelled' : 'good'} label={t(disabled ? 'disabled' : 'active')} />
    )),
    column(t('expires'), '130px', ({ expires_at }) =>
      expires_at === null ? t('never') : <Time at={expires_at} how="ago" />,
    ),
  ]
}

const nameCell = ({ name }: Token) => (
  <Text size="sm" fw={600} truncate>
    {name}
  </Text>
)

export default function Tokens() {
  const t = useMessages(messages)
  const filters = [{ name: 'account', title: t('account') }]
  const query = useFilters(filters)
  const plain = useList<Token>('/tokens', query)
  // Summing a busy month takes longer than reading names, so the names come first.
  const spent = useList<Token>('/tokens', { ...query, spend: true })
  const list = withSpend(plain, spent)
  const [opened, setOpened] = useQueryValue('open')
  const [isCreating, setCreating] = useState(false)
  const columns = useColumns()
  const [isTagging, setTagging] = useState(false)
  const [isBudgeting, setBudgeting] = useState(false)
  const maySet = hasRole(useSession(), ['operator'])
  const actions = (
    <>
      {maySet && (
        <Button variant="default" onClick={() => setTagging(true)}>
          {t('account_tags')}
        </Button>
      )}
      {maySet && (
        <Button variant="default" onClick={() => setBudgeting(true)}>
          {t('account_budget')}
        </Button>
      )}
      <Button onClick={() => setCreating(true)}>{t('new_token')}</Button>
    </>
  )
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
      <AccountTags isOpen={isTagging} onClose={() => setTagging(false)} />
      <AccountBudget isOpen={isBudgeting} onClose={() => setBudgeting(false)} />
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

/** What was spent with it of what its account had to spend. */
function Budget({ token }: { token: Token }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const account = useAccounts().data?.items.find(({ name }) => name === token.account)
  if (account === undefined || token.spend === undefined) return <>–</>
  const share = spentShare(token, account)
  const label = t('budget_text', {
    share: format.percent(share),
    left: format.money(account.available, currency),
  })
  return (
    <Progress
      value={share * 100}
      color={share > 0.9 ? 'red' : share > 0.7 ? 'orange' : 'teal'}
      aria-label={label}
      title={label}
    />
  )
}

const limitsText = ({ limits: { rpm, tpm, concurrency } }: Token): string =>
  [rpm && `${rpm}/min`, tpm && `${tpm} tok/min`, concurrency && `×${concurrency}`]
    .filter(Boolean)
    .join(' · ') || '–'
