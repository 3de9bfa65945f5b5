// One call's reply: takes bytes as they arrive and delivers the head, then the body, to the reader.
// Knows of its connection only how to slow it, release it and drop it.

import { ChunkedBody } from './chunked.ts'
import { HttpError } from './error.ts'
import { HttpHead } from './head.ts'

const MAX_INTERIM_ANSWERS = 10
/** Time allowed for the end of a body that is no longer read. */
const RELEASE_MS = 1000
const PAUSE_ABOVE_BYTES = 256 * 1024
const HEAD_END = Buffer.from('\r\n\r\n')
const HEAD_START = 'HTTP/1.'
const BARE_LINE_FEED = /(?:^|[^\r])\n/
const BYTE_ORDER_MARK = 0xfeff

export interface HttpAnswer {
  readonly status: number
  /** Lower-case name; undefined when absent. */
  header(name: string): string | undefined
  /**
   * The whole body as text; undefined when larger than `maxBytes` (the connection is then closed).
   * Rejects when the body is truncated.
   */
  text(maxBytes: number, progress?: { touch(): void }): Promise<string | undefined>
  /** Next bytes; undefined at the proper end. Rejects when truncated. One call at a time. */
  read(): Promise<Uint8Array | undefined>
  /** Discards the rest: the connection is closed, or kept if the body was complete. */
  cancel(): void
  /** The reader has all it needs: the connection is kept if the body's end follows soon. */
  release(): void
  /** The body is a stream that may be read slowly: buffer little of it in memory. */
  expectTrickle(): void
}

export interface HttpCall {
  readonly answer: Promise<HttpAnswer>
  /** Ends the call at any stage; answer, read and text then reject. */
  cancel(): void
}

/** Operations of an exchange on its connection. */
export interface Link {
  pause(): void
  resume(): void
  /** How much may wait unread on the connection: little of a stream, much of a whole body. */
  narrow(): void
  widen(): void
  /** The reply is complete; the connection may stay idle this long. */
  finished(keepMs: number): void
  drop(): void
}

export interface AnswerLimits {
  readonly maxHeaderBytes: number
  readonly idleMs: number
}

/** Both the call and its reply: one object serves a whole exchange. */
export class Exchange implements HttpCall, HttpAnswer {
  readonly answer: Promise<HttpAnswer>
  readonly #limits: AnswerLimits
  #settle!: (answer: HttpAnswer) => void
  #refuse!: (error: HttpError) => void
  #link: Link | undefined

  #unparsed: Buffer | undefined
  #interim = 0
  #head: HttpHead | undefined
  #chunked: ChunkedBody | undefined
  /** Infinity for a body that ends with its connection. */
  #leftBytes = 0

  #queue: Buffer[] = []
  #queuedBytes = 0
  #maxQueuedBytes = PAUSE_ABOVE_BYTES
  #paused = false
  #released = false
  #done = false
  #error: HttpError | undefined
  #waiting: PromiseWithResolvers<Uint8Array | undefined> | undefined
  #wholeText: PromiseWithResolvers<string | undefined> | undefined
  #maxTextBytes = 0
  #progress: { touch(): void } | undefined

  constructor(limits: AnswerLimits) {
    this.#limits = limits
    this.answer = new Promise((settle, refuse) => {
      this.#settle = settle
      this.#refuse = refuse
    })
  }

  get ended(): boolean {
    return this.#done || this.#error !== undefined
  }

  attach(link: Link): void {
    this.#link = link
  }

  get status(): number {
    return this.#head?.status ?? 0
  }

  header(name: string): string | undefined {
    return this.#head?.header(name)
  }

  /** Bytes from the connection; the exchange owns them from now on and may move them. */
  receive(data: Buffer): void {
    try {
      if (this.#head === undefined) this.#receiveHead(data)
      else this.#receiveBody(data, 0)
    } catch (error) {
      this.fail(error instanceof HttpError ? error : new HttpError('broken', String(error)))
    }
  }

  /** The connection is gone; `proper` when the peer closed it in order. */
  closed(proper: boolean): void {
    if (proper && this.#leftBytes === Number.POSITIVE_INFINITY) this.#complete(0)
    else
      this.fail(new HttpError('broken', 'the connection broke off before the answer was complete'))
  }

  fail(error: HttpError): void {
    if (this.ended) return
    this.#error = error
    if (this.#head === undefined) {
      // There may be no listener left; a rejection must not end the process.
      this.answer.catch(ignore)
      this.#refuse(error)
    }
    this.#waiting?.promise.catch(ignore)
    this.#waiting?.reject(error)
    this.#wholeText?.promise.catch(ignore)
    this.#wholeText?.reject(error)
    this.#drop()
  }

  release(): void {
    this.#queue = []
    this.#queuedBytes = 0
    if (this.ended) return
    this.#released = true
    this.#resume()
    setTimeout(() => this.cancel(), RELEASE_MS).unref()
  }

  expectTrickle(): void {
    // One unread chunk is enough: hundreds of slow readers must not add up.
    this.#maxQueuedBytes = 0
    this.#link?.narrow()
  }

  cancel(): void {
    this.#queue = []
    this.#queuedBytes = 0
    if (!this.ended) this.fail(new HttpError('cancelled', 'the call was cancelled'))
    this.#error ??= afterTheEnd
  }

  #drop(): void {
    const link = this.#link
    this.#link = undefined
    link?.drop()
  }

  #receiveHead(data: Buffer): void {
    const before = this.#unparsed
    let rest = before === undefined ? data : Buffer.concat([before, data])
    let searchFrom = before === undefined ? 0 : Math.max(0, before.length - 3)
    for (;;) {
      const end = rest.indexOf(HEAD_END, searchFrom)
      if ((end < 0 ? rest.length : end + 4) > this.#limits.maxHeaderBytes) {
        throw new HttpError('invalid', 'the answer has too large a head')
      }
      if (end < 0) {
        checkUnfinishedHead(rest)
        this.#unparsed = rest
        return
      }
      const head = new HttpHead(rest.toString('latin1', 0, end + 2))
      if (head.status >= 200) {
        this.#unparsed = undefined
        this.#startBody(head, rest, end + 4)
        return
      }
      this.#interim += 1
      if (head.status === 101 || this.#interim > MAX_INTERIM_ANSWERS) {
        throw new HttpError('invalid', 'the answer has an unexpected interim answer')
      }
      rest = rest.subarray(end + 4)
      searchFrom = 0
    }
  }

