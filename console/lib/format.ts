// Amounts, numbers and times in the reader's format. Money stays text, so that it stays exact.
import { type Language, localeOf, useLanguage } from './i18n.ts'

export interface Format {
  /** Short, two to six places; the whole amount is for the title. */
  money(amount: string | null | undefined, currency?: string): string
  number(value: number | null | undefined): string
  /** 0.123 as 12.3 %. */
  percent(part: number): string
  time(at: string | null | undefined): string
  /** For lists: without the year. */
  stamp(at: string): string
  /** Of a day that is known. */
  clock(at: string): string
  day(at: string): string
  /** Three minutes ago. */
  ago(at: string | null | undefined, nowMs?: number): string
  ms(value: number | null | undefined): string
  /** Bytes as kB, MB, GB. */
  size(bytes: number): string
}

const none = '–'

/** Without needless zeros, but with two places at least. */
function shortAmount(amount: string): string {
  const [, sign = '', whole = '0', places = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? []
  const decimals = places
    .slice(0, whole === '0' ? 6 : 4)
    .replace(/0+$/, '')
    .padEnd(2, '0')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return `${sign}${grouped}.${decimals}`
}

function durationText(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return none
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}

function formatFor(language: Language): Format {
  const locale = localeOf(language)
  const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 })
  const percents = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
  const times = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
  const stamps = new Intl.DateTimeFormat(locale, {
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  })
  const clocks = new Intl.DateTimeFormat(locale, { timeStyle: 'medium', hourCycle: 'h23' })
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' })
  return {
    money: (amount, currency = '') =>
      amount === null || amount === undefined ? none : `${shortAmount(amount)} ${currency}`.trim(),
    number: (value) => (value === null || value === undefined ? none : numbers.format(value)),
    percent: (part) => percents.format(part),
    time: (at) => (at === null || at === undefined ? none : times.format(new Date(at))),
    stamp: (at) => stamps.format(new Date(at)),
    clock: (at) => clocks.format(new Date(at)),
    day: (at) => days.format(new Date(at)),
    ago(at, nowMs = Date.now()) {
      if (at === null || at === undefined) return none
      const seconds = Math.round((Date.parse(at) - nowMs) / 1000)
      for (const [unit, size] of units) {
        if (Math.abs(seconds) >= size) return relative.format(Math.round(seconds / size), unit)
      }
      return relative.format(seconds, 'second')
    },
    ms: durationText,
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

export const useFormat = (): Format => formatFor(useLanguage())
