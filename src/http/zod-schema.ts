// Turns the zod schema that checks or types a value into the JSON Schema that documents print, in a form
// that generators of clients can read. A schema with `.meta({ id })` becomes a named one, and so does a
// member of a union with `.meta({ title })`; there are no titles besides.
import { z } from 'zod'
import { described, named, nameOf, orNull, type Schema } from './schema.ts'

type Json = Record<string, unknown>

/** Metadata for the command line and for members' views, not for documents. */
const ownMarks = ['id', 'title', 'column', 'staffOnly', 'flag', 'names']

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
    return compact(withNames(ofOneType(withoutRules(plain)), lists[String(node['names'])]))
  }
  const keptValue = (key: string, value: unknown): unknown => {
    if (key === 'enum' || key === 'const' || key === 'default') return value
    if (key === 'oneOf' || key === 'anyOf') return (value as Json[]).map(memberOf)
    if (key !== 'properties') return anyOf(value)
    return Object.fromEntries(
      Object.entries(value as Json).map(([name, of]) => [name, nodeOf(of as Json)]),
    )
  }
  const memberOf = (node: Json): Schema => {
    const { title } = node
    return typeof title === 'string' ? named(asName(title), nodeOf(node)) : nodeOf(node)
  }
  return nodeOf(root)
}

/** A rule about fields, such as "one of these two", is told in words: beside fields, generators read no union. */
const withoutRules = ({ oneOf, ...rest }: Json): Json =>
  oneOf === undefined || 'properties' in rest ? rest : { oneOf, ...rest }

/** 'Token price' -> 'TokenPrice' */
const asName = (title: string): string =>
  title.replaceAll(/(?:^|\s+)(\w)/g, (_, letter: string) => letter.toUpperCase())

function isDropped([key, value]: [string, unknown], io: 'input' | 'output'): boolean {
  if (ownMarks.includes(key)) return true
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

/** Values of several types as a union: a schema has one type, which may be nullable. */
function ofOneType({ enum: words, ...rest }: Json): Json {
  if (!Array.isArray(words)) return ofOneKind(rest)
  const byType = [...Map.groupBy(words as unknown[], typeOf)]
  if (byType.length === 1) return { ...rest, enum: words }
  const { type: _, ...others } = rest
  return { ...others, anyOf: byType.map(([type, some]) => ({ type, enum: some })) }
}

function ofOneKind({ type, ...rest }: Json): Json {
  if (!Array.isArray(type)) return type === undefined ? rest : { type, ...rest }
  const types = type.filter((each) => each !== 'null')
  return types.length < 2
    ? { type, ...rest }
    : { ...rest, anyOf: type.map((each) => ({ type: each })) }
}

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Number.isInteger(value) ? 'integer' : typeof value

/** `string or null` as one type instead of a union. */
function compact({ anyOf, description, ...given }: Json): Schema {
  const rest = discriminated(given)
  const [first, second, ...more] = (anyOf ?? []) as Schema[]
  const isNullable = second?.['type'] === 'null' && more.length === 0
  const node: Schema = { ...rest, ...(description !== undefined && { description }) }
  if (anyOf === undefined) return node
  if (!isNullable || Object.keys(rest).length > 0) return { anyOf, ...node }
  return described(orNull(first!), (description ?? first!['description']) as string | undefined)
}

/** A union of named objects that one field tells apart says which; generators then read the right one. */
function discriminated(node: Json): Json {
  const members = (node['oneOf'] ?? []) as Schema[]
  const names = members.map(nameOf)
  if (members.length < 2 || names.includes(undefined)) return node
  const constants = members.map(({ properties }) =>
    Object.entries((properties ?? {}) as Record<string, Json>).filter(([, { const: is }]) => is),
  )
  const shared = constants[0]?.find(([name]) =>
    constants.every((fields) => fields.some(([other]) => other === name)),
  )
  if (shared === undefined) return node
  const [propertyName] = shared
  const mapping = members.map(({ properties }, i) => [
    (properties as Record<string, Json>)[propertyName]!['const'],
    `#/components/schemas/${names[i]}`,
  ])
  return { ...node, discriminator: { propertyName, mapping: Object.fromEntries(mapping) } }
}
