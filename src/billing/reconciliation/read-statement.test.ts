// Statements in the forms upstreams use, and in bad ones: unambiguous input is read, and everything
// else is refused with its line.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { StatementLine } from '../../store/ledger/statements.ts'
import { type Problem, StatementReader } from './read-statement.ts'
import { findColumns, readTime, readZone, type StatementForm } from './statement-columns.ts'

const usual: StatementForm = { map: {}, zoneMs: 0, decimal: '.' }

/** Read in pieces of so many characters. */
function read(
  text: string,
  form: Partial<StatementForm> = {},
  pieceLength = text.length,
): StatementLine[] | Problem {
  const reader = new StatementReader({ ...usual, ...form })
  const lines: StatementLine[] = []
  for (let at = 0; at < text.length; at += pieceLength) {
    const some = reader.push(text.slice(at, at + pieceLength))
    if ('problem' in some) return some
    lines.push(...some)
  }
  const rest = reader.end()
  return 'problem' in rest ? rest : [...lines, ...rest]
}

const problemOf = (text: string, form?: Partial<StatementForm>): string => {
  const found = read(text, form)
  return 'problem' in found ? `line ${found.line}: ${found.problem}` : 'none'
}

const plain = 'request_id,time,model,total_tokens,cost\nup-1,2026-11-02T10:00:00Z,m,30,0.0012\n'
const plainLine: StatementLine = {
  number: 2,
  upstreamId: 'up-1',
  atMs: Date.UTC(2026, 10, 2, 10),
  model: 'm',
  quantity: 30,
  amountNanos: 1_200_000n,
}

describe('a statement', () => {
  test.each([
    ['as it is', plain],
    ['with a mark for UTF-8', `\uFEFF${plain}`],
    ['with carriage returns', plain.replaceAll('\n', '\r\n')],
    ['without a last line end', plain.trimEnd()],
    ['with empty lines at its end', `${plain}\n,,,,\n\n`],
    ['with quotes', plain.replace('up-1', '"up-1"').replace('cost', '"cost"')],
    ['with tabs to keep numbers as text', plain.replace('up-1', '\tup-1').replace('30', '\t30')],
    ['with semicolons', plain.replaceAll(',', ';')],
    ['with tabs between cells', plain.replaceAll(',', '\t')],
    ['with other columns', plain.replaceAll('\n', ',x\n')],
    ['with names of another spelling', plain.replace('request_id', 'Request ID')],
    ['with a currency', plain.replace('0.0012', '¥0.0012')],
    ['with a small number as spreadsheets have it', plain.replace('0.0012', '1.2E-03')],
  ])('%s is read', (_, text) => {
    expect(read(text)).toEqual([plainLine])
    for (const length of [1, 2, 7]) expect(read(text, {}, length)).toEqual([plainLine])
  })

  test('in Chinese is read', () => {
    const text = '请求ID,消费时间,模型,用量,应付金额\nup-1,2026-11-02 18:00:00,m,30,0.0012元\n'
    expect(read(text, { zoneMs: 8 * 3_600_000 })).toEqual([plainLine])
  })

  test('with decimal commas is read', () => {
    const text =
      'request_id;time;model;total_tokens;cost\nup-1;2026-11-02T10:00:00Z;m;1.030;1.234,5\n'
    const [line] = read(text, { decimal: ',' }) as StatementLine[]
    expect(line).toMatchObject({ quantity: 1030, amountNanos: 1_234_500_000_000n })
  })

  test('with thousands set apart is read', () => {
    const text = 'request_id,tokens,amount\nup-1,"1,030","-1,234.50"\n'
    expect(read(text)).toEqual([
      { number: 2, upstreamId: 'up-1', quantity: 1030, amountNanos: -1_234_500_000_000n },
    ])
  })

  test('adds up quantities that it has in several columns', () => {
    const text = 'rid,input,output,cost\nup-1,10,20,1\nup-2,,5,1\n'
    const map = { id: 'rid', quantity: 'input+output' }
    const lines = read(text, { map }) as StatementLine[]
    expect(lines.map(({ quantity }) => quantity)).toEqual([30, 5])
  })

  test('keeps quotes, commas and line ends inside its cells, and counts lines by the file', () => {
    const text = 'request_id,model,cost\n"a,""b""\nc",m,1\nup-2,m,2\n'
    const lines = read(text) as StatementLine[]
    expect(lines.map(({ number, upstreamId }) => [number, upstreamId])).toEqual([
      [2, 'a,"b"\nc'],
      [4, 'up-2'],
    ])
  })

  test('has amounts to the nano-unit, rounded half up below it', () => {
    const amounts = ['0.0000000005', '0.00000000049', '1', '', '-0.000000001', '9e9']
    const text = `request_id,cost\n${amounts.map((amount, at) => `up-${at},${amount}`).join('\n')}\n`
    const lines = read(text) as StatementLine[]
    expect(lines.map(({ amountNanos }) => amountNanos)).toEqual([
      1n,
      0n,
      1_000_000_000n,
      0n,
      -1n,
      9_000_000_000_000_000_000n,
    ])
  })
})

