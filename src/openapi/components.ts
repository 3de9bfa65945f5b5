// Named schemas and answers of a document: each is contained once and referred to.
import { nameOf, type Schema } from '../http/schema.ts'

type Json = Record<string, unknown>

export class SchemaComponents {
  readonly #schemas = new Map<string, unknown>()
  readonly #responses = new Map<string, { name: string; response: Json }>()

  /** The schema, or a reference if it has a name. */
  put(schema: Schema): unknown {
    const name = nameOf(schema)
    if (name === undefined) return this.#inner(schema)
    const plain = this.#inner(schema)
    const known = this.#schemas.get(name)
    if (known === undefined) this.#schemas.set(name, plain)
    else if (JSON.stringify(known) !== JSON.stringify(plain)) {
      throw new Error(`two schemas are called ${name}`)
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  #inner(node: Schema): unknown {
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => [key, isData(key) ? value : this.#any(value)]),
    )
  }

  #any(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#any(each))
    return typeof value === 'object' && value !== null ? this.put(value as Schema) : value
  }

  /** The first one gets the name itself; different ones of the same name get a number. */
  respond(name: string, response: Json): Json {
    const text = JSON.stringify(response)
    let known = this.#responses.get(text)
    if (known === undefined) {
      const others = [...this.#responses.values()].filter((each) =>
        each.name.startsWith(`${name}.`),
      )
      known = { name: `${name}.${others.length + 1}`, response }
      this.#responses.set(text, known)
    }
    return { $ref: `#/components/responses/${known.name}` }
  }

  schemas = (): Json =>
    Object.fromEntries([...this.#schemas].toSorted(([a], [b]) => (a < b ? -1 : 1)))

  responses = (): Json =>
    Object.fromEntries(
      [...this.#responses.values()].map((each): [string, Json] => [each.name, each.response]),
    )
}

/** The content of these keys is a value, not a schema. */
const isData = (key: string): boolean => ['enum', 'const', 'examples', 'default'].includes(key)
