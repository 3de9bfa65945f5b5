// What a customer pays now for each model it can call, in columns, and what changes when; one model in a drawer.
import { Badge, Stack, Text } from '@mantine/core'
import type { PaidPrice } from '../../../src/admin/catalog/price-schema.ts'
import { usePriceColumns } from '../../components/billing/price-columns.tsx'
import { Terms } from '../../components/billing/price-terms.tsx'
import { DetailsDrawer } from '../../components/drawer.tsx'
import { SearchField } from '../../components/fields/search-field.tsx'
import { Page, SectionTitle } from '../../components/page.tsx'
import { PriceHours } from '../../components/price-hours/index.tsx'
import { type Column, column, DataTable } from '../../components/table/data-table.tsx'
import { Name, State, Time } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { tableProps, useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Model } from '../../lib/resources/price.ts'
import { setQuery, useQueryValue } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { messages } from './messages.ts'

const maxListed = 500

export function CustomerPrices({ account }: { account: string }) {
  const t = useMessages(messages)
  const [search = ''] = useQueryValue('search')
  const [opened, setOpened] = useQueryValue('open')
  const path = `/accounts/${encodeURIComponent(account)}/prices`
  const prices = useList<PaidPrice>(path, { limit: maxListed })
  const models = useList<Model>('/models', { limit: maxListed })
  const callable = new Map(
    models.rows.filter((model) => model.callable).map((model) => [model.name, model]),
  )
  const wanted = search.trim().toLowerCase()
  const rows = prices.rows.filter(
    ({ model }) => callable.has(model) && model.toLowerCase().includes(wanted),
  )
  const columns = useColumns((name) => callable.get(name)?.kind ?? '')
  return (
    <Page title={t('title')} hint={t('hint_own')}>
      <SearchField
        label={t('find')}
        value={search}
        onChange={(value) => setQuery({ search: value }, 'replace')}
      />
      <DataTable
        label={t('title')}
        columns={columns}
        {...tableProps(prices)}
        rows={rows}
        rowKey={({ model }) => model}
        opened={opened}
        onOpen={({ model }) => setOpened(model)}
        isLoading={prices.isLoading || models.isLoading}
        error={prices.error ?? models.error}
      />
      <PriceDrawer
        price={rows.find(({ model }) => model === opened)}
        onClose={() => setOpened(undefined)}
      />
    </Page>
  )
}

function useColumns(kindOf: (model: string) => string): Column<PaidPrice>[] {
  const t = useMessages(messages)
  const format = useFormat()
  const server = useServerText()
  return [
    column(t('model'), '200px', (price) => <PaidModel price={price} />, {
      id: 'model',
      sort: ({ model }) => model,
    }),
    column(t('changes_when'), '200px', ({ next }) =>
      next === null ? (
        '–'
      ) : (
        <State state="queued" label={t('changes_on', { day: format.day(next.effective_from) })} />
      ),
    ),
    ...usePriceColumns<PaidPrice>((price) => price),
    column(t('kind'), '100px', ({ model }) => server.text('model', kindOf(model)), {
      id: 'kind',
      sort: ({ model }) => kindOf(model),
    }),
  ]
}

function PaidModel({ price: { model, own } }: { price: PaidPrice }) {
  const t = useMessages(messages)
  return (
    <>
      <Name name={model} />
      {own && (
        <Badge variant="light" size="sm">
          {t('agreed')}
        </Badge>
      )}
    </>
  )
}

function PriceDrawer({ price, onClose }: { price: PaidPrice | undefined; onClose: () => void }) {
  const t = useMessages(messages)
  return (
    <DetailsDrawer title={price?.model} isOpen={price !== undefined} onClose={onClose}>
      {price !== undefined && (
        <Stack>
          <SectionTitle>{t('paid_now')}</SectionTitle>
          <Terms price={price} />
          <PriceHours hours={price.hours} />
          {price.next !== null && (
            <>
              <SectionTitle>{t('changes_to')}</SectionTitle>
              <Text size="sm" c="dimmed">
                <Time at={price.next.effective_from} />
              </Text>
              <Terms price={{ model: price.model, ...price.next }} />
              <PriceHours hours={price.next.hours} />
            </>
          )}
        </Stack>
      )}
    </DetailsDrawer>
  )
}
