// JSON schemas for upstreams that know a small part of the standard only: references are replaced by
// what they refer to, and keywords that such an upstream refuses are left out.
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from '../common/conversation.ts'
import { type Growth, keyBytes } from '../common/growth.ts'
import { type AdaptedSchema, holdsSchemas, mapInner } from '../common/json-schema.ts'

/** References inside of references. */
const maxReferences = 64
/** Schemas inside of schemas, which references can make deeper than any request. */
const maxDepth = 128

/** Say nothing about which values are valid. */
const remarks = ['$schema', '$id', '$anchor', '$comment', '$defs', 'definitions', 'examples']
const unknown = [
  'propertyNames',
  'patternProperties',
  'dependentSchemas',
  'dependentRequired',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'uniqueItems',
  '$dynamicRef',
  '$dynamicAnchor',
]

/**
 * A reference may repeat what it refers to, so that a few make a schema that fits in no memory: when
 * `growth` has no room left, what was made so far is of no use.
 */
export function plainSchema(given: Json, growth: Growth): AdaptedSchema {
  const plain = new PlainSchema(given, growth)
  const schema = plain.of(given)
  return { schema, changed: plain.changed }
}

class PlainSchema {
  changed = false
  readonly #root: Json
  readonly #growth: Growth
  #depth = 0
  /** References that are being replaced right now: one of them again is a circle. */
  readonly #open: string[] = []

  constructor(root: Json, growth: Growth) {
    this.#root = root
    this.#growth = growth
  }

  of(given: Json): Json {
    if (this.#growth.isExceeded || this.#depth >= maxDepth) return this.#anything()
    this.#depth++
    const schema = this.#plain(given)
    this.#depth--
    return schema
  }

  #plain(given: Json): Json {
    const { $ref: ref, allOf, ...rest } = given
    if (typeof ref === 'string')
      return this.#referred(ref, { ...rest, ...(Array.isArray(allOf) && { allOf }) })
    if (Array.isArray(allOf)) return this.#merged([...allOf.filter(isObject), rest])
    const known = this.#known(rest)
    const schema = mapInner(known, (inner) => this.of(inner))
    replaceTypeList(schema)
    if ('const' in schema) {
      schema['enum'] ??= [schema['const']]
      delete schema['const']
    }
    if (schema['type'] === 'array' && schema['items'] === undefined) schema['items'] = {}
    return schema
  }

  #anything(): Json {
    this.changed = true
    return {}
  }

  #referred(ref: string, beside: Json): Json {
    const isCircle = this.#open.includes(ref) || this.#open.length >= maxReferences
    this.#growth.add(ref.length)
    const target = isCircle ? undefined : this.#target(ref)
    if (target === undefined) return { ...this.#anything(), ...this.#known(beside) }
    this.#open.push(ref)
    const schema = this.of({ ...target, ...beside })
    this.#open.pop()
    return schema
  }

  /** All of several schemas as one. What two of them say differently is said once. */
  #merged(given: readonly Json[]): Json {
    const merged: Record<string, unknown> = {}
    const required = new Set<unknown>()
    this.#growth.add(given.length)
    for (const each of given) {
      const schema = this.of(each)
      for (const [name, value] of Object.entries(schema)) {
        const known = merged[name]
        if (name === 'properties' && isObject(known) && isObject(value)) {
          for (const [property, inner] of Object.entries(value)) known[property] = inner
        } else if (name === 'required' && Array.isArray(value)) {
          for (const property of value) required.add(property)
          merged[name] = []
        } else {
          this.changed ||= known !== undefined && JSON.stringify(known) !== JSON.stringify(value)
          merged[name] = value
        }
      }
    }
    if (required.size > 0) merged['required'] = [...required]
    return merged
  }

  /** `#/$defs/name` */
  #target(ref: string): Json | undefined {
    if (!ref.startsWith('#')) return undefined
    let at: unknown = this.#root
    for (const step of ref.slice(1).split('/').slice(1)) {
      const name = unescaped(step)
      at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined
    }
    return isObject(at) && at !== this.#root ? at : undefined
  }

  #known(schema: Json): Json {
    const known: Record<string, unknown> = {}
    for (const key of Object.keys(schema)) {
      if (unknown.includes(key)) this.changed = true
      else if (!remarks.includes(key)) {
        known[key] = schema[key]
        if (!this.#count(key, schema[key])) return {}
      }
    }
    return known
  }

  /** Inner schemas are counted by themselves. */
  #count(key: string, value: unknown): boolean {
    const growth = this.#growth
    growth.add(key.length + keyBytes)
    if (!holdsSchemas(key, value)) return growth.addValue(value)
    if (Array.isArray(value)) return growth.add(value.length + 2)
    for (const name in value as Json) if (!growth.add(name.length + keyBytes)) return false
    return !growth.isExceeded
  }
}

function unescaped(step: string): string {
  const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** `type: [string, null]` -> `type: string, nullable: true` */
function replaceTypeList(schema: Record<string, unknown>): void {
  const { type } = schema
  if (!Array.isArray(type)) return
  const types = type.filter((each) => each !== 'null')
  if (types.length < type.length) schema['nullable'] = true
  delete schema['type']
  if (types.length === 1) schema['type'] = types[0]
  else if (types.length > 1) schema['anyOf'] = types.map((each) => ({ type: each }))
  else schema['type'] = 'null'
}

const numbers = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']

/** From the dialect that such upstreams have of their own: types in capitals, `nullable`. */
export function standardSchema(given: Json): Json {
  const { nullable, propertyOrdering: _, example: __, ...rest } = mapInner(given, standardSchema)
  const schema: Record<string, unknown> = rest
  const { type } = schema
  if (type === 'TYPE_UNSPECIFIED') delete schema['type']
  else if (typeof type === 'string') schema['type'] = type.toLowerCase()
  for (const name of numbers) {
    if (typeof schema[name] === 'string') schema[name] = Number(schema[name])
  }
  if (nullable === true) {
    if (typeof schema['type'] === 'string') schema['type'] = [schema['type'], 'null']
    if (Array.isArray(schema['enum'])) schema['enum'] = [...schema['enum'], null]
  }
  return schema
}
