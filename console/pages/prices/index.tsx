// Prices: what every model costs, all versions, and new ones with a preview.

import { Button, Menu, Switch } from '@mantine/core'
import { useState } from 'react'
import { usePriceColumns } from '../../components/billing/price-columns.tsx'
import { SourceBadge } from '../../components/billing/price-terms.tsx'
import { type BulkAction, BulkActions } from '../../components/bulk/bulk-actions.tsx'
import { type Selection, selectColumn, useSelection } from '../../components/bulk/selection.tsx'
import { SearchField } from '../../components/fields/search-field.tsx'
import { Page } from '../../components/page.tsx'
import { type Column, column, DataTable } from '../../components/table/data-table.tsx'
import { Name, State } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { tableProps, useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { type Model, type Price, restorePrice, withdrawPrice } from '../../lib/resources/price.ts'
import { setQuery, useQueryValue } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { AdjustPrices } from './bulk.tsx'
import { CustomerPrices } from './customer.tsx'
import { ModelDrawer } from './drawer.tsx'
import { ImportPrices } from './import.tsx'
import { messages } from './messages.ts'
import { usePrices } from './use-prices.ts'

export default function Prices() {
  const { account } = useSession()
  return account === null ? <AllPrices /> : <CustomerPrices account={account} />
}

function AllPrices() {
  const t = useMessages(messages)
  const models = useList<Model>('/models', { limit: 500 })
  const prices = usePrices()
  const [opened] = useQueryValue('open')
  const [missing, setMissing] = useQueryValue('missing')
  const [search = ''] = useQueryValue('search')
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
  const wanted = search.trim().toLowerCase()
  const rows = priced.filter(
    ({ name }) =>
      name.toLowerCase().includes(wanted) && (missing === undefined || !currentPrices.has(name)),
  )
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
          <AllAtOnce versions={prices.data ?? []} onChanged={changed} />
        </>
      }
    >
      <SearchField
        label={t('find')}
        value={search}
        onChange={(value) => setQuery({ search: value }, 'replace')}
      />
      <PriceTable {...{ models, prices, rows }} current={currentPrices} onChanged={changed} />
      <ModelDrawer
        model={models.rows.find(({ name }) => name === opened)}
        prices={prices.data ?? []}
        onClose={() => setQuery({ open: undefined, new: undefined })}
        onChanged={changed}
      />
    </Page>
  )
}

function PriceTable({
  models,
  prices,
  rows,
  current,
  onChanged,
}: {
  models: ReturnType<typeof useList<Model>>
  prices: ReturnType<typeof usePrices>
  rows: readonly Model[]
  current: ReadonlyMap<string, Price>
  onChanged: () => void
}) {
  const t = useMessages(messages)
  const [opened, setOpened] = useQueryValue('open')
  const isFinance = hasRole(useSession(), ['finance'])
  const selection = useSelection()
  const bulk = useBulkActions()
  const versions = prices.data ?? []
  const identified = rows.map((model) => ({
    ...model,
    id: model.name,
    coming: versions.filter((price) => price.model === model.name && isComing(price)),
  }))
  const selectable = isFinance ? identified.filter(hasComing) : []
  const canSelect = selectable.length > 1
  const columns = useColumns(current, nextVersions(versions), canSelect ? selection : undefined)
  return (
    <>
      <BulkActions
        rows={selectable}
        selection={selection}
        nameOf={nameOf}
        actions={bulk}
        onDone={onChanged}
      />
      <DataTable
        label={t('title')}
        columns={columns}
        {...tableProps(models)}
        rows={identified}
        rowKey={nameOf}
        opened={opened}
        onOpen={({ name }) => setOpened(name)}
        isLoading={models.isLoading || prices.isLoading}
        error={models.error ?? prices.error}
      />
    </>
  )
}

interface PriceRow extends Model {
  id: string
  /** Versions that can be withdrawn. */
  coming: readonly Price[]
}

const nameOf = ({ name }: PriceRow): string => name
const hasComing = ({ coming }: PriceRow): boolean => coming.length > 0
/** Of the general prices, and not of the file. */
const isComing = ({ state, account, source }: Price): boolean =>
  state === 'scheduled' && account === null && source === 'api'

function useBulkActions(): BulkAction<PriceRow>[] {
  const t = useMessages(messages)
  return [
    {
      label: (n) => t('withdraw_many', { n }),
      text: t('withdraw_many_text'),
      appliesTo: hasComing,
      run: ({ coming }) => Promise.all(coming.map(withdrawPrice)),
      undo: ({ coming }) => Promise.all(coming.map(restorePrice)),
      done: (n) => t('withdrawn_many', { n }),
    },
  ]
}

/** Of each model, the general version that begins next. */
function nextVersions(versions: readonly Price[]): ReadonlyMap<string, Price> {
  const coming = versions
    .filter(({ state, account }) => state === 'scheduled' && account === null)
    .sort((one, other) => (one.effective_from < other.effective_from ? 1 : -1))
  return new Map(coming.map((price) => [price.model, price]))
}

function useColumns(
  current: ReadonlyMap<string, Price>,
  next: ReadonlyMap<string, Price>,
  selection: Selection | undefined,
): Column<PriceRow>[] {
  const t = useMessages(messages)
  const server = useServerText()
  return [
    ...selectColumn<PriceRow>(selection, t('select'), nameOf, hasComing),
    column(t('model'), '170px', ({ name }) => <Name name={name} />, {
      id: 'model',
      sort: ({ name }) => name,
    }),
    ...usePriceColumns<PriceRow>(({ name }) => current.get(name)),
    column(t('state'), '185px', ({ name }) => (
      <PriceState current={current.get(name)} next={next.get(name)} />
    )),
    column(t('author'), '100px', ({ name }) => current.get(name)?.created_by ?? '–', {
      isPrivate: true,
    }),
    column(t('source'), '95px', ({ name }) => <SourceBadge source={current.get(name)?.source} />),
    column(t('callable'), '80px', ({ callable }) => (
      <State state={callable ? 'good' : 'failed'} label={t(callable ? 'yes' : 'no')} />
    )),
    column(t('kind'), '80px', ({ kind }) => server.text('model', kind), {
      id: 'kind',
      sort: ({ kind }) => kind,
    }),
  ]
}

/** What is coming is said before what is. */
function PriceState({ current, next }: { current: Price | undefined; next: Price | undefined }) {
  const t = useMessages(messages)
  const format = useFormat()
  if (next !== undefined) {
    return (
      <State state="queued" label={t('changes_on', { day: format.day(next.effective_from) })} />
    )
  }
  if (current === undefined) return <State state="failed" label={t('missing')} />
  return <State state="good" label={t('in_force')} />
}

/** Export, import and percentage changes of all prices. */
function AllAtOnce({ versions, onChanged }: { versions: readonly Price[]; onChanged: () => void }) {
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
