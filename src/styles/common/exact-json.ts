// JSON that keeps numbers as they were written: one that a double cannot hold stays its own text, and
// is written again as that. Everything else is as with JSON.parse.
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from './conversation.ts'

/** Enough digits, or an exponent, for a number that a double may not hold. */
const mayLoseDigits = /[\d.]{16}|\d[eE][+-]?\d{3}/
const maxSafeDigits = 15

interface ExactJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, at: { source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): unknown
}
const exactJson = JSON as unknown as ExactJson

/** Whether JSON.parse may not do. */
export const needsExact = (text: string): boolean => mayLoseDigits.test(text)

/** Undefined when the text is not JSON. */
export function parseExact(text: string): unknown {
  try {
    return needsExact(text) ? exactJson.parse(text, exactNumber) : JSON.parse(text)
  } catch {
    return undefined
  }
}

function exactNumber(_: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined) return value
  const isShort = source.length <= maxSafeDigits && !/e/i.test(source)
  return isShort || String(value) === source ? value : exactJson.rawJSON(source)
}

/** How the input of a call was changed for a style that takes an object. */
interface InputObject {
  input: Json
  changed: boolean
}

/** No input is an empty object. What is no object is put into one. */
export function inputObject(text: string): InputObject {
  if (text.trim() === '') return { input: {}, changed: false }
  const value = parseExact(text)
  if (isObject(value)) return { input: value, changed: false }
  return { input: value === undefined ? { _raw: text } : { input: value }, changed: true }
}