describe('refused is', () => {
  test.each([
    ['', 'line 1: the statement is empty'],
    ['\n\n', 'line 1: the statement is empty'],
    ['request_id,cost\n', 'line 2: the statement has no lines'],
    [
      '<html>\n<body>',
      'line 1: no column is known for the quantity or the amount; the columns are: <html>',
    ],
    [
      'a,b,c\n1,2,3\n',
      'line 1: no column is known for the quantity or the amount; the columns are: a, b, c',
    ],
    [
      'cost,b\n1,2\n',
      'line 1: no column is known for the id, the time or the model; the columns are: cost, b',
    ],
    ['request_id,cost\nup-1,1\nup-2,1,1\n', 'line 3: 3 cells, where the first row has 2'],
    ['request_id,cost\nup-1\n', 'line 2: 1 cells, where the first row has 2'],
    ['request_id,cost\nup-1,free\n', "line 2: 'free' is not an amount"],
    ['request_id,cost\nup-1,1.2.3\n', "line 2: '1.2.3' is not an amount"],
    ['request_id,cost\nup-1,"1,2"\n', "line 2: '1,2' is not an amount"],
    ['request_id,cost\nup-1,1e99\n', "line 2: '1e99' is not an amount"],
    ['request_id,cost\nup-1,0x10\n', "line 2: '0x10' is not an amount"],
    ['request_id,tokens\nup-1,many\n', 'line 2: the quantity is not a number'],
    ['request_id,tokens\nup-1,Infinity\n', 'line 2: the quantity is not a number'],
    ['time,cost\nyesterday,1\n', "line 2: 'yesterday' is no time that could be read"],
    ['time,cost\n03/04/2026,1\n', "line 2: '03/04/2026' is no time that could be read"],
    ['time,cost\n2026-02-30,1\n', "line 2: '2026-02-30' is no time that could be read"],
    ['time,cost\n,12.50\n', "line 2: '' is no time that could be read"],
    ['request_id,cost\n"up-1,1\n', 'line 2: a quoted cell has no end'],
    ['request_id,cost\nup"1,1\n', 'line 2: a cell without quotes has one inside'],
    ['request_id,cost\n"up"1,1\n', 'line 2: a quoted cell goes on after its quotes'],
    ['request_id,request id,cost\na,b,1\n', 'line 1: two columns may be the id: say which by map'],
    ['request_id,cost\na\0b,1\n', 'line 2: an id or model has a NUL in it'],
    [`request_id,cost\n${'x'.repeat(501)},1\n`, 'line 2: an id or model is too long'],
    [`request_id,cost\n"${'x'.repeat(1_000_001)}`, 'line 2: the row is too long'],
  ])('%p', (text, problem) => {
    expect(problemOf(text)).toBe(problem)
  })

  test('a column that is not there, or there twice', () => {
    expect(findColumns(['a', 'b'], { id: 'c' })).toBe("there is no column 'c'; there are: a, b")
    expect(findColumns(['a', 'a'], { id: 'a' })).toBe("two columns are called 'a'")
  })
})

test('what is not a table never takes the reader down', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.nat(20), (text, length) => {
      const found = read(`request_id,time,cost\n${text}`, {}, length + 1)
      if (!('problem' in found))
        for (const { amountNanos } of found) expect(amountNanos).toBeDefined()
    }),
  )
})

describe('times', () => {
  const at = Date.UTC(2026, 10, 2, 10, 30, 5)
  const day = Date.UTC(2026, 10, 2)
  test.each([
    ['2026-11-02T10:30:05Z', at],
    ['2026-11-02T18:30:05+08:00', at],
    ['2026-11-02 10:30:05', at],
    ['2026-11-02 10:30:05.250', at + 250],
    ['2026/11/2 10:30', at - 5_000],
    ['2026-11-02', day],
    ['20261102', day],
    ['1793615405', at],
    ['1793615405000', at],
  ])('%s', (text, ms) => {
    expect(readTime(text, { zoneMs: 0 })).toBe(ms)
  })

  test('without a zone are of the one that is said', () => {
    const zoneMs = readZone('+08:00')!
    expect(readTime('2026-11-02 18:30:05', { zoneMs })).toBe(at)
    expect(readTime('2026-11-02T10:30:05Z', { zoneMs })).toBe(at)
    expect(readTime('1793615405', { zoneMs })).toBe(at)
  })

  test('with the year at the end are read as they are said to be meant', () => {
    expect(readTime('02/11/2026', { zoneMs: 0, dates: 'dmy' })).toBe(day)
    expect(readTime('11/02/2026 10:30', { zoneMs: 0, dates: 'mdy' })).toBe(at - 5_000)
    expect(readTime('13/02/2026', { zoneMs: 0, dates: 'mdy' })).toBeUndefined()
  })

  test.each(['+8', '8', '+25:00', 'CST', ''])('%p is no zone', (text) => {
    expect(readZone(text)).toBeUndefined()
  })
})
