// A value is made for any schema of the kinds that callers use, and an independent validator accepts
// it.
import { expect, test } from 'bun:test'
import Ajv from 'ajv/dist/2020.js'
import fc from 'fast-check'
import type { Json } from '../../http/fields.ts'
import { fitValue } from './fit-schema.ts'

const formats = {
  date: /^\d{4}-\d\d-\d\d$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  email: /^[^@\s]+@[^@\s]+\.[a-z]+$/,
  uri: /^https?:\/\/\S+$/,
}

const ajv = new Ajv({ strict: false, validateSchema: false, formats })

const bounds = (low: string, high: string, max: number) =>
  fc
    .tuple(fc.nat(max), fc.nat(max))
    .map(([a, b]) => ({ [low]: Math.min(a, b), [high]: Math.max(a, b) }))

const patterns = [
  '^[a-z]{3}$',
  '^\\d{4}-\\d{2}$',
  '^(red|green)$',
  '^[A-Z][a-z]+( [A-Z][a-z]+)*$',
  '^v\\d+(\\.\\d+){2}$',
  '[0-9a-f]{8}',
  '^[^@\\s]+@[^@\\s]+$',
]

const text = fc.oneof(
  fc.constant({}),
  bounds('minLength', 'maxLength', 40),
  fc.constantFrom(...Object.keys(formats)).map((format) => ({ format })),
  fc.constantFrom(...patterns).map((pattern) => ({ pattern })),
)

const number = fc.oneof(
  fc.constant({}),
  bounds('minimum', 'maximum', 100),
  fc.integer({ min: -50, max: 50 }).map((exclusiveMinimum) => ({ exclusiveMinimum })),
  fc.integer({ min: -50, max: 50 }).map((maximum) => ({ maximum })),
  fc
    .tuple(fc.integer({ min: 1, max: 7 }), fc.integer({ min: -20, max: 20 }))
    .map(([multipleOf, minimum]) => ({ multipleOf, minimum })),
)

const name = fc.constantFrom('a', 'b', 'c', 'd')

const { schema } = fc.letrec<{ schema: Json }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text.map((more) => ({ type: 'string', ...more })),
    number.map((more) => ({ type: 'number', ...more })),
    number.map((more) => ({ type: 'integer', ...more })),
    fc.constantFrom({ type: 'boolean' }, { type: 'null' }, { type: ['string', 'null'] }),
    fc
      .uniqueArray(fc.oneof(fc.string(), fc.integer()), { minLength: 1 })
      .map((all) => ({ enum: all })),
    fc.oneof(fc.string(), fc.integer(), fc.constant(null)).map((value) => ({ const: value })),
    fc.tuple(tie('schema'), fc.nat(3), fc.nat(3)).map(([items, a, b]) => ({
      type: 'array',
      items,
      minItems: Math.min(a, b),
      maxItems: Math.max(a, b),
    })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    fc
      .tuple(fc.dictionary(name, tie('schema'), { maxKeys: 4 }), fc.array(name), fc.boolean())
      .map(([properties, wanted, closed]) => ({
        type: 'object',
        properties,
        required: [...new Set(wanted)].filter((one) => !closed || one in properties),
        additionalProperties: !closed,
      })),
  ),
}))

test('any schema gets a value that fits', () => {
  fc.assert(
    fc.property(schema, (given) => {
      const validate = ajv.compile(given)
      const value = fitValue(given)
      expect({ value, fits: validate(value) }).toEqual({ value, fits: true })
    }),
    { numRuns: 200 },
  )
})

const person = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1 },
    friends: { type: 'array', items: { $ref: '#/$defs/person' }, minItems: 0 },
    parent: { anyOf: [{ $ref: '#/$defs/person' }, { type: 'null' }] },
  },
  required: ['name', 'friends', 'parent'],
  additionalProperties: false,
}

const cases: [name: string, schema: Json][] = [
  ['a tree that ends', { $ref: '#/$defs/person', $defs: { person } }],
  [
    'a list that must have a node',
    {
      $defs: {
        node: {
          type: 'object',
          properties: {
            value: { type: 'integer' },
            next: { oneOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
          },
          required: ['value', 'next'],
        },
      },
      type: 'array',
      items: { $ref: '#/$defs/node' },
      minItems: 2,
    },
  ],
  [
    'exactly one of several',
    {
      oneOf: [
        { type: 'integer', minimum: 0 },
        { type: 'integer', maximum: 5 },
        { type: 'string', const: 'x' },
      ],
    },
  ],
  [
    'all of several',
    {
      allOf: [
        { type: 'object', properties: { a: { type: 'number', minimum: 3 } }, required: ['a'] },
        { properties: { a: { maximum: 4 }, b: { type: 'string' } }, required: ['b'] },
      ],
    },
  ],
  [
    'no duplicates',
    { type: 'array', items: { enum: ['x', 'y', 'z'] }, minItems: 3, uniqueItems: true },
  ],
  [
    'distinct numbers',
    {
      type: 'array',
      items: { type: 'integer', minimum: 5, maximum: 8 },
      minItems: 4,
      uniqueItems: true,
    },
  ],
  [
    'a tuple',
    {
      type: 'array',
      prefixItems: [{ type: 'string' }, { type: 'integer' }],
      items: false,
      minItems: 2,
    },
  ],
  [
    'enough properties',
    { type: 'object', minProperties: 2, additionalProperties: { type: 'integer' } },
  ],
  ['a step of a hundredth', { type: 'number', multipleOf: 0.01, minimum: 2.5, maximum: 3 }],
  [
    'a choice of requirements',
    {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    },
  ],
  [
    'a definition under a path',
    {
      type: 'object',
      properties: { city: { $ref: '#/definitions/a~1b' } },
      required: ['city'],
      definitions: { 'a/b': { type: 'string', format: 'uuid' } },
    },
  ],
]

test.each(cases)('%s', (_, given) => {
  const validate = ajv.compile(given)
  const value = fitValue(given)
  expect({ value, fits: validate(value) }).toEqual({ value, fits: true })
})

test('schemas that multiply come to an end', () => {
  const doubled = Array.from({ length: 40 }, (_, i) => [
    `d${i}`,
    { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
  ])
  const nested = (depth: number): Json =>
    depth === 0 ? { type: 'string' } : { type: 'array', items: nested(depth - 1), minItems: 500 }
  const circle = { anyOf: [{ $ref: '#' }, { allOf: [{ $ref: '#' }, { $ref: '#' }] }] }
  for (const given of [
    { $ref: '#/$defs/d0', $defs: Object.fromEntries(doubled) },
    nested(6),
    circle,
  ]) {
    expect(JSON.stringify(fitValue(given)).length).toBeLessThan(2_000_000)
  }
})
