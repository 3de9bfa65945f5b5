// What the account pays now, model by model, with unit and currency.
import { Badge, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { PaidPrice } from '../../../../src/admin/catalog/price-schema.ts'
import { Terms } from '../../../components/billing/price-terms.tsx'
import { Icon } from '../../../components/icon.tsx'
import { ErrorAlert } from '../../../components/page.tsx'
import { PriceHours } from '../../../components/price-hours/index.tsx'
import { SimpleTable } from '../../../components/table/simple-table.tsx'
import type { Page } from '../../../lib/api.ts'
import { useFormat } from '../../../lib/format.ts'
import { useMessages } from '../../../lib/messages.ts'
import type { Model } from '../../../lib/resources/price.ts'
import { useServerText } from '../../../lib/server/use-server-text.ts'
import { useResource } from '../../../lib/use-resource.ts'
import { messages } from './messages.ts'

/** What changes, and when, below what is paid now. */
function PriceCell({ price }: { price: PaidPrice }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { next } = price
  return (
    <>
      <Terms price={price} />
      <PriceHours hours={price.hours} />
      {next !== null && (
        <>
          <Text size="xs" c="dimmed" mt={4}>
            {t('changes_on', { day: format.day(next.effective_from) })}
          </Text>
          <Terms price={{ model: price.model, ...next }} />
        </>
      )}
    </>
  )
}

const maxListed = 500

export function PriceList({ account }: { account: string }) {
  const t = useMessages(messages)
  const server = useServerText()
  const [search, setSearch] = useState('')
  const query = { limit: maxListed }
  const path = `/accounts/${encodeURIComponent(account)}/prices`
  const prices = useResource<Page<PaidPrice>>(path, { query })
  const models = useResource<Page<Model>>('/models', { query })
  const callable = new Map(
    models.data?.items.filter((model) => model.callable).map((model) => [model.name, model]),
  )
  const wanted = search.trim().toLowerCase()
  const rows = (prices.data?.items ?? []).filter(
    ({ model }) => callable.has(model) && model.toLowerCase().includes(wanted),
  )
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {t('prices_hint')}
        </Text>
        <TextInput
          size="xs"
          aria-label={t('find_model')}
          placeholder={t('find_model')}
          leftSection={<Icon name="search" size={12} />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      </Group>
      <ErrorAlert error={prices.error ?? models.error} />
      <SimpleTable
        label={t('prices')}
        minWidth={300}
        maxHeight="420px"
        rows={rows}
        rowKey={({ model }) => model}
        columns={[
          {
            title: t('model'),
            cell: ({ model, own }) => (
              <>
                {model}{' '}
                {own && (
                  <Badge variant="light" size="sm">
                    {t('own')}
                  </Badge>
                )}
              </>
            ),
          },
          {
            title: t('kind'),
            cell: ({ model }) => server.text('model', callable.get(model)?.kind ?? ''),
          },
          { title: t('price'), cell: (price) => <PriceCell price={price} /> },
        ]}
      />
    </Stack>
  )
}
