import { expect, test } from 'bun:test'
import {
  check,
  formatNumber,
  formatRatio,
  formatRows,
  formatTable,
  formatVerdicts,
} from './report.ts'

test('columns are as wide as their widest cell; words align left, numbers right', () => {
  const rows = [
    ['target', 'us'],
    ['nginx', '9'],
    ['a longer name', '1,234'],
  ]
  expect(formatTable(rows)).toBe(
    [
      'target            us',
      '-------------  -----',
      'nginx              9',
      'a longer name  1,234',
    ].join('\n'),
  )
})

test('a short row leaves its last cells empty and no line ends in spaces', () => {
  const text = formatTable([['a', 'b', 'c'], ['x'], ['x', 'y', 'z']])
  expect(text.split('\n')).toEqual(['a  b  c', '-  -  -', 'x', 'x  y  z'])
})

test('a cell is a text, a number with its significant digits, or a dash', () => {
  const columns = {
    name: (n: number) => `row ${n}`,
    half: (n: number) => n / 2,
    none: () => undefined,
  }
  expect(formatRows(columns, [3, 4])).toBe(
    ['name   half  none', '-----  ----  ----', 'row 3  1.50     -', 'row 4     2     -'].join('\n'),
  )
})

test('numbers keep their significant digits and group thousands', () => {
  const texts = [0, 5, 5.123, 51.23, 512.3, 5123.4, 1_234_567, -5.5].map(formatNumber)
  expect(texts).toEqual(['0', '5', '5.12', '51.2', '512', '5,123', '1,234,567', '-5.50'])
})

test('what was not measured is a dash', () => {
  expect(formatNumber(Number.NaN)).toBe('-')
  expect(formatRatio(Number.POSITIVE_INFINITY)).toBe('-')
  expect(formatRatio(2)).toBe('2.00x')
})

test('a limit is checked by its rule, in its unit', () => {
  const met = (value: number, limit: string, valid = true) =>
    check({ label: 'x', value, limit, valid }).met
  expect([met(5, '< 5 s'), met(4.9, '< 5 s')]).toEqual([false, true])
  expect([met(5, '<= 5 s'), met(5.1, '<= 5 s')]).toEqual([true, false])
  expect([met(20_000, '>= 20000/s'), met(19_999, '>= 20000/s')]).toEqual([true, false])
  expect([met(0, '= 0'), met(1, '= 0')]).toEqual([true, false])
  expect([met(Number.NaN, '<= 5 s'), met(1, '<= 5 s', false)]).toEqual([false, false])
})

test('a value is written so that its side of the limit shows', () => {
  const written = (value: number, limit: string, note?: string) =>
    check({ label: 'x', value, limit, ...(note && { note }) }).value
  expect(written(255.9, '< 256 MB')).toBe('255.9 MB')
  expect(written(25_000.4, '>= 20000/s')).toBe('25,000/s')
  expect(written(1.25, '<= 1.3x chat', 'p99 2')).toBe('1.25x chat (p99 2)')
})

test('verdicts say which limits are missed', () => {
  const text = formatVerdicts([check({ label: 'memory', value: 3, limit: '< 2 MB' })])
  expect(text.split('\n')[2]).toBe('memory  < 2 MB       3 MB  MISSED')
})
