// Spreadsheet tables (CSV): rows to text, and text to rows. A cell that would be read as a formula
// is marked as text on output, and the mark is removed on input. Numbers stay numbers.

/** Also the full-width forms, which some spreadsheets treat like the plain ones. */
const isFormula = /^[=+\-@\t\r\n＝＋－＠]/
/** Such a text would read like a marked one. */
const looksMarked = /^'['=+\-@\t\r\n＝＋－＠]/
const isNumber = /^-?\d+(?:\.\d+)?$/
const needsQuotes = /[",\r\n]/

export const csvRow = (cells: readonly unknown[]): string => `${cells.map(cell).join(',')}\r\n`

function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const plain = String(value)
  const isMarked = (isFormula.test(plain) && !isNumber.test(plain)) || looksMarked.test(plain)
  const text = isMarked ? `'${plain}` : plain
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The text a cell was made from: without the mark, if it has one. */
export const unmarked = (text: string): string => (looksMarked.test(text) ? text.slice(1) : text)

export interface CsvRow {
  /** Where it begins, the first line being 1. */
  line: number
  cells: string[]
}

/** What is malformed, and where. */
interface CsvProblem {
  line: number
  problem: string
}

/** The cell separator; some countries use the comma in numbers. */
export type Separator = ',' | ';' | '\t'

/** Maximum row length. */
const maxRowLength = 1_000_000

/**
 * Reads a table that arrives in chunks, strictly by RFC 4180, except that a line may end without a
 * carriage return and the file may begin with a UTF-8 byte order mark. A problem is the last item
 * it returns. Text after the last complete row is buffered.
 */
export class CsvReader {
  #text = ''
  #line = 1
  #isFirst = true
  #failed = false
  readonly #separator: Separator

  constructor(separator: Separator = ',') {
    this.#separator = separator
  }

  /** Returns the rows that are complete now. */
  push(text: string): (CsvRow | CsvProblem)[] {
    if (this.#failed) return []
    this.#text += text
    if (this.#isFirst && this.#text !== '') {
      this.#isFirst = false
      if (this.#text.startsWith('\uFEFF')) this.#text = this.#text.slice(1)
    }
    const found = this.#read(false)
    if (this.#text.length <= maxRowLength || this.#failed) return found
    this.#failed = true
    return [...found, { line: this.#line, problem: 'the row is too long' }]
  }

  /** Returns the rest: a row without a line end. */
  end(): (CsvRow | CsvProblem)[] {
    return this.#failed || this.#text === '' ? [] : this.#read(true)
  }

  #read(isAll: boolean): (CsvRow | CsvProblem)[] {
    const found: (CsvRow | CsvProblem)[] = []
    const text = this.#text
    let at = 0
    while (at < text.length) {
      const row = readRow(text, at, isAll, this.#separator)
      if (row === undefined) break
      if (typeof row === 'string') {
        this.#failed = true
        found.push({ line: this.#line, problem: row })
        break
      }
      found.push({ line: this.#line, cells: row.cells })
      this.#line += row.lines
      at = row.next
    }
    this.#text = text.slice(at)
    return found
  }
}

interface ReadRow {
  cells: string[]
  next: number
  lines: number
}

/** Undefined: the row continues in text that has not arrived. A string is the problem. */
function readRow(
  text: string,
  at: number,
  isAll: boolean,
  separator: Separator,
): ReadRow | string | undefined {
  const found = text.indexOf('\n', at)
  if (found < 0 && !isAll) return undefined
  const end = found < 0 ? text.length : found
  const line = text.slice(at, end)
  if (line.includes('"')) return readQuoted(text, at, isAll, separator)
  const plain = found >= 0 && line.endsWith('\r') ? line.slice(0, -1) : line
  if (plain.includes('\r')) return strayReturn
  return { cells: plain.split(separator), next: end + 1, lines: 1 }
}

const strayReturn = 'a carriage return is not followed by a line feed'

/** A row with quotes, cell by cell: quoted cells may contain line ends. */
function readQuoted(
  text: string,
  from: number,
  isAll: boolean,
  separator: Separator,
): ReadRow | string | undefined {
  const cells: string[] = []
  let lines = 1
  let at = from
  for (;;) {
    const isQuoted = text[at] === '"'
    const cell = isQuoted ? quotedCell(text, at, isAll) : plainCell(text, at, isAll, separator)
    if (cell === undefined || typeof cell === 'string') return cell
    cells.push(cell.value)
    lines += cell.lines
    at = cell.next
    if (at >= text.length) return isAll ? { cells, next: at, lines } : undefined
    if (text[at] === separator) at++
    else if (text[at] === '\n') return { cells, next: at + 1, lines }
    else if (text.startsWith('\r\n', at)) return { cells, next: at + 2, lines }
    else if (text[at] === '\r' && at + 1 === text.length && !isAll) return undefined
    else return text[at] === '\r' ? strayReturn : 'a quoted cell goes on after its quotes'
  }
}

interface ReadCell {
  value: string
  /** Position after it. */
  next: number
  lines: number
}

function quotedCell(text: string, at: number, isAll: boolean): ReadCell | string | undefined {
  let end = at
  do {
    end = text.indexOf('"', end + 1)
    if (end < 0) return isAll ? 'a quoted cell has no end' : undefined
    // The last character received may be half of a doubled quote.
    if (end + 1 === text.length && !isAll) return undefined
  } while (text[end + 1] === '"' && ++end)
  const value = text.slice(at + 1, end).replaceAll('""', '"')
  return { value, next: end + 1, lines: value.split('\n').length - 1 }
}

const cellEnds = { ',': /[,\r\n]/g, ';': /[;\r\n]/g, '\t': /[\t\r\n]/g } as const

function plainCell(
  text: string,
  at: number,
  isAll: boolean,
  separator: Separator,
): ReadCell | string | undefined {
  const cellEnd = cellEnds[separator]
  cellEnd.lastIndex = at
  const end = cellEnd.exec(text)?.index ?? text.length
  if (end === text.length && !isAll) return undefined
  const value = text.slice(at, end)
  if (value.includes('"')) return 'a cell without quotes has one inside'
  return { value, next: end, lines: 0 }
}
