// Tables on screens of every width, and colours only where they are wanted.
import { describe, expect, test } from 'bun:test'
import { paint, screenOf, toneOf } from './screen.ts'
import { layTable } from './table.ts'

const headings = [
  { title: 'at' },
  { title: 'request' },
  { title: 'model' },
  { title: 'status' },
  { title: 'error' },
  { title: 'charge', right: true as const },
]
const id = 'req_01a1e0c92449eaff43db1c7d45f1a59b'
const rows = [
  ['2026-11-15T05:42:53.762Z', id, 'a-model-with-a-very-long-name', '200', '-', '0.25 CNY'],
  [
    '2026-11-15T05:42:54.762Z',
    id,
    '一个名字很长的模型一个名字很长的模型',
    '502',
    'upstream_error',
    '-',
  ],
]
const plain = { colour: false }
const widest = (text: string) => Math.max(...text.split('\n').map((line) => Bun.stringWidth(line)))

describe('a table', () => {
  test('is whole where there is no limit', () => {
    const text = layTable(headings, rows, plain)
    for (const value of rows.flat()) expect(text).toContain(value)
    expect(text.split('\n')).toHaveLength(3)
  })

  test('keeps within every width, and ids and amounts stay whole', () => {
    for (let width = 60; width <= 140; width++) {
      const text = layTable(headings, rows, { colour: false, width })
      expect([width, widest(text) <= width]).toEqual([width, true])
      expect(text).toContain(id)
      expect(text).toContain('0.25 CNY')
    }
  })

  test('shortens texts and times first', () => {
    const text = layTable(headings, rows, { colour: false, width: 108 })
    expect(text.split('\n')).toHaveLength(3)
    expect(text).toContain('2026-11-15 05:42:53')
    expect(text).toContain('…')
  })

  test('becomes blocks where that is not enough, without what is empty', () => {
    const text = layTable(headings, rows, { colour: false, width: 60 })
    const [first, second] = text.split('\n\n')
    expect(first?.split('\n')).toHaveLength(5)
    expect(second).toContain('error    upstream_error')
    expect(first).not.toContain('error')
  })

  test('has colours that take no place', () => {
    const text = layTable(headings, rows, { colour: true })
    expect(text).toContain('\u001b[31m502\u001b[39m')
    expect(Bun.stripANSI(text)).toBe(layTable(headings, rows, plain))
  })
})

test('colours need a terminal that shows them and nobody who minds', () => {
  const terminal = { isTTY: true, columns: 80 }
  expect(screenOf(terminal, {})).toEqual({ colour: true, width: 80 })
  expect(screenOf(terminal, { NO_COLOR: '' })).toEqual({ colour: true, width: 80 })
  for (const env of [{ NO_COLOR: '1' }, { NO_COLOR: '0' }, { TERM: 'dumb' }]) {
    expect(screenOf(terminal, env)).toEqual({ colour: false, width: 80 })
  }
  expect(screenOf({ columns: 80 }, {})).toEqual({ colour: false })
  expect(screenOf({ isTTY: true, columns: 0 }, {})).toEqual({ colour: true })
  expect(paint('text', 'red', { colour: false })).toBe('text')
  expect(['200', '404', '503', 'failed', 'toString'].map(toneOf)).toEqual([
    ...['green', 'yellow', 'red', 'red', undefined],
  ] as never)
})
