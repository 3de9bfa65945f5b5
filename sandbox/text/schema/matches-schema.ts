// Whether a value fits a JSON schema, as far as the sandbox makes values for it: to choose among
// alternatives. Formats are not checked.
import { asList, asObject, type Json } from '../../http/fields.ts'
import { flatten } from './flatten-schema.ts'

/** Of alternatives inside of alternatives for the same value. */
const maxDepth = 8
/** Of schemas that one value is compared with: alternatives may multiply. */
const maxComparisons = 50_000

class Comparison {
  readonly #root: Json
  #left = maxComparisons

  constructor(root: Json) {
    this.#root = root
  }

  fits(given: unknown, value: unknown, depth = 0): boolean {
    if (typeof given === 'boolean') return given
    if (depth > maxDepth || this.#left-- <= 0) return false
    const schema = flatten(asObject(given), this.#root)
    const { enum: choices, anyOf, oneOf, not } = schema
    const fits = (one: unknown) => this.fits(one, value, depth + 1)
    return (
      matchesType(schema['type'], value, schema['nullable'] === true) &&
      (!('const' in schema) || isSame(schema['const'], value)) &&
      (choices === undefined || asList(choices).some((one) => isSame(one, value))) &&
      (anyOf === undefined || asList(anyOf).some(fits)) &&
      (oneOf === undefined || asList(oneOf).filter(fits).length === 1) &&
      (not === undefined || !fits(not)) &&
      this.#partsFit(schema, value)
    )
  }

  #partsFit(schema: Json, value: unknown): boolean {
    if (typeof value === 'string') return matchesText(schema, value)
    if (typeof value === 'number') return matchesNumber(schema, value)
    if (Array.isArray(value)) return this.#listFits(schema, value)
    return typeof value === 'object' && value !== null
      ? this.#objectFits(schema, asObject(value))
      : true
  }

  #listFits(schema: Json, list: readonly unknown[]): boolean {
    const { items, prefixItems, uniqueItems } = schema
    const first = asList(prefixItems)
    const distinct = () => new Set(list.map((one) => JSON.stringify(one))).size
    return (
      within(schema, 'minItems', (min) => list.length >= min) &&
      within(schema, 'maxItems', (max) => list.length <= max) &&
      (uniqueItems !== true || distinct() === list.length) &&
      list.every((one, at) => this.fits(first[at] ?? items ?? true, one))
    )
  }

  #objectFits(schema: Json, object: Json): boolean {
    const properties = asObject(schema['properties'])
    const others = schema['additionalProperties'] ?? true
    const names = Object.keys(object)
    return (
      within(schema, 'minProperties', (min) => names.length >= min) &&
      within(schema, 'maxProperties', (max) => names.length <= max) &&
      asList(schema['required']).every((name) => Object.hasOwn(object, String(name))) &&
      names.every((name) => {
        const own = Object.hasOwn(properties, name) ? properties[name] : others
        return this.fits(own, object[name])
      })
    )
  }
}

export const matches = (schema: unknown, value: unknown, root: Json): boolean =>
  new Comparison(root).fits(schema, value)

export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function matchesType(type: unknown, value: unknown, isNullable: boolean): boolean {
  if (type === undefined || (isNullable && value === null)) return true
  const types = Array.isArray(type) ? type : [type]
  return types.includes(typeOf(value)) || (types.includes('integer') && Number.isInteger(value))
}

/** A bound that is not there holds. */
const within = (schema: Json, name: string, holds: (bound: number) => boolean): boolean =>
  typeof schema[name] !== 'number' || holds(schema[name])

function matchesText(schema: Json, text: string): boolean {
  const length = [...text].length
  const { pattern } = schema
  return (
    within(schema, 'minLength', (min) => length >= min) &&
    within(schema, 'maxLength', (max) => length <= max) &&
    (typeof pattern !== 'string' || new RegExp(pattern, 'u').test(text))
  )
}

const matchesNumber = (schema: Json, value: number): boolean =>
  within(schema, 'minimum', (min) => value >= min) &&
  within(schema, 'exclusiveMinimum', (min) => value > min) &&
  within(schema, 'maximum', (max) => value <= max) &&
  within(schema, 'exclusiveMaximum', (max) => value < max) &&
  within(schema, 'multipleOf', (step) => Number.isInteger(value / step))
