// What came back: text, images, vectors, sound, a ranking or a task with its preview; the events as they
// came; the raw answer; time and money.
import { Alert, Button, Group, SimpleGrid, Stack, Tabs, Text } from '@mantine/core'
import { ErrorAlert } from '../../../components/page.tsx'
import { taskMessages } from '../../../components/tasks/messages.ts'
import { TaskProgress } from '../../../components/tasks/progress.tsx'
import { Results } from '../../../components/tasks/results.tsx'
import { State } from '../../../components/values.tsx'
import { localPath } from '../../../lib/api.ts'
import { downloadBlob } from '../../../lib/download.ts'
import { useFormat } from '../../../lib/format.ts'
import { useMessages } from '../../../lib/messages.ts'
import { privateClass } from '../../../lib/privacy.ts'
import { isLive, type Task } from '../../../lib/resources/task.ts'
import { Link } from '../../../lib/router.tsx'
import { useSession } from '../../../lib/session.ts'
import { useResource } from '../../../lib/use-resource.ts'
import { messages } from '../messages.ts'
import { type Endpoint, valueAt } from '../request/endpoints.ts'
import { Player } from '../request/sound-field.tsx'
import type { Outcome } from '../send.ts'
import type { Attempt } from '../use-call.ts'
import { Busy } from './busy.tsx'
import { Events, RawText } from './exchange.tsx'
import { Figures } from './figures.tsx'
import { ModerationView, RankingView } from './judged-views.tsx'
import { LatencyBar } from './latency-bar.tsx'
import { VectorsView } from './vectors-view.tsx'

export function ResultView({ endpoint, attempt }: { endpoint: Endpoint; attempt: Attempt }) {
  const t = useMessages(messages)
  const { outcome, error, isBusy, isStopped } = attempt
  if (error !== undefined) return <ErrorAlert error={error} />
  if (outcome === undefined) {
    if (isBusy) return <Busy />
    return <Text c="dimmed">{t(isStopped ? 'stopped' : 'waiting')}</Text>
  }
  const { totalMs } = outcome
  return (
    <Stack>
      <Figures attempt={attempt} outcome={outcome} />
      {totalMs !== undefined && <LatencyBar outcome={outcome} />}
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
          {outcome.file === undefined && <Tabs.Tab value="raw">{t('raw')}</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="answer" pt="sm">
          <Answer endpoint={endpoint} attempt={attempt} outcome={outcome} />
        </Tabs.Panel>
        <Tabs.Panel value="events" pt="sm">
          <Events outcome={outcome} />
        </Tabs.Panel>
        <Tabs.Panel value="raw" pt="sm">
          <RawText outcome={outcome} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
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
  const { body, answer, refusal } = outcome
  const error = refusal ?? answer?.error
  if (error !== undefined) return <Alert color="red">{error}</Alert>
  if (attempt.taskId !== undefined) return <TaskAnswer id={attempt.taskId} />
  switch (endpoint.answer) {
    case 'images':
      return <Images body={body} />
    case 'vectors':
      return <VectorsView body={body} sent={attempt.sent} />
    case 'sound':
      return outcome.file === undefined ? null : (
        <Sound file={outcome.file} format={String(valueAt(attempt.sent, 'response_format'))} />
      )
    case 'ranking':
      return <RankingView body={body} sent={attempt.sent} />
    case 'moderation':
      return <ModerationView body={body} sent={attempt.sent} />
    case 'transcript':
      return <Prose text={typeof body === 'string' ? body : String(valueAt(body, 'text') ?? '')} />
    default:
      return <Prose text={answer?.text ?? ''} />
  }
}

const Prose = ({ text }: { text: string }) => (
  <Text
    className={privateClass}
    style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
    aria-live="polite"
  >
    {text}
  </Text>
)

function Sound({ file, format }: { file: Blob; format: string }) {
  const t = useMessages(messages)
  const { size } = useFormat()
  const ending = /^\w+$/.test(format) ? format : 'mp3'
  // Samples without a head: no browser plays them.
  const isPlayable = ending !== 'pcm'
  return (
    <Stack gap="xs">
      {isPlayable ? (
        <Player file={file} label={t('sound')} />
      ) : (
        <Text size="sm" c="dimmed">
          {t('not_playable')}
        </Text>
      )}
      <Group>
        <Button variant="default" size="xs" onClick={() => downloadBlob(`speech.${ending}`, file)}>
          {t('download')}
        </Button>
        <Text size="sm" c="dimmed">
          {size(file.size)}
        </Text>
      </Group>
    </Stack>
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
