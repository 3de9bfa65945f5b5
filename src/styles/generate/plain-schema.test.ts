// Schemas of real tools, for an upstream that knows a small part of the standard.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from '../common/conversation.ts'
import { Growth } from '../common/growth.ts'
import { mapInner } from '../common/json-schema.ts'
import { plainSchema, standardSchema } from './plain-schema.ts'
import { toolSchemas } from './test-schemas.ts'

/** Keywords that the upstream refuses, or that only refer to something. */
const refused = `$ref $defs definitions $schema $id const propertyNames patternProperties examples
  exclusiveMinimum exclusiveMaximum not if then else allOf`.split(/\s+/)

function problemIn(schema: Json): string | undefined {
  const found = refused.find((name) => schema[name] !== undefined)
  if (found !== undefined) return found
  if (Array.isArray(schema['type'])) return 'a list of types'
  if (schema['type'] === 'array' && schema['items'] === undefined) return 'no items'
  let problem: string | undefined
  mapInner(schema, (inner) => {
    problem ??= problemIn(inner)
    return inner
  })
  return problem
}

const text = { type: 'string' }
const anySize = () => new Growth(1_000_000)

describe('a schema', () => {
  test.each<[string, Json, Json, boolean]>([
    ['of a constant', { const: 'a' }, { enum: ['a'] }, false],
    ['of a constant null', { const: null }, { enum: [null] }, false],
    ['of a text or null', { type: ['string', 'null'] }, { nullable: true, type: 'string' }, false],
    [
      'of several types',
      { type: ['string', 'number', 'null'] },
      { nullable: true, anyOf: [{ type: 'string' }, { type: 'number' }] },
      false,
    ],
    ['of null', { type: ['null'] }, { nullable: true, type: 'null' }, false],
    ['of any list', { type: 'array' }, { type: 'array', items: {} }, false],
    ['with remarks', { $id: 'x', $comment: 'y', examples: [1], type: 'string' }, text, false],
    ['with a limit that is not known', { ...text, exclusiveMinimum: 0 }, text, true],
    [
      'with names by a pattern',
      { type: 'object', patternProperties: { '^a': text } },
      { type: 'object' },
      true,
    ],
    [
      'with properties that are called like keywords',
      { type: 'object', properties: { properties: text, $ref: text, not: text, const: text } },
      { type: 'object', properties: { properties: text, $ref: text, not: text, const: text } },
      false,
    ],
    [
      'of all of several',
      {
        allOf: [
          { type: 'object', properties: { a: text }, required: ['a'] },
          { properties: { b: text }, required: ['b', 'a'] },
        ],
        description: 'x',
      },
      {
        type: 'object',
        properties: { a: text, b: text },
        required: ['a', 'b'],
        description: 'x',
      },
      false,
    ],
    [
      'with references',
      {
        properties: {
          a: { $ref: '#/$defs/a~1b', description: 'x' },
          c: { $ref: '#/definitions/c' },
        },
        $defs: { 'a/b': text },
        definitions: { c: { $ref: '#/$defs/a~1b' } },
      },
      { properties: { a: { type: 'string', description: 'x' }, c: text } },
      false,
    ],
    [
      'that refers to itself',
      { properties: { next: { $ref: '#' } } },
      { properties: { next: {} } },
      true,
    ],
    [
      'with a circle',
      {
        $ref: '#/$defs/node',
        $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
      },
      { type: 'object', properties: { next: {} } },
      true,
    ],
    ['that refers elsewhere', { $ref: 'https://a.example/x' }, {}, true],
    ['that refers to nothing', { $ref: '#/$defs/%' }, {}, true],
    ['that refers to a prototype', { $ref: '#/constructor/prototype' }, {}, true],
  ])('%s', (_, given, schema, changed) => {
    expect(plainSchema(given, anySize())).toEqual({ schema, changed })
  })

  test('keeps the order of its fields', () => {
    const given = { type: 'object', properties: { z: text, a: text }, required: ['z'] }
    expect(JSON.stringify(plainSchema(given, anySize()).schema)).toBe(JSON.stringify(given))
  })

  test('that would grow without end stops at the limit', () => {
    const $defs: Record<string, Json> = { d40: text }
    for (let at = 0; at < 40; at++) {
      const next = { $ref: `#/$defs/d${at + 1}` }
      $defs[`d${at}`] = { type: 'object', properties: { a: next, b: next } }
    }
    const growth = new Growth(100_000)
    const { schema } = plainSchema({ $ref: '#/$defs/d0', $defs }, growth)
    expect(growth.isExceeded).toBe(true)
    expect(JSON.stringify(schema).length).toBeLessThan(200_000)
  })

  const repeated = (held: Json, times: number): Json => ({
    properties: Object.fromEntries(
      Array.from({ length: times }, (_, index) => [`p${index}`, { $ref: '#/$defs/a' }]),
    ),
    $defs: { a: held },
  })
  const long = 'x'.repeat(10_000)

  test.each<[string, Json]>([
    ['a text', { description: long }],
    ['a list of values', { enum: [long] }],
    ['a value', { default: { a: { b: long } } }],
    ['a name', { properties: { [long]: {} } }],
    ['names', { required: [long] }],
    ['a name of a reference', { properties: { a: { $ref: `#/$defs/${long}` } } }],
    ['all of many', { allOf: Array.from({ length: 10_000 }, () => ({})) }],
    ['any of many', { anyOf: Array.from({ length: 10_000 }, () => ({})) }],
  ])('counts %s as often as it is repeated', (_, held) => {
    const [few, many] = [new Growth(100_000), new Growth(100_000)]
    plainSchema(repeated(held, 2), few)
    const { schema } = plainSchema(repeated(held, 10_000), many)
    expect([few.isExceeded, many.isExceeded]).toEqual([false, true])
    expect(JSON.stringify(schema).length).toBeLessThan(400_000)
  })

  test('of all of very many is merged', () => {
    const allOf = Array.from({ length: 50_000 }, (_, index) => ({
      properties: { [`k${index}`]: text },
      required: [`k${index}`],
    }))
    const { schema } = plainSchema({ allOf }, new Growth(10_000_000))
    expect(Object.keys(schema['properties'] as Json)).toHaveLength(50_000)
    expect(schema['required']).toHaveLength(50_000)
  })

  test('with a long chain of references is read', () => {
    const $defs: Record<string, Json> = {}
    for (let at = 0; at < 4_000; at++) $defs[`d${at}`] = { items: { $ref: `#/$defs/d${at + 1}` } }
    expect(plainSchema({ $ref: '#/$defs/d0', $defs }, anySize()).changed).toBe(true)
  })

  test('of any kind becomes one that the upstream knows', () => {
    const leaf = fc.constantFrom<Json>(
      { type: 'string', const: 'a' },
      { type: ['array', 'null'] },
      { $ref: '#/$defs/a' },
      { $ref: '#/$defs/b', description: 'x' },
      { type: 'integer', exclusiveMinimum: 0, $comment: 'x' },
      { enum: [1, null] },
    )
    const { schema } = fc.letrec<{ schema: Json }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        leaf,
        fc.record({ type: fc.constant('array'), items: tie('schema') }),
        fc.record({
          properties: fc.dictionary(fc.constantFrom('a', '$ref', 'not'), tie('schema')),
        }),
        fc.record({ anyOf: fc.array(tie('schema'), { maxLength: 3 }) }),
        fc.record({ allOf: fc.array(tie('schema'), { maxLength: 3 }), title: fc.constant('t') }),
        fc.record({ patternProperties: fc.record({ x: tie('schema') }) }),
      ),
    }))
    fc.assert(
      fc.property(schema, schema, schema, (root, a, b) => {
        const { schema: plain } = plainSchema({ ...root, $defs: { a, b } }, anySize())
        expect(problemIn(plain)).toBeUndefined()
        expect(isObject(plain)).toBe(true)
      }),
      { numRuns: 200 },
    )
  })
})

