// The smallest value that fits a JSON schema, for arguments of functions and for answers. Understands
// what functions are usually described with; anything else in a schema is ignored.
import { asList, asObject, type Json } from '../http/fields.ts'

/** A schema may refer to itself. */
const maxDepth = 16

//   {type: 'object', properties: {city: {type: 'string'}}, required: ['city']} -> {city: 'sandbox'}
export function fitObject(schema: Json): Json {
  const value = fitValue(schema)
  return Array.isArray(value) ? {} : asObject(value)
}

/** The same of any type. */
export const fitValue = (schema: Json): unknown => fit(schema, schema, 0)

function fit(given: unknown, root: Json, depth: number): unknown {
  const schema = resolve(asObject(given), root)
  if (depth > maxDepth) return null
  if ('const' in schema) return schema['const']
  const choices = asList(schema['enum'])
  if (choices.length > 0) return choices[0]
  const [branch] = [...asList(schema['anyOf']), ...asList(schema['oneOf'])]
  if (branch !== undefined) return fit(branch, root, depth + 1)
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type']
  if (type === 'string') return 'sandbox'
  if (type === 'number' || type === 'integer') return 1
  if (type === 'boolean') return true
  if (type === 'array') return []
  return type === 'null' ? null : requiredOf(schema, root, depth)
}

function requiredOf(schema: Json, root: Json, depth: number): Json {
  const properties = asObject(schema['properties'])
  const names = asList(schema['required']).filter((name) => typeof name === 'string')
  return Object.fromEntries(names.map((name) => [name, fit(properties[name], root, depth + 1)]))
}

//   {"$ref": "#/$defs/city"} -> what stands there; a reference to nothing is an empty schema
function resolve(schema: Json, root: Json): Json {
  const reference = schema['$ref']
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return schema
  const path = reference.slice(2).split('/')
  return path.reduce<Json>((at, name) => asObject(at[name]), root)
}
