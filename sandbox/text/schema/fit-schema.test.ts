import { expect, test } from 'bun:test'
import { everyKind, fittingInput } from '../../testing.ts'
import { fitObject } from './fit-schema.ts'

test('required properties get the smallest value of their kind, others are left out', () => {
  expect(fitObject(everyKind)).toEqual(fittingInput)
  expect(fitObject({})).toEqual({})
})

test('constants, alternatives, lists of types, references and inner objects are understood', () => {
  const schema = {
    type: 'object',
    properties: {
      version: { const: 2 },
      either: { anyOf: [{ type: 'number' }, { type: 'string' }] },
      maybe: { type: ['string', 'null'] },
      place: { $ref: '#/$defs/place' },
      undescribed: {},
    },
    required: ['version', 'either', 'maybe', 'place', 'undescribed', 'unknown'],
    $defs: {
      place: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    },
  }
  expect(fitObject(schema)).toEqual({
    version: 2,
    either: 1,
    maybe: 'sandbox',
    place: { name: 'sandbox' },
    undescribed: {},
    unknown: {},
  })
})

test('a schema that refers to itself comes to an end', () => {
  const schema = { properties: { next: { $ref: '#' } }, required: ['next'] }
  const self = { properties: { next: { $ref: '#/properties/next' } }, required: ['next'] }
  expect(JSON.stringify(fitObject(schema)).length).toBeLessThan(500)
  expect(fitObject(self)).toEqual({ next: {} })
  const deep = { $ref: '#/$defs/a', $defs: { a: { required: ['a'], properties: {} as object } } }
  deep.$defs.a.properties = { a: { $ref: '#/$defs/a' } }
  expect(JSON.stringify(fitObject(deep))).toContain('null')
})

test('arguments are an object whatever the schema says', () => {
  for (const type of ['array', 'string', 'null']) expect(fitObject({ type })).toEqual({})
})
