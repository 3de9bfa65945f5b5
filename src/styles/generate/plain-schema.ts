// JSON schemas for upstreams that know a small part of the standard only: references are replaced by
// what they refer to, and keywords that such an upstream refuses are left out.
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from '../common/conversation.ts'
import { type AdaptedSchema, mapInner } from '../common/json-schema.ts'

/** A reference may repeat what it refers to; a few can make a schema that fits in no memory. */
const maxNodes = 5_000
/** References inside of references. */
const maxReferences = 64

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

export function plainSchema(given: Json): AdaptedSchema {
  const plain = new PlainSchema(given)
  const schema = plain.of(given)
  return { schema, changed: plain.changed }
}

class PlainSchema {
  changed = false
  readonly #root: Json
  #nodes = 0
  /** References that are being replaced right now: one of them again is a circle. */
  readonly #open: string[] = []

  constructor(root: Json) {
    this.#root = root
  }

  of(given: Json): Json {
    if (++this.#nodes > maxNodes) return this.#anything()
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
    for (const schema of given.map((each) => this.of(each))) {
      for (const [name, value] of Object.entries(schema)) {
        const known = merged[name]
        if (name === 'properties' && isObject(known) && isObject(value)) {
          merged[name] = { ...known, ...value }
        } else if (name === 'required' && Array.isArray(known) && Array.isArray(value)) {
          merged[name] = [...new Set([...known, ...value])]
        } else {
          this.changed ||= known !== undefined && JSON.stringify(known) !== JSON.stringify(value)
          merged[name] = value
        }
      }
    }
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
      else if (!remarks.includes(key)) known[key] = schema[key]
    }
    return known
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
