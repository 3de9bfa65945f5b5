// Exact decimals of any length: the numbers of a price file as they are written, multiplied and rounded
// once. No float is involved.
import { formatNanos } from '../../lib/text/decimal.ts'

/** `digits` times ten to the power of `-scale`. */
export interface Decimal {
  digits: bigint
  scale: number
}

const nanoPlaces = 9

export const one: Decimal = { digits: 1n, scale: 0 }
export const million: Decimal = { digits: 1_000_000n, scale: 0 }

const pattern = /^(\d{1,40})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,2}))?$/

/** '1.25e-05' -> 0.0000125; undefined for what is no number of at least 0. */
export function parseDecimal(text: string): Decimal | undefined {
  const parts = pattern.exec(text)
  if (parts === null) return undefined
  const [, whole = '', fraction = '', exponent = '0'] = parts
  const digits = BigInt(whole + fraction)
  const scale = fraction.length - Number(exponent)
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 }
}

/** A margin or a rate: a plain decimal above 0. */
export function parseFactor(text: string): Decimal | undefined {
  const factor = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? parseDecimal(text) : undefined
  return factor === undefined || isZero(factor) ? undefined : factor
}

export const times = (a: Decimal, b: Decimal): Decimal => ({
  digits: a.digits * b.digits,
  scale: a.scale + b.scale,
})

/** a / b, if that has at most 9 decimals. */
export function ratio(a: Decimal, b: Decimal): Decimal | undefined {
  const [over, under] = [
    a.digits * 10n ** BigInt(nanoPlaces + b.scale),
    b.digits * 10n ** BigInt(a.scale),
  ]
  if (under === 0n || over % under !== 0n) return undefined
  return { digits: over / under, scale: nanoPlaces }
}

export const isZero = ({ digits }: Decimal): boolean => digits === 0n

export const isSame = (a: Decimal, b: Decimal): boolean => compare(a, b) === 0

export function compare(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale)
  const [x, y] = [atScale(a, scale), atScale(b, scale)]
  return x === y ? 0 : x < y ? -1 : 1
}

const atScale = ({ digits, scale }: Decimal, wanted: number): bigint =>
  digits * 10n ** BigInt(wanted - scale)

/** Rounded half up to so many decimals, at most 9; undefined when an amount cannot be as large. */
export function formatDecimal({ digits, scale }: Decimal, places: number): string | undefined {
  const rounded =
    scale <= places
      ? digits * 10n ** BigInt(places - scale)
      : halfUp(digits, 10n ** BigInt(scale - places))
  const nanos = rounded * 10n ** BigInt(nanoPlaces - places)
  return nanos < 10n ** 18n ? formatNanos(nanos) : undefined
}

const halfUp = (digits: bigint, divisor: bigint): bigint => (digits * 2n + divisor) / (divisor * 2n)

/** JSON with every number as a string of its digits, so that none is rounded when it is parsed. */
export const withNumbersAsText = (json: string): string =>
  json.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) =>
    token.startsWith('"') ? token : `"${token}"`,
  )
