import { expect, test } from 'bun:test'
import { OpenCalls } from './open-calls.ts'

test('a result is for the call of its id, else for the first of its name, else for the first', () => {
  const calls = new OpenCalls()
  for (const [id, name] of ['1a', '2b', '3a', '4b', '5a']) calls.add(id!, name!)
  expect(calls.take('3', 'b')).toBe('3')
  expect(calls.take('3', 'b')).toBe('2')
  expect(calls.take(undefined, 'a')).toBe('1')
  expect(calls.take('x', 'c')).toBe('4')
  expect(calls.take(undefined, undefined)).toBe('5')
  expect(calls.take(undefined, 'a')).toBeUndefined()
})

test('very many results in any order find their calls', () => {
  const count = 300_000
  const calls = new OpenCalls()
  for (let id = 0; id < count; id++) calls.add(`${id}`, `n${id % 7}`)
  for (let id = count - 1; id >= 0; id -= 2) expect(calls.take(`${id}`, undefined)).toBe(`${id}`)
  for (let id = 0; id < count; id += 2) expect(calls.take(undefined, undefined)).toBe(`${id}`)
})
