// One task in full: its result, what was asked for, its way through the states, money and notices.
import { Alert, Button, Code, Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ask } from '../../lib/api.ts'
import { go, Link, setQuery } from '../../lib/router.tsx'
import { maySee, useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { ConfirmByName } from '../../parts/confirm.tsx'
import { CopyId } from '../../parts/copy.tsx'
import { ErrorNote, SectionTitle } from '../../parts/page.tsx'
import { Facts, Sheet } from '../../parts/sheet.tsx'
import { Money, State } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { Why } from '../requests/sheet.tsx'
import { CallbackAttempts } from './callback.tsx'
import { Elapsed, HowFar } from './columns.tsx'
import { Inputs } from './inputs.tsx'
import { Results } from './media.tsx'
import { RunAgain } from './run-again.tsx'
import { actors, isLive, type Task } from './task.ts'
import { TaskTimeline } from './timeline.tsx'
import { words } from './words.ts'

export function TaskSheet({
  id,
  onClose,
  onChanged,
}: {
  id: string | undefined
  onClose: () => void
  onChanged: () => void
}) {
  const say = useWords(words)
  const mayAct = maySee(useSession(), actors)
  const [isCancelling, setCancelling] = useState(false)
  const {
    data: task,
    error,
    refetch,
  } = useQuery({
    queryKey: ['task', id],
    queryFn: () => ask<Task>('GET', `/tasks/${encodeURIComponent(id!)}`),
    enabled: id !== undefined,
    refetchInterval: ({ state }) =>
      state.data === undefined || isLive(state.data) ? 2_000 : false,
  })
  const onMade = (made: string) => {
    onChanged()
    setQuery({ open: made })
  }
  const cancel = async () => {
    await ask('POST', `/tasks/${id}/cancel`)
    await refetch()
    onChanged()
  }
  return (
    <Sheet
      title={<CopyId id={id} most={44} />}
      isOpen={id !== undefined}
      onClose={onClose}
      actions={
        task !== undefined &&
        mayAct && (
          <>
            {isLive(task) && (
              <Button color="red" variant="light" onClick={() => setCancelling(true)}>
                {say('cancel')}
              </Button>
            )}
            <RunAgain task={task} onMade={onMade} />
            <Button variant="default" onClick={() => go(`/playground?task=${task.id}`)}>
              {say('in_playground')}
            </Button>
          </>
        )
      }
    >
      <ErrorNote error={error} />
      {task !== undefined && <TaskDetails task={task} onChanged={() => void refetch()} />}
      <ConfirmByName
        name={id?.slice(-6) ?? ''}
        title={say('cancel')}
        text={say('cancel_text')}
        action={say('cancel')}
        isOpen={isCancelling}
        onClose={() => setCancelling(false)}
        onConfirm={cancel}
      />
    </Sheet>
  )
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section>
    <SectionTitle>{title}</SectionTitle>
    <Stack gap="xs">{children}</Stack>
  </section>
)

function TaskDetails({ task, onChanged }: { task: Task; onChanged: () => void }) {
  const say = useWords(words)
  const shared = useWords(common)
  const { currency } = useSession()
  const { request } = task
  return (
    <Stack gap="lg">
      <Group>
        <State state={task.state} label={say(task.state)} />
        {isLive(task) && <HowFar task={task} />}
        <Elapsed task={task} />
      </Group>
      {task.error !== null && (
        <Alert color="red" title={task.error.code}>
          {task.error.message}
        </Alert>
      )}
      <Results task={task} />
      <Part title={say('request')}>
        <Facts
          rows={[
            [shared('prompt'), request.prompt],
            [say('family'), say(task.interface)],
            [shared('model'), task.model],
            [say('seconds'), request.seconds],
            [say('resolution'), request.resolution],
            [say('count'), request.count],
            [shared('account'), task.account],
            [shared('token'), task.token],
            [shared('channel'), task.channel],
            [say('upstream_id'), task.upstream_id && <CopyId id={task.upstream_id} />],
            [say('external_id'), task.external_id],
            [
              shared('request_id'),
              <Link key="r" to={`/requests?open=${task.request_id}`}>
                {task.request_id}
              </Link>,
            ],
          ]}
        />
        <Inputs task={task} />
      </Part>
      <Part title={say('timeline')}>
        <TaskTimeline task={task} />
      </Part>
      <Part title={say('billing')}>
        <Facts
          rows={[
            [say('held'), <Money key="h" amount={task.hold} currency={currency} />],
            [say('charged'), <Money key="c" amount={task.charge} currency={currency} />],
          ]}
        />
        <Why id={task.id} />
      </Part>
      <Part title={say('callback')}>
        <CallbackAttempts task={task} onChanged={onChanged} />
      </Part>
      {task.usage_reported !== null && (
        <Part title={say('reported')}>
          <Code block tabIndex={0}>
            {JSON.stringify(task.usage_reported, null, 2)}
          </Code>
        </Part>
      )}
    </Stack>
  )
}
