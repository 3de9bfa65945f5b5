// The rules by which the documents are readable for generators of clients, each of which has once dropped or
// miscompiled an operation. Redocly and Spectral find nothing in them besides; docs/use/openapi.md says how to ask.
import { describe, expect, test } from 'bun:test'
import { adminDocument, dataDocument } from '../../src/openapi/documents.ts'

type Json = Record<string, unknown>

const url = 'https://gateway.example'
const documents: [string, Json][] = [
  ['/openapi.json', JSON.parse(JSON.stringify(await dataDocument(url)))],
  ['/openapi.admin.json', JSON.parse(JSON.stringify(adminDocument(url)))],
]

/** Keys whose content is a value, or names of fields. */
const values = new Set(['enum', 'const', 'default', 'example', 'examples', 'mapping'])

/** Every object in a document that is no value, with the way to it. */
function* nodesIn(node: unknown, path = '#', isNames = false): Generator<[string, Json]> {
  if (typeof node !== 'object' || node === null) return
  if (!Array.isArray(node) && !isNames) yield [path, node as Json]
  for (const [key, value] of Object.entries(node)) {
    if (!isNames && values.has(key)) continue
    yield* nodesIn(value, `${path}/${key}`, !isNames && key === 'properties')
  }
}

/** The operations of the paths, and of callbacks. */
function operationsOf(document: Json): [string, Json][] {
  const methods = /\/(?:get|post|put|patch|delete)$/
  return [...nodesIn(document['paths'])].filter(
    ([path, node]) => methods.test(path) && 'responses' in node,
  )
}

const isUnion = (node: Json): boolean => 'anyOf' in node || 'oneOf' in node

/** The types that generators name after the fields of a schema, and after the fields of those. */
function namesInside([name, schema]: [string, unknown]): string[] {
  const fields = Object.entries(((schema as Json)['properties'] ?? {}) as Record<string, Json>)
  return fields
    .filter(([, field]) => 'enum' in field || 'properties' in field)
    .flatMap(([field, inner]) => {
      const whole = `${name}${field}`.replaceAll('_', '').toLowerCase()
      return [whole, ...namesInside([whole, inner])]
    })
}

const kindOf = (value: unknown): string => (value === null ? 'null' : typeof value)

describe.each(documents)('%s', (_, document) => {
  const nodes = [...nodesIn(document)]
  const operations = operationsOf(document)
  const wrong = (is: (node: Json, path: string) => boolean): string[] =>
    nodes.filter(([path, node]) => is(node, path)).map(([path]) => path)

  test('every operation, callbacks too, has an id of its own, and says who may call it', () => {
    expect(operations.length).toBeGreaterThan(30)
    const ids = operations.map(([, { operationId }]) => operationId)
    expect(ids.filter((id) => typeof id !== 'string' || !/^[a-z]\w+$/i.test(id))).toEqual([])
    const folded = ids.map((id) => String(id).toLowerCase())
    expect(folded.filter((id, i) => folded.indexOf(id) !== i)).toEqual([])
    for (const field of ['security', 'summary', 'description']) {
      const without = operations.filter(([, operation]) => operation[field] === undefined)
      expect([field, without.map(([path]) => path)]).toEqual([field, []])
    }
  })

  test('a refusal is a shared answer, with one schema for each shape of errors', () => {
    const own = operations.flatMap(([path, { responses }]) =>
      Object.entries(responses as Record<string, Json>)
        .filter(([status, answer]) => /^4\d\d$/.test(status) && answer['$ref'] === undefined)
        .map(([status]) => `${path} ${status}`),
    )
    expect(own).toEqual([])
    const { responses } = document['components'] as { responses: Record<string, Json> }
    for (const [name, { content }] of Object.entries(responses)) {
      const { schema } = (content as Record<string, Json>)['application/json']!
      expect([name, Object.keys(schema as Json)]).toEqual([name, ['$ref']])
    }
    // And every operation says with which codes.
    for (const [path, operation] of operations) {
      if (path.includes('/callbacks/')) continue
      const refused = Object.entries(operation['responses'] as Record<string, Json>)
        .filter(([, answer]) => answer['$ref'] !== undefined)
        .map(([status]) => status)
      expect([path, Object.keys(operation['x-error-codes'] as Json)]).toEqual([path, refused])
    }
  })

  test('an enumeration has values of one type, and is none of true and false', () => {
    const mixed = wrong(({ enum: words }) => {
      if (!Array.isArray(words)) return false
      const kinds = new Set(words.map(kindOf))
      kinds.delete('null')
      return kinds.size !== 1 || kinds.has('boolean')
    })
    expect(mixed).toEqual([])
  })

  test('a schema has one type, and may be nullable', () => {
    const several = wrong(
      ({ type }) => Array.isArray(type) && type.filter((each) => each !== 'null').length !== 1,
    )
    expect(several).toEqual([])
  })

  test('no schema has a title: two of the same would be one type', () => {
    expect(wrong((node, path) => 'title' in node && path !== '#/info')).toEqual([])
  })

  test('every group says what it is about, and every header is used', () => {
    const tags = document['tags'] as { name: string; description?: string }[]
    expect(tags.filter(({ description }) => description === undefined)).toEqual([])
    const { headers } = document['components'] as Record<string, Json>
    const text = JSON.stringify(document)
    const unused = Object.keys(headers!).filter((name) => !text.includes(`/headers/${name}"`))
    expect(unused).toEqual([])
  })

  test('names of components are names of types', () => {
    const { schemas, responses } = document['components'] as Record<string, Json>
    const names = [...Object.keys(schemas!), ...Object.keys(responses!)]
    expect(names.filter((name) => !/^[A-Z][A-Za-z0-9]*$/.test(name))).toEqual([])
    const folded = names.map((name) => name.toLowerCase())
    expect(folded.filter((name, i) => folded.indexOf(name) !== i)).toEqual([])
    // What stands in a field has a type named after both: Price and source are PriceSource.
    const all = [...folded, ...Object.entries(schemas!).flatMap(namesInside)]
    expect(all.filter((name, i) => all.indexOf(name) !== i)).toEqual([])
    // Generated clients have a type of this name themselves.
    expect(names).not.toContain('Response')
  })

  test('a body or an answer that is a union has a name, and so a type that can be written and read', () => {
    const inline = wrong(
      (node, path) => /\/content\/[^/]+\/[^/]+\/schema$/.test(path) && isUnion(node),
    )
    expect(inline).toEqual([])
  })

  test('a union has no fields of its own, and one of named objects says what tells them apart', () => {
    expect(wrong((node) => isUnion(node) && 'properties' in node)).toEqual([])
    const unions = nodes.filter(([, { oneOf }]) => Array.isArray(oneOf))
    const untold = unions.filter(([, { discriminator }]) => discriminator === undefined)
    expect(untold.map(([path]) => path)).toEqual([])
    const refs = new Set(Object.keys((document['components'] as Json)['schemas'] as Json))
    for (const [, { discriminator }] of unions) {
      const { mapping } = discriminator as { mapping: Record<string, string> }
      for (const ref of Object.values(mapping)) expect(refs).toContain(ref.split('/').at(-1)!)
    }
  })
})
