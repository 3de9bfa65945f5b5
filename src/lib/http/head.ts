// Parses the head of an HTTP/1.x reply: status, header look-up, and body framing. Strict where
// leniency lets two parsers disagree about where a body ends. Knows no sockets.

import { HttpError } from './error.ts'

const MAX_HEADERS = 300
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\r\n\0]*)?\r\n/
const HEADER_LINE = /[!#$%&'*+\-.^_`|~\w]+:[^\r\n\0]*\r\n/y
const LENGTH = /^\d{1,15}$/
const CLOSE_TOKEN = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i
const TIMEOUT_PARAMETER = /(?:^|[,; \t])timeout[ \t]*=[ \t]*"?(\d{1,9})/i

/** A body of `chunked` or `untilClose` has no known length. */
type Framing = number | 'chunked' | 'untilClose'

export class HttpHead {
  readonly status: number
  readonly #minor: number
  readonly #text: string
  readonly #lower: string

  /** `text` is the head as latin1, with the line end of its last line and without the empty line. */
  constructor(text: string) {
    const start = STATUS_LINE.exec(text)
    if (start === null) throw new HttpError('invalid', 'the answer has no valid status line')
    this.status = Number(start[2])
    this.#minor = start[1] === '1' ? 1 : 0
    this.#text = text
    // Lower-casing latin1 keeps every position, so offsets found here hold in the original.
    this.#lower = text.toLowerCase()
    checkLines(text, start[0].length)
  }

  /** `name` in lower case; values of repeated headers are joined by a comma. */
  header(name: string): string | undefined {
    const wanted = `\r\n${name}:`
    let at = this.#lower.indexOf(wanted)
    if (at < 0) return undefined
    let value = this.#valueAt(at + wanted.length)
    for (;;) {
      at = this.#lower.indexOf(wanted, at + wanted.length)
      if (at < 0) return value
      value += `, ${this.#valueAt(at + wanted.length)}`
    }
  }

  #valueAt(start: number): string {
    return this.#text.slice(start, this.#text.indexOf('\r\n', start)).trim()
  }

  framing(): Framing {
    const coding = this.header('transfer-encoding')
    const length = this.header('content-length')
    if (coding !== undefined) {
      if (length !== undefined) throw new HttpError('invalid', 'the answer has two body framings')
      if (this.#minor === 0 || coding.toLowerCase() !== 'chunked') {
        throw new HttpError('invalid', 'the answer has an unknown transfer coding')
      }
    }
    const declared = length === undefined ? undefined : bodyLength(length)
    if (this.status === 204 || this.status === 304) return 0
    return coding !== undefined ? 'chunked' : (declared ?? 'untilClose')
  }

  /** How long the connection may stay idle; 0 when it must not be reused. */
  keepMs(maxMs: number): number {
    if (this.#minor === 0) return 0
    const connection = this.header('connection')
    if (connection !== undefined && CLOSE_TOKEN.test(connection)) return 0
    const promised = this.header('keep-alive')
    const seconds = promised === undefined ? null : TIMEOUT_PARAMETER.exec(promised)
    if (seconds === null) return maxMs
    // Half a second less than promised: a call must not race with the server's own close.
    return Math.max(0, Math.min(maxMs, Number(seconds[1]) * 1000 - 500))
  }
}

function checkLines(text: string, start: number): void {
  let at = start
  let count = 0
  while (at < text.length) {
    HEADER_LINE.lastIndex = at
    if (!HEADER_LINE.test(text)) throw new HttpError('invalid', 'the answer has a malformed header')
    at = HEADER_LINE.lastIndex
    count += 1
    if (count > MAX_HEADERS) throw new HttpError('invalid', 'the answer has too many headers')
  }
}

function bodyLength(value: string): number {
  if (LENGTH.test(value)) return Number(value)
  const all = value.split(',').map((each) => each.trim())
  const first = all[0] ?? ''
  if (!LENGTH.test(first) || all.some((each) => each !== first)) {
    throw new HttpError('invalid', 'the answer has no single valid body length')
  }
  return Number(first)
}
