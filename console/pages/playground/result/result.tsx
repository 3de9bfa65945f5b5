// What came back: messages, pictures, vectors or a task with its preview; the events as they came; the
// raw answer; time and money.

import {
  Alert,
  Code,
  Group,
  Loader,
  ScrollArea,
  SimpleGrid,
  Stack,
  Tabs,
  Text,
} from '@mantine/core'
import { ErrorAlert } from '../../../components/page.tsx'
import { taskMessages } from '../../../components/tasks/messages.ts'
import { TaskProgress } from '../../../components/tasks/progress.tsx'
import { Results } from '../../../components/tasks/results.tsx'
import { HttpStatus, State } from '../../../components/values.tsx'
import { SlowNote } from '../../../components/waiting.tsx'
import { localPath } from '../../../lib/api.ts'
import { useFormat } from '../../../lib/format.ts'
import { useMessages } from '../../../lib/messages.ts'
import { privateClass } from '../../../lib/privacy.ts'
import { isLive, type Task } from '../../../lib/resources/task.ts'
import { Link } from '../../../lib/router.tsx'
import { useSession } from '../../../lib/session.ts'
import { useResource } from '../../../lib/use-resource.ts'
import { messages } from '../messages.ts'
import { type Endpoint, valueAt } from '../request/endpoints.ts'
import type { Outcome } from '../send.ts'
import type { Attempt } from '../use-call.ts'
import { LatencyBar } from './latency-bar.tsx'
import { VectorsView } from './vectors-view.tsx'

/** `scaleMs`: what the strip of time is drawn to, for two that are compared. */
export function ResultView({
  endpoint,
  attempt,
  scaleMs,
}: {
  endpoint: Endpoint
  attempt: Attempt
  scaleMs?: number
}) {
  const t = useMessages(messages)
  const { outcome, error, isBusy, isStopped } = attempt
  if (error !== undefined) return <ErrorAlert error={error} />
  if (outcome === undefined) {
    if (isBusy) return <Busy />
    return <Text c="dimmed">{t(isStopped ? 'stopped' : 'waiting')}</Text>
  }
  return (
    <Stack>
      <Figures attempt={attempt} outcome={outcome} />
      {outcome.totalMs !== undefined && (
        <LatencyBar outcome={outcome} scaleMs={scaleMs ?? outcome.totalMs} />
      )}
      {attempt.isStopped && (
        <Text size="xs" c="dimmed" role="status">
          {t('stopped')}
        </Text>
      )}
      <Tabs defaultValue="answer">
        <Tabs.List>
          <Tabs.Tab value="answer">{t('answer')}</Tabs.Tab>
          {outcome.events.length > 0 && (
            <Tabs.Tab value="events">
              {t('events')} ({outcome.events.length})
            </Tabs.Tab>
          )}
          <Tabs.Tab value="raw">{t('raw')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="answer" pt="sm">
          <Answer endpoint={endpoint} attempt={attempt} outcome={outcome} />
        </Tabs.Panel>
        <Tabs.Panel value="events" pt="sm">
          <Events outcome={outcome} />
        </Tabs.Panel>
        <Tabs.Panel value="raw" pt="sm">
          <ScrollArea.Autosize mah={500}>
            <Code block tabIndex={0} className={privateClass}>
              {outcome.body === undefined
                ? outcome.events.map(({ data }) => data).join('\n')
                : JSON.stringify(outcome.body, null, 2)}
            </Code>
          </ScrollArea.Autosize>
        </Tabs.Panel>
      </Tabs>
    </Stack>
  )
}

function Figures({ attempt, outcome }: { attempt: Attempt; outcome: Outcome }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const { status, requestId, totalMs, firstMs } = outcome
  return (
    <Group gap="md">
      <HttpStatus status={status} />
      {totalMs !== undefined && (
        <Text size="sm">{t('took', { ms: format.ms(totalMs), first: format.ms(firstMs) })}</Text>
      )}
      {attempt.charge !== undefined && (
        <Text size="sm" fw={600}>
          {t('cost', { amount: format.cost(attempt.charge, currency) })}
        </Text>
      )}
      {attempt.channel !== undefined && (
        <Text size="sm" c="dimmed">
          {t('by_channel', { name: attempt.channel })}
        </Text>
      )}
      {requestId !== '' && !attempt.isBusy && (
        <Text size="sm">
          <Link to={`/requests?open=${requestId}`}>{t('open_request')}</Link>
        </Text>
      )}
    </Group>
  )
}

function Answer({
  endpoint,
  attempt,
  outcome,
}: {
  endpoint: Endpoint
  attempt: Attempt
  outcome: Outcome
}) {
  if (outcome.status >= 400) return <Alert color="red">{outcome.text}</Alert>
  if (attempt.taskId !== undefined) return <TaskAnswer id={attempt.taskId} />
  if (endpoint.answer === 'images') return <Images body={outcome.body} />
  if (endpoint.answer === 'vectors') return <VectorsView body={outcome.body} sent={attempt.sent} />
  return (
    <Text
      className={privateClass}
      style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
      aria-live="polite"
    >
      {outcome.text}
    </Text>
  )
}

function TaskAnswer({ id }: { id: string }) {
  const t = useMessages(messages)
  const stateName = useMessages(taskMessages)
  const format = useFormat()
  const { currency } = useSession()
  const { data: task } = useResource<Task>(`/tasks/${encodeURIComponent(id)}`, {
    refetchInterval: ({ state }) =>
      state.data === undefined || isLive(state.data) ? 1_000 : false,
  })
  if (task === undefined) return <Busy />
  return (
    <Stack>
      <Group>
        <State state={task.state} label={stateName(task.state)} />
        {isLive(task) && <TaskProgress task={task} />}
        {!isLive(task) && (
          <Text size="sm" fw={600}>
            {t('cost', { amount: format.money(task.charge, currency) })}
          </Text>
        )}
        <Link to={`/tasks?open=${task.id}`}>{t('open_task')}</Link>
      </Group>
      {task.error !== null && <Alert color="red">{task.error.message}</Alert>}
      <Results task={task} />
    </Stack>
  )
}

function Images({ body }: { body: unknown }) {
  const list = (valueAt(body, 'data') ?? []) as { url?: string; b64_json?: string }[]
  return (
    <SimpleGrid cols={list.length === 1 ? 1 : 2}>
      {list.map(({ url, b64_json }, i) => {
        const src = url === undefined ? `data:image/png;base64,${b64_json}` : localPath(url)
        return <img key={src} src={src} alt={`${i + 1}`} style={{ width: '100%' }} />
      })}
    </SimpleGrid>
  )
}

/** Only the last ones are drawn: a long stream has thousands. */
const maxShown = 300

function Events({ outcome: { events } }: { outcome: Outcome }) {
  const format = useFormat()
  const first = Math.max(0, events.length - maxShown)
  return (
    <ScrollArea.Autosize mah={500}>
      {events.slice(first).map(({ afterMs, data }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two events may be the same in all they are
        <Group key={first + i} gap="xs" wrap="nowrap" align="flex-start">
          <Text size="xs" c="dimmed" w={70} ta="right">
            {format.ms(afterMs)}
          </Text>
          <Code style={{ overflowWrap: 'anywhere' }}>{data}</Code>
        </Group>
      ))}
    </ScrollArea.Autosize>
  )
}

function Busy() {
  const t = useMessages(messages)
  return (
    <Group>
      <Loader size="sm" aria-label={t('busy')} />
      <SlowNote />
    </Group>
  )
}
