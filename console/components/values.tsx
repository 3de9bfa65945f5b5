// Amounts, times and states, alike on every page: short in the text, complete in the title.
import { Badge, Text } from '@mantine/core'
import { type Format, useFormat } from '../lib/format.ts'

/** `how`: `cost` for one call, which may be less than a cent. */
export function Money({
  amount,
  currency,
  how = 'money',
}: {
  amount: string | null | undefined
  currency?: string
  how?: 'money' | 'cost'
}) {
  const format = useFormat()
  return (
    <span title={`${amount ?? ''} ${currency ?? ''}`.trim()} style={tabularNumbers}>
      {format[how](amount, currency)}
    </span>
  )
}

/** What a row is called; cut where it does not fit, and whole on hover. */
export const Name = ({ name }: { name: string }) => (
  <Text size="sm" fw={600} truncate title={name}>
    {name}
  </Text>
)

export const tabularNumbers = { fontVariantNumeric: 'tabular-nums', whiteSpace: 'nowrap' } as const

const said = {
  whole: (format: Format, at: string) => format.time(at),
  short: (format: Format, at: string) => format.stamp(at),
  clock: (format: Format, at: string) => format.clock(at),
  ago: (format: Format, at: string) => format.ago(at),
  /** On bills. */
  utc: (format: Format, at: string) => `${format.utcStamp(at)} UTC`,
} as const

export function Time({
  at,
  how = 'whole',
}: {
  at: string | null | undefined
  how?: keyof typeof said
}) {
  const format = useFormat()
  if (at === null || at === undefined) return <>–</>
  return (
    <time dateTime={at} title={`${format.fullTime(at)}\n${at}`} style={tabularNumbers}>
      {said[how](format, at)}
    </time>
  )
}

const colors: Readonly<Record<string, string>> = {
  succeeded: 'teal',
  completed: 'teal',
  closed: 'teal',
  good: 'teal',
  matched: 'teal',
  running: 'blue',
  in_progress: 'blue',
  queued: 'gray',
  accepted: 'gray',
  open: 'blue',
  unknown: 'yellow',
  failed: 'red',
  cancelled: 'gray',
}

/** A badge with a text: color alone is not accessible. */
export const State = ({ state, label }: { state: string; label?: string }) => (
  <Badge variant="light" color={colors[state] ?? 'gray'} radius="sm">
    {label ?? state}
  </Badge>
)

export function HttpStatus({ status }: { status: number }) {
  const color = status < 400 ? 'teal' : status < 500 ? 'orange' : 'red'
  return (
    <Badge variant="light" color={color} radius="sm" style={tabularNumbers}>
      {status}
    </Badge>
  )
}
