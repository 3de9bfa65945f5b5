// What a customer sees: the models that its tokens can list, and what it pays for each.
import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { usePriceColumns } from '../../components/billing/price-columns.tsx'
import { AccountSelect } from '../../components/fields/account-select.tsx'
import { ErrorAlert } from '../../components/page.tsx'
import { type Column, column, DataTable, numberColumn } from '../../components/table/data-table.tsx'
import { Name } from '../../components/values.tsx'
import { api, type Page } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Model, Price } from '../../lib/resources/price.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { usePrices } from '../prices/use-prices.ts'
import { isPattern } from './catalog.ts'
import { messages } from './messages.ts'

type Paid = Omit<Price, 'id' | 'account' | 'current' | 'state' | 'source' | 'created_by'>

/** What an account pays; the general prices where none is chosen. */
function usePaid(account: string | undefined) {
  const general = usePrices()
  const own = useQuery({
    queryKey: ['paid', account],
    queryFn: () =>
      api<Page<Paid>>('GET', `/accounts/${encodeURIComponent(account!)}/prices`, {
        query: { limit: 500 },
      }),
    enabled: account !== undefined,
  })
  const rows: readonly Paid[] =
    account === undefined
      ? (general.data ?? []).filter((price) => price.current && price.account === null)
      : (own.data?.items ?? [])
  return {
    prices: new Map(rows.map((price) => [price.model, price])),
    isLoading: account === undefined ? general.isLoading : own.isLoading,
    error: account === undefined ? general.error : own.error,
  }
}

export function CustomerView({ models }: { models: readonly Model[] }) {
  const t = useMessages(messages)
  const [account, setAccount] = useQueryValue('account')
  const { prices, isLoading, error } = usePaid(account)
  const columns = useColumns(prices)
  const listed = models.filter(
    (model) =>
      model.callable && !isPattern(model) && (account === undefined || prices.has(model.name)),
  )
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {t('customers_hint')}
      </Text>
      <div style={{ maxWidth: 320 }}>
        <AccountSelect placeholder={t('any_account')} value={account} onChange={setAccount} />
      </div>
      <ErrorAlert error={error} />
      <DataTable
        label={t('customers')}
        columns={columns}
        rows={listed}
        rowKey={({ name }) => name}
        isLoading={isLoading}
        empty={<Text c="dimmed">{t('no_rows')}</Text>}
      />
    </Stack>
  )
}

function useColumns(prices: ReadonlyMap<string, Paid>): Column<Model>[] {
  const t = useMessages(messages)
  const server = useServerText()
  const format = useFormat()
  const bound = (value: number | null) => (value === null ? '–' : format.number(value))
  return [
    column(t('model'), '180px', ({ name }) => <Name name={name} />, {
      id: 'model',
      sort: ({ name }) => name,
    }),
    ...usePriceColumns<Model>(
      ({ name }) => prices.get(name),
      ({ price }) => {
        const text = t(price === 'own' ? 'missing' : 'served')
        return (
          <Text size="sm" truncate title={text}>
            {text}
          </Text>
        )
      },
    ),
    column(t('kind'), '105px', ({ kind }) => server.text('model', kind)),
    numberColumn(t('context'), '95px', ({ context_window }) => bound(context_window)),
    numberColumn(t('max_output'), '100px', ({ max_output_tokens }) => bound(max_output_tokens)),
    column(t('display_name'), '140px', ({ display_name }) => display_name),
    column(t('interfaces'), '190px', ({ interfaces }) => interfaces.join(', ')),
  ]
}
