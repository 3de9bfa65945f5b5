// Numbers that a double cannot hold survive.
import { expect, test } from 'bun:test'
import { inputObject, parseExact } from './exact-json.ts'

test.each([
  '{"id":12345678901234567890}',
  '{"a":[0.12345678901234567890,-9007199254740993]}',
  '{"a":1e400,"b":-1e-400}',
  '{"n":9007199254740991,"x":"12345678901234567890"}',
  '{"b":1,"a":{"c":null,"d":[true,false]}}',
])('%s is written as it was read', (text) => {
  expect(JSON.stringify(parseExact(text))).toBe(text)
})

test('what is not JSON is undefined', () => {
  expect([parseExact('{"a":'), parseExact(''), parseExact('1234567890123456789x')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test.each<[string, string, boolean]>([
  ['', '{}', false],
  [' ', '{}', false],
  ['{"a":1}', '{"a":1}', false],
  ['[1,2]', '{"input":[1,2]}', true],
  ['"x"', '{"input":"x"}', true],
  ['null', '{"input":null}', true],
  ['{"a":', '{"_raw":"{\\"a\\":"}', true],
])('the input %j is the object %s', (text, object, changed) => {
  const found = inputObject(text)
  expect([JSON.stringify(found.input), found.changed]).toEqual([object, changed])
})
