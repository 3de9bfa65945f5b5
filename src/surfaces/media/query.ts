// The query of a list. An unknown parameter is refused: ignoring it would return other tasks than the
// caller asked for.
import type { Refusal } from '../../contract/errors.ts'
import { wrong } from '../common/fields.ts'

/** Parameters that clients add to every URL. */
const harmless = new Set(['api-version', 'beta', 'alt', 'key', 'prettyPrint', '_'])

/** Undefined when every parameter is known; those of `many` may be repeated. */
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
