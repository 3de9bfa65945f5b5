import { expect, test } from 'bun:test'
import { hasTag, rangeIn } from './byte-range.ts'

test('one range of bytes is cut to the size of the file', () => {
  const cases = [
    ['bytes=0-0', { first: 0, last: 0 }],
    ['bytes=2-4', { first: 2, last: 4 }],
    ['bytes=7-', { first: 7, last: 9 }],
    ['bytes=8-99', { first: 8, last: 9 }],
    ['bytes=-3', { first: 7, last: 9 }],
    ['bytes=-99', { first: 0, last: 9 }],
    [' bytes=9-9 ', { first: 9, last: 9 }],
  ] as const
  for (const [header, range] of cases) expect(rangeIn(header, 10)).toEqual(range)
})

test('a range that has nothing of the file is none', () => {
  for (const header of ['bytes=10-', 'bytes=10-12', 'bytes=-0']) {
    expect(rangeIn(header, 10)).toBe('none')
  }
  expect(rangeIn('bytes=0-0', 0)).toBe('none')
})

test('what is not one range of bytes means the whole', () => {
  const others = [undefined, '', 'bytes=', 'bytes=-', 'bytes=4-2', 'bytes=0-1,3-4', 'lines=1-2']
  for (const header of others) expect(rangeIn(header, 10)).toBeUndefined()
})

test('a condition names a tag, one of several, or any', () => {
  for (const header of ['"a"', 'W/"a"', '"b", "a"', '*']) expect(hasTag(header, '"a"')).toBe(true)
  for (const header of [undefined, '', '"b"', 'a']) expect(hasTag(header, '"a"')).toBe(false)
})
