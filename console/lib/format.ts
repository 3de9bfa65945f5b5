// Amounts, numbers and times in the reader's format and time zone. Money stays text, so that it stays exact.

import { tickText } from './format/axis.ts'
import { durationText } from './format/duration.ts'
import { costText, exactText, moneyText } from './format/money.ts'
import { useTimeZone } from './format/time-zone.ts'
import { type Language, localeOf, textIn, useLanguage } from './i18n.ts'

export interface Format {
  /** The zone of all times here. */
  zone: string
  /** Two decimals, rounded half up; the exact amount is for the title. */
  money(amount: string | null | undefined, currency?: string): string
  /** Of one call: below one cent two significant digits. */
  cost(amount: string | null | undefined, currency?: string): string
  /** The same of a number that was added up for a chart. */
  drawn(amount: number, currency?: string): string
  /** All decimals, two at least: prices, and amounts in titles. */
  exact(amount: string | null | undefined, currency?: string): string
  number(value: number | null | undefined): string
  /** For axes: 12k, 3.4M. */
  compact(value: number): string
  /** An amount on an axis; long ones leave no room for the currency. */
  amountTick(amount: number, currency: string): string
  /** A time on an axis. */
  tick(ms: number, timeZone: string, stepSeconds: number): string
  /** 0.123 as 12.3 %. */
  percent(part: number): string
  time(at: string | null | undefined): string
  /** With the zone. */
  fullTime(at: string): string
  /** For lists: without the year. */
  stamp(at: string): string
  /** Without seconds. */
  minute(at: string): string
  /** Of a day that is known. */
  clock(at: string): string
  day(at: string): string
  utcStamp(at: string): string
  /** Days and months of bills and totals are those of UTC. */
  utcDay(at: string): string
  utcMonth(at: string): string
  /** Three minutes ago. */
  ago(at: string | null | undefined, nowMs?: number): string
  ms(value: number | null | undefined): string
  /** On axes, and of settings: without parts that are zero. */
  span(ms: number): string
  /** Bytes as kB, MB, GB. */
  size(bytes: number): string
}

const none = '–'

type Amount = string | null | undefined

const amounts =
  (shown: (amount: string) => string) =>
  (amount: Amount, currency = '') =>
    amount === null || amount === undefined ? none : `${shown(amount)} ${currency}`.trim()

const moneyFormat = {
  money: amounts(moneyText),
  cost: amounts(costText),
  drawn: (amount: number, currency?: string) => amounts(costText)(amount.toFixed(9), currency),
  exact: amounts(exactText),
}

function timeFormat(locale: string, timeZone: string) {
  const hourCycle = 'h23'
  const of = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale, { timeZone, ...options })
    return (at: string) => format.format(new Date(at))
  }
  const date = { month: '2-digit', day: '2-digit' } as const
  const minutes = { hour: '2-digit', minute: '2-digit', hourCycle } as const
  const seconds = { ...minutes, second: '2-digit' } as const
  const [clock, stamp, dayOf] = [
    of(seconds),
    of({ ...date, ...seconds }),
    of({ dateStyle: 'short' }),
  ]
  const isToday = (at: string) => dayOf(at) === dayOf(new Date().toISOString())
  const times = of({ dateStyle: 'medium', timeStyle: 'medium', hourCycle })
  return {
    time: (at: string | null | undefined) => (at === null || at === undefined ? none : times(at)),
    fullTime: of({
      ...{ year: 'numeric', month: 'short', day: 'numeric', timeZoneName: 'short' },
      ...seconds,
    }),
    // What is of today needs no date: it would be the same in every row.
    stamp: (at: string) => (isToday(at) ? clock(at) : stamp(at)),
    minute: of({ ...date, ...minutes }),
    clock,
    day: of({ dateStyle: 'medium' }),
    utcStamp: of({ ...date, ...seconds, timeZone: 'UTC' }),
    utcDay: of({ dateStyle: 'medium', timeZone: 'UTC' }),
    utcMonth: of({ year: 'numeric', month: 'long', timeZone: 'UTC' }),
  }
}

/** Chinese has a space between a number and the word after it. */
const spaced = (text: string): string => text.replace(/(\d)(?=[\u4e00-\u9fff])/g, '$1 ')

function makeFormat(language: Language, zone: string): Format {
  const locale = localeOf(language)
  const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 })
  const compacts = new Intl.NumberFormat(locale, {
    notation: 'compact',
    maximumSignificantDigits: 3,
  })
  const percents = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' })
  return {
    zone,
    ...moneyFormat,
    ...timeFormat(locale, zone),
    number: (value) => (value === null || value === undefined ? none : numbers.format(value)),
    compact: (value) => compacts.format(value),
    amountTick: (amount, currency) =>
      amount > 0 && amount < 0.01
        ? compacts.format(amount)
        : `${compacts.format(amount)} ${currency}`,
    tick: (ms, timeZone, stepSeconds) => tickText(locale, ms, timeZone, stepSeconds),
    percent: (part) => percents.format(part),
    ago(at, nowMs = Date.now()) {
      if (at === null || at === undefined) return none
      const seconds = Math.round((Date.parse(at) - nowMs) / 1000)
      const [unit, size] = units.find(([, min]) => Math.abs(seconds) >= min) ?? ['second', 1]
      return spaced(relative.format(Math.round(seconds / size), unit))
    },
    ms: (value) =>
      value === null || value === undefined
        ? none
        : durationText(value, (text) => textIn(language, text)),
    span: (ms) => durationText(ms, (text) => textIn(language, text), true),
    size(bytes) {
      const [unit, size] = sizes.find(([, min]) => bytes >= min) ?? ['B', 1]
      return `${numbers.format(Math.round((bytes / size) * 10) / 10)} ${unit}`
    },
  }
}

const sizes = [
  ['GB', 1e9],
  ['MB', 1e6],
  ['kB', 1e3],
] as const

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** Every cell of a table asks for its format: the latest one is kept. */
let latest: { key: string; format: Format } | undefined

export function useFormat(): Format {
  const language = useLanguage()
  const [zone] = useTimeZone()
  const key = `${language} ${zone}`
  if (latest?.key !== key) latest = { key, format: makeFormat(language, zone) }
  return latest.format
}
