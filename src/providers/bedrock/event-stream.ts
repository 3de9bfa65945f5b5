// The binary event stream of AWS: frames of headers and a payload, each with two checksums, which cross packets
// as they like. Becomes server-sent events on the way, so that everything behind it reads one kind of stream.
import { crc32 } from 'node:zlib'
import type { BodyReader, HttpAnswer } from '../../contract/http.ts'
import { HttpError } from '../../lib/http/error.ts'

/** Of one frame. AWS sends far smaller ones. */
const maxFrameBytes = 16 * 1024 * 1024
const preludeBytes = 12
const checksumBytes = 4
const stringType = 7

export interface Frame {
  headers: Readonly<Record<string, string>>
  payload: string
}

/** A frame as server-sent events; empty: none. */
export type WriteFrame = (frame: Frame) => string

class FrameReader {
  /** What has come of the next frame: the first bytes of this. It grows by doubling, so that each byte of a long
   * frame is copied a few times and not once for every packet. */
  #held: Buffer = Buffer.alloc(0)
  #size = 0
  /** Of the next frame, as far as is known. */
  #needed = preludeBytes

  get isBetween(): boolean {
    return this.#size === 0
  }

  /** All frames that are whole now. Throws where they are not what they say. */
  take(bytes: Uint8Array): Frame[] {
    const given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    // Copied if it waits: a few bytes must not keep a whole network buffer alive.
    if (this.#size > 0 || given.length < this.#needed) this.#hold(given)
    if (this.#size > 0 && this.#size < this.#needed) return []
    let rest = this.#size > 0 ? this.#held.subarray(0, this.#size) : given
    const frames: Frame[] = []
    this.#needed = preludeBytes
    while (rest.length >= preludeBytes) {
      const total = rest.readUInt32BE(0)
      const isSound = rest.readUInt32BE(8) === crc32(rest.subarray(0, 8))
      if (!isSound || total < preludeBytes + checksumBytes || total > maxFrameBytes) throw spoiled()
      this.#needed = total
      if (rest.length < total) break
      frames.push(frameIn(rest.subarray(0, total)))
      rest = rest.subarray(total)
      this.#needed = preludeBytes
    }
    if (frames.length > 0 || this.#size === 0) {
      this.#size = 0
      this.#held = Buffer.alloc(0)
      if (rest.length > 0) this.#hold(rest)
    }
    return frames
  }

  #hold(bytes: Buffer): void {
    const size = this.#size + bytes.length
    if (size > this.#held.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.#held.length))
      this.#held.copy(grown, 0, 0, this.#size)
      this.#held = grown
    }
    bytes.copy(this.#held, this.#size)
    this.#size = size
  }
}

function frameIn(bytes: Buffer): Frame {
  const end = bytes.length - checksumBytes
  if (bytes.readUInt32BE(end) !== crc32(bytes.subarray(0, end))) throw spoiled()
  const payloadAt = preludeBytes + bytes.readUInt32BE(4)
  if (payloadAt > end) throw spoiled()
  return { headers: headersIn(bytes, payloadAt), payload: bytes.toString('utf8', payloadAt, end) }
}

/** Bytes of the value by type: true, false, byte, short, int, long; 6 and 7 have a length; time, uuid. */
const valueBytes: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16]

/** Those that are strings, as all are that tell what a frame is. */
function headersIn(bytes: Buffer, end: number): Record<string, string> {
  const headers: Record<string, string> = {}
  let at = preludeBytes
  while (at < end) {
    const nameEnd = at + 1 + bytes[at]!
    const type = bytes[nameEnd] ?? -1
    const fixed = valueBytes[type]
    if (nameEnd >= end || type >= valueBytes.length || type < 0) throw spoiled()
    const from = nameEnd + 1 + (fixed === undefined ? 2 : 0)
    if (from > end) throw spoiled()
    const to = from + (fixed ?? bytes.readUInt16BE(nameEnd + 1))
    if (to > end) throw spoiled()
    if (type === stringType)
      headers[bytes.toString('utf8', at + 1, nameEnd)] = bytes.toString('utf8', from, to)
    at = to
  }
  return headers
}

const spoiled = (): HttpError =>
  new HttpError('invalid', 'the upstream sent an event stream that is broken')

/** An answer whose body is such a stream, as one of server-sent events. */
export class EventStreamAnswer implements HttpAnswer {
  readonly #answer: HttpAnswer
  readonly #write: WriteFrame
  readonly #frames = new FrameReader()

  constructor(answer: HttpAnswer, write: WriteFrame) {
    this.#answer = answer
    this.#write = write
  }

  get status(): number {
    return this.#answer.status
  }

  header(name: string): string | undefined {
    return name === 'content-type' ? 'text/event-stream' : this.#answer.header(name)
  }

  #events(bytes: Uint8Array): Buffer | undefined {
    const text = this.#frames.take(bytes).map(this.#write).join('')
    return text === '' ? undefined : Buffer.from(text)
  }

  async read(): Promise<Uint8Array | undefined> {
    for (;;) {
      const bytes = await this.#answer.read()
      if (bytes === undefined) {
        if (!this.#frames.isBetween) throw cut()
        return undefined
      }
      const events = this.#events(bytes)
      if (events !== undefined) return events
    }
  }

  pipe(reader: BodyReader): void {
    this.#answer.pipe({
      take: (bytes) => {
        try {
          const events = this.#events(bytes)
          return events === undefined || reader.take(events)
        } catch (error) {
          this.#answer.cancel()
          reader.fail(error as Error)
          return false
        }
      },
      end: () => (this.#frames.isBetween ? reader.end() : reader.fail(cut())),
      fail: (error) => reader.fail(error),
    })
  }

  async text(maxBytes: number, progress?: { touch(): void }): Promise<string | undefined>
  async text(
    maxBytes: number,
    progress: { touch(): void },
    _longBytes: number,
  ): Promise<string | undefined>
  async text(maxBytes: number, progress?: { touch(): void }): Promise<string | undefined> {
    const parts: Uint8Array[] = []
    let size = 0
    for (;;) {
      const bytes = await this.read()
      if (bytes === undefined) return Buffer.concat(parts).toString()
      progress?.touch()
      size += bytes.length
      if (size > maxBytes) return undefined
      parts.push(bytes)
    }
  }

  resume(): void {
    this.#answer.resume()
  }

  cancel(): void {
    this.#answer.cancel()
  }

  release(): void {
    this.#answer.release()
  }

  expectTrickle(): void {
    this.#answer.expectTrickle()
  }
}

const cut = (): HttpError => new HttpError('broken', 'the upstream ended inside of a frame')
