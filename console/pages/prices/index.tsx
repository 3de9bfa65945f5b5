// Prices: what every model costs, all versions, and new ones with a preview.

import { Button, Menu, Switch } from '@mantine/core'
import { useState } from 'react'
import { ShortTerms, SourceBadge } from '../../components/billing/price-terms.tsx'
import { Page } from '../../components/page.tsx'
import { type Column, column, DataTable } from '../../components/table/data-table.tsx'
import { Name, State, Time } from '../../components/values.tsx'
import { tableProps, useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Model, Price } from '../../lib/resources/price.ts'
import { setQuery, useQueryValue } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { AdjustPrices } from './bulk.tsx'
import { ModelDrawer } from './drawer.tsx'
import { ImportPrices } from './import.tsx'
import { messages } from './messages.ts'
import { usePrices } from './use-prices.ts'

export default function Prices() {
  const t = useMessages(messages)
  const models = useList<Model>('/models', { limit: 500 })
  const prices = usePrices()
  const [opened, setOpened] = useQueryValue('open')
  const [missing, setMissing] = useQueryValue('missing')
  const changed = () => {
    void prices.refetch()
    models.refetch()
  }
  const currentPrices = new Map(
    prices.data
      ?.filter(({ current, account }) => current && account === null)
      .map((price) => [price.model, price]),
  )
  // Other names of models, and those that cost what serves them, have no price of their own.
  const priced = models.rows.filter(
    ({ name, alias, price }) =>
      currentPrices.has(name) || ((alias ?? null) === null && price !== 'served'),
  )
  const rows =
    missing === undefined ? priced : priced.filter(({ name }) => !currentPrices.has(name))
  const columns = useColumns(currentPrices)
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
        {...tableProps(models)}
        rows={rows}
        rowKey={({ name }) => name}
        opened={opened}
        onOpen={({ name }) => setOpened(name)}
        isLoading={models.isLoading || prices.isLoading}
        error={models.error ?? prices.error}
      />
      <ModelDrawer
        model={models.rows.find(({ name }) => name === opened)}
        prices={prices.data ?? []}
        onClose={() => setQuery({ open: undefined, new: undefined })}
        onChanged={changed}
      />
    </Page>
  )
}

function useColumns(current: ReadonlyMap<string, Price>): Column<Model>[] {
  const t = useMessages(messages)
  const server = useServerText()
  return [
    column(t('model'), '170px', ({ name }) => <Name name={name} />, {
      id: 'model',
      sort: ({ name }) => name,
    }),
    column(t('kind'), '90px', ({ kind }) => server.text('model', kind), {
      id: 'kind',
      sort: ({ kind }) => kind,
    }),
    column(t('interfaces'), '190px', ({ interfaces }) => interfaces.join(', ')),
    column(t('callable'), '90px', ({ callable }) => (
      <State state={callable ? 'good' : 'failed'} label={t(callable ? 'yes' : 'no')} />
    )),
    column(t('price'), '330px', ({ name }) => <ShortTerms price={current.get(name)} />),
    column(t('effective_from'), '125px', ({ name }) => (
      <Time at={current.get(name)?.effective_from} how="short" />
    )),
    column(t('source'), '105px', ({ name }) => <SourceBadge source={current.get(name)?.source} />),
  ]
}

/** Export, import and percentage changes of all prices. */
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
