// One request in full: what happened at each upstream, what was used, and why it cost what it cost.
import { Alert, Code, List, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ask } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { CopyBlock, CopyId } from '../../parts/copy.tsx'
import { ErrorNote } from '../../parts/page.tsx'
import { Facts, Sheet } from '../../parts/sheet.tsx'
import { HttpStatus, Money, Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { curlFor, type Explanation, type LoggedRequest } from './request.ts'
import { Waterfall } from './waterfall.tsx'
import { words } from './words.ts'

export function RequestSheet({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const request = useQuery({
    queryKey: ['request', id],
    queryFn: () => ask<LoggedRequest>('GET', `/requests/${encodeURIComponent(id!)}`),
    enabled: id !== undefined,
  })
  return (
    <Sheet title={<CopyId id={id} most={44} />} isOpen={id !== undefined} onClose={onClose}>
      <ErrorNote error={request.error} />
      {request.data !== undefined && <RequestDetails request={request.data} />}
    </Sheet>
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
            Number(request.absorbed) === 0 ? undefined : (
              <Money amount={request.absorbed} currency={currency} />
            ),
          ],
        ]}
      />
      {request.attempts.length > 0 && (
        <>
          <Title order={2} size="h5">
            {say('attempts')}
          </Title>
          <Text size="xs" c="dimmed">
            {say('attempts_hint')}
          </Text>
          <Waterfall attempts={request.attempts} totalMs={request.total_ms} />
        </>
      )}
      {request.usage !== null && <UsageTable request={request} />}
      <Why id={request.request_id} />
      <Title order={2} size="h5">
        {say('copy_curl')}
      </Title>
      <Text size="xs" c="dimmed">
        {say('curl_hint')}
      </Text>
      <CopyBlock text={curlFor(public_url, request)} label="curl" />
    </Stack>
  )
}

function UsageTable({ request: { usage, usage_reported } }: { request: LoggedRequest }) {
  const say = useWords(words)
  const format = useFormat()
  return (
    <>
      <Title order={2} size="h5">
        {say('usage')}
      </Title>
      <Table>
        <Table.Tbody>
          {Object.entries(usage ?? {}).map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Td>{name}</Table.Td>
              <Table.Td ta="right">{format.number(value)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {usage_reported !== null && (
        <>
          <Text size="sm">{say('reported')}</Text>
          <Code block tabIndex={0}>
            {JSON.stringify(usage_reported, null, 2)}
          </Code>
        </>
      )}
    </>
  )
}

/** The arithmetic, step by step, and what was booked. */
export function Why({ id }: { id: string }) {
  const say = useWords(words)
  const { data } = useQuery({
    queryKey: ['explain', id],
    queryFn: () => ask<Explanation>('GET', `/explain/${encodeURIComponent(id)}`),
  })
  if (data === undefined) return null
  return (
    <>
      <Title order={2} size="h5">
        {say('why')}
      </Title>
      <List size="sm">
        {data.steps.map((step) => (
          <List.Item key={step}>{step}</List.Item>
        ))}
      </List>
      {data.entries.length > 0 && (
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{say('entries')}</Table.Th>
              <Table.Th ta="right" />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.entries.map((entry) => (
              <Table.Tr key={entry.id}>
                <Table.Td>{entry.kind}</Table.Td>
                <Table.Td ta="right">
                  <Money amount={entry.amount} currency={data.currency} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </>
  )
}
