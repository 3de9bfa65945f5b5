// A dump of MySQL as tables: CREATE TABLE for the order of columns, INSERT for rows. Reads statement by
// statement, so that a dump with years of logs needs no more memory than its largest statement.
import { misuse } from '../terminal/stop.ts'
import type { Row, Tables } from './rows.ts'

/** mysqldump writes statements of up to 64 MB, whatever the table. */
const maxStatement = 256 * 1024 * 1024

export async function readMysqlDump(path: string, names: readonly string[]): Promise<Tables> {
  const wanted = new Set(names)
  const columns = new Map<string, string[]>()
  const tables = new Map<string, Row[]>()
  let isDump = false
  for await (const statement of statementsOf(Bun.file(path).stream())) {
    const created = /^\s*CREATE TABLE(?: IF NOT EXISTS)?\s+[`"]?([^`"\s(]+)/i.exec(statement)?.[1]
    if (created !== undefined) {
      isDump = true
      if (!wanted.has(created)) continue
      columns.set(created, columnsIn(statement))
      tables.set(created, tables.get(created) ?? [])
      continue
    }
    const name = /^\s*(?:INSERT|REPLACE)(?: IGNORE)? INTO\s+[`"]?([^`"\s(]+)/i.exec(statement)?.[1]
    if (name === undefined || !wanted.has(name)) continue
    isDump = true
    const rows = tables.get(name) ?? []
    tables.set(name, rows)
    for (const row of rowsIn(statement, columns.get(name) ?? [])) rows.push(row)
  }
  if (!isDump) throw misuse(`${path} is neither a database of SQLite nor a dump of MySQL`)
  return tables
}

/**
 * Quoted texts and names, comments, the end of a statement, and what lies between. None fits what may go on in the
 * next part of the file: a dash or slash may begin a comment there.
 */
const piece =
  /'[^'\\]*(?:\\[\s\S][^'\\]*)*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"|`[^`]*`|(?:--(?=\s)|#)[^\n]*\n|\/\*[\s\S]*?\*\/|;|[^'"`;\-#/]+|-(?!-\s)(?=[\s\S]{2})|\/(?!\*)(?=[\s\S])/y

const isComment = (text: string): boolean => /^(?:--|#|\/\*)/.test(text)

/** Cut at semicolons outside of quotes and comments, which are left out. */
export async function* statementsOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let unread = ''
  let statement: string[] = []
  const cut = function* (text: string): Generator<string> {
    unread += text
    piece.lastIndex = 0
    let at = 0
    for (let found = piece.exec(unread); found !== null; found = piece.exec(unread)) {
      at = piece.lastIndex
      const [token] = found
      if (token === ';') {
        yield statement.join('')
        statement = []
      } else if (!isComment(token)) statement.push(token)
    }
    // What has begun and not ended waits for the next part of the file.
    unread = unread.slice(at)
    if (unread.length > maxStatement) throw misuse('the dump has a text that does not end')
  }
  for await (const bytes of stream) yield* cut(decoder.decode(bytes, { stream: true }))
  yield* cut(`${decoder.decode()}\n;`)
  // A dump that was cut off would carry some customers and not others.
  if (unread.trim() !== '') throw misuse('the dump ends inside of a text: it is not whole')
}

/** Lines that begin with a quoted name; others are keys and constraints. */
const columnsIn = (statement: string): string[] =>
  statement
    .split('\n')
    .slice(1)
    .flatMap((line) => /^\s*[`"]([^`"]+)[`"]\s/.exec(line)?.[1] ?? [])

function* rowsIn(statement: string, known: readonly string[]): Generator<Row> {
  const head =
    /^\s*\w+(?: IGNORE)? INTO\s+[`"]?[^`"\s(]+[`"]?\s*(?:\(([^)]*)\))?\s*VALUES\s*/i.exec(statement)
  if (head === null) return
  const named = head[1]?.split(',').map((each) => each.trim().replaceAll(/[`"]/g, ''))
  const names = named ?? known
  const reader = new Values(statement, head[0].length)
  for (let values = reader.next(); values !== undefined; values = reader.next()) {
    if (values.length !== names.length)
      throw misuse('the dump has a row that does not fit its table')
    yield Object.fromEntries(names.map((name, at) => [name, values[at]]))
  }
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  0: '\0',
  Z: '\x1a',
  b: '\b',
}

class Values {
  readonly #text: string
  #at: number

  constructor(text: string, at: number) {
    this.#text = text
    this.#at = at
  }

  /** The next list in brackets. */
  next(): unknown[] | undefined {
    const open = this.#text.indexOf('(', this.#at)
    if (open === -1) return undefined
    this.#at = open + 1
    const values: unknown[] = []
    for (;;) {
      values.push(this.#value())
      while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++
      const char = this.#text[this.#at++]
      if (char === ')') return values
      if (char !== ',') throw misuse('the dump has a row that cannot be read')
    }
  }

  #value(): unknown {
    const plain = /\s*(?:_binary\s+|_utf8mb4\s+)?(?:(')|([^,')\s]+))/y
    plain.lastIndex = this.#at
    const found = plain.exec(this.#text)
    if (found === null) throw misuse('the dump has a value that cannot be read')
    this.#at = plain.lastIndex
    if (found[1] !== undefined) return this.#quoted()
    const word = found[2]!
    if (/^null$/i.test(word)) return null
    if (/^0x[0-9a-f]+$/i.test(word)) return Buffer.from(word.slice(2), 'hex').toString()
    return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(word) ? Number(word) : word
  }

  #quoted(): string {
    let value = ''
    for (;;) {
      const rest = /[^'\\]*/y
      rest.lastIndex = this.#at
      value += rest.exec(this.#text)![0]
      this.#at = rest.lastIndex
      const char = this.#text[this.#at]
      if (char === undefined) throw misuse('the dump ends inside of a text')
      const next = this.#text[this.#at + 1]
      if (char === '\\') value += escapes[next ?? ''] ?? next
      else if (next === "'") value += "'"
      else {
        this.#at++
        return value
      }
      this.#at += 2
    }
  }
}