describe('a tool of a server of tools', () => {
  /** Where a limit or a circle cannot be said; what is left is wider. */
  const widened = [
    'a tree of tasks',
    'fetch a page',
    'find documents',
    'open a ticket',
    'scale a service',
    'search an index',
  ]

  test.each(Object.entries(toolSchemas))('%s has its arguments, each of them', (name, given) => {
    const { schema, changed } = plainSchema(given, anySize())
    expect([problemIn(schema), changed]).toEqual([undefined, widened.includes(name)])
    const names = (of: Json) => Object.keys((of['properties'] ?? {}) as Json)
    expect([schema['type'], names(schema), schema['required']]).toEqual([
      given['type'],
      names(given),
      given['required'],
    ])
    expect(JSON.stringify(plainSchema(given, anySize()).schema)).toBe(JSON.stringify(schema))
  })

  test('there are forty of them', () => {
    expect(Object.keys(toolSchemas).length).toBeGreaterThanOrEqual(40)
  })
})

test('a schema in the dialect of the style is a standard one', () => {
  const given = {
    type: 'OBJECT',
    nullable: true,
    properties: {
      nullable: { type: 'STRING', enum: ['a'], nullable: true },
      list: { type: 'ARRAY', items: { type: 'INTEGER' }, maxItems: '3' },
      any: { type: 'TYPE_UNSPECIFIED', anyOf: [{ type: 'NUMBER' }] },
    },
    propertyOrdering: ['list'],
    example: {},
  }
  expect(standardSchema(given)).toEqual({
    type: ['object', 'null'],
    properties: {
      nullable: { type: ['string', 'null'], enum: ['a', null] },
      list: { type: 'array', items: { type: 'integer' }, maxItems: 3 },
      any: { anyOf: [{ type: 'number' }] },
    },
  })
})
