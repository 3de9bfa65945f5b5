// The columns of the task table, how far a task is, and when it is likely to end.
import { Checkbox, Group, Progress, Text } from '@mantine/core'
import { CopyId } from '../../components/copy.tsx'
import type { Column } from '../../components/table/data-table.tsx'
import { Money, State, Time } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { elapsedMs, isLive, type Task } from '../../lib/resources/task.ts'
import { isStaff, useSession } from '../../lib/session.ts'
import type { Selection } from './bulk-cancel.tsx'
import { messages } from './messages.ts'

/** What the upstream says; else how much of the usual time has passed; else a stripe that moves. */
export function TaskProgress({ task }: { task: Task }) {
  const t = useMessages(messages)
  if (!isLive(task)) return <Text size="sm">{task.state === 'succeeded' ? '100 %' : '–'}</Text>
  const { progress, expected_ms } = task
  const usual = expected_ms === null ? 0 : (100 * elapsedMs(task, Date.now())) / expected_ms
  const value = progress > 0 ? progress : Math.min(95, Math.round(usual))
  const isKnown = value > 0
  return (
    <Group gap={6} wrap="nowrap">
      <Progress
        value={isKnown ? value : 100}
        animated={!isKnown}
        striped={!isKnown}
        w={80}
        aria-label={t('progress')}
      />
      {isKnown && (
        <Text size="xs">
          {progress > 0 ? '' : '≈ '}
          {value} %
        </Text>
      )}
    </Group>
  )
}

/** How long it has taken, and how much longer it usually takes. */
export function Elapsed({ task }: { task: Task }) {
  const t = useMessages(messages)
  const format = useFormat()
  const passedMs = elapsedMs(task, Date.now())
  const { expected_ms } = task
  const passed = format.ms(passedMs)
  if (!isLive(task) || expected_ms === null) return <>{passed}</>
  const leftMs = expected_ms - passedMs
  const usual = t('usual', { time: format.ms(expected_ms) })
  return (
    <span title={usual}>
      {passed}{' '}
      <Text component="span" size="xs" c="dimmed">
        {leftMs > 0 ? t('left', { time: format.ms(leftMs) }) : t('overdue')}
      </Text>
    </span>
  )
}

export function useColumns(selection: Selection | undefined): Column<Task>[] {
  const t = useMessages(messages)
  const session = useSession()
  const { currency } = session
  return [
    ...(selection === undefined ? [] : [selectColumn(selection, t('select'))]),
    {
      title: t('created'),
      width: '140px',
      cell: ({ created_at }) => <Time at={created_at} how="short" />,
    },
    {
      title: t('state'),
      width: '120px',
      cell: ({ state }) => <State state={state} label={t(state)} />,
    },
    { title: t('progress'), width: '150px', cell: (task) => <TaskProgress task={task} /> },
    { title: t('elapsed'), width: '190px', cell: (task) => <Elapsed task={task} /> },
    { title: t('family'), width: '130px', cell: (task) => t(task.interface) },
    { title: t('model'), width: '170px', cell: ({ model }) => model },
    { title: t('prompt'), width: 'minmax(160px, 2fr)', cell: ({ request }) => request.prompt },
    { title: t('token'), cell: ({ account, token }) => `${account ?? ''} / ${token ?? ''}` },
    { title: t('looks'), align: 'right', width: '90px', cell: ({ checks }) => checks },
    {
      title: t('cost'),
      align: 'right',
      width: '130px',
      cell: (task) => (
        <span style={isLive(task) ? { opacity: 0.75 } : undefined}>
          {isLive(task) && '≤ '}
          <Money amount={isLive(task) ? task.hold : task.charge} currency={currency} />
        </span>
      ),
    },
    { title: t('id'), width: '230px', cell: ({ id }) => <CopyId id={id} /> },
    ...(isStaff(session) ? [upstreamId(t('upstream_id'))] : []),
  ]
}

const upstreamId = (title: string): Column<Task> => ({
  title,
  width: '230px',
  cell: ({ upstream_id }) => <CopyId id={upstream_id} />,
})

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
          // The row itself opens the sheet.
          onClick={(event) => event.stopPropagation()}
        />
      ),
  }
}
