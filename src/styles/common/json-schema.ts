// JSON schemas as each style takes them. Every function returns a schema of its own and says whether
// it means less, or something else, than the one that was given. Key order is kept.
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from './conversation.ts'

export interface AdaptedSchema {
  schema: Json
  changed: boolean
}

const singles = [
  'items',
  'additionalProperties',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
]
const lists = ['prefixItems', 'anyOf', 'oneOf', 'allOf', 'items']
const maps = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']

/** Whether the value of a keyword is a schema, or holds schemas by name or in a list. */
export const holdsSchemas = (key: string, value: unknown): boolean =>
  Array.isArray(value)
    ? lists.includes(key)
    : isObject(value) && (singles.includes(key) || maps.includes(key))

/** A copy whose inner schemas are replaced. Names of properties are not keywords. */
export function mapInner(schema: Json, replace: (inner: Json) => Json): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(schema)) {
    const value = schema[key]
    if (lists.includes(key) && Array.isArray(value)) {
      copy[key] = value.map((each) => (isObject(each) ? replace(each) : each))
    } else if (singles.includes(key) && isObject(value)) copy[key] = replace(value)
    else if (maps.includes(key) && isObject(value)) {
      copy[key] = Object.fromEntries(
        Object.entries(value).map(([name, each]) => [name, isObject(each) ? replace(each) : each]),
      )
    } else copy[key] = value
  }
  return copy
}

/** For tools: an object with properties at the root, and no name of a dialect. */
export function objectSchema(given: Json | undefined): AdaptedSchema {
  const { $schema: _, ...schema } = given ?? {}
  const type = schema['type'] ?? 'object'
  if (type !== 'object') {
    return { schema: { type: 'object', properties: { input: schema } }, changed: true }
  }
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  return { schema: { ...schema, type, properties }, changed: false }
}

/** Whether an upstream that enforces a schema exactly can take it: all keys required, no others. */
export function isStrictSchema(schema: Json): boolean {
  const { properties, additionalProperties } = schema
  if (schema['type'] === 'object' || isObject(properties)) {
    const required = new Set<unknown>(Array.isArray(schema['required']) ? schema['required'] : [])
    const names = isObject(properties) ? Object.keys(properties) : []
    if (additionalProperties !== false || !names.every((name) => required.has(name))) {
      return false
    }
  }
  let strict = true
  mapInner(schema, (inner) => {
    strict &&= isStrictSchema(inner)
    return inner
  })
  return strict
}

/** For styles in which the schema is the only place for a description of the answer. */
export function withDescription(schema: Json, description: string | undefined): AdaptedSchema {
  const own = schema['description']
  if (description === undefined || own === description) return { schema, changed: false }
  if (own !== undefined) return { schema, changed: true }
  return { schema: { description, ...schema }, changed: false }
}

const constraints = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'propertyNames',
  'patternProperties',
  'contains',
  'not',
  'if',
  'then',
  'else',
]

/**
 * For upstreams that enforce the shape of an answer but not the values in it: what they do not enforce
 * is stated in the description, and objects are closed as they demand.
 */
export function withoutConstraints(root: Json): AdaptedSchema {
  let changed = false
  const adapt = (inner: Json): Json => {
    const { $schema: _, ...rest } = inner
    const given: Record<string, unknown> = rest
    const loose = constraints.filter((name) => given[name] !== undefined)
    // As given: notes inside of notes would be escaped again at each level, and double in size.
    const notes = loose.map((name) => `${name}: ${JSON.stringify(given[name])}`)
    for (const name of loose) delete given[name]
    const schema = mapInner(given, adapt)
    if (notes.length > 0) {
      changed = true
      const text = schema['description']
      const note = `{${notes.join(', ')}}`
      schema['description'] = typeof text === 'string' && text !== '' ? `${text}\n${note}` : note
    }
    if (schema['type'] === 'object' && schema['additionalProperties'] !== false) {
      changed ||= isObject(schema['additionalProperties'])
      schema['additionalProperties'] = false
    }
    return schema
  }
  const schema = adapt(root)
  return { schema, changed }
}
