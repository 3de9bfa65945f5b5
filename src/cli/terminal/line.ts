// One parsed command line, read by name. It checks the form of a value (number, amount, time);
// what the value means is the gateway's to judge.
import { parseNanos } from '../../lib/text/decimal.ts'
import { misuse } from './stop.ts'

export type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>

const timePattern = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

export class Line {
  readonly #values: Values
  readonly #args: readonly string[]

  constructor(values: Values, args: readonly string[]) {
    this.#values = values
    this.#args = args
  }

  arg(position: number): string {
    return this.#args[position]!
  }

  /** One that may be left out. */
  optionalArg(position: number): string | undefined {
    return this.#args[position]
  }

  /** Whether the flag is given at all. */
  has(name: string): boolean {
    return this.#values[name] !== undefined
  }

  on(name: string): boolean {
    return this.#values[name] === true
  }

  text(name: string): string | undefined {
    const value = this.#values[name]
    return typeof value === 'string' ? value : undefined
  }

  /** Every value of a flag that may be repeated. */
  texts(name: string): readonly string[] {
    const value = this.#values[name]
    return Array.isArray(value) ? value : []
  }

  /** 'a, b' -> ['a', 'b']; '' -> [], which is how a list is emptied. */
  list(name: string): readonly string[] | undefined {
    return this.text(name)
      ?.split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
  }

  integer(name: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    const value = Number(text)
    if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(value)) {
      throw misuse(`--${name} takes a whole number, not '${text}'`)
    }
    return value
  }

  number(name: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    if (!/^\d+(\.\d+)?$/.test(text)) throw misuse(`--${name} takes a number, not '${text}'`)
    return Number(text)
  }

  count(name: string): number | undefined {
    const value = this.integer(name)
    if (value !== undefined && value < 0) throw misuse(`--${name} cannot be negative`)
    return value
  }

  yesNo(name: string): boolean | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    if (text !== 'true' && text !== 'false') throw misuse(`--${name} takes true or false`)
    return text === 'true'
  }

  time(name: string): string | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    if (!timePattern.test(text) || Number.isNaN(Date.parse(text))) {
      throw misuse(`--${name} takes a time such as 2027-01-01T00:00:00Z, not '${text}'`)
    }
    return text
  }

  amount(name: string): string | undefined {
    const text = this.text(name)
    return text === undefined ? undefined : amountOf(text, `--${name}`)
  }

  /** Repeated `left=right` values; the right side may hold further equals signs. */
  pairs(name: string, form: string): Readonly<Record<string, string>> | undefined {
    const texts = this.texts(name)
    if (texts.length === 0) return undefined
    const pairs: Record<string, string> = {}
    for (const text of texts) {
      const at = text.indexOf('=')
      if (at < 1 || at === text.length - 1) {
        throw misuse(`--${name} takes ${form}, not '${text}'`)
      }
      const left = text.slice(0, at)
      if (Object.hasOwn(pairs, left)) throw misuse(`--${name} is given twice for '${left}'`)
      pairs[left] = text.slice(at + 1)
    }
    return pairs
  }
}

/** The amount as typed, once it is known to be a decimal. */
export function amountOf(text: string, what: string): string {
  if (parseNanos(text) === undefined) {
    throw misuse(`${what} takes an amount such as 100.00, not '${text}'`)
  }
  return text
}
