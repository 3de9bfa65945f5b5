// A JSON schema without references and without `allOf`: what they add is merged into one object.
// References may go in circles, so only the outermost level is flattened.
import { asList, asObject, type Json } from '../../http/fields.ts'

/** Of references and parts that one schema is merged from: they may multiply. */
const maxParts = 500

export function flatten(given: Json, root: Json, budget = { left: maxParts }): Json {
  const { $ref, allOf, ...own } = given
  if ($ref === undefined && allOf === undefined) return given
  const target = typeof $ref === 'string' ? [resolve($ref, root)] : []
  let all: Json = own
  for (const part of [...target, ...asList(allOf)]) {
    if (budget.left-- <= 0) break
    all = merge(all, flatten(asObject(part), root, budget))
  }
  return all
}

//   '#/$defs/city' -> what stands there; a reference to nothing is an empty schema
function resolve(reference: string, root: Json): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return {}
  const path = reference
    .slice(2)
    .split('/')
    .map((name) => decodeURIComponent(name))
  const names = path.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  return names.reduce<unknown>((at, name) => asObject(at)[name], root)
}

const larger = (a: unknown, b: unknown) => Math.max(Number(a), Number(b))
const smaller = (a: unknown, b: unknown) => Math.min(Number(a), Number(b))
const both = (a: unknown, b: unknown) => ({ allOf: [a, b] })
const union = (a: unknown, b: unknown) => [...new Set([...asList(a), ...asList(b)])]

/** How a word that both have becomes one; of any other word the second one holds. */
const merged: Readonly<Record<string, (a: unknown, b: unknown) => unknown>> = {
  required: union,
  properties: (a, b) => mergeProperties(asObject(a), asObject(b)),
  $defs: (a, b) => ({ ...asObject(a), ...asObject(b) }),
  minimum: larger,
  exclusiveMinimum: larger,
  minLength: larger,
  minItems: larger,
  minProperties: larger,
  maximum: smaller,
  exclusiveMaximum: smaller,
  maxLength: smaller,
  maxItems: smaller,
  maxProperties: smaller,
  items: both,
  type: commonTypes,
  enum: (a, b) => asList(a).filter((one) => asList(b).includes(one)),
}

function merge(first: Json, second: Json): Json {
  const all: Record<string, unknown> = { ...first }
  for (const [word, value] of Object.entries(second)) {
    const before = all[word]
    all[word] = before === undefined ? value : (merged[word]?.(before, value) ?? value)
  }
  return all
}

function mergeProperties(first: Json, second: Json): Json {
  const all: Record<string, unknown> = { ...first }
  for (const [name, schema] of Object.entries(second)) {
    all[name] = name in all ? both(all[name], schema) : schema
  }
  return all
}

function commonTypes(a: unknown, b: unknown): unknown {
  const [first, second] = [a, b].map((types) => (Array.isArray(types) ? types : [types]))
  const common = first!.flatMap((type) => {
    if (second!.includes(type)) return [type]
    if (type === 'number' && second!.includes('integer')) return ['integer']
    return type === 'integer' && second!.includes('number') ? ['integer'] : []
  })
  return common.length === 1 ? common[0] : common
}
