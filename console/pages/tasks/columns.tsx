// The columns of the task table.
import { Checkbox } from '@mantine/core'
import { CopyId } from '../../components/copy.tsx'
import { type Column, column, numberColumn } from '../../components/table/data-table.tsx'
import { Elapsed, TaskProgress } from '../../components/tasks/progress.tsx'
import { Money, State, Time } from '../../components/values.tsx'
import { useMessages } from '../../lib/messages.ts'
import { tagsText } from '../../lib/resources/tags.ts'
import { isLive, type Task } from '../../lib/resources/task.ts'
import { isStaff, useSession } from '../../lib/session.ts'
import type { Selection } from './bulk-cancel.tsx'
import { messages } from './messages.ts'

export function useColumns(selection: Selection | undefined): Column<Task>[] {
  const t = useMessages(messages)
  const session = useSession()
  const { currency } = session
  return [
    ...(selection === undefined ? [] : [selectColumn(selection, t('select'))]),
    column(t('created'), '140px', ({ created_at }) => <Time at={created_at} how="short" />),
    column(t('state'), '120px', ({ state }) => <State state={state} label={t(state)} />),
    column(t('progress'), '150px', (task) => <TaskProgress task={task} />),
    column(t('elapsed'), '190px', (task) => <Elapsed task={task} />),
    column(t('family'), '130px', (task) => t(task.interface)),
    column(t('model'), '170px', ({ model }) => model),
    column(t('prompt'), 'minmax(160px, 2fr)', ({ request }) => request.prompt),
    { title: t('token'), cell: ({ account, token }) => `${account ?? ''} / ${token ?? ''}` },
    numberColumn(t('polls'), '90px', ({ checks }) => checks),
    numberColumn(t('cost'), '130px', (task) => (
      <span style={isLive(task) ? { opacity: 0.75 } : undefined}>
        {isLive(task) && '≤ '}
        <Money amount={isLive(task) ? task.hold : task.charge} currency={currency} />
      </span>
    )),
    column(t('tags'), '160px', ({ tags }) => tagsText(tags), { isPrivate: true }),
    column(t('id'), '230px', ({ id }) => <CopyId id={id} />),
    ...(isStaff(session)
      ? [column<Task>(t('upstream_id'), '230px', (task) => <CopyId id={task.upstream_id} />)]
      : []),
  ]
}

function selectColumn({ ids, toggle }: Selection, title: string): Column<Task> {
  return {
    title,
    width: '80px',
    cell: (task) =>
      isLive(task) && (
        <Checkbox
          size="xs"
          aria-label={`${title} ${task.id}`}
          checked={ids.has(task.id)}
          onChange={() => toggle(task.id)}
          // A click on the row opens the drawer.
          onClick={(event) => event.stopPropagation()}
        />
      ),
  }
}
