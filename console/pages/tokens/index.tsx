// Tokens: who calls with what, what each may do, and how to put one into an application.
import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { useList } from '../../lib/lists.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useWords } from '../../lib/words.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { FilterBar, useFilters } from '../../parts/filter-bar.tsx'
import { Page } from '../../parts/page.tsx'
import { State, Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { CreateToken } from './create.tsx'
import { TokenSheet } from './sheet.tsx'
import type { Token } from './token.ts'
import { words } from './words.ts'

export default function Tokens() {
  const say = useWords(words)
  const shared = useWords(common)
  const filters = [{ name: 'account', title: shared('account') }]
  const list = useList<Token>('/tokens', useFilters(filters))
  const [opened, setOpened] = useQueryValue('open')
  const [isCreating, setCreating] = useState(false)
  const columns: Column<Token>[] = [
    { title: say('name'), cell: (token) => <Text fw={600}>{token.name}</Text> },
    { title: shared('account'), cell: (token) => token.account },
    { title: say('prefix'), cell: (token) => `${token.prefix}…` },
    { title: say('models'), cell: (token) => token.models.join(', ') },
    { title: say('limits'), cell: limitsText },
    {
      title: say('state'),
      cell: (token) => (
        <State
          state={token.disabled ? 'cancelled' : 'good'}
          label={say(token.disabled ? 'disabled' : 'active')}
        />
      ),
    },
    {
      title: say('expires'),
      cell: (token) => (token.expires_at === null ? say('never') : <Time at={token.expires_at} />),
    },
  ]
  return (
    <Page
      title={say('title')}
      hint={say('hint')}
      actions={<Button onClick={() => setCreating(true)}>{say('create')}</Button>}
    >
      <FilterBar filters={filters} />
      <DataTable
        label={say('title')}
        columns={columns}
        rows={list.rows}
        keyOf={({ id }) => id}
        opened={opened}
        onOpen={({ id }) => setOpened(id)}
        isLoading={list.isLoading}
        error={list.error}
        empty={<Text c="dimmed">{say('empty')}</Text>}
        hasMore={list.hasMore}
        isLoadingMore={list.isLoadingMore}
        onMore={list.more}
      />
      <Group />
      <TokenSheet
        token={list.rows.find(({ id }) => id === opened)}
        onClose={() => setOpened(undefined)}
        onChanged={list.again}
      />
      <CreateToken isOpen={isCreating} onClose={() => setCreating(false)} onCreated={list.again} />
    </Page>
  )
}

const limitsText = ({ limits: { rpm, tpm, concurrency } }: Token): string =>
  [rpm && `${rpm}/min`, tpm && `${tpm} tok/min`, concurrency && `×${concurrency}`]
    .filter(Boolean)
    .join(' · ') || '–'
