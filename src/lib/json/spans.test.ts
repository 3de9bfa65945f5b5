// Where the parts of a JSON text are.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { spansIn } from './spans.ts'

test('members and elements are found whatever stands around them', () => {
  const text = ' { "a" : [1, "]}\\"", {"b":[]}] ,\n"a\\u0062":true , "n":-1.5e3}'
  const members = spansIn(text, text.indexOf('{'))
  expect(members.map(({ key, start, end }) => [key, text.slice(start, end)])).toEqual([
    ['a', '[1, "]}\\"", {"b":[]}]'],
    ['ab', 'true'],
    ['n', '-1.5e3'],
  ])
  const elements = spansIn(text, members[0]!.start)
  expect(elements.map(({ start, end }) => text.slice(start, end))).toEqual([
    '1',
    '"]}\\""',
    '{"b":[]}',
  ])
  expect([...spansIn('{}', 0), ...spansIn('[ ]', 0)]).toEqual([])
})

test('any value: the spans parse to its parts', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, space) => {
      if (typeof value !== 'object' || value === null) return
      const text = JSON.stringify(value, undefined, space)
      const parts = spansIn(text, 0).map(({ start, end }) => JSON.parse(text.slice(start, end)))
      expect(parts).toEqual(Object.values(JSON.parse(text)))
    }),
  )
})
