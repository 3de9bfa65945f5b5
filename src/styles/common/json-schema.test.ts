// Schemas as upstreams take them.
import { describe, expect, test } from 'bun:test'
import type { Json } from './conversation.ts'
import { isStrictSchema, objectSchema, withoutConstraints } from './json-schema.ts'

describe('a schema of a tool', () => {
  test.each([
    [undefined, { type: 'object', properties: {} }, false],
    [{}, { type: 'object', properties: {} }, false],
    [
      { $schema: 'x', type: 'object', properties: { $schema: {} } },
      { type: 'object', properties: { $schema: {} } },
      false,
    ],
    [{ type: 'string' }, { type: 'object', properties: { input: { type: 'string' } } }, true],
  ])('%j is an object', (given, schema, changed) => {
    expect(objectSchema(given)).toEqual({ schema, changed })
  })
})

describe('a schema is enforced exactly', () => {
  const closed = {
    type: 'object',
    properties: { a: {} },
    required: ['a'],
    additionalProperties: false,
  }

  test.each([
    [{ type: 'string' }, true],
    [closed, true],
    [{ ...closed, required: [] }, false],
    [{ ...closed, additionalProperties: true }, false],
    [{ ...closed, properties: { a: { type: 'array', items: closed } } }, true],
    [{ ...closed, properties: { a: { anyOf: [{ type: 'null' }, { type: 'object' }] } } }, false],
    [{ ...closed, $defs: { b: { type: 'object' } } }, false],
  ])('%j: %p', (schema, expected) => {
    expect(isStrictSchema(schema)).toBe(expected)
  })
})

test('what an upstream does not enforce is stated instead', () => {
  const given = {
    $schema: 'x',
    type: 'object',
    properties: {
      pattern: { type: 'string', pattern: '^a', description: 'A name.' },
      n: { type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 2 },
    },
  }
  expect(withoutConstraints(given)).toEqual({
    schema: {
      type: 'object',
      properties: {
        pattern: { type: 'string', description: 'A name.\n{pattern: "^a"}' },
        n: {
          type: 'array',
          items: { type: 'integer', description: '{minimum: 1}' },
          description: '{minItems: 2}',
        },
      },
      additionalProperties: false,
    },
    changed: true,
  })
  const plain = { type: 'object', properties: {}, additionalProperties: false }
  expect(withoutConstraints(plain)).toEqual({ schema: plain, changed: false })
})

test('constraints inside of constraints are stated once, as they were given', () => {
  let given: Json = { type: 'number', minimum: 1 }
  for (let depth = 0; depth < 30; depth++) given = { not: given }
  const { schema } = withoutConstraints(given)
  expect(schema).toEqual({ description: `{not: ${JSON.stringify(given['not'])}}` })
})

test('a strict schema with very many properties is recognised', () => {
  const names = Array.from({ length: 200_000 }, (_, index) => `k${index}`)
  const properties = Object.fromEntries(names.map((name) => [name, {}]))
  const required = names.toReversed()
  const schema = { type: 'object', properties, required, additionalProperties: false }
  expect(isStrictSchema(schema)).toBe(true)
})
