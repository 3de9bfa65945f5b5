// How large a request may become in translation. A schema whose references are resolved can grow without
// end, so it is counted while it is built: the work ends where the limit is.
import { type Refusal, refuse } from '../../contract/errors.ts'

/** Times the request as it came. */
const maxTimes = 4
/** Of small requests, most is what each style adds by itself. */
const alwaysBytes = 64 * 1024

export const maxBytesFor = (bodyBytes: number, maxRequestBytes: number): number =>
  Math.min(Math.max(bodyBytes * maxTimes, alwaysBytes), maxRequestBytes)

/** Of all tool calls together. */
const maxValues = 500_000
const [comma, openList, openObject] = [0x2c, 0x5b, 0x7b]
export const tooManyValues = 'the arguments of its tool calls have too many values'

export class Growth {
  readonly maxBytes: number
  #bytes = 0
  #values = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  get isExceeded(): boolean {
    return this.#bytes > this.maxBytes
  }

  /** JSON inside of a text, which is parsed and not yet weighed. False: it has too many values. */
  addJson(text: string): boolean {
    for (let at = 0; at < text.length && this.#values <= maxValues; at++) {
      const code = text.charCodeAt(at)
      if (code === comma || code === openList || code === openObject) this.#values++
    }
    return this.#values <= maxValues
  }

  /** Roughly; what is sent is measured. False: there is no room for more. */
  add(bytes: number): boolean {
    this.#bytes += bytes
    return this.#bytes <= this.maxBytes
  }

  /** A value that is not a schema. Stops where the limit is. */
  addValue(value: unknown): boolean {
    if (typeof value === 'string') return this.add(value.length + 2)
    if (typeof value !== 'object' || value === null) return this.add(scalarBytes)
    if (!this.add(2)) return false
    if (Array.isArray(value)) return value.every((each) => this.add(1) && this.addValue(each))
    const fields = value as Readonly<Record<string, unknown>>
    for (const name in fields) {
      if (!this.add(name.length + keyBytes) || !this.addValue(fields[name])) return false
    }
    return true
  }
}

const scalarBytes = 4
/** Quotes, colon and comma. */
export const keyBytes = 4

export const grownTooLarge = (param: string, maxBytes: number): Refusal =>
  refuse(
    'invalid_request',
    `'${param}' cannot be used with this model: translated for its upstream, the request would be larger than ${maxBytes} bytes`,
    { param },
  )
