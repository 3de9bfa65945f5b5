// The query of a list. A parameter that the list does not know would be left out silently, and the
// caller would take what it gets for what it asked for.
import type { Refusal } from '../../contract/errors.ts'
import { wrong } from '../common/fields.ts'

/** What clients add to every address. */
const harmless = new Set(['api-version', 'beta', 'alt', 'key', 'prettyPrint', '_'])

/** Undefined when every parameter is one of these; those of `many` may come several times. */
export function unknownIn(
  query: URLSearchParams,
  known: readonly string[],
  many: readonly string[] = [],
): Refusal | undefined {
  const names = [...known, ...many]
  for (const name of new Set(query.keys())) {
    if (harmless.has(name)) continue
    if (!names.includes(name)) {
      return wrong(
        name.slice(0, 80),
        `this list knows no '${name.slice(0, 80)}'; it takes ${names.join(', ')}`,
      )
    }
    if (known.includes(name) && query.getAll(name).length > 1) {
      return wrong(name, `'${name}' was given twice; send it once`)
    }
  }
  return undefined
}
