// Hours of the week at which a price is another: which of a price's rules applies at a moment. Local time of the
// rule's zone, as a clock on the wall there shows it. Pure.
import { type PriceHours, type PriceTerms, weekdays } from './price.ts'

interface LocalTime {
  /** 2026-11-18 */
  date: string
  /** 0 is Monday. */
  weekday: number
  minute: number
}

const dayMs = 86_400_000
const minuteMs = 60_000
const formats = new Map<string, Intl.DateTimeFormat>()

function formatFor(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone)
  if (format === undefined) {
    const date = { year: 'numeric', month: 'numeric', day: 'numeric' } as const
    const time = { hour: 'numeric', minute: 'numeric', hourCycle: 'h23' } as const
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, ...date, ...time })
    formats.set(zone, format)
  }
  return format
}

/** The local time as if it were UTC: what is added to it stays on the same clock. */
function localMs(atMs: number, zone: string): number {
  if (zone === 'UTC') return atMs
  const [month, day, year, hour, minute] = formatFor(zone)
    .format(atMs)
    .split(/[/,:\s]+/)
    .map(Number)
  return Date.UTC(year!, month! - 1, day, hour, minute)
}

function localTime(ms: number): LocalTime {
  const day = Math.floor(ms / dayMs)
  return {
    date: new Date(day * dayMs).toISOString().slice(0, 10),
    // 1970-01-01 was a Thursday.
    weekday: (((day + 3) % 7) + 7) % 7,
    minute: Math.floor((ms - day * dayMs) / minuteMs),
  }
}

function begins({ days, except }: PriceHours, { date, weekday }: LocalTime): boolean {
  return (days === undefined || days.includes(weekdays[weekday]!)) && !except?.includes(date)
}

/** What runs past midnight belongs to the day on which it begins. */
function fitsHours(rule: PriceHours, atMs: number): boolean {
  const { fromMinute, toMinute, zone } = rule
  const ms = localMs(atMs, zone)
  const now = localTime(ms)
  if (fromMinute < toMinute) {
    return now.minute >= fromMinute && now.minute < toMinute && begins(rule, now)
  }
  if (now.minute >= fromMinute && begins(rule, now)) return true
  return now.minute < toMinute && begins(rule, localTime(ms - dayMs))
}

/** Of each price: the last minute that was asked about, and its answer. */
const answers = new WeakMap<readonly PriceHours[], { minute: number; index: number }>()

/** Index of the rule that applies; undefined: none, as of most prices. */
export function hoursAt({ hours }: PriceTerms, atMs: number): number | undefined {
  return hours === undefined ? undefined : ruleAt(hours, atMs)
}

function ruleAt(hours: readonly PriceHours[], atMs: number): number | undefined {
  const minute = Math.floor(atMs / minuteMs)
  let known = answers.get(hours)
  if (known?.minute !== minute) {
    known = { minute, index: hours.findIndex((rule) => fitsHours(rule, minute * minuteMs)) }
    answers.set(hours, known)
  }
  return known.index === -1 ? undefined : known.index
}

const clock = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`

/** Its name in explanations: `mon,tue 00:30-08:30 Asia/Shanghai`. */
export const hoursName = ({ days, fromMinute, toMinute, zone }: PriceHours): string =>
  `${days === undefined ? '' : `${days.join(',')} `}${clock(fromMinute)}-${clock(toMinute)} ${zone}`

export const minuteOf = (text: string): number =>
  Number(text.slice(0, 2)) * 60 + Number(text.slice(3))
export { clock as clockText }
