// What a translation changed or left out: the names of request fields, as a caller knows them. A
// field that cannot be left out is a refusal instead.
import { type Refusal, refuse } from '../../contract/errors.ts'
import type { Conversation, Json, Sampling } from './conversation.ts'
import { isEmpty } from './neutral.ts'

/** Of the header's value. */
const maxHeaderBytes = 1_024
const maxNameLength = 80
/** More are all the same to a reader; a request can have any number of its own. */
const maxNames = 200

export class Losses {
  readonly #names = new Set<string>()
  /** Marks for the upstream's prompt cache that were added, which is no loss. */
  cacheMarks = 0

  /** A caller's own field may have any name; the header has plain ones only. */
  add(name: string): void {
    if (this.#names.size >= maxNames || this.#names.has(name)) return
    this.#names.add(name.slice(0, maxNameLength).replaceAll(/[^\w.$-]/g, '_'))
  }

  /** Those of these settings that the caller gave. */
  addSettings(
    { sampling, fieldNames }: Pick<Conversation, 'sampling' | 'fieldNames'>,
    settings: readonly (keyof Sampling)[],
  ): void {
    for (const name of settings) if (sampling[name] !== undefined) this.add(fieldNames[name])
  }

  /** All fields of an object that are not known. What is empty is as good as absent. */
  addUnknown(fields: Json, known: ReadonlySet<string>, prefix = ''): void {
    for (const name in fields) {
      if (!known.has(name) && !isEmpty(fields[name])) this.add(prefix + name)
    }
  }

  get names(): string[] {
    return [...this.#names].sort()
  }
}

/** Undefined when nothing was lost. A list too long for a header ends with an ellipsis. */
export function lossHeader([first, ...others]: readonly string[]): string | undefined {
  let header = first?.slice(0, maxHeaderBytes)
  for (const name of others) {
    if (header!.length + name.length + 5 > maxHeaderBytes) return `${header};...`
    header += `;${name}`
  }
  return header
}

/** The field has no counterpart in the style of the upstream, and the answer would be another one. */
export const notCarried = (param: string, why: string): Refusal =>
  refuse('invalid_request', `'${param}' cannot be used with this model: ${why}`, { param })

/** For an upstream that no request may be changed for: the first change is the refusal. */
export function strictRefusal(isStrict: boolean, losses: Losses): Refusal | undefined {
  const [first] = isStrict ? losses.names : []
  return first === undefined
    ? undefined
    : notCarried(first, 'it would be changed or left out, and its translation is strict')
}
