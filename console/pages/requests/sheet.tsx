// One request in full: what happened at each upstream, what was used, and why it cost what it cost.
import { Alert, Button, Code, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ask } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { go, Link } from '../../lib/router.tsx'
import { maySee, useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { CopyBlock, CopyId } from '../../parts/copy.tsx'
import { ErrorNote, SectionTitle } from '../../parts/page.tsx'
import { Facts, Sheet } from '../../parts/sheet.tsx'
import { HttpStatus, Money, Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { curlFor, type LoggedRequest, tryPath } from './request.ts'
import { Waterfall } from './waterfall.tsx'
import { Why } from './why.tsx'
import { words } from './words.ts'

export { Why } from './why.tsx'

export function RequestSheet({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const request = useQuery({
    queryKey: ['request', id],
    queryFn: () => ask<LoggedRequest>('GET', `/requests/${encodeURIComponent(id!)}`),
    enabled: id !== undefined,
  })
  return (
    <Sheet
      title={<CopyId id={id} most={44} />}
      isOpen={id !== undefined}
      onClose={onClose}
      actions={request.data !== undefined && <Replay request={request.data} />}
    >
      <ErrorNote error={request.error} />
      {request.data !== undefined && <RequestDetails request={request.data} />}
    </Sheet>
  )
}

/** The same question again, as far as the log knows it. */
function Replay({ request }: { request: LoggedRequest }) {
  const say = useWords(words)
  const session = useSession()
  if (!maySee(session, ['operator', 'member'])) return null
  return (
    <Button
      variant="default"
      size="xs"
      title={say('playground_hint')}
      onClick={() => go(tryPath(request))}
    >
      {say('playground')}
    </Button>
  )
}

function RequestDetails({ request }: { request: LoggedRequest }) {
  const say = useWords(words)
  const shared = useWords(common)
  const format = useFormat()
  const { currency, public_url } = useSession()
  return (
    <Stack>
      {request.error !== null && <Alert color="red">{request.error}</Alert>}
      <Facts
        rows={[
          [shared('time'), <Time at={request.at} />],
          [shared('status'), <HttpStatus status={request.status} />],
          [say('error_code'), request.error_code],
          [say('interface'), request.interface],
          [shared('model'), request.model],
          [say('upstream_model'), request.upstream_model],
          [shared('account'), request.account],
          [shared('token'), request.token],
          [shared('channel'), request.channel],
          [
            say('upstream_id'),
            request.upstream_request_id && <CopyId id={request.upstream_request_id} />,
          ],
          [say('trace'), request.trace_id && <CopyId id={request.trace_id} />],
          [
            say('task'),
            request.task_id && <Link to={`/tasks?open=${request.task_id}`}>{request.task_id}</Link>,
          ],
          [say('stream'), shared(request.stream ? 'yes' : 'no')],
          [say('ending'), request.ending],
          [say('first_byte'), format.ms(request.first_byte_ms)],
          [say('total'), format.ms(request.total_ms)],
          [shared('cost'), <Money amount={request.charge} currency={currency} />],
          [say('estimated'), request.estimated ? shared('yes') : undefined],
          [
            say('absorbed'),
            request.absorbed === undefined || Number(request.absorbed) === 0 ? undefined : (
              <Money amount={request.absorbed} currency={currency} />
            ),
          ],
        ]}
      />
      {request.attempts !== undefined && request.attempts.length > 0 && (
        <>
          <SectionTitle>{say('attempts')}</SectionTitle>
          <Text size="xs" c="dimmed">
            {say('attempts_hint')}
          </Text>
          <Waterfall attempts={request.attempts} totalMs={request.total_ms} />
        </>
      )}
      {(request.usage !== null || request.usage_reported !== null) && <Usages request={request} />}
      <Why id={request.request_id} />
      <SectionTitle>{say('copy_curl')}</SectionTitle>
      <Text size="xs" c="dimmed">
        {say('curl_hint')}
      </Text>
      <CopyBlock text={curlFor(public_url, request)} label="curl" />
    </Stack>
  )
}

/** As the upstream stated it beside what was billed. */
function Usages({ request: { usage, usage_reported } }: { request: LoggedRequest }) {
  const say = useWords(words)
  const format = useFormat()
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <div>
        <SectionTitle>{say('reported')}</SectionTitle>
        {usage_reported === null ? (
          <Text size="sm" c="dimmed">
            {say('not_reported')}
          </Text>
        ) : (
          <Code block tabIndex={0} aria-label={say('reported')}>
            {JSON.stringify(usage_reported, null, 2)}
          </Code>
        )}
      </div>
      <div>
        <SectionTitle>{say('billed')}</SectionTitle>
        <Table>
          <Table.Tbody>
            {billed(usage).map(([name, quantity]) => (
              <Table.Tr key={name}>
                <Table.Td>{say(name)}</Table.Td>
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
const taskNames = ['output_seconds', 'video_tokens', 'pictures'] as const

/** What there is of it, by its name. */
function billed(usage: LoggedRequest['usage']) {
  if (usage === null || 'input_tokens' in usage) {
    return tokenNames.map((name) => [name, usage?.[name]] as const)
  }
  return taskNames
    .map((name) => [name, usage[name]] as const)
    .filter(([, quantity]) => quantity !== null && quantity !== undefined)
}
