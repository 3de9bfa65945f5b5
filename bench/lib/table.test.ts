import { expect, test } from 'bun:test'
import { formatMegabytes, formatNumber, formatRatio, formatTable } from './table.ts'

test('columns are as wide as their widest cell; words align left, numbers right', () => {
  const rows = [
    ['target', 'us'],
    ['nginx', '9'],
    ['a longer name', '1,234'],
  ]
  expect(formatTable(rows, [0])).toBe(
    [
      'target            us',
      '-------------  -----',
      'nginx              9',
      'a longer name  1,234',
    ].join('\n'),
  )
})

test('a short row leaves its last cells empty and no line ends in spaces', () => {
  const text = formatTable([['a', 'b', 'c'], ['1'], ['1', '2', '3']], [0, 1, 2])
  expect(text.split('\n')).toEqual(['a  b  c', '-  -  -', '1', '1  2  3'])
})

test('a table of nothing is empty', () => {
  expect(formatTable([], [])).toBe('')
})

test('numbers keep the digits that count and group thousands', () => {
  const texts = [0, 5.123, 51.23, 512.3, 5123.4, 1_234_567, -5.5].map(formatNumber)
  expect(texts).toEqual(['0.00', '5.12', '51.2', '512', '5,123', '1,234,567', '-5.50'])
})

test('what was not measured is a dash', () => {
  expect(formatNumber(Number.NaN)).toBe('-')
  expect(formatRatio(Number.POSITIVE_INFINITY)).toBe('-')
  expect(formatRatio(2)).toBe('2.00x')
})

test('megabytes are millions of bytes', () => {
  expect(formatMegabytes(119_600_000)).toBe('120')
  expect(formatMegabytes(43_600_000)).toBe('43.6')
})
