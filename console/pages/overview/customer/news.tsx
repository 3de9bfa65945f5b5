// What a customer should know without asking: prices that are going to change, and calls that failed, in words.
import { Stack, Text } from '@mantine/core'
import type { PaidPrice } from '../../../../src/admin/catalog/price-schema.ts'
import { usePriceText } from '../../../components/billing/price-terms.tsx'
import { ErrorAlert } from '../../../components/page.tsx'
import { Time } from '../../../components/values.tsx'
import type { Page } from '../../../lib/api.ts'
import { useFormat } from '../../../lib/format.ts'
import { useMessages } from '../../../lib/messages.ts'
import type { LoggedRequest } from '../../../lib/resources/request.ts'
import { Link } from '../../../lib/router.tsx'
import { useServerText } from '../../../lib/server/use-server-text.ts'
import { useResource } from '../../../lib/use-resource.ts'
import { messages } from './messages.ts'

const maxPrices = 500
const shown = 5
const refetchMs = 30_000

export function PriceNews({ account }: { account: string }) {
  const t = useMessages(messages)
  const format = useFormat()
  const text = usePriceText()
  const path = `/accounts/${encodeURIComponent(account)}/prices`
  const { data, error } = useResource<Page<PaidPrice>>(path, { query: { limit: maxPrices } })
  const coming = (data?.items ?? []).flatMap(({ model, next }) =>
    next === null ? [] : [{ model, next }],
  )
  coming.sort((one, other) => (one.next.effective_from < other.next.effective_from ? -1 : 1))
  return (
    <Stack gap={6}>
      <ErrorAlert error={error} />
      {data !== undefined && coming.length === 0 && <Text c="dimmed">{t('no_change')}</Text>}
      {coming.slice(0, shown).map(({ model, next }) => (
        <div key={model}>
          <Text size="sm">
            <Link to={`/prices?open=${encodeURIComponent(model)}`}>{model}</Link>{' '}
            {t('changes_on', { day: format.day(next.effective_from) })}
          </Text>
          <Text size="xs" c="dimmed">
            {text({ model, ...next })}
          </Text>
        </div>
      ))}
      {coming.length > shown && (
        <Text size="sm">{t('more_changes', { n: coming.length - shown })}</Text>
      )}
      <Link to="/prices">{t('all_prices')}</Link>
    </Stack>
  )
}

export function Failures() {
  const t = useMessages(messages)
  const server = useServerText()
  const { data, error } = useResource<Page<LoggedRequest>>('/requests', {
    query: { status: 'failed', limit: shown },
    refetchInterval: refetchMs,
  })
  return (
    <Stack gap={6}>
      <ErrorAlert error={error} />
      {data?.items.length === 0 && <Text c="dimmed">{t('no_failures')}</Text>}
      {data?.items.map(({ request_id, at, model, error_code, status }) => (
        <Text key={request_id} size="sm">
          <Link to={`/requests?open=${request_id}`}>
            <Time at={at} how="ago" />
          </Link>{' '}
          {model} · {server.text('error', error_code ?? '', String(status))}
        </Text>
      ))}
      {(data?.items.length ?? 0) > 0 && (
        <Link to="/requests?status=failed">{t('all_failures')}</Link>
      )}
    </Stack>
  )
}
