// The way of a task from its create to its end.
import { Text, Timeline } from '@mantine/core'
import { useFormat } from '../../lib/format.ts'
import { useWords } from '../../lib/words.ts'
import { Time } from '../../parts/values.tsx'
import { isLive, type Task } from './task.ts'
import { words } from './words.ts'

export function TaskTimeline({ task }: { task: Task }) {
  const say = useWords(words)
  const format = useFormat()
  const steps: { title: string; at: string; note?: string }[] = [
    { title: say('created'), at: task.created_at },
  ]
  if (task.started_at !== null) steps.push({ title: say('started'), at: task.started_at })
  if (task.checks > 0) {
    const next = task.next_check_at
    steps.push({
      title: say('looked', { n: task.checks }),
      at: task.updated_at,
      ...(next !== null && { note: say('next_look', { when: format.ago(next) }) }),
    })
  }
  if (task.finished_at !== null) steps.push({ title: say(task.state), at: task.finished_at })
  return (
    <Timeline active={isLive(task) ? steps.length - 1 : steps.length} bulletSize={14} lineWidth={2}>
      {steps.map(({ title, at, note }) => (
        <Timeline.Item key={title} title={title}>
          <Text size="xs" c="dimmed">
            <Time at={at} />
            {note !== undefined && ` · ${note}`}
          </Text>
        </Timeline.Item>
      ))}
    </Timeline>
  )
}
