// Locale formats of numbers, amounts and dates. Amounts stay decimal text all the way: no float is
// ever involved.
import type { PageLanguage } from './words.ts'

export interface Formats {
  /** With the decimals of the currency, rounded half away from zero. */
  short(amount: string): string
  /** With all its decimals; undefined where the short form is exact. */
  exact(amount: string): string | undefined
  number(value: number): string
  day(ms: number): string
  month(ms: number): string
  moment(at: string): string
}

const locales: Readonly<Record<PageLanguage, string>> = { en: 'en-GB', zh: 'zh-CN' }

const amountPlaces = 9

export function createFormats(language: PageLanguage, currency: string): Formats {
  const locale = locales[language]
  const style = { style: 'currency', currency } as const
  const rounded = new Intl.NumberFormat(locale, style)
  const all = new Intl.NumberFormat(locale, { ...style, maximumFractionDigits: amountPlaces })
  const plain = new Intl.NumberFormat(locale, { maximumFractionDigits: 6 })
  const dates = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options })
  const day = dates({ dateStyle: 'long' })
  const month = dates({ year: 'numeric', month: 'long' })
  const moment = dates({ dateStyle: 'medium', timeStyle: 'short' })
  // Decimal text is passed unchanged; the types declare only numbers although both are accepted.
  const written = (format: Intl.NumberFormat, amount: string) =>
    format.format(amount as Intl.StringNumericLiteral)
  return {
    short: (amount) => written(rounded, amount),
    exact: (amount) => {
      const text = written(all, amount)
      return text === written(rounded, amount) ? undefined : text
    },
    number: (value) => plain.format(value),
    day: (ms) => day.format(ms),
    month: (ms) => month.format(ms),
    moment: (at) => moment.format(new Date(at)),
  }
}
