// The timeline of a task: states, polls and callback attempts. Equal polls in a row are one step, with
// their number and the time from first to last.

import { Button, Group, Text, Timeline } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { State, Time } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import type { Translate } from '../../lib/i18n.ts'
import { useMessages } from '../../lib/messages.ts'
import { type CallbackAttempt, isLive, type Step, type Task } from '../../lib/resources/task.ts'
import { type ServerText, useServerText } from '../../lib/server/use-server-text.ts'
import { messages } from './messages.ts'

/** Of a long timeline only the first and the last steps are shown at first. */
const [firstShown, lastShown] = [8, 24]

type Key = keyof typeof messages

interface Event {
  key: string
  at: string
  lastAt: string
  title: string
  color: string
  /** Shown where it has changed. */
  state?: Step['state']
  progress?: number
  note?: ReactNode
}

export function TaskTimeline({ task }: { task: Task }) {
  const t = useMessages(messages)
  const [isWhole, setWhole] = useState(false)
  const events = useEvents(task)
  const hidden = isWhole ? 0 : Math.max(0, events.length - firstShown - lastShown - 1)
  const shown =
    hidden === 0 ? events : [...events.slice(0, firstShown), ...events.slice(-lastShown)]
  return (
    <Timeline
      role="list"
      aria-label={t('timeline')}
      active={isLive(task) ? shown.length - 1 : shown.length}
      bulletSize={14}
      lineWidth={2}
    >
      {shown.map((event, i) => (
        <Timeline.Item
          key={event.key}
          role="listitem"
          color={event.color}
          title={
            <Group gap={8}>
              <Text component="span" size="sm" fw={600}>
                {event.title}
              </Text>
              {event.state !== undefined && <State state={event.state} label={t(event.state)} />}
            </Group>
          }
        >
          <When event={event} task={task} />
          {event.note !== undefined && (
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {event.note}
            </Text>
          )}
          {hidden > 0 && i === firstShown - 1 && (
            <Button size="compact-xs" variant="default" mt={6} onClick={() => setWhole(true)}>
              {t('show_steps', { n: hidden })}
            </Button>
          )}
        </Timeline.Item>
      ))}
      {isLive(task) && task.next_check_at !== null && <NextPoll at={task.next_check_at} />}
    </Timeline>
  )
}

function NextPoll({ at }: { at: string }) {
  const t = useMessages(messages)
  const format = useFormat()
  return (
    <Timeline.Item role="listitem" lineVariant="dashed">
      <Text size="sm" c="dimmed">
        {t('next_poll', { when: format.ago(at) })}
      </Text>
    </Timeline.Item>
  )
}

/** The moment or the two between which it was, and how long that is after the create. */
function When({ event: { at, lastAt, progress }, task }: { event: Event; task: Task }) {
  const t = useMessages(messages)
  const format = useFormat()
  const sinceMs = Date.parse(at) - Date.parse(task.created_at)
  const how = format.day(at) === format.day(task.created_at) ? 'clock' : 'short'
  return (
    <Text size="xs" c="dimmed">
      <Time at={at} how={how} />
      {lastAt !== at && (
        <>
          {' – '}
          <Time at={lastAt} how={how} />
        </>
      )}
      {sinceMs > 0 && ` · ${t('after', { time: format.ms(sinceMs) })}`}
      {progress !== undefined && progress > 0 && ` · ${progress}%`}
    </Text>
  )
}

function useEvents(task: Task): Event[] {
  const toEvent = useStepEvents()
  const toCallbackEvent = useCallbackEvents()
  const steps = (task.timeline ?? []).map((step, i, all) => toEvent(step, all[i - 1], i))
  const attempts = (task.callback?.attempts ?? []).map(toCallbackEvent)
  // Steps are in order among themselves, whatever clocks have done in between.
  if (attempts.length === 0) return steps
  return [...steps, ...attempts].sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
}

const colors: Readonly<Record<string, string>> = {
  lost: 'yellow',
  poll_failed: 'orange',
  not_found: 'orange',
  no_output: 'orange',
  skipped: 'orange',
  search_failed: 'orange',
  truncated: 'gray',
  succeeded: 'teal',
  failed: 'red',
  cancelled: 'gray',
}

function useStepEvents() {
  const t = useMessages(messages)
  const server = useServerText()
  return (step: Step, before: Step | undefined, i: number): Event => {
    const { kind, at, last_at, times, state, progress, note } = step
    const isEnd = kind === 'ended'
    const isNew = state !== before?.state
    return {
      key: `${kind} ${at} ${i}`,
      at,
      lastAt: last_at,
      title: server.step(kind, times),
      color: colors[isEnd ? state : kind] ?? 'blue',
      ...((isNew || isEnd) && kind !== 'created' && { state }),
      ...((isEnd || kind.startsWith('poll')) && { progress }),
      ...(note !== null && { note: noteOf(step, t, server) }),
    }
  }
}

/** Codes of the gateway in the reader's language; texts of an upstream stay as they are. */
function noteOf({ kind, note }: Step, t: Translate<Key>, server: ServerText): string {
  if (note === null) return ''
  if (kind === 'cancel_requested') return t(note === 'caller' ? 'by_caller' : 'by_operator')
  if (kind !== 'late_poll') return server.note(note)
  return note
    .split(' ')
    .map((word) => t(word as Key))
    .join(', ')
}

function useCallbackEvents() {
  const t = useMessages(messages)
  const format = useFormat()
  return ({ at, status, error, took_ms }: CallbackAttempt, i: number): Event => {
    const isTaken = status !== null && status >= 200 && status < 300
    return {
      key: `callback ${at} ${i}`,
      at,
      lastAt: at,
      title: t('callback_attempt', { n: i + 1 }),
      color: isTaken ? 'teal' : 'orange',
      note: `${status ?? error ?? ''} · ${format.ms(took_ms)}`,
    }
  }
}
