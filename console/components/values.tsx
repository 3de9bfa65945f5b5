// Amounts, times and states, alike on every page: short in the text, complete in the title.
import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { type Format, useFormat } from '../lib/format.ts'

/** Room for digits that other rows have after the point, so that points stand below each other. */
export function Decimal({
  text,
  places,
  unit = '',
}: {
  text: string
  places: number
  unit?: string | undefined
}) {
  const missing = places - (text.split('.')[1]?.length ?? 0)
  return (
    <span style={{ paddingInlineEnd: unit === '' ? `${Math.max(missing, 0)}ch` : undefined }}>
      {`${text} ${unit}`.trim()}
    </span>
  )
}

/** Of one call: a price per million tokens makes many. */
const costPlaces = 6

/** `how`: `cost` for one call, which may be less than a cent. */
export function Money({
  amount,
  currency,
  how = 'money',
  isBare = false,
}: {
  amount: string | null | undefined
  currency?: string
  how?: 'money' | 'cost'
  /** The heading has the unit. */
  isBare?: boolean
}) {
  const format = useFormat()
  if (amount === null || amount === undefined) return <None />
  return (
    <span
      title={`${amount} ${currency ?? ''}`.trim()}
      style={tabularNumbers}
      className={isNothing(amount) ? 'zero' : undefined}
    >
      {how === 'cost' && isBare ? (
        <Decimal text={format.cost(amount)} places={costPlaces} />
      ) : (
        format[how](amount, isBare ? undefined : currency)
      )}
    </span>
  )
}

const isNothing = (amount: string): boolean => /^-?0*\.?0*$/.test(amount)

/** What stands where there is nothing. */
export const None = () => <span className="zero none">–</span>

/** A cell of a table: nothing is quieter than something. */
export function quiet(content: ReactNode): ReactNode {
  if (content === '–') return <None />
  return content === '0' || content === 0 ? <span className="zero">{content}</span> : content
}

/** What a row is called; cut where it does not fit, and whole on hover. */
export const Name = ({ name }: { name: string }) => (
  <Text size="sm" fw={500} truncate title={name}>
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
  if (at === null || at === undefined) return <None />
  return (
    <time dateTime={at} title={`${format.fullTime(at)}\n${at}`} style={tabularNumbers}>
      {said[how](format, at)}
    </time>
  )
}

type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'idle'

const tones: Readonly<Record<string, Tone>> = {
  succeeded: 'good',
  completed: 'good',
  closed: 'good',
  good: 'good',
  matched: 'good',
  running: 'busy',
  in_progress: 'busy',
  open: 'busy',
  unknown: 'warn',
  failed: 'bad',
}

/** In a square of ten: told apart without their color. */
const shapes: Readonly<Record<Tone, ReactNode>> = {
  good: <circle cx="5" cy="5" r="3.5" fill="currentColor" />,
  busy: <circle cx="5" cy="5" r="3" fill="none" stroke="currentColor" strokeWidth="2" />,
  warn: <path d="M5 1l4.500 8h-9z" fill="currentColor" />,
  bad: <rect x="1.5" y="1.5" width="7" height="7" rx="1" fill="currentColor" />,
  idle: <circle cx="5" cy="5" r="3" fill="none" stroke="currentColor" strokeWidth="1.5" />,
}

const Toned = ({ tone, children }: { tone: Tone; children: ReactNode }) => (
  <span className="state" data-tone={tone}>
    <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
      {shapes[tone]}
    </svg>
    {children}
  </span>
)

/** A shape, a color and a word: color alone is not accessible. */
export const State = ({ state, label }: { state: string; label?: string }) => (
  <Toned tone={tones[state] ?? 'idle'}>{label ?? state}</Toned>
)

export const HttpStatus = ({ status }: { status: number }) => (
  <Toned tone={status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'}>{status}</Toned>
)
