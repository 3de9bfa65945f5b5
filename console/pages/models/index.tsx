// Models: the catalog, what a customer sees of it, and what still needs a price.
import { Badge, Button, Group, Menu, Stack, Tabs, Text } from '@mantine/core'
import { usePriceColumns } from '../../components/billing/price-columns.tsx'
import { SourceBadge } from '../../components/billing/price-terms.tsx'
import { type BulkAction, BulkActions } from '../../components/bulk/bulk-actions.tsx'
import { type Selection, selectColumn, useSelection } from '../../components/bulk/selection.tsx'
import { SearchField } from '../../components/fields/search-field.tsx'
import { Page } from '../../components/page.tsx'
import { type Column, column, DataTable, numberColumn } from '../../components/table/data-table.tsx'
import { None, State } from '../../components/values.tsx'
import type { Page as ListPage } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { tableProps, useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Channel } from '../../lib/resources/channel.ts'
import type { Model, Price } from '../../lib/resources/price.ts'
import { Link, setQuery, useQueryValue } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { useResource } from '../../lib/use-resource.ts'
import { usePrices } from '../prices/use-prices.ts'
import { AddDrawer, additions } from './add-drawer.tsx'
import { isAlias, isPattern, isVirtual } from './catalog.ts'
import { CustomerView } from './customer-view.tsx'
import { ModelDrawer, needsPrice, priceOf } from './drawer.tsx'
import { messages } from './messages.ts'
import { deleteModel, restoreModel } from './save-model.ts'

const views = ['everything', 'customers', 'unpriced'] as const

