// An answer as a page shows it against a real one: the same fields in the same order, the same values
// but for what differs from run to run.
import { patternOf } from './fences.ts'

/** How long something took, when it was, how large it is with that in it. */
const isMeasured = (name: string): boolean => /(?:^|_)ms$|^bytes$/.test(name)
/** Ids of entries count up. */
const isNumber = (value: unknown): boolean => typeof value === 'string' && /^\d+$/.test(value)

/** What is not as it is shown, each with its place; empty when nothing is. */
export function differences(shown: unknown, real: unknown, place = 'answer', name = ''): string[] {
  const isSame =
    (isMeasured(name) && typeof shown === 'number' && typeof real === 'number') ||
    (name === 'id' && isNumber(shown) && isNumber(real)) ||
    (typeof shown === 'string' && typeof real === 'string' && patternOf(shown).test(real.trim()))
  if (isSame || shown === real) return []
  if (Array.isArray(shown) && Array.isArray(real) && shown.length === real.length) {
    return shown.flatMap((each, at) => differences(each, real[at], `${place}[${at}]`))
  }
  if (!isObject(shown) || !isObject(real)) return [`${place}: ${brief(shown)} is ${brief(real)}`]
  const [names, others] = [Object.keys(shown).join(), Object.keys(real).join()]
  if (names !== others) return [`${place}: {${names}} is {${others}}`]
  return Object.entries(shown).flatMap(([field, value]) =>
    differences(value, real[field], `${place}.${field}`, field),
  )
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const brief = (value: unknown): string => (JSON.stringify(value) ?? 'missing').slice(0, 500)
