// Models and what they cost: who can be called, the versions of each price, a new one with what it
// would have meant.

import { Button, Menu, Switch, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ShortTerms, SourceBadge } from '../../components/billing/price-terms.tsx'
import { Page } from '../../components/page.tsx'
import { type Column, DataTable } from '../../components/table/data-table.tsx'
import { State, Time } from '../../components/values.tsx'
import { api, type Page as ListPage } from '../../lib/api.ts'
import { useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Model, Price } from '../../lib/resources/price.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { AdjustPrices, ImportPrices } from './bulk.tsx'
import { ModelDrawer } from './drawer.tsx'
import { messages } from './messages.ts'

/** Every version there is, a page of 500 at a time. */
export function usePrices() {
  return useQuery({
    queryKey: ['all-prices'],
    queryFn: async () => {
      const all: Price[] = []
      let cursor: string | undefined
      do {
        const query = { limit: 500, cursor }
        const page: ListPage<Price> = await api('GET', '/prices', { query })
        all.push(...page.items)
        cursor = page.next_cursor ?? undefined
      } while (cursor !== undefined)
      return all
    },
  })
}

export default function Prices() {
  const server = useServerText()
  const t = useMessages(messages)
  const models = useList<Model>('/models', { limit: 500 })
  const prices = usePrices()
  const [opened, setOpened] = useQueryValue('open')
  const [missing, setMissing] = useQueryValue('missing')
  const changed = () => {
    void prices.refetch()
    models.refetch()
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
      title: t('model'),
      width: '190px',
      cell: ({ name }) => (
        <Text size="sm" fw={600}>
          {name}
        </Text>
      ),
    },
    { title: t('kind'), width: '95px', cell: ({ kind }) => server.text('model', kind) },
    { title: t('interfaces'), width: '170px', cell: ({ interfaces }) => interfaces.join(', ') },
    {
      title: t('callable'),
      width: '120px',
      cell: ({ callable }) => (
        <State state={callable ? 'good' : 'failed'} label={t(callable ? 'yes' : 'no')} />
      ),
    },
    {
      title: t('price'),
      width: 'minmax(200px, 2fr)',
      cell: ({ name }) => <ShortTerms price={inForce.get(name)} />,
    },
    {
      title: t('effective_from'),
      width: '130px',
      cell: ({ name }) => <Time at={inForce.get(name)?.effective_from} how="short" />,
    },
    {
      title: t('source'),
      width: '105px',
      cell: ({ name }) => <SourceBadge source={inForce.get(name)?.source} />,
    },
  ]
  return (
    <Page
      title={t('title')}
      hint={t('hint')}
      actions={
        <>
          <Switch
            label={t('only_missing')}
            checked={missing !== undefined}
            onChange={(event) => setMissing(event.currentTarget.checked ? '1' : undefined)}
          />
          <BulkActions versions={prices.data ?? []} onChanged={changed} />
        </>
      }
    >
      <DataTable
        label={t('title')}
        columns={columns}
        rows={rows}
        rowKey={({ name }) => name}
        opened={opened}
        onOpen={({ name }) => setOpened(name)}
        isLoading={models.isLoading || prices.isLoading}
        error={models.error ?? prices.error}
        hasMore={models.hasMore}
        isLoadingMore={models.isLoadingMore}
        onMore={models.loadMore}
      />
      <ModelDrawer
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
  const t = useMessages(messages)
  const session = useSession()
  const [doing, setDoing] = useState<'import' | 'raise'>()
  const bulk = { versions, onClose: () => setDoing(undefined), onSaved: onChanged }
  return (
    <>
      <Menu withinPortal>
        <Menu.Target>
          <Button variant="default">{t('export')}</Button>
        </Menu.Target>
        <Menu.Dropdown>
          {(['yaml', 'csv'] as const).map((format) => (
            <Menu.Item
              key={format}
              component="a"
              href={`/admin/v1/prices/export?format=${format}`}
              download
            >
              {t(`export_${format}`)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {hasRole(session, ['finance']) && (
        <>
          <Button variant="default" onClick={() => setDoing('import')}>
            {t('import')}
          </Button>
          <Button variant="default" onClick={() => setDoing('raise')}>
            {t('raise')}
          </Button>
          <ImportPrices {...bulk} isOpen={doing === 'import'} />
          <AdjustPrices {...bulk} isOpen={doing === 'raise'} />
        </>
      )}
    </>
  )
}