export default function Models() {
  const t = useMessages(messages)
  const session = useSession()
  const isOperator = hasRole(session, ['operator'])
  const models = useList<Model>('/models', { limit: 500 })
  const prices = usePrices()
  const channels = useResource<ListPage<Channel>>('/channels', {
    query: { limit: 500 },
    enabled: isOperator,
  })
  const [asked, setView] = useQueryValue('view')
  const [opened, setOpened] = useQueryValue('open')
  const [adding] = useQueryValue('add')
  const [search = ''] = useQueryValue('search')
  const view = views.find((each) => each === asked) ?? 'everything'
  const current = new Map(
    prices.data
      ?.filter((price) => price.current && price.account === null)
      .map((price) => [price.model, price]),
  )
  const changed = () => {
    void prices.refetch()
    void channels.refetch()
    models.refetch()
  }
  const wanted = search.trim().toLowerCase()
  const found = models.rows.filter(({ name }) => name.toLowerCase().includes(wanted))
  const rows =
    view === 'unpriced'
      ? found.filter((model) => needsPrice(model, current.get(model.name)))
      : found
  const common = { models: models.rows, channels: channels.data?.items ?? [] }
  return (
    <Page title={t('title')} hint={t('hint')} actions={isOperator && <AddMenu />}>
      <Tabs
        value={view}
        onChange={(value) => setView(value === 'everything' ? undefined : (value ?? undefined))}
      >
        <Tabs.List aria-label={t('view')}>
          {views.map((value) => (
            <Tabs.Tab key={value} value={value}>
              {t(value)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={view} pt="md">
          {view === 'customers' ? (
            <CustomerView models={models.rows} />
          ) : (
            <Catalog
              models={models}
              rows={rows}
              current={current}
              isLoading={prices.isLoading}
              onChanged={changed}
            />
          )}
        </Tabs.Panel>
      </Tabs>
      <ModelDrawer
        {...common}
        model={models.rows.find(({ name }) => name === opened)}
        price={current.get(opened ?? '')}
        onClose={() => setOpened(undefined)}
        onChanged={changed}
      />
      <AddDrawer
        {...common}
        adding={isOperator ? additions.find((each) => each === adding) : undefined}
        onClose={() => setQuery({ add: undefined })}
        onDone={(name) => {
          changed()
          if (name !== undefined) setQuery({ add: undefined, open: name })
        }}
      />
    </Page>
  )
}

function AddMenu() {
  const t = useMessages(messages)
  return (
    <Menu withinPortal>
      <Menu.Target>
        <Button>{t('add')}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {additions.map((each) => (
          <Menu.Item key={each} onClick={() => setQuery({ add: each, open: undefined })}>
            {t(`add_${each}`)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function Catalog({
  models,
  rows,
  current,
  isLoading,
  onChanged,
}: {
  models: ReturnType<typeof useList<Model>>
  rows: readonly Model[]
  current: ReadonlyMap<string, Price>
  isLoading: boolean
  onChanged: () => void
}) {
  const t = useMessages(messages)
  const [opened, setOpened] = useQueryValue('open')
  const [search = ''] = useQueryValue('search')
  const selection = useSelection()
  const bulk = useBulkActions()
  const mayEdit = hasRole(useSession(), ['operator'])
  const identified = rows.map((model) => ({ ...model, id: model.name }))
  // What stands for others goes before them, and comes back after them.
  const editable = mayEdit ? identified.filter(isOwn).sort((a, b) => rankOf(a) - rankOf(b)) : []
  const columns = useColumns(current, editable.length > 1 ? selection : undefined)
  return (
    <Stack gap="md">
      <SearchField
        label={t('find')}
        value={search}
        onChange={(value) => setQuery({ search: value }, 'replace')}
      />
      <BulkActions
        rows={editable}
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
        isLoading={models.isLoading || isLoading}
        empty={<Text c="dimmed">{t('no_rows')}</Text>}
      />
    </Stack>
  )
}

type ModelRow = Model & { id: string }

const nameOf = ({ name }: Model): string => name
const isOwn = ({ source }: Model): boolean => source === 'api'
const rankOf = (model: Model): number => (isAlias(model) ? 0 : isVirtual(model) ? 1 : 2)

function useBulkActions(): BulkAction<ModelRow>[] {
  const t = useMessages(messages)
  return [
    {
      label: (n) => t('delete_many', { n }),
      text: t('delete_many_text'),
      isDangerous: true,
      appliesTo: isOwn,
      run: deleteModel,
      undo: restoreModel,
      isInTurn: true,
      done: (n) => t('deleted_many', { n }),
    },
  ]
}

function useColumns(
  current: ReadonlyMap<string, Price>,
  selection: Selection | undefined,
): Column<ModelRow>[] {
  const t = useMessages(messages)
  const server = useServerText()
  const format = useFormat()
  const bound = (value: number | null) => (value === null ? '–' : format.number(value))
  return [
    ...selectColumn<ModelRow>(selection, t('select'), nameOf, isOwn),
    column(t('model'), '200px', (model) => <NameCell model={model} />, {
      id: 'model',
      sort: ({ name }) => name,
    }),
    column(t('kind'), '105px', ({ kind }) => server.text('model', kind), {
      id: 'kind',
      sort: ({ kind }) => kind,
    }),
    column(t('callable'), '80px', ({ callable }) => (
      <State state={callable ? 'good' : 'idle'} label={t(callable ? 'yes' : 'no')} />
    )),
    ...usePriceColumns<ModelRow>(
      ({ name }) => current.get(name),
      (model) => <NoPrice model={model} />,
    ),
    numberColumn(t('context'), '95px', ({ context_window }) => bound(context_window), {
      id: 'context',
      sort: ({ context_window }) => context_window,
    }),
    numberColumn(t('max_output'), '100px', ({ max_output_tokens }) => bound(max_output_tokens), {
      id: 'output',
      sort: ({ max_output_tokens }) => max_output_tokens,
    }),
    column(t('interfaces'), '190px', ({ interfaces }) => interfaces.join(', ')),
    column(t('source'), '100px', ({ source }) => <SourceBadge source={source} />),
  ]
}

function NameCell({ model }: { model: Model }) {
  const t = useMessages(messages)
  const word = isPattern(model)
    ? 'pattern'
    : isAlias(model)
      ? 'alias'
      : isVirtual(model) && 'virtual'
  return (
    <Group gap={6} wrap="nowrap">
      <Text size="sm" fw={600} truncate title={model.name}>
        {model.name}
      </Text>
      {word !== false && (
        <Badge variant="light" radius="sm" color="grape" style={{ flexShrink: 0 }}>
          {t(word)}
        </Badge>
      )}
    </Group>
  )
}

/** Where a model without a price of its own has it from, or that it has to get one. */
function NoPrice({ model }: { model: Model }) {
  const t = useMessages(messages)
  if (isAlias(model)) return <Note text={`→ ${model.alias}`} />
  if (model.price === 'served') return <Note text={t('served')} />
  if (!needsPrice(model, undefined)) return <None />
  return (
    <Link to={priceOf(model)} onClickCapture={(event) => event.stopPropagation()}>
      {t('missing')}
    </Link>
  )
}

/** Cut where the column is narrow; whole on hover. */
const Note = ({ text }: { text: string }) => (
  <Text size="sm" truncate title={text}>
    {text}
  </Text>
)
