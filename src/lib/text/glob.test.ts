import { expect, test } from 'bun:test'
import { globOf } from './glob.ts'

test.each([
  ['gpt-*', 'gpt-5', true],
  ['gpt-*', 'my-gpt-5', false],
  ['*gpt*', 'openai/GPT-5', true],
  ['openai/*', 'openai/gpt-5', true],
  ['a*b*c', 'a--b--c', true],
  ['a*b*c', 'a--c--b', false],
  ['ab*ba', 'aba', false],
  ['*', 'anything', true],
  ['exact', 'exact', true],
  ['exact', 'exactly', false],
  ['a.c', 'abc', false],
])('%p against %p is %p', (pattern, name, expected) => {
  expect(globOf(pattern)(name)).toBe(expected)
})
