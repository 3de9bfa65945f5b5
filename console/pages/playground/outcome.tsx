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
  Table,
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
import type { Outcome } from './send.ts'
import type { Attempt } from './use-try.ts'
import { words } from './words.ts'

export function OutcomeView({ trial, attempt }: { trial: Trial; attempt: Attempt }) {
  const say = useWords(words)
  const { outcome, error, isBusy } = attempt
  if (error !== undefined) return <ErrorNote error={error} />
  if (outcome === undefined) {
    return isBusy ? <Loader /> : <Text c="dimmed">{say('waiting')}</Text>
  }
  return (
    <Stack>
      <Figures attempt={attempt} outcome={outcome} />
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
      {requestId !== '' && !attempt.isBusy && (
        <Link to={`/requests?open=${requestId}`}>{say('open_request')}</Link>
      )}
    </Group>
  )
}

function Answer({ trial, attempt, outcome }: { trial: Trial; attempt: Attempt; outcome: Outcome }) {
  if (outcome.status >= 400) return <Alert color="red">{outcome.text}</Alert>
  if (attempt.taskId !== undefined) return <TaskAnswer id={attempt.taskId} />
  if (trial.answer === 'images') return <Pictures body={outcome.body} />
  if (trial.answer === 'vectors') return <Vectors body={outcome.body} />
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

const norm = (vector: readonly number[]) => Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0))
const cosine = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0) / (norm(a) * norm(b) || 1)

function Vectors({ body }: { body: unknown }) {
  const say = useWords(words)
  const vectors = ((valueAt(body, 'data') ?? []) as { embedding: number[] }[]).map(
    ({ embedding }) => embedding,
  )
  return (
    <Stack>
      {vectors.map((vector, i) => (
        <Text key={vector.slice(0, 3).join()} size="sm">
          {i + 1}: {say('vector', { n: vector.length, norm: norm(vector).toFixed(4) })}
        </Text>
      ))}
      <Text fw={600}>{say('alike')}</Text>
      <Table withTableBorder>
        <Table.Tbody>
          {vectors.map((row) => (
            <Table.Tr key={row.slice(0, 3).join()}>
              {vectors.map((column) => (
                <Table.Td key={column.slice(0, 3).join()}>
                  {cosine(row, column).toFixed(3)}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  )
}

/** Only the last ones are drawn: a long stream has thousands. */
const mostShown = 300

function Events({ outcome: { events } }: { outcome: Outcome }) {
  const format = useFormat()
  const first = Math.max(0, events.length - mostShown)
  return (
    <ScrollArea.Autosize mah={500}>
      {events.slice(first).map(({ afterMs, data }) => (
        <Group key={`${afterMs} ${data}`} gap="xs" wrap="nowrap" align="flex-start">
          <Text size="xs" c="dimmed" w={70} ta="right">
            {format.ms(afterMs)}
          </Text>
          <Code style={{ overflowWrap: 'anywhere' }}>{data}</Code>
        </Group>
      ))}
    </ScrollArea.Autosize>
  )
}
