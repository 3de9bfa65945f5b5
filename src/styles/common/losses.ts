// What a translation changed or left out: the names of request fields, as a caller knows them. A
// field that cannot be left out is a refusal instead.
import { type Refusal, refuse } from '../../contract/errors.ts'

/** Of the header's value. */
const maxHeaderBytes = 1_024

export class Losses {
  readonly #names = new Set<string>()

  add(name: string): void {
    this.#names.add(name)
  }

  get names(): string[] {
    return [...this.#names].sort()
  }

  /** Undefined when nothing was lost. A list too long for a header ends with an ellipsis. */
  get header(): string | undefined {
    const { names } = this
    if (names.length === 0) return undefined
    let header = names[0]!.slice(0, maxHeaderBytes)
    for (const name of names.slice(1)) {
      if (header.length + name.length + 5 > maxHeaderBytes) return `${header};...`
      header += `;${name}`
    }
    return header
  }
}

/** The field has no counterpart in the style of the upstream, and the answer would be another one. */
export const notCarried = (param: string, why: string): Refusal =>
  refuse('invalid_request', `'${param}' cannot be used with this model: ${why}`, { param })
