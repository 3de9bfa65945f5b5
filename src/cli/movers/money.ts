// Amounts of other gateways as amounts of this one: dollars and ratios, exact, rounded once.
import { parse } from 'yaml'
import {
  type Decimal,
  formatDecimal,
  one,
  parseDecimal,
  parseFactor,
  times,
} from '../../contract/price-sources/decimal.ts'
import { isObject } from '../../lib/json/parse.ts'
import type { Context } from '../terminal/command.ts'
import { rowOf } from '../terminal/show.ts'
import { misuse } from '../terminal/stop.ts'

/** Amounts have no more. */
const places = 9
/** Digits that a quotient keeps. */
const quotientScale = 30

export const zero: Decimal = { digits: 0n, scale: 0 }

/** 0.1, '2.5e-06'; undefined for what is no number of at least 0. */
export const decimalOf = (value: unknown): Decimal | undefined =>
  typeof value === 'number' || typeof value === 'string' || typeof value === 'bigint'
    ? parseDecimal(String(value).trim())
    : undefined

const aligned = ({ digits, scale }: Decimal, wanted: number): bigint =>
  digits * 10n ** BigInt(wanted - scale)

/** At least 0. */
export function minus(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale)
  const digits = aligned(a, scale) - aligned(b, scale)
  return { digits: digits < 0n ? 0n : digits, scale }
}

export function plus(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale)
  return { digits: aligned(a, scale) + aligned(b, scale), scale }
}

export const over = (a: Decimal, b: Decimal): Decimal => ({
  digits: (a.digits * 10n ** BigInt(quotientScale + b.scale)) / b.digits,
  scale: quotientScale + a.scale,
})

/** Undefined when it is larger than amounts can be. */
export const amountText = (value: Decimal): string | undefined => formatDecimal(value, places)

/** The gateway's currency for one US dollar: said, or declared in its file; one where it counts in dollars. */
export async function dollarRate({ line, admin }: Context): Promise<Decimal> {
  const given = line.text('exchange')
  const rate = given === undefined ? undefined : parseFactor(given)
  if (given !== undefined && rate === undefined) {
    throw misuse(`--exchange takes a decimal above 0, such as 7.10, not '${given}'`)
  }
  const settings = rowOf(await admin.ask('GET', '/settings'))
  const { currency } = settings
  if (currency === 'USD') {
    if (given !== undefined) throw misuse('--exchange: the gateway counts in US dollars itself')
    return one
  }
  const declared = declaredRate(rowOf(settings['yaml'])['file'])
  const found = rate ?? declared
  if (found !== undefined) return found
  throw misuse(
    `the gateway counts in ${String(currency)}, what is imported in US dollars: give --exchange, the ` +
      `${String(currency)} for one dollar, or declare exchange in gateway.yaml`,
  )
}

function declaredRate(file: unknown): Decimal | undefined {
  const value: unknown = typeof file === 'string' ? parse(file) : undefined
  const exchange = isObject(value) ? value['exchange'] : undefined
  const text = isObject(exchange) ? exchange['USD'] : undefined
  return text === undefined || text === null ? undefined : parseFactor(String(text))
}

export { type Decimal, one, times }
