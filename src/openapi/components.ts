// Named schemas and answers of a document: each is contained once and referred to.
import { nameOf, type Schema } from '../http/schema.ts'

type Json = Record<string, unknown>

export class SchemaComponents {
  readonly #schemas = new Map<string, unknown>()
  readonly #responses = new Map<string, Json>()

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

  /** A reference to the answer of this name, which is made once. */
  respond(name: string, make: () => Json): Json {
    if (!this.#responses.has(name)) this.#responses.set(name, make())
    return { $ref: `#/components/responses/${name}` }
  }

  schemas = (): Json => sorted(this.#schemas)

  responses = (): Json => sorted(this.#responses)
}

const sorted = (entries: ReadonlyMap<string, unknown>): Json =>
  Object.fromEntries([...entries].toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** The content of these keys is a value, not a schema. */
const isData = (key: string): boolean => ['enum', 'const', 'examples', 'default'].includes(key)
