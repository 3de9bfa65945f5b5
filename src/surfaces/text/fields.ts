// Fields that the text surfaces read of a request, each with the refusal a wrong one gets. Null
// counts as absent.
import type { Refusal } from '../../contract/errors.ts'
import { type Fields, wrong } from '../common/fields.ts'

export function streamIn(fields: Fields): boolean | Refusal {
  const stream = fields['stream'] ?? false
  return typeof stream === 'boolean' ? stream : wrong('stream', "'stream' must be true or false")
}

/** For styles that have one answer per call: an upstream must not take the field to mean more. */
export function oneAnswerIn(fields: Fields): Refusal | undefined {
  for (const name of ['n', 'best_of'] as const) {
    if (fields[name] == null || fields[name] === 1) continue
    return wrong(name, `'${name}' cannot be used here: a call has one answer`)
  }
  return undefined
}

/** A positive whole number within the bound. */
export function wholeNumberIn(
  fields: Fields,
  name: string,
  max = Number.MAX_SAFE_INTEGER,
): number | undefined | Refusal {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= max) {
    return value
  }
  const range = max === Number.MAX_SAFE_INTEGER ? 'at least 1' : `from 1 to ${max}`
  return wrong(name, `'${name}' must be a whole number ${range}`)
}
