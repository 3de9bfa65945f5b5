// Parses an upstream's statement chunk by chunk: rows to lines, or the first problem and its
// location. Buffers no more than a chunk and the row that it splits.
import { CsvReader, type CsvRow, type Separator } from '../../lib/text/csv.ts'
import type { StatementLine } from '../../store/ledger/statements.ts'
import { type Columns, findColumns, readLine, type StatementForm } from './statement-columns.ts'

export interface Problem {
  /** Line of the file, from 1. */
  line: number
  problem: string
}

/** A larger file is more than one statement. */
const maxLines = 5_000_000
/** Maximum text to search for the header row. */
const maxHeader = 100_000

export class StatementReader {
  readonly #form: StatementForm
  readonly #mayBeEmpty: boolean
  #start = ''
  #rows: CsvReader | undefined
  #columns: Columns | undefined
  #width = 0
  /** Facts about all lines so far. */
  readonly seen: {
    lines: number
    last: number
    decimals: number
    fromMs: number
    untilMs: number
    /** Of the first line. */
    currency?: string | undefined
  } = { lines: 0, last: 0, decimals: 0, fromMs: Infinity, untilMs: -Infinity }

  constructor(form: StatementForm, mayBeEmpty = false) {
    this.#form = form
    this.#mayBeEmpty = mayBeEmpty
  }

  get columns(): Columns | undefined {
    return this.#columns
  }

  push(text: string): StatementLine[] | Problem {
    if (this.#rows !== undefined) return this.#take(this.#rows.push(text))
    this.#start += text
    if (!this.#start.includes('\n') && this.#start.length < maxHeader) return []
    return this.#open()
  }

  end(): StatementLine[] | Problem {
    const first = this.#rows === undefined ? this.#open() : []
    if ('problem' in first) return first
    const rest = this.#take(this.#rows!.end())
    if ('problem' in rest) return rest
    if (this.#columns === undefined) return { line: 1, problem: 'the statement is empty' }
    if (this.seen.lines === 0 && !this.#mayBeEmpty) {
      return { line: 2, problem: 'the statement has no lines' }
    }
    return [...first, ...rest]
  }

  #open(): StatementLine[] | Problem {
    this.#rows = new CsvReader(separatorIn(this.#start))
    const text = this.#start
    this.#start = ''
    return this.#take(this.#rows.push(text))
  }

  #take(rows: readonly (CsvRow | Problem)[]): StatementLine[] | Problem {
    const lines: StatementLine[] = []
    for (const row of rows) {
      if ('problem' in row) return row
      if (row.cells.every((cell) => cell.trim() === '')) continue
      const line = this.#columns === undefined ? this.#header(row) : this.#line(row, this.#columns)
      if (line === undefined) continue
      if ('problem' in line) return line
      lines.push(line)
    }
    return lines
  }

  #header({ line, cells }: CsvRow): Problem | undefined {
    const columns = findColumns(cells, this.#form.map)
    if (typeof columns === 'string') return { line, problem: columns }
    this.#columns = columns
    this.#width = cells.length
    return undefined
  }

  #line({ line: number, cells }: CsvRow, columns: Columns): StatementLine | Problem {
    if (cells.length !== this.#width) {
      const problem = `${cells.length} cells, where the first row has ${this.#width}`
      return { line: number, problem }
    }
    const read = readLine(cells, columns, this.#form)
    if (typeof read === 'string') return { line: number, problem: read }
    const { decimals, ...line } = read
    const { seen } = this
    if (++seen.lines > maxLines) return { line: number, problem: `more than ${maxLines} lines` }
    if (seen.lines === 1) seen.currency = line.currency
    seen.last = number
    seen.decimals = Math.max(seen.decimals, decimals)
    if (line.atMs !== undefined) {
      seen.fromMs = Math.min(seen.fromMs, line.atMs)
      seen.untilMs = Math.max(seen.untilMs, line.atMs)
    }
    return { number, ...line }
  }
}

/** The most frequent separator in the header row. */
function separatorIn(text: string): Separator {
  const first = text.slice(0, text.indexOf('\n') === -1 ? undefined : text.indexOf('\n'))
  const count = (separator: Separator) => first.split(separator).length
  const others = ([';', '\t'] as const).toSorted((a, b) => count(b) - count(a))
  return count(others[0]!) > count(',') ? others[0]! : ','
}
