// One request: its attempts, its usage and the calculation of its charge.

import { Alert, Button, Code, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { ChargeExplanation } from '../../components/billing/explanation.tsx'
import { RefundButton, useRefunding } from '../../components/billing/refund.tsx'
import { CopyBlock, CopyId } from '../../components/copy.tsx'
import { DetailsDrawer, PropertyList } from '../../components/drawer.tsx'
import { AccountLink, ChannelLink, TokenLink } from '../../components/name-links.tsx'
import { ErrorAlert, SectionTitle } from '../../components/page.tsx'
import { HttpStatus, Money, Time } from '../../components/values.tsx'
import { isLess } from '../../lib/format/money.ts'
import { type Format, useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import {
  curlFor,
  type LoggedRequest,
  playgroundPath,
  tokensPerSecond,
} from '../../lib/resources/request.ts'
import { tagsText } from '../../lib/resources/tags.ts'
import { Link, navigate } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'
import { Waterfall } from './waterfall.tsx'

export { ChargeExplanation } from '../../components/billing/explanation.tsx'

export function RequestDrawer({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const request = useResource<LoggedRequest>(`/requests/${encodeURIComponent(id!)}`, {
    enabled: id !== undefined,
  })
  const [isRefunding, setRefunding] = useRefunding(id !== undefined && request.data !== undefined)
  return (
    <DetailsDrawer
      title={<CopyId id={id} max={44} />}
      isOpen={id !== undefined}
      onClose={onClose}
      isLocked={isRefunding}
      actions={
        request.data !== undefined && (
          <>
            <RefundButton {...refundOf(request.data)} isOpen={isRefunding} setOpen={setRefunding} />
            <Replay request={request.data} />
          </>
        )
      }
    >
      <ErrorAlert error={request.error} />
      {request.data !== undefined && <RequestDetails request={request.data} />}
    </DetailsDrawer>
  )
}

/** The charge of a task is refunded at the task. */
const refundOf = ({ request_id, task_id, charge, refunded }: LoggedRequest) => ({
  path: task_id === undefined ? `/requests/${request_id}` : `/tasks/${task_id}`,
  charge,
  refunded,
})

/** The same question again, as far as the log knows it. */
function Replay({ request }: { request: LoggedRequest }) {
  const t = useMessages(messages)
  const session = useSession()
  if (!hasRole(session, ['operator', 'member'])) return null
  return (
    <Button
      variant="default"
      title={t('playground_hint')}
      onClick={() => navigate(playgroundPath(request))}
    >
      {t('playground')}
    </Button>
  )
}

function RequestDetails({ request }: { request: LoggedRequest }) {
  const t = useMessages(messages)
  const format = useFormat()
  const server = useServerText()
  const { currency, public_url } = useSession()
  return (
    <Stack>
      {request.error !== null && (
        <Alert color="red" title={server.text('error', request.error_code ?? '', '')}>
          {request.error}
        </Alert>
      )}
      <PropertyList
        rows={[
          [t('time'), <Time at={request.at} />],
          [t('status'), <HttpStatus status={request.status} />],
          [t('error_code'), request.error_code],
          [t('interface'), request.interface],
          [t('translation'), request.translation?.replace('>', ' → ')],
          [t('translation_losses'), request.translation_losses?.join(', ')],
          [t('conversation_by'), request.conversation_by],
          [t('cache_marks'), request.cache_marks],
          [t('model'), request.model],
          [t('upstream_model'), request.upstream_model],
          [t('account'), request.account && <AccountLink name={request.account} />],
          [t('token'), request.token && <TokenLink id={request.token_id} name={request.token} />],
          [t('tags'), tagsText(request.tags)],
          [t('end_user'), request.end_user],
          [t('channel'), request.channel && <ChannelLink name={request.channel} />],
          [
            t('upstream_id'),
            request.upstream_request_id && <CopyId id={request.upstream_request_id} />,
          ],
          [t('trace'), request.trace_id && <CopyId id={request.trace_id} />],
          [t('task'), linkTo('/tasks', request.task_id)],
          [t('stream'), t(request.stream ? 'yes' : 'no')],
          [t('retry'), request.retry],
          [t('retry_of'), linkTo('/requests', request.retry_of)],
          [t('ending'), server.text('ending', request.ending)],
          [
            t('finish_reason'),
            request.finish_reason && server.text('finish_reason', request.finish_reason),
          ],
          [t('first_byte'), format.ms(request.first_byte_ms)],
          [t('total'), format.ms(request.total_ms)],
          [t('rate'), rateText(format, request)],
          [t('cost'), <Money amount={request.charge} currency={currency} how="cost" />],
          [t('refunded'), refundedText(format, request, currency)],
          [t('estimated'), request.estimated ? t('yes') : undefined],
          [
            t('loss'),
            request.loss === undefined || Number(request.loss) === 0 ? undefined : (
              <Money amount={request.loss} currency={currency} how="cost" />
            ),
          ],
        ]}
      />
      {request.attempts !== undefined && request.attempts.length > 0 && (
        <>
          <SectionTitle>{t('attempts')}</SectionTitle>
          <Text size="xs" c="dimmed">
            {t('attempts_hint')}
          </Text>
          <Waterfall attempts={request.attempts} totalMs={request.total_ms} />
        </>
      )}
      {(request.usage !== null || request.usage_reported !== null) && <Usages request={request} />}
      <ChargeExplanation id={request.request_id} />
      <SectionTitle>{t('copy_curl')}</SectionTitle>
      <Text size="xs" c="dimmed">
        {t('curl_hint')}
      </Text>
      <CopyBlock text={curlFor(public_url, request)} label="curl" />
    </Stack>
  )
}

const linkTo = (page: string, id: string | undefined) =>
  id && <Link to={`${page}?open=${id}`}>{id}</Link>

/** Nothing where nothing was given back. */
const refundedText = (format: Format, { refunded }: LoggedRequest, currency: string) =>
  isLess('0', refunded) ? format.exact(refunded, currency) : undefined

/** Output tokens per second, once they began to come. */
function rateText(format: Format, request: LoggedRequest): string | undefined {
  const rate = tokensPerSecond(request)
  return rate === undefined ? undefined : format.number(rate)
}

/** As the upstream stated it beside what was billed. */
function Usages({ request: { usage, usage_reported } }: { request: LoggedRequest }) {
  const t = useMessages(messages)
  const format = useFormat()
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <div>
        <SectionTitle>{t('reported')}</SectionTitle>
        {usage_reported === null ? (
          <Text size="sm" c="dimmed">
            {t('not_reported')}
          </Text>
        ) : (
          <Code block tabIndex={0} aria-label={t('reported')}>
            {JSON.stringify(usage_reported, null, 2)}
          </Code>
        )}
      </div>
      <div>
        <SectionTitle>{t('billed')}</SectionTitle>
        <Table>
          <Table.Tbody>
            {billed(usage).map(([name, quantity]) => (
              <Table.Tr key={name}>
                <Table.Td>{t(name)}</Table.Td>
                <Table.Td ta="right">{format.number(quantity)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
    </SimpleGrid>
  )
}

const tokenNames = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
] as const
const taskNames = ['output_seconds', 'video_tokens', 'images'] as const

/** What there is of it, by its name. */
function billed(usage: LoggedRequest['usage']) {
  if (usage !== null && 'unit' in usage) return [[usage.unit as 'search', usage.quantity] as const]
  if (usage === null || 'input_tokens' in usage) {
    return tokenNames.map((name) => [name, usage?.[name]] as const)
  }
  return taskNames
    .map((name) => [name, usage[name]] as const)
    .filter(([, quantity]) => quantity !== null && quantity !== undefined)
}
