// Reads fields of a caller's request: a field of a wrong type is refused by its name, and the first
// refusal counts. Null is as good as absent.
import { type Refusal, refuse } from '../../contract/errors.ts'
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from './conversation.ts'
import type { Envelopes } from './envelope.ts'
import { type Losses, notCarried } from './losses.ts'

export class RequestReading {
  problem: Refusal | undefined
  readonly losses: Losses
  readonly envelopes: Envelopes

  constructor(losses: Losses, envelopes: Envelopes) {
    this.losses = losses
    this.envelopes = envelopes
  }

  /** The value is not what the style defines. */
  wrong(param: string, expected: string): undefined {
    this.problem ??= refuse('invalid_request', `'${param}' must be ${expected}`, { param })
  }

  /** The value has a meaning, but none that can be translated. */
  refuse(param: string, why: string): undefined {
    this.problem ??= notCarried(param, why)
  }

  /** Fields that ask for what no other style gives. An empty list asks for nothing. */
  refuseFields(fields: Json, names: readonly string[]): void {
    for (const name of names) {
      const value = fields[name]
      if (value == null || (Array.isArray(value) && value.length === 0)) continue
      this.refuse(name, 'it has no counterpart in another style')
    }
  }

  #value(holder: Json, name: string): unknown {
    return holder[name] ?? undefined
  }

  number(holder: Json, name: string, at = ''): number | undefined {
    const value = this.#value(holder, name)
    if (value === undefined || typeof value === 'number') return value
    return this.wrong(at + name, 'a number')
  }

  boolean(holder: Json, name: string, at = ''): boolean | undefined {
    const value = this.#value(holder, name)
    if (value === undefined || typeof value === 'boolean') return value
    return this.wrong(at + name, 'true or false')
  }

  text(holder: Json, name: string, at = ''): string | undefined {
    const value = this.#value(holder, name)
    if (value === undefined || typeof value === 'string') return value
    return this.wrong(at + name, 'a string')
  }

  object(holder: Json, name: string, at = ''): Json | undefined {
    const value = this.#value(holder, name)
    if (value === undefined || isObject(value)) return value
    return this.wrong(at + name, 'an object')
  }

  list(holder: Json, name: string, at = ''): readonly unknown[] | undefined {
    const value = this.#value(holder, name)
    if (value === undefined || Array.isArray(value)) return value
    return this.wrong(at + name, 'an array')
  }

  /** A list of objects, each with its own name for refusals. */
  objects(holder: Json, name: string, at = ''): { item: Json; at: string }[] {
    const found: { item: Json; at: string }[] = []
    for (const [index, item] of (this.list(holder, name, at) ?? []).entries()) {
      const place = `${at}${name}[${index}]`
      if (isObject(item)) found.push({ item, at: place })
      else this.wrong(place, 'an object')
    }
    return found
  }

  /** A text that has to be there. */
  requiredText(holder: Json, name: string, at = ''): string {
    const value = holder[name]
    if (typeof value === 'string') return value
    this.wrong(at + name, 'a string')
    return ''
  }
}

type Present<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

/** The same without fields that are undefined. */
export function present<Fields extends object>(fields: Fields): Present<Fields> {
  const found: Record<string, unknown> = {}
  for (const name in fields) if (fields[name] !== undefined) found[name] = fields[name]
  return found as Present<Fields>
}

/** The fields of a request that a question about the size of its input may have. */
export const onlyFields = (request: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.flatMap((name) => (name in request ? [[name, request[name]]] : [])))
