// Takes the chunked framing off a body, however the bytes are split. Extensions and trailers are
// read over, never kept. Knows nothing of heads, connections or readers.

import { HttpError } from './http-error.ts'

const MAX_LINE_BYTES = 16 * 1024
const MAX_TRAILER_BYTES = 64 * 1024
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

  /** The offset just behind the body's end, or -1 while it goes on; throws on bad framing. */
  feed(data: Buffer, start: number): number {
    let at = start
    while (at < data.length) {
      if (this.#expect === 'data') {
        const end = Math.min(data.length, at + this.#leftBytes)
        this.#leftBytes -= end - at
        if (this.#leftBytes === 0) this.#expect = 'dataEnd'
        if (!this.#sink(data.subarray(at, end))) return -1
        at = end
        continue
      }
      const lineEnd = data.indexOf(LF, at)
      const end = lineEnd < 0 ? data.length : lineEnd + 1
      if (this.#line.length + end - at > MAX_LINE_BYTES) {
        throw new HttpError('invalid', 'the answer has an overlong line in its body framing')
      }
      this.#line += data.latin1Slice(at, end)
      at = end
      if (lineEnd < 0) return -1
      const line = this.#line
      this.#line = ''
      if (this.#takeLine(line)) return at
    }
    return -1
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

function chunkSize(line: string): number {
  const parts = SIZE_LINE.exec(line)
  const size = parts === null ? Number.NaN : Number.parseInt(parts[1] ?? '', 16)
  if (!Number.isSafeInteger(size)) throw new HttpError('invalid', 'the answer has a bad chunk size')
  return size
}
