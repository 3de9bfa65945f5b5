// Keys of a body are exact: one that differs from a field the gateway reads only in case or by Unicode
// folding could be that field to an upstream. Each surface has a table of the fields that count.
import { type Refusal, refuse } from '../../contract/errors.ts'

/** Field -> fields of the object in it, or of the objects in its list; true: nothing is read in it. */
export interface KeyTable {
  readonly [field: string]: KeyTable | true
}

export interface Keys {
  readonly fields: ReadonlyMap<string, Keys | true>
  readonly folded: ReadonlyMap<string, string>
  /** Other keys in the body, with the field each resembles. */
  readonly judged: Map<string, string | undefined>
}

const maxJudged = 1_000
const maxKey = 64

/** A table may contain itself. */
export function keysOf(table: KeyTable, known = new Map<KeyTable, Keys>()): Keys {
  const before = known.get(table)
  if (before !== undefined) return before
  const fields = new Map<string, Keys | true>()
  const folded = new Map<string, string>()
  const keys: Keys = { fields, folded, judged: new Map() }
  known.set(table, keys)
  for (const [field, inner] of Object.entries(table)) {
    fields.set(field, inner === true ? true : keysOf(inner, known))
    folded.set(foldedKey(field), field)
  }
  return keys
}

/** For tables: fields of which nothing is read inside. */
export const plain = <Field extends string>(...fields: Field[]): Record<Field, true> =>
  Object.fromEntries(fields.map((field) => [field, true])) as Record<Field, true>

/** Wide letters, the long s, the Kelvin sign and the like have the plain letter as another case. */
export const foldedKey = (key: string): string =>
  plainLetters.test(key)
    ? key.toLowerCase()
    : key.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase()

/** They have no other forms; a body may have thousands of keys. */
const plainLetters = /^[\x20-\x7e]*$/

/** Undefined when every key is a field or resembles none. */
export function inexactKey(value: unknown, keys: Keys): Refusal | undefined {
  const found = find(value, keys)
  if (found === undefined) return undefined
  const { path, field, given } = found
  const param = `${path}.${field}`.replace(/^\./, '')
  const shown = given.slice(0, maxKey)
  return refuse('invalid_request', `the key '${shown}' must be spelled '${field}'`, { param })
}

interface Found {
  path: string
  field: string
  given: string
}

function find(value: unknown, keys: Keys): Found | undefined {
  return Array.isArray(value) ? findInList(value, keys) : findInObject(value as object, keys)
}

function findInList(list: readonly unknown[], keys: Keys): Found | undefined {
  for (let index = 0; index < list.length; index++) {
    const each = list[index]
    if (typeof each !== 'object' || each === null) continue
    const found = find(each, keys)
    if (found !== undefined) return { ...found, path: `[${index}]${found.path}` }
  }
  return undefined
}

function findInObject(value: object, keys: Keys): Found | undefined {
  for (const name in value) {
    const inner = keys.fields.get(name)
    if (inner === true) continue
    if (inner === undefined) {
      const field = resembled(name, keys)
      if (field !== undefined) return { path: '', field, given: name }
      continue
    }
    const held = (value as Record<string, unknown>)[name]
    if (typeof held !== 'object' || held === null) continue
    const found = find(held, inner)
    if (found !== undefined) return { ...found, path: `.${name}${found.path}` }
  }
  return undefined
}

function resembled(name: string, { folded, judged }: Keys): string | undefined {
  if (name.length > maxKey) return undefined
  const before = judged.get(name)
  if (before !== undefined || judged.has(name)) return before
  if (judged.size >= maxJudged) judged.clear()
  const field = folded.get(foldedKey(name))
  judged.set(name, field)
  return field
}
