// Tokens: who calls with what, what each may do and has spent, and how to put one into an application.
import { Button, Group, Progress, Skeleton, Text } from '@mantine/core'
import { useState } from 'react'
import { useFormat } from '../../lib/format.ts'
import { type List, useList } from '../../lib/lists.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { Spark } from '../../parts/chart.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { useFilters } from '../../parts/filter-bar.tsx'
import { ListTable } from '../../parts/list-table.tsx'
import { Page } from '../../parts/page.tsx'
import { Money, State, Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { CreateToken } from './create.tsx'
import { useAccounts } from './form.tsx'
import { TokenSheet } from './sheet.tsx'
import { dailySpend, spentShare, type Token } from './token.ts'
import { words } from './words.ts'

function useColumns(): Column<Token>[] {
  const say = useWords(words)
  const shared = useWords(common)
  return [
    {
      title: say('name'),
      width: '160px',
      isPrivate: true,
      cell: (token) => (
        <Text size="sm" fw={600} truncate>
          {token.name}
        </Text>
      ),
    },
    { title: shared('account'), width: '110px', cell: (token) => token.account },
    {
      title: say('prefix'),
      width: '120px',
      isPrivate: true,
      cell: (token) => `${token.prefix}…`,
    },
    { title: say('models'), width: '110px', cell: (token) => token.models.join(', ') },
    { title: say('limits'), width: '110px', cell: limitsText },
    { title: say('spend'), width: '200px', cell: (token) => <Spend token={token} /> },
    { title: say('budget'), width: '110px', cell: (token) => <Budget token={token} /> },
    {
      title: say('last_used'),
      width: '120px',
      cell: ({ last_charged_at }) => <Time at={last_charged_at} how="ago" />,
    },
    {
      title: say('state'),
      width: '110px',
      cell: (token) => (
        <State
          state={token.disabled ? 'cancelled' : 'good'}
          label={say(token.disabled ? 'disabled' : 'active')}
        />
      ),
    },
    {
      title: say('expires'),
      width: '130px',
      cell: (token) =>
        token.expires_at === null ? say('never') : <Time at={token.expires_at} how="ago" />,
    },
  ]
}

export default function Tokens() {
  const say = useWords(words)
  const shared = useWords(common)
  const filters = [{ name: 'account', title: shared('account') }]
  const query = useFilters(filters)
  const plain = useList<Token>('/tokens', query)
  // Adding up a busy month takes longer than reading names: nobody waits for it.
  const spent = useList<Token>('/tokens', { ...query, spend: true })
  const list = withSpend(plain, spent)
  const [opened, setOpened] = useQueryValue('open')
  const [isCreating, setCreating] = useState(false)
  const columns = useColumns()
  const create = <Button onClick={() => setCreating(true)}>{say('create')}</Button>
  return (
    <Page title={say('title')} hint={say('hint')} actions={create}>
      <ListTable
        label={say('title')}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        filters={filters}
        empty={<EmptyState icon="tokens" text={say('empty')} />}
      />
      <TokenSheet
        id={opened}
        known={list.rows.find(({ id }) => id === opened)}
        onClose={() => setOpened(undefined)}
        onChanged={list.again}
      />
      <CreateToken isOpen={isCreating} onClose={() => setCreating(false)} onDone={list.again} />
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
    more: both((list) => list.more()),
    again: both((list) => list.again()),
  }
}

function Spend({ token }: { token: Token }) {
  const { currency } = useSession()
  if (token.spend === undefined) return <Skeleton height={14} />
  return (
    <Group gap="xs" wrap="nowrap">
      <div style={{ width: 70 }}>
        <Spark values={dailySpend(token, Date.now())} />
      </div>
      <Money amount={token.spend} currency={currency} />
    </Group>
  )
}

/** What was spent with it of what its account had to spend. */
export function Budget({ token }: { token: Token }) {
  const say = useWords(words)
  const format = useFormat()
  const { currency } = useSession()
  const account = useAccounts().data?.items.find(({ name }) => name === token.account)
  if (account === undefined || token.spend === undefined) return <>–</>
  const share = spentShare(token, account)
  const label = say('budget_text', {
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
