// Values that fit a JSON Schema, and values that are nearly right: from a seed, so that a failed run
// can be repeated. Knows schemas, no interface.
import fc from 'fast-check'
import { seeded } from '../seeded.ts'

export type Json = Record<string, unknown>

export class Chance {
  readonly #next: () => number

  constructor(seed: number) {
    this.#next = seeded(seed)
  }

  /** 0 up to below 1. */
  next(): number {
    return this.#next()
  }

  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  is(share: number): boolean {
    return this.next() < share
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)]!
  }
}

/** What stands in a place is drawn from here instead; by the name of the property. */
export type Pins = Readonly<Record<string, readonly unknown[]>>

export interface Making {
  chance: Chance
  /** Looks up `$ref`. */
  resolve(ref: string): Json
  pins?: Pins
  /** The same, without exception. */
  always?: Pins
}

const maxDepth = 8

export function fitting(making: Making, schema: Json, name = '', depth = 0): unknown {
  const { chance, pins, always } = making
  if (always?.[name] !== undefined) return chance.pick(always[name])
  const pinned = pins?.[name]
  if (pinned !== undefined && chance.is(0.85)) return chance.pick(pinned)
  const { $ref, anyOf, oneOf, const: only, enum: words, properties } = schema
  if (typeof $ref === 'string') return fitting(making, making.resolve($ref), name, depth)
  if (only !== undefined) return only
  if (Array.isArray(words)) return chance.pick(words)
  const among = (anyOf ?? oneOf) as Json[] | undefined
  if (among !== undefined && properties === undefined) {
    return fitting(making, chance.pick(among), '', depth + 1)
  }
  return valueIn(making, schema, depth)
}

function valueIn(making: Making, schema: Json, depth: number): unknown {
  const { chance } = making
  const { type } = schema
  const kind = Array.isArray(type) ? chance.pick(type) : type
  switch (kind) {
    case 'null':
      return null
    case 'boolean':
      return chance.is(0.5)
    case 'integer':
      return numberIn(chance, schema)
    case 'number':
      return chance.is(0.5) ? numberIn(chance, schema) : fractionIn(chance, schema)
    case 'string':
      return textIn(chance, schema)
    case 'array':
      return listIn(making, schema, depth)
    case 'object':
      return objectIn(making, schema, depth)
    default:
      return anyValue(chance, depth)
  }
}

function boundsOf({ minimum, maximum }: Json): [least: number, most: number] {
  const least = typeof minimum === 'number' ? minimum : -1_000
  return [least, typeof maximum === 'number' ? maximum : Math.max(least, 0) + 100_000]
}

/** Where there is no maximum, also what no program can count to. */
function numberIn(chance: Chance, schema: Json): number {
  const [least, most] = boundsOf(schema)
  const near = chance.whole(least, Math.min(most, least + 100))
  const beyond = schema['maximum'] === undefined ? [2 ** 53, 1e308] : []
  return chance.pick([least, most, near, near, ...beyond])
}

function fractionIn(chance: Chance, schema: Json): number {
  const [least, most] = boundsOf(schema)
  return least + chance.next() * (most - least)
}

const oddTexts = [
  'hello',
  'a longer text, with commas',
  'ein Gruß, 你好, 🙂🙂',
  ' ',
  '0',
  'null',
  'a\u0000b',
  '../../etc/passwd',
  "'; DROP TABLE tasks; --",
  '<script>alert(1)</script>',
  '%00%2e%2e',
  '\ud800',
  'x'.repeat(300),
]

const pools = new Map<string, string[]>()

/** Drawn once for each pattern: the drawing is slow. */
function textsFor(pattern: string): string[] {
  const known = pools.get(pattern)
  if (known !== undefined) return known
  // Drawn without what looks ahead, which the drawing does not know, and then held against the whole.
  const drawn = fc.stringMatching(new RegExp(pattern.replace(/^\^\(\?=[^)]*\)/, '^'), 'u'))
  const whole = new RegExp(pattern, 'u')
  const made = fc.sample(
    drawn.filter((text) => whole.test(text)),
    { seed: 7, numRuns: 24 },
  )
  pools.set(pattern, made)
  return made
}

function textIn(chance: Chance, { pattern, format, minLength, maxLength }: Json): string {
  if (typeof pattern === 'string') return chance.pick(textsFor(pattern))
  if (format === 'date-time') {
    return new Date(1.7e12 + Math.floor(chance.next() * 1.2e11)).toISOString()
  }
  const least = typeof minLength === 'number' ? minLength : 0
  const most = typeof maxLength === 'number' ? maxLength : 5_000
  const text = chance.is(0.1) ? 'y'.repeat(Math.min(most, 5_000)) : chance.pick(oddTexts)
  const points = [...text].slice(0, most)
  return points.length < least ? 'z'.repeat(least) : points.join('')
}

function listIn(making: Making, { items, minItems, maxItems }: Json, depth: number): unknown[] {
  const { chance } = making
  const least = typeof minItems === 'number' ? minItems : 0
  const most = typeof maxItems === 'number' ? Math.min(maxItems, 20) : least + 3
  const count =
    depth > maxDepth
      ? least
      : chance.is(0.1)
        ? most
        : chance.whole(least, Math.min(most, least + 2))
  return Array.from({ length: count }, () => fitting(making, (items ?? {}) as Json, '', depth + 1))
}

function objectIn(making: Making, schema: Json, depth: number): Json {
  const { chance } = making
  const { properties = {}, required = [], additionalProperties, propertyNames } = schema
  const made: Json = {}
  for (const [name, of] of Object.entries(properties as Record<string, Json>)) {
    const needed = (required as string[]).includes(name)
    if (needed || (depth < maxDepth && chance.is(0.35))) {
      made[name] = fitting(making, of, name, depth + 1)
    }
  }
  if (typeof additionalProperties === 'object' && additionalProperties !== null) {
    for (let left = chance.whole(0, 2); left > 0; left--) {
      const key =
        typeof propertyNames === 'object' ? textIn(chance, propertyNames as Json) : `k${left}`
      made[key] = fitting(making, additionalProperties as Json, '', depth + 1)
    }
  } else if (additionalProperties === true && chance.is(0.15)) {
    made['x_unknown'] = anyValue(chance, depth + 1)
  }
  return made
}

export function anyValue(chance: Chance, depth = 0): unknown {
  const plain = [null, true, false, 0, -1, 1.5, 1e308, 2 ** 53, '', ...oddTexts]
  if (depth > 3 || chance.is(0.8)) return chance.pick(plain)
  return chance.is(0.5)
    ? Array.from({ length: chance.whole(0, 3) }, () => anyValue(chance, depth + 1))
    : { a: anyValue(chance, depth + 1), type: chance.pick(oddTexts) }
}

/** The same value with one thing in it that is otherwise: gone, of another type, or one too many. */
export function bent(chance: Chance, value: unknown): unknown {
  const isTree = typeof value === 'object' && value !== null
  if (!isTree || chance.is(0.15)) return anyValue(chance)
  const keys = Object.keys(value)
  if (Array.isArray(value)) {
    if (keys.length === 0 || chance.is(0.2)) return [...value, anyValue(chance)]
    const at = chance.whole(0, keys.length - 1)
    return value.map((each, i) => (i === at ? bent(chance, each) : each))
  }
  if (keys.length === 0 || chance.is(0.1)) return { ...value, x_other: anyValue(chance) }
  const key = chance.pick(keys)
  const { [key]: given, ...rest } = value as Json
  return chance.is(0.25) ? rest : { ...rest, [key]: bent(chance, given) }
}
