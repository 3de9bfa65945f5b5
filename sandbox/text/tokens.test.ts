import { expect, test } from 'bun:test'
import { writeJsonProse, writeProse } from './prose.ts'
import { countTokens, splitTokens } from './tokens.ts'

test('a word with its space is one token, and long words are split after six letters', () => {
  expect(splitTokens('Hello wonderful world.')).toEqual(['Hello', ' wonder', 'ful', ' world', '.'])
})

test('every CJK character is a token and a run of punctuation is one', () => {
  expect(countTokens('你好')).toBe(2)
  expect(countTokens('你好，世界！！')).toBe(6)
  expect(countTokens('wait...')).toBe(2)
  expect(countTokens('')).toBe(0)
})

test('the pieces of any text joined again are that text', () => {
  const text = 'a  b\n\tc_d — é 漢字 🙂🙂 x1y2z3w4 \ud800 "q"'
  expect(splitTokens(text).join('')).toBe(text)
})

test('prose of a given length has that many tokens however it is counted', () => {
  for (let count = 0; count < 150; count++) {
    expect(writeProse(count, count)).toHaveLength(count)
    expect(countTokens(writeProse(count, count).join(''))).toBe(count)
    expect(writeJsonProse(count, count)).toHaveLength(count)
    expect(countTokens(writeJsonProse(count, count).join(''))).toBe(count)
  }
})

test('prose of no given length is whole sentences of 30 to 60 tokens', () => {
  for (let seed = 0; seed < 300; seed++) {
    const tokens = writeProse(seed, undefined)
    expect(tokens.length).toBeGreaterThanOrEqual(30)
    expect(tokens.length).toBeLessThanOrEqual(60)
    expect(tokens.at(-1)).toBe('.')
  }
})
