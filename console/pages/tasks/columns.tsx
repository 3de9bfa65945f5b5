// The columns of the task table, how far a task is, and when it is likely to end.
import { Checkbox, Group, Progress, Text } from '@mantine/core'
import { useFormat } from '../../lib/format.ts'
import { isStaff, useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { CopyId } from '../../parts/copy.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { Money, State, Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import type { Selection } from './bulk-cancel.tsx'
import { elapsedMs, isLive, type Task } from './task.ts'
import { words } from './words.ts'

/** What the upstream says; else how much of the usual time has passed; else a stripe that moves. */
export function HowFar({ task }: { task: Task }) {
  const say = useWords(words)
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
        aria-label={say('progress')}
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
  const say = useWords(words)
  const format = useFormat()
  const passedMs = elapsedMs(task, Date.now())
  const { expected_ms } = task
  const passed = format.ms(passedMs)
  if (!isLive(task) || expected_ms === null) return <>{passed}</>
  const leftMs = expected_ms - passedMs
  const usual = say('usual', { time: format.ms(expected_ms) })
  return (
    <span title={usual}>
      {passed}{' '}
      <Text component="span" size="xs" c="dimmed">
        {leftMs > 0 ? say('left', { time: format.ms(leftMs) }) : say('overdue')}
      </Text>
    </span>
  )
}

export function useColumns(selection: Selection | undefined): Column<Task>[] {
  const say = useWords(words)
  const shared = useWords(common)
  const session = useSession()
  const { currency } = session
  return [
    ...(selection === undefined ? [] : [selectColumn(selection, say('select'))]),
    {
      title: say('created'),
      width: '140px',
      cell: ({ created_at }) => <Time at={created_at} how="short" />,
    },
    {
      title: shared('state'),
      width: '120px',
      cell: ({ state }) => <State state={state} label={say(state)} />,
    },
    { title: say('progress'), width: '150px', cell: (task) => <HowFar task={task} /> },
    { title: say('elapsed'), width: '190px', cell: (task) => <Elapsed task={task} /> },
    { title: say('family'), width: '130px', cell: (task) => say(task.interface) },
    { title: shared('model'), width: '170px', cell: ({ model }) => model },
    { title: shared('prompt'), width: 'minmax(160px, 2fr)', cell: ({ request }) => request.prompt },
    { title: shared('token'), cell: ({ account, token }) => `${account ?? ''} / ${token ?? ''}` },
    { title: say('looks'), align: 'right', width: '90px', cell: ({ checks }) => checks },
    {
      title: shared('cost'),
      align: 'right',
      width: '130px',
      cell: (task) => (
        <span style={isLive(task) ? { opacity: 0.75 } : undefined}>
          {isLive(task) && '≤ '}
          <Money amount={isLive(task) ? task.hold : task.charge} currency={currency} />
        </span>
      ),
    },
    { title: say('id'), width: '230px', cell: ({ id }) => <CopyId id={id} /> },
    ...(isStaff(session) ? [upstreamId(say('upstream_id'))] : []),
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