  #startBody(head: HttpHead, data: Buffer, start: number): void {
    const framing = head.framing()
    this.#head = head
    if (framing === 'chunked') this.#chunked = new ChunkedBody((bytes) => this.#push(bytes))
    else this.#leftBytes = framing === 'untilClose' ? Number.POSITIVE_INFINITY : framing
    this.#settle(this)
    this.#receiveBody(data, start)
  }

  #receiveBody(data: Buffer, start: number): void {
    this.#progress?.touch()
    let end: number
    if (this.#chunked !== undefined) {
      end = this.#chunked.feed(data, start)
      if (end < 0) return
    } else {
      end = Math.min(data.length, start + this.#leftBytes)
      this.#leftBytes -= end - start
      if (end > start && !this.#push(data.subarray(start, end))) return
      if (this.#leftBytes > 0) return
    }
    // Unrequested bytes make the connection's state unknown.
    const keepMs = end < data.length ? 0 : (this.#head?.keepMs(this.#limits.idleMs) ?? 0)
    this.#complete(keepMs)
  }

  /** False when the reader wants no more. */
  #push(bytes: Buffer): boolean {
    if (this.ended) return false
    if (this.#released) return true
    const waiting = this.#waiting
    if (waiting !== undefined) {
      this.#waiting = undefined
      waiting.resolve(bytes)
      return true
    }
    this.#queue.push(bytes)
    this.#queuedBytes += bytes.length
    if (this.#wholeText !== undefined) {
      if (this.#queuedBytes <= this.#maxTextBytes) return true
      this.#wholeText.resolve(undefined)
      this.#wholeText = undefined
      this.cancel()
      return false
    }
    if (this.#queuedBytes > this.#maxQueuedBytes && !this.#paused) {
      this.#paused = true
      this.#link?.pause()
    }
    return true
  }

  #complete(keepMs: number): void {
    if (this.ended) return
    this.#done = true
    this.#resume()
    const link = this.#link
    this.#link = undefined
    link?.finished(keepMs)
    this.#waiting?.resolve(undefined)
    this.#wholeText?.resolve(this.#takeText())
  }

  #resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#link?.resume()
  }

  text(maxBytes: number, progress?: { touch(): void }): Promise<string | undefined> {
    if (this.#error !== undefined) return Promise.reject(this.#error)
    const declaredBytes = this.#leftBytes === Number.POSITIVE_INFINITY ? 0 : this.#leftBytes
    if (this.#queuedBytes + declaredBytes > maxBytes) {
      this.cancel()
      return Promise.resolve(undefined)
    }
    if (this.#done) return Promise.resolve(this.#takeText())
    this.#link?.widen()
    this.#maxTextBytes = maxBytes
    this.#progress = progress
    this.#wholeText = Promise.withResolvers()
    this.#resume()
    return this.#wholeText.promise
  }

  #takeText(): string {
    const queue = this.#queue
    this.#queue = []
    this.#queuedBytes = 0
    const text = (queue.length === 1 ? queue[0]! : Buffer.concat(queue)).toString('utf8')
    return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
  }

  read(): Promise<Uint8Array | undefined> {
    const bytes = this.#queue.shift()
    if (bytes !== undefined) {
      this.#queuedBytes -= bytes.length
      if (this.#queuedBytes <= this.#maxQueuedBytes / 2) this.#resume()
      return Promise.resolve(bytes)
    }
    if (this.#error !== undefined) return Promise.reject(this.#error)
    if (this.#done) return Promise.resolve(undefined)
    this.#waiting = Promise.withResolvers()
    return this.#waiting.promise
  }
}

/** Shared: creating an error is expensive, and this one is hardly ever seen. */
const afterTheEnd = new HttpError('cancelled', 'the answer was put away')

/** Rejects early what can never become a head, instead of waiting for its end. */
function checkUnfinishedHead(bytes: Buffer): void {
  const text = bytes.toString('latin1', 0, bytes.length)
  if (!HEAD_START.startsWith(text.slice(0, HEAD_START.length)) || BARE_LINE_FEED.test(text)) {
    throw new HttpError('invalid', 'the answer is not HTTP/1.x')
  }
}

function ignore(): void {}
