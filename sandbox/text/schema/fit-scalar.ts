// Texts and numbers for a JSON schema. `variant` gives another value each, for lists without
// duplicates.
import type { Json } from '../../http/fields.ts'
import { fitPattern } from './fit-pattern.ts'
import { matches } from './matches-schema.ts'

/** Tries to make a text long enough, or a number a whole one. */
const maxTries = 200

const usual = (variant: number): string => (variant === 0 ? 'sandbox' : `sandbox${variant + 1}`)
const two = (variant: number): string => String((variant % 28) + 1).padStart(2, '0')

const formats: Readonly<Record<string, (variant: number) => string>> = {
  date: (variant) => `2026-01-${two(variant)}`,
  'date-time': (variant) => `2026-01-${two(variant)}T00:00:00Z`,
  time: (variant) => `00:00:${two(variant)}Z`,
  duration: (variant) => `P${variant + 1}D`,
  email: (variant) => `${usual(variant)}@example.com`,
  'idn-email': (variant) => `${usual(variant)}@example.com`,
  hostname: (variant) => `${usual(variant)}.example`,
  ipv4: (variant) => `192.0.2.${(variant % 254) + 1}`,
  ipv6: (variant) => `2001:db8::${(variant + 1).toString(16)}`,
  uuid: (variant) => `00000000-0000-4000-8000-${String(variant + 1).padStart(12, '0')}`,
  uri: (variant) => `https://${usual(variant)}.example/`,
  url: (variant) => `https://${usual(variant)}.example/`,
  'uri-reference': (variant) => `/${usual(variant)}`,
  iri: (variant) => `https://${usual(variant)}.example/`,
  'json-pointer': (variant) => `/${usual(variant)}`,
  regex: (variant) => usual(variant),
  byte: (variant) => Buffer.from(usual(variant)).toString('base64'),
}

/** Undefined when nothing that is tried fits. */
export function fitText(schema: Json, variant: number): string | undefined {
  const { pattern, format } = schema
  const made = typeof format === 'string' ? formats[format]?.(variant) : undefined
  const fits = (text: string | undefined) => text !== undefined && matches(schema, text, {})
  if (fits(made)) return made
  if (typeof pattern !== 'string') return sized(schema, usual(variant))
  if (fits(usual(variant))) return usual(variant)
  for (let more = 0; more < maxTries; more++) {
    const text = fitPattern(pattern, more, variant)
    if (text === undefined || fits(text)) return text
  }
  return undefined
}

/** The end differs between variants, so it is the end that is kept. */
function sized({ minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Json, text: string) {
  const long = text.padStart(Number(minLength), 'x')
  return long.length <= Number(maxLength) ? long : long.slice(long.length - Number(maxLength))
}

export function fitNumber(schema: Json, isWhole: boolean, variant: number): number | undefined {
  const low = boundOf(schema, 'minimum', 'exclusiveMinimum', Number.NEGATIVE_INFINITY, Math.max)
  const high = boundOf(schema, 'maximum', 'exclusiveMaximum', Number.POSITIVE_INFINITY, Math.min)
  const fits = (value: number) =>
    matches(schema, value, {}) && (!isWhole || Number.isInteger(value))
  const step = typeof schema['multipleOf'] === 'number' ? schema['multipleOf'] : isWhole ? 1 : 0
  if (step === 0) return [1 + variant, between(low, high, variant)].find(fits)
  const nearest = low <= 1 && high >= 1 ? 1 : low > 1 ? low : high
  let left = variant
  for (let i = 0; i < maxTries * 2; i++) {
    // From the nearest one on: upwards, downwards, further up …
    const distance = (i % 2 === 0 ? 1 : -1) * Math.ceil(i / 2)
    const value = (Math.ceil(nearest / step) + distance) * step
    if (fits(value) && left-- === 0) return value
  }
  return undefined
}

function boundOf(
  schema: Json,
  inclusive: string,
  exclusive: string,
  none: number,
  narrow: (a: number, b: number) => number,
): number {
  const bounds = [schema[inclusive], schema[exclusive]].filter((one) => typeof one === 'number')
  return bounds.reduce<number>((all, one) => narrow(all, one), none)
}

function between(low: number, high: number, variant: number): number {
  if (low === high) return low
  if (high === Number.POSITIVE_INFINITY) return low + 1 + variant
  if (low === Number.NEGATIVE_INFINITY) return high - 1 - variant
  return low + ((high - low) * (variant + 1)) / (variant + 2)
}
