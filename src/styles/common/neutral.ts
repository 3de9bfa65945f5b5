// Values that ask for nothing: clients send them as defaults with every request. They are left out, so
// that they are neither lost nor refused.
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from './conversation.ts'

/** Null, and what is empty. */
export function isEmpty(value: unknown): boolean {
  if (value == null || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  if (!isObject(value)) return false
  for (const _ in value) return false
  return true
}

/** By field: values that mean nothing besides empty ones. `never`: not even these mean nothing. */
export type NeutralValues = Readonly<Record<string, readonly unknown[] | 'never'>>

/** The same object if it has none. */
export function withoutNeutral(fields: Json, neutral: NeutralValues): Json {
  let kept: Record<string, unknown> | undefined
  for (const name in fields) {
    if (!isNeutral(fields[name], Object.hasOwn(neutral, name) ? neutral[name] : undefined)) continue
    kept ??= { ...fields }
    delete kept[name]
  }
  return kept ?? fields
}

function isNeutral(value: unknown, known: NeutralValues[string] | undefined): boolean {
  if (known === 'never') return false
  if (isEmpty(value)) return true
  if (known === undefined) return false
  // A list or an object of nothing but such values, such as biases of 0.
  if (typeof value === 'object' && value !== null) {
    return Object.values(value).every((each) => known.includes(each))
  }
  return known.includes(value)
}
