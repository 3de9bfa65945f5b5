// The columns of the task table.
import { type Selection, selectColumn } from '../../components/bulk/selection.tsx'
import { CopyId } from '../../components/copy.tsx'
import { type Column, column, numberColumn, withUnit } from '../../components/table/data-table.tsx'
import { Elapsed, TaskProgress } from '../../components/tasks/progress.tsx'
import { Money, None, State, Time } from '../../components/values.tsx'
import { useMessages } from '../../lib/messages.ts'
import { tagsText } from '../../lib/resources/tags.ts'
import { elapsedMs, isLive, type Task } from '../../lib/resources/task.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { isStaff, useSession } from '../../lib/session.ts'
import { messages } from './messages.ts'

const callerText = ({ account, token }: Task): string => `${account ?? ''} / ${token ?? ''}`

/** Of one that runs: the most that it may cost. */
const costOf = (task: Task) => (isLive(task) ? task.hold : task.charge)

function CostCell({ task }: { task: Task }) {
  const { currency } = useSession()
  return (
    <span style={isLive(task) ? { opacity: 0.75 } : undefined}>
      {isLive(task) && '≤ '}
      <Money amount={costOf(task)} currency={currency} isBare />
    </span>
  )
}

/** `hasCallbacks`: the list says how they went. */
export function useColumns(
  selection: Selection | undefined,
  hasCallbacks: boolean,
): Column<Task>[] {
  const t = useMessages(messages)
  const { currency } = useSession()
  return [
    ...selectColumn(selection, t('select'), ({ id }) => id, isLive),
    column(t('created'), '125px', ({ created_at }) => <Time at={created_at} how="short" />, {
      id: 'created',
      sort: ({ created_at }) => created_at,
    }),
    column(t('state'), '115px', ({ state }) => <State state={state} label={t(state)} />, {
      id: 'state',
      sort: ({ state }) => state,
    }),
    column(t('progress'), '95px', (task) => <TaskProgress task={task} />, { id: 'progress' }),
    ...useSubjectColumns(),
    column(t('token'), '190px', callerText, { id: 'token', sort: callerText }),
    numberColumn(withUnit(t('cost'), currency), '85px', (task) => <CostCell task={task} />, {
      id: 'cost',
      sort: costOf,
    }),
    column(t('error'), '105px', (task) => <ErrorCell task={task} />, {
      id: 'error',
      sort: ({ error }) => error?.code,
    }),
    numberColumn(t('elapsed'), '95px', (task) => <Elapsed task={task} />, {
      ...{ id: 'elapsed', sort: (task) => elapsedMs(task, Date.now()) },
    }),
    ...useCallbackColumn(hasCallbacks),
    ...useFamilyColumns(),
    ...useRareColumns(),
  ]
}

const callbackColors = { waiting: 'queued', delivered: 'succeeded', exhausted: 'failed' } as const

function useCallbackColumn(hasCallbacks: boolean): Column<Task>[] {
  const t = useMessages(messages)
  const server = useServerText()
  if (!hasCallbacks) return []
  const cell = ({ callback_state: state }: Task) =>
    state === null || state === undefined ? (
      '–'
    ) : (
      <State state={callbackColors[state]} label={server.text('callback', state)} />
    )
  const sort = ({ callback_state }: Task) => callback_state
  return [column(t('callback'), '105px', cell, { id: 'callback', sort })]
}

function useSubjectColumns(): Column<Task>[] {
  const t = useMessages(messages)
  return [
    column(t('model'), '115px', ({ model }) => model, { id: 'model', sort: ({ model }) => model }),
    column(t('prompt'), '175px', ({ request }) => request.prompt, { id: 'prompt' }),
  ]
}

function useFamilyColumns(): Column<Task>[] {
  const t = useMessages(messages)
  return [
    column(t('family'), '110px', (task) => t(task.interface), {
      id: 'family',
      sort: (task) => t(task.interface),
    }),
  ]
}

/** For those who choose them. */
function useRareColumns(): Column<Task>[] {
  const t = useMessages(messages)
  const isOptional = true
  return [
    numberColumn(t('polls'), '90px', ({ checks }) => checks, {
      ...{ id: 'polls', isOptional, sort: ({ checks }) => checks },
    }),
    column(t('tags'), '160px', ({ tags }) => tagsText(tags), {
      ...{ id: 'tags', isPrivate: true, isOptional },
    }),
    column(t('id'), '230px', ({ id }) => <CopyId id={id} />, { id: 'id', isOptional }),
    ...(isStaff(useSession())
      ? [
          column<Task>(t('upstream_id'), '230px', (task) => <CopyId id={task.upstream_id} />, {
            ...{ id: 'upstream_id', isOptional },
          }),
        ]
      : []),
  ]
}

/** The code in words; the text of it on hover. */
function ErrorCell({ task: { error } }: { task: Task }) {
  const server = useServerText()
  if (error === null) return <None />
  return <span title={`${error.code}\n${error.message}`}>{server.text('error', error.code)}</span>
}
