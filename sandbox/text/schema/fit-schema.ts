// The smallest value that fits a JSON schema, for arguments of functions and for answers. A schema
// that nothing fits, such as one without an end, gets a value that fits as far as it goes.
import { asList, asObject, type Json } from '../../http/fields.ts'
import { fitNumber, fitText } from './fit-scalar.ts'
import { flatten } from './flatten-schema.ts'
import { isSame, matches, typeOf } from './matches-schema.ts'

/** A schema may refer to itself: flat values are tried first. */
const depths = [3, 6, 12]
const looseDepth = 8
/** Of items tried for a list without duplicates, for each that it needs. */
const triesPerItem = 4
const maxItems = 1_000
/** Of all values in one. */
const maxValues = 20_000

//   {type: 'object', properties: {city: {type: 'string'}}, required: ['city']} -> {city: 'sandbox'}
export function fitObject(schema: Json): Json {
  const value = fitValue(schema)
  return Array.isArray(value) ? {} : asObject(value)
}

/** The same of any type. */
export function fitValue(schema: Json): unknown {
  for (const depth of depths) {
    const value = new Fitting(schema, false).fit(schema, depth, 0)
    if (value !== undefined) return value
  }
  return new Fitting(schema, true).fit(schema, looseDepth, 0) ?? null
}

/** Undefined stands for no value; it is not one of JSON. */
class Fitting {
  readonly #root: Json
  readonly #isLoose: boolean
  readonly #sizes = new WeakMap<object, number>()
  readonly #known = new Map<unknown, Map<string, unknown>>()

  constructor(root: Json, isLoose: boolean) {
    this.#root = root
    this.#isLoose = isLoose
  }

  fit(given: unknown, depth: number, variant: number): unknown {
    if (given === false) return undefined
    if (depth < 0) return this.#isLoose ? null : undefined
    const known = this.#known.get(given) ?? new Map<string, unknown>()
    this.#known.set(given, known)
    const key = `${depth} ${variant}`
    if (!known.has(key)) {
      known.set(key, this.#find(flatten(asObject(given), this.#root), depth, variant))
    }
    return known.get(key)
  }

  /** The first candidate that fits; loosely, the first one. */
  #find(schema: Json, depth: number, variant: number): unknown {
    let first: unknown
    for (const value of this.#candidates(schema, depth, variant)) {
      if (value === undefined) continue
      if (matches(schema, value, this.#root)) return value
      first ??= value
    }
    return this.#isLoose ? first : undefined
  }

  *#candidates(schema: Json, depth: number, variant: number): Generator<unknown> {
    const { const: constant, enum: choices, anyOf, oneOf, ...rest } = schema
    if ('const' in schema) return yield constant
    if (Array.isArray(choices)) {
      const usable = choices.filter((one) => matches(schema, one, this.#root))
      return yield usable.length === 0 ? choices[0] : usable[variant % usable.length]
    }
    const branches = [...asList(anyOf), ...asList(oneOf)]
    if (branches.length > 0) {
      const base = { ...rest, $defs: undefined }
      for (const branch of branches) yield this.fit(this.#with(base, branch), depth - 1, variant)
      return
    }
    const types = Array.isArray(schema['type']) ? schema['type'] : [schema['type'] ?? guess(schema)]
    for (const type of types) yield this.#ofType(type, schema, depth, variant)
  }

  readonly #joined = new Map<unknown, Json>()

  /** The same object for the same branch, so that what is known of it is found. */
  #with(base: Json, branch: unknown): Json {
    const isPlain = Object.values(base).every((value) => value === undefined)
    if (isPlain) return asObject(branch)
    const joined = this.#joined.get(branch) ?? { allOf: [base, branch] }
    this.#joined.set(branch, joined)
    return joined
  }

  #ofType(type: unknown, schema: Json, depth: number, variant: number): unknown {
    switch (type) {
      case 'string':
        return fitText({ ...schema, type }, variant)
      case 'number':
      case 'integer':
        return fitNumber({ ...schema, type }, type === 'integer', variant)
      case 'boolean':
        return variant % 2 === 0
      case 'null':
        return null
      case 'array':
        return this.#list(schema, depth, variant)
      default:
        return this.#object(schema, depth, variant)
    }
  }

  #list(schema: Json, depth: number, variant: number): unknown[] | undefined {
    const { items = {}, prefixItems, contains, uniqueItems } = schema
    const needed = contains === undefined ? 0 : Number(schema['minContains'] ?? 1)
    const count = Math.min(Math.max(Number(schema['minItems'] ?? 0), needed), maxItems)
    const list: unknown[] = []
    for (let i = 0; list.length < count && i < count * triesPerItem; i++) {
      const at = list.length
      const own = asList(prefixItems)[at] ?? (at < needed ? { allOf: [items, contains] } : items)
      const value = this.fit(own, depth - 1, uniqueItems === true ? variant + i : variant)
      if (value === undefined) return this.#isLoose ? list : undefined
      const isNew = uniqueItems !== true || !list.some((one) => isSame(one, value))
      if (isNew) list.push(value)
    }
    return this.#bounded(list, list)
  }

  #object(schema: Json, depth: number, variant: number): Json | undefined {
    const properties = asObject(schema['properties'])
    const others = schema['additionalProperties'] ?? {}
    const entries: [string, unknown][] = []
    for (const name of namesFor(schema, Object.keys(properties))) {
      const own = Object.hasOwn(properties, name) ? properties[name] : others
      const value = this.fit(own, depth - 1, variant)
      if (value === undefined && !this.#isLoose) return undefined
      if (value !== undefined) entries.push([name, value])
    }
    const values = entries.map(([, value]) => value)
    return this.#bounded(Object.fromEntries(entries), values)
  }

  /** The same list may be in many lists, each of which is in many lists. */
  #bounded<T extends object>(holder: T, values: readonly unknown[]): T | undefined {
    const size = values.reduce<number>((sum, one) => sum + this.#sizeOf(one), 1)
    this.#sizes.set(holder, size)
    return size > maxValues ? undefined : holder
  }

  #sizeOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? (this.#sizes.get(value) ?? 1) : 1
}

/** Required ones, and as many others as an object must have. */
function namesFor(schema: Json, known: readonly string[]): string[] {
  const names = new Set(asList(schema['required']).filter((name) => typeof name === 'string'))
  const dependent = asObject(schema['dependentRequired'])
  for (const name of names) for (const more of asList(dependent[name])) names.add(String(more))
  const count = Math.min(Number(schema['minProperties'] ?? 0), maxItems)
  const spare = [...known, ...Array.from({ length: count }, (_, i) => `extra${i + 1}`)]
  for (const name of spare) if (names.size < count) names.add(name)
  return [...names]
}

const byWord: readonly [type: string, words: readonly string[]][] = [
  ['object', ['properties', 'required', 'additionalProperties', 'minProperties']],
  ['array', ['items', 'prefixItems', 'minItems', 'contains']],
  ['string', ['pattern', 'format', 'minLength', 'maxLength']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
]

/** A schema need not say its type. */
const guess = (schema: Json): string =>
  byWord.find(([, words]) => words.some((word) => word in schema))?.[0] ??
  typeOf(schema['default'] ?? {})
