// Decodes chunked transfer encoding, however the bytes are split. Extensions and trailers are
// skipped. Knows nothing of heads, connections or readers.

import { HttpError } from './error.ts'

const MAX_LINE_BYTES = 16 * 1024
const MAX_TRAILER_BYTES = 64 * 1024
const CR = 13
const LF = 10
const SIZE_LINE = /^([0-9a-fA-F]{1,16})[ \t]*(?:;[^\r\n\0]*)?\r\n$/
const TRAILER_LINE = /^[!#$%&'*+\-.^_`|~\w]+:[^\r\n\0]*\r\n$/

/** Returns false when no more bytes are wanted. */
type Sink = (bytes: Buffer) => boolean

export class ChunkedBody {
  readonly #sink: Sink
  #expect: 'size' | 'data' | 'dataEnd' | 'trailer' = 'size'
  #leftBytes = 0
  #line = ''
  #trailerBytes = 0

  constructor(sink: Sink) {
    this.#sink = sink
  }

  /**
   * The offset just after the body's end, or -1 while it continues; throws on bad framing. Chunks
   * that arrived together are passed on together: their bytes are moved over the framing between
   * them.
   */
  feed(data: Buffer, start: number): number {
    let at = start
    let from = -1
    let to = -1
    let over = false
    while (at < data.length && !over) {
      if (this.#expect === 'data') {
        const end = Math.min(data.length, at + this.#leftBytes)
        this.#leftBytes -= end - at
        if (this.#leftBytes === 0) this.#expect = 'dataEnd'
        if (from === -1) from = to = at
        if (to !== at) data.copyWithin(to, at, end)
        to += end - at
        at = end
        continue
      }
      const behind = this.#plainFraming(data, at)
      if (behind !== -1) {
        at = behind
        continue
      }
      const lineEnd = data.indexOf(LF, at)
      const end = lineEnd < 0 ? data.length : lineEnd + 1
      if (this.#line.length + end - at > MAX_LINE_BYTES) {
        throw new HttpError('invalid', 'the answer has an overlong line in its body framing')
      }
      this.#line += data.toString('latin1', at, end)
      at = end
      if (lineEnd < 0) break
      const line = this.#line
      this.#line = ''
      over = this.#takeLine(line)
    }
    if (from !== -1 && !this.#sink(data.subarray(from, to))) return -1
    return over ? at : -1
  }

  /** Fast path: reads the usual line ends and sizes from the bytes; -1 means use the slow path. */
  #plainFraming(data: Buffer, at: number): number {
    if (this.#line !== '' || this.#expect === 'trailer') return -1
    if (this.#expect === 'dataEnd') {
      if (data[at] !== CR || data[at + 1] !== LF) return -1
      this.#expect = 'size'
      return at + 2
    }
    let size = 0
    let i = at
    for (let digit = hexDigit(data[i]); digit !== -1 && i - at < 8; digit = hexDigit(data[++i])) {
      size = size * 16 + digit
    }
    if (i === at || size === 0 || data[i] !== CR || data[i + 1] !== LF) return -1
    this.#leftBytes = size
    this.#expect = 'data'
    return i + 2
  }

  /** True when the line ends the body. */
  #takeLine(line: string): boolean {
    if (this.#expect === 'size') {
      this.#leftBytes = chunkSize(line)
      this.#expect = this.#leftBytes === 0 ? 'trailer' : 'data'
      return false
    }
    if (line === '\r\n') {
      if (this.#expect === 'trailer') return true
      this.#expect = 'size'
      return false
    }
    this.#trailerBytes += line.length
    if (this.#expect === 'dataEnd' || !TRAILER_LINE.test(line)) {
      throw new HttpError('invalid', 'the answer has a malformed chunk')
    }
    if (this.#trailerBytes > MAX_TRAILER_BYTES) {
      throw new HttpError('invalid', 'the answer has too large a trailer')
    }
    return false
  }
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 48 && byte <= 57) return byte - 48
  const letter = byte | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}

function chunkSize(line: string): number {
  const parts = SIZE_LINE.exec(line)
  const size = parts === null ? Number.NaN : Number.parseInt(parts[1] ?? '', 16)
  if (!Number.isSafeInteger(size)) throw new HttpError('invalid', 'the answer has a bad chunk size')
  return size
}
