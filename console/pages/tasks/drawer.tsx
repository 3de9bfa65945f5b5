// One task: result, request, timeline, billing and callback.

import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { RefundButton, useRefunding } from '../../components/billing/refund.tsx'
import { Confirm } from '../../components/confirm.tsx'
import { CopyId } from '../../components/copy.tsx'
import { DetailsDrawer, PropertyList } from '../../components/drawer.tsx'
import { AccountLink, ChannelLink, TokenLink } from '../../components/name-links.tsx'
import { ErrorAlert, SectionTitle } from '../../components/page.tsx'
import { Elapsed, TaskProgress } from '../../components/tasks/progress.tsx'
import { Results } from '../../components/tasks/results.tsx'
import { Money, State } from '../../components/values.tsx'
import { api } from '../../lib/api.ts'
import { isLess } from '../../lib/format/money.ts'
import { useMessages } from '../../lib/messages.ts'
import { tagsText } from '../../lib/resources/tags.ts'
import { actors, isBeingTold, isLive, type Task } from '../../lib/resources/task.ts'
import { Link, navigate, setQuery } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { useResource } from '../../lib/use-resource.ts'
import { ChargeExplanation } from '../requests/drawer.tsx'
import { CallbackAttempts } from './callback.tsx'
import { Inputs } from './inputs.tsx'
import { messages } from './messages.ts'
import { RerunTask } from './rerun.tsx'
import { TaskTimeline } from './timeline.tsx'

export function TaskDrawer({
  id,
  onClose,
  onChanged,
}: {
  id: string | undefined
  onClose: () => void
  onChanged: () => void
}) {
  const t = useMessages(messages)
  const mayAct = hasRole(useSession(), actors)
  const [isCancelling, setCancelling] = useState(false)
  const {
    data: task,
    error,
    refetch,
  } = useResource<Task>(`/tasks/${encodeURIComponent(id!)}`, {
    enabled: id !== undefined,
    refetchInterval: ({ state }) =>
      state.data === undefined || isLive(state.data) || isBeingTold(state.data) ? 2_000 : false,
  })
  const [isRefunding, setRefunding] = useRefunding(id !== undefined && task !== undefined)
  const onMade = (made: string) => {
    onChanged()
    setQuery({ open: made })
  }
  const cancel = async () => {
    await api('POST', `/tasks/${id}/cancel`)
    await refetch()
    onChanged()
  }
  return (
    <DetailsDrawer
      title={<CopyId id={id} max={44} />}
      isOpen={id !== undefined}
      onClose={onClose}
      isLocked={isRefunding}
      actions={
        task !== undefined && (
          <>
            <RefundButton
              path={`/tasks/${task.id}`}
              charge={task.charge}
              refunded={task.refunded}
              isOpen={isRefunding}
              setOpen={setRefunding}
            />
            {mayAct && (
              <TaskActions task={task} onCancel={() => setCancelling(true)} onMade={onMade} />
            )}
          </>
        )
      }
    >
      <ErrorAlert error={error} />
      {task !== undefined && mayAct && <CancelProblem task={task} />}
      {task !== undefined && <TaskDetails task={task} onChanged={() => void refetch()} />}
      <Confirm
        title={t('cancel_task')}
        text={t('cancel_text')}
        action={t('cancel_task')}
        keep={t('keep_task')}
        isOpen={isCancelling}
        onClose={() => setCancelling(false)}
        onConfirm={cancel}
      />
    </DetailsDrawer>
  )
}

function TaskActions({
  task,
  onCancel,
  onMade,
}: {
  task: Task
  onCancel: () => void
  onMade: (id: string) => void
}) {
  const t = useMessages(messages)
  return (
    <>
      {isLive(task) && (
        <Button
          color="red"
          variant="light"
          disabled={task.cancel_problem !== null}
          onClick={onCancel}
        >
          {t('cancel_task')}
        </Button>
      )}
      <RerunTask task={task} onMade={onMade} />
      <Button variant="default" onClick={() => navigate(`/playground?task=${task.id}`)}>
        {t('in_playground')}
      </Button>
    </>
  )
}

/** Said before it is tried. */
function CancelProblem({ task: { cancel_problem: problem } }: { task: Task }) {
  const t = useMessages(messages)
  if (problem === null || problem === 'over') return null
  return (
    <Text size="sm" c="dimmed" mb="md" role="status">
      {t(`cancel_${problem}`)}
    </Text>
  )
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section>
    <SectionTitle>{title}</SectionTitle>
    <Stack gap="xs">{children}</Stack>
  </section>
)

function TaskDetails({ task, onChanged }: { task: Task; onChanged: () => void }) {
  const t = useMessages(messages)
  const { currency } = useSession()
  const server = useServerText()
  const { request } = task
  return (
    <Stack gap="lg">
      <Group>
        <State state={task.state} label={t(task.state)} />
        {isLive(task) && <TaskProgress task={task} />}
        <Elapsed task={task} />
      </Group>
      {task.error !== null && (
        <Alert color="red" title={server.text('error', task.error.code)}>
          {task.error.message}
        </Alert>
      )}
      <Results task={task} />
      <Part title={t('request')}>
        <PropertyList
          rows={[
            [t('prompt'), request.prompt],
            [t('family'), t(task.interface)],
            [t('model'), task.model],
            [t('seconds'), request.seconds],
            [t('resolution'), request.resolution],
            [t('count'), request.count],
            [t('account'), task.account && <AccountLink key="a" name={task.account} />],
            [t('token'), task.token && <TokenLink key="t" id={task.token_id} name={task.token} />],
            [t('tags'), tagsText(task.tags)],
            [t('end_user'), task.end_user],
            [t('channel'), task.channel && <ChannelLink key="c" name={task.channel} />],
            [t('upstream_id'), task.upstream_id && <CopyId id={task.upstream_id} />],
            [t('external_id'), task.external_id],
            [
              t('request_id'),
              <Link key="r" to={`/requests?open=${task.request_id}`}>
                {task.request_id}
              </Link>,
            ],
          ]}
        />
        <Inputs task={task} />
      </Part>
      <Part title={t('timeline')}>
        <TaskTimeline task={task} />
      </Part>
      <Part title={t('billing')}>
        <PropertyList
          rows={[
            [t('held'), <Money key="h" amount={task.hold} currency={currency} />],
            [t('charged'), <Money key="c" amount={task.charge} currency={currency} />],
            [
              t('refunded'),
              isLess('0', task.refunded) ? (
                <Money key="r" amount={task.refunded} currency={currency} />
              ) : undefined,
            ],
          ]}
        />
        <ChargeExplanation id={task.id} />
      </Part>
      <Part title={t('callback')}>
        <CallbackAttempts task={task} onChanged={onChanged} />
      </Part>
      {task.usage_reported !== null && (
        <Part title={t('reported')}>
          <Code block tabIndex={0}>
            {JSON.stringify(task.usage_reported, null, 2)}
          </Code>
        </Part>
      )}
    </Stack>
  )
}
