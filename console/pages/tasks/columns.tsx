// The columns of the task table, and how far a task is.
import { Group, Progress, Text } from '@mantine/core'
import { useFormat } from '../../lib/format.ts'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { CopyId } from '../../parts/copy.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { Money, State, Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { elapsedMs, isLive, type Task } from './task.ts'
import { words } from './words.ts'

/** A stripe that moves while nobody knows how far it is. */
export function HowFar({ task }: { task: Task }) {
  const say = useWords(words)
  if (!isLive(task)) return <Text size="sm">{task.state === 'succeeded' ? '100 %' : '–'}</Text>
  const isKnown = task.progress > 0
  return (
    <Group gap={6} wrap="nowrap">
      <Progress
        value={isKnown ? task.progress : 100}
        animated={!isKnown}
        striped={!isKnown}
        w={80}
        aria-label={say('progress')}
      />
      {isKnown && <Text size="xs">{task.progress} %</Text>}
    </Group>
  )
}

export function useColumns(): Column<Task>[] {
  const say = useWords(words)
  const shared = useWords(common)
  const format = useFormat()
  const { currency } = useSession()
  return [
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
    { title: say('family'), width: '120px', cell: (task) => say(task.interface) },
    { title: shared('model'), width: '170px', cell: ({ model }) => model },
    { title: say('prompt'), width: 'minmax(160px, 2fr)', cell: ({ request }) => request.prompt },
    { title: shared('token'), cell: ({ account, token }) => `${account ?? ''} / ${token ?? ''}` },
    {
      title: say('elapsed'),
      align: 'right',
      width: '110px',
      cell: (task) => format.ms(elapsedMs(task, Date.now())),
    },
    {
      title: shared('cost'),
      align: 'right',
      width: '130px',
      cell: (task) => (
        <span style={isLive(task) ? { opacity: 0.6 } : undefined}>
          {isLive(task) && '≤ '}
          <Money amount={isLive(task) ? task.hold : task.charge} currency={currency} />
        </span>
      ),
    },
    { title: say('id'), width: '230px', cell: ({ id }) => <CopyId id={id} /> },
  ]
}
