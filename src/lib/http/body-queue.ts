// The bytes of a body between its connection and its reader: they wait to be read, are gathered to a
// text, or go to a reader as they arrive. Knows nothing of framing.

import { HttpError } from './error.ts'

const PAUSE_ABOVE_BYTES = 256 * 1024
const BYTE_ORDER_MARK = 0xfeff

/** Takes a body as it arrives. It gets `end` or `fail` once, unless the body was released. */
export interface BodyReader {
  /** False: nothing more for now; the body is to be resumed. */
  take(bytes: Uint8Array): boolean
  end(): void
  fail(error: Error): void
}

/** How a queue slows its connection down. */
interface Flow {
  stopReading(): void
  startReading(): void
}

/** As text; a long one as bytes. */
type WholeBody = string | Uint8Array<ArrayBuffer>

export class BodyQueue {
  readonly #flow: Flow
  #queue: Buffer[] = []
  #queuedBytes = 0
  #maxQueuedBytes = PAUSE_ABOVE_BYTES
  #isPaused = false
  #isReleased = false
  #isDone = false
  #error: HttpError | undefined
  #waiting: PromiseWithResolvers<Uint8Array | undefined> | undefined
  #reader: BodyReader | undefined
  /** The reader takes no bytes for now. */
  #isFull = false
  #text: PromiseWithResolvers<WholeBody | undefined> | undefined
  #maxTextBytes = 0
  #longBytes = 0
  /** Of a long body whose length was announced. Its memory is taken as it comes, not all at its end. */
  #whole: Buffer<ArrayBuffer> | undefined

  constructor(flow: Flow) {
    this.#flow = flow
  }

  get ended(): boolean {
    return this.#isDone || this.#error !== undefined
  }

  /** One unread chunk is enough: hundreds of slow readers must not add up. */
  expectTrickle(): void {
    this.#maxQueuedBytes = 0
  }

  /** False when the body is larger than the text may be. */
  push(bytes: Buffer): boolean {
    if (this.ended || this.#isReleased) return true
    const waiting = this.#waiting
    if (this.#reader !== undefined && !this.#isFull) this.#give(bytes)
    else if (waiting !== undefined) {
      this.#waiting = undefined
      waiting.resolve(bytes)
    } else {
      if (this.#whole === undefined) this.#queue.push(bytes)
      else bytes.copy(this.#whole, this.#queuedBytes)
      this.#queuedBytes += bytes.length
      if (this.#text !== undefined) return this.#queuedBytes <= this.#maxTextBytes
      if (this.#queuedBytes > this.#maxQueuedBytes) this.#pause()
    }
    return true
  }

  /** Whether the reader takes more. It may release or cancel the body meanwhile. */
  #give(bytes: Buffer): boolean {
    if (this.#reader?.take(bytes) !== false) return true
    if (this.#reader === undefined) return false
    this.#isFull = true
    if (!this.ended) this.#pause()
    return false
  }

  /** All bytes have come. */
  complete(): void {
    this.#isDone = true
    this.#waiting?.resolve(undefined)
    this.#text?.resolve(this.#takeText())
    if (this.#queue.length === 0 && !this.#isFull) this.#endReader()
  }

  fail(error: HttpError): void {
    this.#error = error
    // There may be no listener left; a rejection must not end the process.
    this.#waiting?.promise.catch(ignore)
    this.#waiting?.reject(error)
    this.#text?.promise.catch(ignore)
    this.#text?.reject(error)
    if (this.#queue.length === 0) this.#endReader()
  }

  /** The text is larger than it may be. */
  giveUpText(): void {
    this.#text?.resolve(undefined)
    this.#text = undefined
  }

  /** What waits is dropped, and what comes is not kept. */
  release(): void {
    this.#reader = undefined
    this.#isReleased = true
    this.#clear()
    this.resume()
  }

  /** The same for a body that has failed or ends with its cancellation. */
  cancel(): void {
    this.#clear()
    this.#error ??= afterTheEnd
    this.#endReader()
  }

  #clear(): void {
    this.#queue = []
    this.#queuedBytes = 0
    this.#whole = undefined
  }

  #pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#flow.stopReading()
  }

  unpause(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#flow.startReading()
  }

  /**
   * Undefined when it is too large. `leftBytes`: those that are announced and have not come. `longBytes`: more
   * are not decoded. No promise for a body that is all there, as most answers are.
   */
  text(
    maxBytes: number,
    leftBytes: number,
    longBytes: number,
  ): WholeBody | Promise<WholeBody | undefined> | undefined {
    if (this.#error !== undefined) return Promise.reject(this.#error)
    if (this.#queuedBytes + leftBytes > maxBytes) return undefined
    this.#longBytes = longBytes
    if (this.#isDone) return this.#takeText()
    this.#maxTextBytes = maxBytes
    if (leftBytes > longBytes) this.#gather(leftBytes)
    this.#text = Promise.withResolvers()
    this.unpause()
    return this.#text.promise
  }

  #gather(leftBytes: number): void {
    this.#whole = Buffer.allocUnsafeSlow(this.#queuedBytes + leftBytes)
    let at = 0
    for (const bytes of this.#queue.splice(0)) at += bytes.copy(this.#whole, at)
  }

  #takeText(): WholeBody {
    const queue = this.#queue
    const whole = this.#whole
    const bytes = this.#queuedBytes
    const isLong = bytes > this.#longBytes
    this.#clear()
    if (whole !== undefined) return whole.subarray(0, bytes)
    if (isLong) return Buffer.concat(queue)
    const text = (queue.length === 1 ? queue[0]! : Buffer.concat(queue)).toString('utf8')
    return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
  }

  read(): Promise<Uint8Array | undefined> {
    const bytes = this.#queue.shift()
    if (bytes !== undefined) {
      this.#queuedBytes -= bytes.length
      if (this.#queuedBytes <= this.#maxQueuedBytes / 2) this.unpause()
      return Promise.resolve(bytes)
    }
    if (this.#error !== undefined) return Promise.reject(this.#error)
    if (this.#isDone) return Promise.resolve(undefined)
    this.#waiting = Promise.withResolvers()
    return this.#waiting.promise
  }

  pipe(reader: BodyReader): void {
    this.#reader = reader
    this.resume()
  }

  /** The reader takes bytes again: first those that waited. */
  resume(): void {
    this.#isFull = false
    while (this.#queue.length > 0) {
      const bytes = this.#queue.shift()!
      this.#queuedBytes -= bytes.length
      if (!this.#give(bytes)) return
    }
    if (this.ended) this.#endReader()
    else this.unpause()
  }

  /** Once, and after all bytes. */
  #endReader(): void {
    const reader = this.#reader
    this.#reader = undefined
    if (this.#error !== undefined) reader?.fail(this.#error)
    else reader?.end()
  }
}

/** Shared: creating an error is expensive, and this one is hardly ever seen. */
const afterTheEnd = new HttpError('cancelled', 'the answer was put away')

function ignore(): void {}
