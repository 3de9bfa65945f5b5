// A multipart body as a stream: its parts one after the other, the content of a file in pieces as it arrives.
// For uploads that are larger than memory should hold.
import { boundaryIn, type PartHead, partHead } from './multipart.ts'

export interface StreamPart extends PartHead {
  /** To be read before the next part. */
  content: AsyncIterable<Uint8Array>
}

/** The body is not a complete form, or did not arrive in time. */
export class BadForm extends Error {
  override name = 'BadForm'
}

const maxHead = 16 * 1024
const blank = Buffer.from('\r\n\r\n')
const none = Buffer.alloc(0)

export class StreamForm {
  readonly #source: AsyncIterator<Uint8Array>
  readonly #divider: Buffer
  /** As if a line ended before the first boundary. */
  #held: Buffer = Buffer.from('\r\n')
  #isPartOpen = true

  constructor(source: AsyncIterable<Uint8Array>, contentType: string) {
    const boundary = boundaryIn(contentType)
    if (boundary === undefined) throw new BadForm('the form names no boundary')
    this.#source = source[Symbol.asyncIterator]()
    this.#divider = Buffer.from(`\r\n--${boundary}`)
  }

  /** Undefined at the end of the form. What is left of the part before is skipped. */
  async next(): Promise<StreamPart | undefined> {
    if (this.#isPartOpen) for await (const _ of this.#content());
    await this.#fill(2)
    if (this.#held[0] === 0x2d && this.#held[1] === 0x2d) return undefined
    const end = await this.#find(blank, maxHead)
    const head = partHead(this.#held.toString('utf8', 0, end))
    if (head === undefined) throw new BadForm('a part of the form has no name')
    this.#held = this.#held.subarray(end + blank.length)
    this.#isPartOpen = true
    // An empty part: its divider follows the blank line directly.
    return { ...head, content: this.#content() }
  }

  /** Up to the next divider, which is taken. */
  async *#content(): AsyncGenerator<Uint8Array> {
    const divider = this.#divider
    while (this.#isPartOpen) {
      const at = this.#held.indexOf(divider)
      const end = at === -1 ? Math.max(0, this.#held.length - divider.length + 1) : at
      const piece = this.#held.subarray(0, end)
      this.#held = this.#held.subarray(at === -1 ? end : at + divider.length)
      this.#isPartOpen = at === -1
      if (piece.length > 0) yield piece
      if (at === -1) yield* this.#readOn()
    }
  }

  /** The end of a piece may be the start of a divider: only there the next one is joined to it, not as a whole. */
  async *#readOn(): AsyncGenerator<Uint8Array> {
    const held = this.#held
    this.#held = none
    await this.#read()
    if (held.length === 0) return
    const next = this.#held
    const seam = Buffer.concat([held, next.subarray(0, this.#divider.length)])
    if (next.length <= this.#divider.length || seam.includes(this.#divider)) {
      this.#held = Buffer.concat([held, next])
      return
    }
    // No divider begins in what was held.
    yield held
  }

  async #find(wanted: Buffer, max: number): Promise<number> {
    for (;;) {
      const at = this.#held.indexOf(wanted)
      if (at !== -1 && at <= max) return at
      if (this.#held.length > max) throw new BadForm('the head of a part is too long')
      await this.#read()
    }
  }

  async #fill(bytes: number): Promise<void> {
    while (this.#held.length < bytes) await this.#read()
  }

  async #read(): Promise<void> {
    const { done, value } = await this.#source.next()
    if (done) throw new BadForm('the body is not a complete multipart form')
    // Not copied, where nothing is held.
    const { buffer, byteOffset, byteLength } = value
    const read = Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
    this.#held = this.#held.length === 0 ? read : Buffer.concat([this.#held, read])
  }
}
