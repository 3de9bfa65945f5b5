// Turns the zod schema that checks or types a value into the JSON Schema that documents print. A
// schema with `.meta({ id })` becomes a named one.
import { z } from 'zod'
import { described, named, orNull, type Schema } from './schema.ts'

type Json = Record<string, unknown>

/** Metadata for the command line and for members' views, not for documents. */
const ownMarks: ReadonlySet<string> = new Set(['id', 'column', 'staffOnly', 'flag', 'names'])

/** Lists of names that a schema marks with `names`. */
type NameLists = Readonly<Record<string, readonly string[]>>

/** `input`: what a caller may send. `output`: what the gateway answers, where fields may be added. */
export function schemaOf(
  schema: z.ZodType,
  io: 'input' | 'output' = 'input',
  lists: NameLists = {},
): Schema {
  const { $schema: _, $defs = {}, ...root } = z.toJSONSchema(schema, { io })
  const known = new Map<string, Schema>()
  const shared = (name: string): Schema => {
    const found = known.get(name)
    if (found !== undefined) return found
    const made = named(name, nodeOf($defs[name] as Json))
    known.set(name, made)
    return made
  }
  const anyOf = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(anyOf)
    return typeof value === 'object' && value !== null ? nodeOf(value as Json) : value
  }
  const nodeOf = (node: Json): Schema => {
    const { $ref, ...rest } = node
    if (typeof $ref === 'string') return shared($ref.slice($ref.lastIndexOf('/') + 1))
    const kept = Object.entries(rest).filter((pair) => !isDropped(pair, io))
    const plain = Object.fromEntries(kept.map(([key, value]) => [key, keptValue(key, value)]))
    return compact(withNames(plain, lists[String(node['names'])]))
  }
  const keptValue = (key: string, value: unknown): unknown => {
    if (key === 'enum' || key === 'const' || key === 'default') return value
    if (key !== 'properties') return anyOf(value)
    return Object.fromEntries(
      Object.entries(value as Json).map(([name, of]) => [name, nodeOf(of as Json)]),
    )
  }
  return nodeOf(root)
}

function isDropped([key, value]: [string, unknown], io: 'input' | 'output'): boolean {
  if (ownMarks.has(key)) return true
  // Keys of JSON are strings anyway.
  if (key === 'propertyNames') return Object.keys(value as Json).join() === 'type'
  return io === 'output' && key === 'additionalProperties' && value === false
}

/** A string becomes an enum of the names, a record an object with them as keys. */
function withNames(plain: Json, names: readonly string[] | undefined): Json {
  if (names === undefined) return plain
  if (plain['type'] !== 'object') return { ...plain, enum: [...names] }
  const { additionalProperties: value, ...rest } = plain
  return { ...rest, properties: Object.fromEntries(names.map((name) => [name, value])) }
}

/** `string or null` as one type instead of a union. */
function compact({ anyOf, description, ...rest }: Json): Schema {
  const [first, second, ...more] = (anyOf ?? []) as Schema[]
  const isNullable = second?.['type'] === 'null' && more.length === 0
  const node: Schema = { ...rest, ...(description !== undefined && { description }) }
  if (anyOf === undefined) return node
  if (!isNullable || Object.keys(rest).length > 0) return { anyOf, ...node }
  return described(orNull(first!), (description ?? first!['description']) as string | undefined)
}
