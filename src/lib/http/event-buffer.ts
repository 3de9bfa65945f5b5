// Joins the packets of a stream to whole events; what is incomplete waits for the next packet.
import { endOfLastEvent } from './sse.ts'

/** Larger events are not kept. */
const usualEventBytes = 1024 * 1024
/** A blank line may begin this many bytes before a packet border. */
const borderBytes = 3

/** A view is made only where there is none: making one takes longer than forwarding some events. */
export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export const joined = (
  first: Buffer | undefined,
  second: Buffer | undefined,
): Buffer | undefined =>
  first === undefined || second === undefined ? (first ?? second) : Buffer.concat([first, second])

export class EventBuffer {
  readonly #maxEventBytes: number
  #begun: Buffer[] = []
  #begunBytes = 0

  constructor(maxEventBytes = usualEventBytes) {
    this.#maxEventBytes = maxEventBytes
  }

  get isEmpty(): boolean {
    return this.#begunBytes === 0
  }

  get isTooLong(): boolean {
    return this.#begunBytes > this.#maxEventBytes
  }

  /** The bytes of an event that is too long; they are not kept any more. */
  giveUp(): Buffer {
    const rest = this.rest()
    this.#begun = []
    this.#begunBytes = 0
    return rest
  }

  /** The bytes of an incomplete event. */
  rest(): Buffer {
    return Buffer.concat(this.#begun)
  }

  /** All complete events so far; undefined when there is none. */
  take(bytes: Buffer): Buffer | undefined {
    let all = bytes
    if (this.#begunBytes > 0) {
      if (!this.#endsAnEvent(bytes)) return this.#keep(bytes)
      all = Buffer.concat([...this.#begun, bytes])
      this.#begun = []
      this.#begunBytes = 0
    }
    const end = endOfLastEvent(all)
    // Copied: a few bytes of an event must not keep a whole network buffer alive.
    if (end < all.length) this.#keep(Buffer.from(all.subarray(end)))
    if (end === 0) return undefined
    return end === all.length ? all : all.subarray(0, end)
  }

  #keep(bytes: Buffer): undefined {
    this.#begun.push(bytes)
    this.#begunBytes += bytes.length
  }

  /** Whether a blank line lies in these bytes or across the border before them. */
  #endsAnEvent(bytes: Buffer): boolean {
    if (endOfLastEvent(bytes) > 0) return true
    const before: Buffer[] = []
    let length = 0
    for (let i = this.#begun.length - 1; i >= 0 && length < borderBytes; i--) {
      before.unshift(this.#begun[i]!)
      length += this.#begun[i]!.length
    }
    const border = Buffer.concat(before).subarray(-borderBytes)
    return endOfLastEvent(Buffer.concat([border, bytes.subarray(0, borderBytes)])) > 0
  }
}

export const noBytes = Buffer.alloc(0)
const colon = 0x3a

/** Of whole events: there is no data among them. */
export const isComment = (whole: Buffer): boolean => whole[0] === colon && !whole.includes('data:')
