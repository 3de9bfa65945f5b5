import { expect, test } from 'bun:test'
import { CsvReader, csvRow, unmarked } from './csv.ts'

test('a row is its cells, quoted where they must be', () => {
  expect(csvRow(['a', 1, null, undefined, 'x,y', 'say "hi"', 'two\nlines', true])).toBe(
    'a,1,,,"x,y","say ""hi""","two\nlines",true\r\n',
  )
})

test('what would be a formula is a text, and a number is a number', () => {
  expect(csvRow(['=1+1', '@SUM(A1)', '+49', '-cmd', '\tx', '-0.5', '12', '-3e5'])).toBe(
    "'=1+1,'@SUM(A1),'+49,'-cmd,'\tx,-0.5,12,'-3e5\r\n",
  )
})

const readAll = (text: string, step = text.length || 1) => {
  const reader = new CsvReader()
  const rows = []
  for (let at = 0; at < text.length; at += step)
    rows.push(...reader.push(text.slice(at, at + step)))
  return [...rows, ...reader.end()]
}

test('what was written is read again, however it is cut into pieces', () => {
  const words = ['', "'", "''", "'=1", "''=1", '=1', '-', '-1', '-0.5', '-3e5', '＝1', "'a", ' x ']
  const marks = [
    '"',
    '""',
    ',',
    '\r',
    '\n',
    '\r\n',
    '\t',
    'a"b',
    '"a"',
    '\r\n"',
    'é中🙂',
    '\uFEFFx',
  ]
  const rows = [words, marks, [...words, ...marks], ['one'], ['']]
  const text = rows.map((cells) => csvRow(cells)).join('')
  for (const step of [1, 2, 3, 7, 64, text.length]) {
    const read = readAll(`\uFEFF${text}`, step)
    expect(read.map((row) => ('cells' in row ? row.cells.map(unmarked) : row))).toEqual(rows)
  }
})

test('a row knows the line it begins in, whatever the cells before it hold', () => {
  const read = readAll('a,b\r\n"two\nlines","x\r\ny"\r\nc,d\ne,"f"')
  expect(read).toEqual([
    { line: 1, cells: ['a', 'b'] },
    { line: 2, cells: ['two\nlines', 'x\r\ny'] },
    { line: 5, cells: ['c', 'd'] },
    { line: 6, cells: ['e', 'f'] },
  ])
})

test('what is no table is not read, and the place is told', () => {
  const cases: [string, number, string][] = [
    ['a\r\nb\rc\r\n', 2, 'carriage return'],
    ['a\r\n"b"c\r\n', 2, 'goes on after its quotes'],
    ['a\r\n"b\r\nc', 2, 'has no end'],
    ['a\r\nb"c\r\n', 2, 'has one inside'],
    ['a\r\nb,"c"\rd\r\n', 2, 'carriage return'],
    ['a\r\nb\r', 2, 'carriage return'],
  ]
  for (const [text, line, problem] of cases) {
    for (const step of [1, text.length]) {
      const read = readAll(text, step)
      expect(read).toEqual([
        { line: 1, cells: ['a'] },
        { line, problem: expect.stringContaining(problem) },
      ])
    }
  }
  const long = new CsvReader()
  expect(long.push(`"${'x'.repeat(1_000_001)}`)).toEqual([
    { line: 1, problem: 'the row is too long' },
  ])
  expect(long.push('more')).toEqual([])
})
