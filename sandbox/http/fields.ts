// Reading the JSON of a request as leniently as vendors do: what is not understood counts as
// absent, what is needed and missing is a fault. Knows the fields of no protocol.
import type { Fault } from '../protocol.ts'

export type Json = Readonly<Record<string, unknown>>

export const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null ? (value as Json) : {}

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A text that is not empty. */
export const textOrNone = (value: unknown): string | undefined => asText(value) || undefined

/** A text, or a list of them. */
export const asTexts = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string')

/** A whole number of at least 1. */
export const isWhole = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 1

export const invalid = (param: string, message: string): Fault => ({ status: 400, message, param })

export const missing = (param: string): Fault => ({
  ...invalid(param, `Missing required parameter: '${param}'.`),
  reason: 'missing_field',
})

/** A limit that may be left out; null is left out too. */
export function readLimit(fields: Json, name: string): number | undefined | Fault {
  const limit = fields[name] ?? undefined
  if (limit === undefined || isWhole(limit)) return limit
  return invalid(name, `'${name}' must be a whole number of at least 1.`)
}

export const isFault = (value: unknown): value is Fault =>
  typeof value === 'object' && value !== null && 'status' in value && 'message' in value
