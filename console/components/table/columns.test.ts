// Which columns a table shows.
import { expect, test } from 'bun:test'
import { type Column, column, fitting, named, onCard, templateOf, widthOf } from './columns.ts'

const of = (...all: [string, string, Partial<Column<null>>?][]) =>
  named<null>(
    all.map(([title, width, rest]) => column(title, width, () => null, { id: title, ...rest })),
  )
const ids = (columns: readonly { id: string }[]) => columns.map(({ id }) => id)
const all = of(['a', '100px'], ['b', '100px'], ['c', '100px'], ['d', '100px'])

test('columns that do not fit are left out, the last ones first', () => {
  expect(ids(fitting(all, {}, 400))).toEqual(['a', 'b', 'c', 'd'])
  expect(ids(fitting(all, {}, 399))).toEqual(['a', 'b', 'c'])
  expect(ids(fitting(all, {}, 10))).toEqual(['a', 'b'])
})

test('a chosen column stays, and an optional one comes only if chosen', () => {
  expect(ids(fitting(all, { d: true }, 300))).toEqual(['a', 'b', 'd'])
  expect(ids(fitting(all, { a: false }, 400))).toEqual(['b', 'c', 'd'])
  const some = of(['a', '100px'], ['b', '100px', { isOptional: true }])
  expect(ids(fitting(some, {}, 400))).toEqual(['a'])
  expect(ids(fitting(some, { b: true }, 400))).toEqual(['a', 'b'])
  expect(ids(fitting(all, { a: false, b: false, c: false, d: false }, 400))).toHaveLength(4)
})

test('buttons are never left out', () => {
  const last = of(['a', '100px'], ['b', '100px'], ['c', '100px'], ['', '60px'])
  expect(ids(fitting(last, {}, 260))).toEqual(['a', 'b', ''])
})

test('columns share the width by what they need', () => {
  expect([{ width: 'minmax(160px, 2fr)' }, { width: '90px' }, {}].map(widthOf)).toEqual([
    160, 90, 120,
  ])
  expect(templateOf([{ width: '90px' }, {}])).toBe('minmax(0, 90fr) minmax(0, 120fr)')
})

test('a card has the first columns, those that matter, and what was chosen', () => {
  const many = of(
    ...Array.from({ length: 12 }, (_, i): [string, string, Partial<Column<null>>] => [
      `c${i}`,
      '100px',
      i === 1 ? { isMinor: true } : {},
    ]),
  )
  expect(ids(onCard(many, {}))).toEqual(['c0', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8'])
  expect(ids(onCard(many, { c1: true, c11: true, c2: false }))).toEqual([
    'c0',
    'c1',
    'c3',
    'c4',
    'c5',
    'c6',
    'c7',
    'c8',
    'c9',
    'c11',
  ])
})
