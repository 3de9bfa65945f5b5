// What came back: words, pictures, vectors or a task with its preview; the events as they came; the
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
import { useQuery } from '@tanstack/react-query'
import { ask, localPath } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { privateClass } from '../../lib/privacy.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { ErrorNote } from '../../parts/page.tsx'
import { HttpStatus, State } from '../../parts/values.tsx'
import { HowFar } from '../tasks/columns.tsx'
import { Results } from '../tasks/media.tsx'
import { isLive, type Task } from '../tasks/task.ts'
import { words as taskWords } from '../tasks/words.ts'
import { type Trial, valueAt } from './interfaces.ts'
import { LatencyStrip } from './latency-strip.tsx'
import type { Outcome } from './send.ts'
import type { Attempt } from './use-try.ts'
import { VectorsView } from './vectors-view.tsx'
import { words } from './words.ts'

/** `scaleMs`: what the strip of time is drawn to, for two that are compared. */
export function OutcomeView({
  trial,
  attempt,
  scaleMs,
}: {
  trial: Trial
  attempt: Attempt
  scaleMs?: number
}) {
  const say = useWords(words)
  const { outcome, error, isBusy, isStopped } = attempt
  if (error !== undefined) return <ErrorNote error={error} />
  if (outcome === undefined) {
    if (isBusy) return <Loader aria-label={say('busy')} />
    return <Text c="dimmed">{say(isStopped ? 'stopped' : 'waiting')}</Text>
  }
  return (
    <Stack>
      <Figures attempt={attempt} outcome={outcome} />
      {outcome.totalMs !== undefined && (
        <LatencyStrip outcome={outcome} scaleMs={scaleMs ?? outcome.totalMs} />
      )}
      {attempt.isStopped && (
        <Text size="xs" c="dimmed" role="status">
          {say('stopped')}
        </Text>
      )}
      <Tabs defaultValue="answer">
        <Tabs.List>
          <Tabs.Tab value="answer">{say('answer')}</Tabs.Tab>
          {outcome.events.length > 0 && (
            <Tabs.Tab value="events">
              {say('events')} ({outcome.events.length})
            </Tabs.Tab>
          )}
          <Tabs.Tab value="raw">{say('raw')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="answer" pt="sm">
          <Answer trial={trial} attempt={attempt} outcome={outcome} />
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
  const say = useWords(words)
  const format = useFormat()
  const { currency } = useSession()
  const { status, requestId, totalMs, firstMs } = outcome
  return (
    <Group gap="md">
      <HttpStatus status={status} />
      {totalMs !== undefined && (
        <Text size="sm">{say('took', { ms: format.ms(totalMs), first: format.ms(firstMs) })}</Text>
      )}
      {attempt.charge !== undefined && (
        <Text size="sm" fw={600}>
          {say('cost', { amount: format.money(attempt.charge, currency) })}
        </Text>
      )}
      {attempt.channel !== undefined && (
        <Text size="sm" c="dimmed">
          {say('by_channel', { name: attempt.channel })}
        </Text>
      )}
      {requestId !== '' && !attempt.isBusy && (
        <Text size="sm">
          <Link to={`/requests?open=${requestId}`}>{say('open_request')}</Link>
        </Text>
      )}
    </Group>
  )
}

function Answer({ trial, attempt, outcome }: { trial: Trial; attempt: Attempt; outcome: Outcome }) {
  if (outcome.status >= 400) return <Alert color="red">{outcome.text}</Alert>
  if (attempt.taskId !== undefined) return <TaskAnswer id={attempt.taskId} />
  if (trial.answer === 'images') return <Pictures body={outcome.body} />
  if (trial.answer === 'vectors') return <VectorsView body={outcome.body} sent={attempt.sent} />
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
  const say = useWords(words)
  const taskSay = useWords(taskWords)
  const format = useFormat()
  const { currency } = useSession()
  const { data: task } = useQuery({
    queryKey: ['task', id],
    queryFn: () => ask<Task>('GET', `/tasks/${encodeURIComponent(id)}`),
    refetchInterval: ({ state }) =>
      state.data === undefined || isLive(state.data) ? 1_000 : false,
  })
  if (task === undefined) return <Loader />
  return (
    <Stack>
      <Group>
        <State state={task.state} label={taskSay(task.state)} />
        {isLive(task) && <HowFar task={task} />}
        {!isLive(task) && (
          <Text size="sm" fw={600}>
            {say('cost', { amount: format.money(task.charge, currency) })}
          </Text>
        )}
        <Link to={`/tasks?open=${task.id}`}>{say('open_task')}</Link>
      </Group>
      {task.error !== null && <Alert color="red">{task.error.message}</Alert>}
      <Results task={task} />
    </Stack>
  )
}

function Pictures({ body }: { body: unknown }) {
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
const mostShown = 300

function Events({ outcome: { events } }: { outcome: Outcome }) {
  const format = useFormat()
  const first = Math.max(0, events.length - mostShown)
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
