// Parses the head of an HTTP/1.x reply: status, header look-up, and body framing. Strict where
// leniency lets two parsers disagree about where a body ends. Knows no sockets.

import { HttpError } from './error.ts'

const MAX_HEADERS = 300
const STATUS_LINE = /^HTTP\/1\.[01] [1-9]\d\d[ \r]/
/** By code: whether a header's name may have this character. */
const NAME_CODES = new Uint8Array(128)
for (const letter of "!#$%&'*+-.^_`|~") NAME_CODES[letter.charCodeAt(0)] = 1
for (let code = 0; code < 128; code++) {
  if (/\w/.test(String.fromCharCode(code))) NAME_CODES[code] = 1
}
const MINOR_AT = 'HTTP/1.'.length
const STATUS_AT = MINOR_AT + 2
const STATUS_END = STATUS_AT + 3
const LENGTH = /^\d{1,15}$/
const CLOSE_TOKEN = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i
const TIMEOUT_PARAMETER = /(?:^|[,; \t])timeout[ \t]*=[ \t]*"?(\d{1,9})/i

/** A body of `chunked` or `untilClose` has no known length. */
type Framing = number | 'chunked' | 'untilClose'

export class HttpHead {
  readonly status: number
  readonly #minor: number
  readonly #text: string
  /** Start of each name, its colon, and the end of its value. */
  readonly #lines: number[] = []

  /** `text` is the head as latin1, with the line end of its last line and without the empty line. */
  constructor(text: string) {
    const end = text.indexOf('\r\n')
    const isLine = text.indexOf('\r') === end && text.indexOf('\n') === end + 1
    if (!STATUS_LINE.test(text) || !isLine) {
      throw new HttpError('invalid', 'the answer has no valid status line')
    }
    this.status = Number(text.slice(STATUS_AT, STATUS_END))
    this.#minor = text.charCodeAt(MINOR_AT) === 0x31 ? 1 : 0
    this.#text = text
    this.#readLines(end + 2)
  }

  #readLines(start: number): void {
    const text = this.#text
    if (text.includes('\0')) throw malformed()
    for (let at = start; at < text.length; ) {
      let colon = at
      while (NAME_CODES[text.charCodeAt(colon)] === 1) colon++
      const end = text.indexOf('\r', colon)
      const isLine = colon > at && text.charCodeAt(colon) === 0x3a && end !== -1
      if (!isLine || text.indexOf('\n', colon) !== end + 1) throw malformed()
      this.#lines.push(at, colon, end)
      at = end + 2
    }
    if (this.#lines.length > 3 * MAX_HEADERS) {
      throw new HttpError('invalid', 'the answer has too many headers')
    }
  }

  /** `name` in lower case; values of repeated headers are joined by a comma. */
  header(name: string): string | undefined {
    const lines = this.#lines
    let value: string | undefined
    for (let i = 0; i < lines.length; i += 3) {
      if (!this.#isNamed(lines[i]!, lines[i + 1]!, name)) continue
      const found = trimmed(this.#text, lines[i + 1]! + 1, lines[i + 2]!)
      value = value === undefined ? found : `${value}, ${found}`
    }
    return value
  }

  #isNamed(start: number, end: number, name: string): boolean {
    if (end - start !== name.length) return false
    for (let i = 0; i < name.length; i++) {
      // Capitals differ from small letters in this bit; a hyphen has it, too.
      if ((this.#text.charCodeAt(start + i) | 0x20) !== name.charCodeAt(i)) return false
    }
    return true
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

/** White space around a value is no part of it. */
function trimmed(text: string, from: number, to: number): string {
  let [start, end] = [from, to]
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x09

const malformed = () => new HttpError('invalid', 'the answer has a malformed header')

function bodyLength(value: string): number {
  return LENGTH.test(value) ? Number(value) : repeatedLength(value)
}

function repeatedLength(value: string): number {
  const all = value.split(',').map((each) => each.trim())
  const first = all[0] ?? ''
  if (!LENGTH.test(first) || all.some((each) => each !== first)) {
    throw new HttpError('invalid', 'the answer has no single valid body length')
  }
  return Number(first)
}
