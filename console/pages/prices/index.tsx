// Models and what they cost: who can be called, the versions of each price, a new one with what it
// would have meant.
import { Button, Switch, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ask, type Page as ListPage } from '../../lib/api.ts'
import { useList } from '../../lib/lists.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useWords } from '../../lib/words.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Page } from '../../parts/page.tsx'
import { State } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import type { Model, Price } from './price.ts'
import { ModelSheet } from './sheet.tsx'
import { ShortTerms } from './terms.tsx'
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
  const inForce = new Map(
    prices.data
      ?.filter(({ current, account }) => current && account === null)
      .map((price) => [price.model, price]),
  )
  const rows =
    missing === undefined ? models.rows : models.rows.filter(({ name }) => !inForce.has(name))
  const columns: Column<Model>[] = [
    { title: say('model'), width: '220px', cell: ({ name }) => <Text fw={600}>{name}</Text> },
    { title: say('kind'), width: '110px', cell: ({ kind }) => kind },
    { title: say('interfaces'), width: '220px', cell: ({ interfaces }) => interfaces.join(', ') },
    {
      title: say('callable'),
      width: '130px',
      cell: ({ callable }) => (
        <State state={callable ? 'good' : 'failed'} label={shared(callable ? 'yes' : 'no')} />
      ),
    },
    {
      title: say('price'),
      width: 'minmax(240px, 2fr)',
      cell: ({ name }) => <ShortTerms price={inForce.get(name)} />,
    },
    {
      title: say('source'),
      width: '110px',
      cell: ({ name }) => inForce.get(name)?.source ?? '–',
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
          {(['yaml', 'csv'] as const).map((format) => (
            <Button
              key={format}
              component="a"
              variant="default"
              href={`/admin/v1/prices/export?format=${format}`}
              download
            >
              {say(`export_${format}`)}
            </Button>
          ))}
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
        versions={prices.data?.filter(({ model }) => model === opened) ?? []}
        onClose={() => setOpened(undefined)}
        onChanged={() => {
          void prices.refetch()
          models.again()
        }}
      />
    </Page>
  )
}
