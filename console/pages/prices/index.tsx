// Models and what they cost: who can be called, the versions of each price, a new one with what it
// would have meant.
import { Button, Menu, Switch, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask, type Page as ListPage } from '../../lib/api.ts'
import { useList } from '../../lib/lists.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { maySee, useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Page } from '../../parts/page.tsx'
import { State, Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { ImportPrices, RaisePrices } from './bulk.tsx'
import type { Model, Price } from './price.ts'
import { ModelSheet } from './sheet.tsx'
import { ShortTerms, SourceBadge } from './terms.tsx'
import { words } from './words.ts'

/** Every version there is, a page of 500 at a time. */
export function usePrices() {
  return useQuery({
    queryKey: ['all-prices'],
    queryFn: async () => {
      const all: Price[] = []
      let cursor: string | undefined
      do {
        const query = { limit: 500, cursor }
        const page: ListPage<Price> = await ask('GET', '/prices', { query })
        all.push(...page.items)
        cursor = page.next_cursor ?? undefined
      } while (cursor !== undefined)
      return all
    },
  })
}

export default function Prices() {
  const say = useWords(words)
  const shared = useWords(common)
  const models = useList<Model>('/models', { limit: 500 })
  const prices = usePrices()
  const [opened, setOpened] = useQueryValue('open')
  const [missing, setMissing] = useQueryValue('missing')
  const changed = () => {
    void prices.refetch()
    models.again()
  }
  const inForce = new Map(
    prices.data
      ?.filter(({ current, account }) => current && account === null)
      .map((price) => [price.model, price]),
  )
  const rows =
    missing === undefined ? models.rows : models.rows.filter(({ name }) => !inForce.has(name))
  const columns: Column<Model>[] = [
    {
      title: say('model'),
      width: '190px',
      cell: ({ name }) => (
        <Text size="sm" fw={600}>
          {name}
        </Text>
      ),
    },
    { title: say('kind'), width: '95px', cell: ({ kind }) => kind },
    { title: say('interfaces'), width: '170px', cell: ({ interfaces }) => interfaces.join(', ') },
    {
      title: say('callable'),
      width: '120px',
      cell: ({ callable }) => (
        <State state={callable ? 'good' : 'failed'} label={shared(callable ? 'yes' : 'no')} />
      ),
    },
    {
      title: say('price'),
      width: 'minmax(200px, 2fr)',
      cell: ({ name }) => <ShortTerms price={inForce.get(name)} />,
    },
    {
      title: say('from'),
      width: '130px',
      cell: ({ name }) => <Time at={inForce.get(name)?.effective_from} how="short" />,
    },
    {
      title: say('source'),
      width: '105px',
      cell: ({ name }) => <SourceBadge source={inForce.get(name)?.source} />,
    },
  ]
  return (
    <Page
      title={say('title')}
      hint={say('hint')}
      actions={
        <>
          <Switch
            label={say('only_missing')}
            checked={missing !== undefined}
            onChange={(event) => setMissing(event.currentTarget.checked ? '1' : undefined)}
          />
          <BulkActions versions={prices.data ?? []} onChanged={changed} />
        </>
      }
    >
      <DataTable
        label={say('title')}
        columns={columns}
        rows={rows}
        keyOf={({ name }) => name}
        opened={opened}
        onOpen={({ name }) => setOpened(name)}
        isLoading={models.isLoading || prices.isLoading}
        error={models.error ?? prices.error}
        hasMore={models.hasMore}
        isLoadingMore={models.isLoadingMore}
        onMore={models.more}
      />
      <ModelSheet
        model={models.rows.find(({ name }) => name === opened)}
        prices={prices.data ?? []}
        onClose={() => setOpened(undefined)}
        onChanged={changed}
      />
    </Page>
  )
}

/** Prices as files, out and in, and all of them at once. */
function BulkActions({
  versions,
  onChanged,
}: {
  versions: readonly Price[]
  onChanged: () => void
}) {
  const say = useWords(words)
  const session = useSession()
  const [doing, setDoing] = useState<'import' | 'raise'>()
  const bulk = { versions, onClose: () => setDoing(undefined), onSaved: onChanged }
  return (
    <>
      <Menu withinPortal>
        <Menu.Target>
          <Button variant="default">{say('export')}</Button>
        </Menu.Target>
        <Menu.Dropdown>
          {(['yaml', 'csv'] as const).map((format) => (
            <Menu.Item
              key={format}
              component="a"
              href={`/admin/v1/prices/export?format=${format}`}
              download
            >
              {say(`export_${format}`)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {maySee(session, ['finance']) && (
        <>
          <Button variant="default" onClick={() => setDoing('import')}>
            {say('import')}
          </Button>
          <Button variant="default" onClick={() => setDoing('raise')}>
            {say('raise')}
          </Button>
          <ImportPrices {...bulk} isOpen={doing === 'import'} />
          <RaisePrices {...bulk} isOpen={doing === 'raise'} />
        </>
      )}
    </>
  )
}
