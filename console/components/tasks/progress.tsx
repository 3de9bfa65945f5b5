// How far a task is, and when it is likely to end.
import { Group, Progress, Text } from '@mantine/core'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { elapsedMs, isLive, type Task } from '../../lib/resources/task.ts'
import { None } from '../values.tsx'
import { taskMessages } from './messages.ts'

/** As the upstream reports it; else the share of the usual time; else an animated bar. */
export function TaskProgress({ task }: { task: Task }) {
  const t = useMessages(taskMessages)
  // The state has said the rest.
  if (!isLive(task)) return <None />
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
          {value}%
        </Text>
      )}
    </Group>
  )
}

/** How long it has taken, and how much longer it usually takes. */
export function Elapsed({ task }: { task: Task }) {
  const t = useMessages(taskMessages)
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
