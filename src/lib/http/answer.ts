// One call's reply: takes bytes as they arrive and delivers the head, then the body, to the reader.
// Knows of its connection only how to slow it, release it and drop it.

import { BodyQueue, type BodyReader } from './body-queue.ts'
import { ChunkedBody } from './chunked.ts'
import { HttpError } from './error.ts'
import { HttpHead } from './head.ts'

const MAX_INTERIM_ANSWERS = 10
/** Time allowed for the end of a body that is no longer read. */
const RELEASE_MS = 1000
const HEAD_END = Buffer.from('\r\n\r\n')
const HEAD_START = 'HTTP/1.'
const BARE_LINE_FEED = /(?:^|[^\r])\n/

export interface HttpAnswer {
  readonly status: number
  /** Lower-case name; undefined when absent. */
  header(name: string): string | undefined
  /**
   * The whole body as text; undefined when larger than `maxBytes` (the connection is then closed).
   * Rejects when the body is truncated.
   */
  text(maxBytes: number, progress?: { touch(): void }): Promise<string | undefined>
  /** The same; a body of more than `longBytes` as it came. */
  text(
    maxBytes: number,
    progress: { touch(): void },
    longBytes: number,
  ): Promise<string | Uint8Array<ArrayBuffer> | undefined>
  /** Next bytes; undefined at the proper end. Rejects when truncated. One call at a time. */
  read(): Promise<Uint8Array | undefined>
  /** Gives the reader the rest as it arrives, without a promise for each piece. */
  pipe(reader: BodyReader): void
  /** The reader of a pipe takes bytes again. */
  resume(): void
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

type WholeText = string | Uint8Array<ArrayBuffer>

/** Both the call and its reply: one object serves a whole exchange. */
export class Exchange implements HttpCall, HttpAnswer {
  readonly answer: Promise<HttpAnswer>
  readonly #limits: AnswerLimits
  readonly #settle: (answer: HttpAnswer) => void
  readonly #refuse: (error: HttpError) => void
  #link: Link | undefined

  #unparsed: Buffer | undefined
  #interim = 0
  #head: HttpHead | undefined
  #chunked: ChunkedBody | undefined
  /** Infinity for a body that ends with its connection. */
  #leftBytes = 0

  /** What is received of the body. */
  readonly #body: BodyQueue
  #progress: { touch(): void } | undefined
  /** Until the end of a body that was released; a timer that goes on would keep all of this alive. */
  #ending: ReturnType<typeof setTimeout> | undefined

  constructor(limits: AnswerLimits) {
    this.#limits = limits
    this.#body = new BodyQueue(this)
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>()
    this.answer = promise
    this.#settle = resolve
    this.#refuse = reject
  }

  get ended(): boolean {
    return this.#body.ended
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
    clearTimeout(this.#ending)
    if (this.#head === undefined) {
      // There may be no listener left; a rejection must not end the process.
      this.answer.catch(ignore)
      this.#refuse(error)
    }
    this.#drop()
    this.#body.fail(error)
  }

  release(): void {
    this.#body.release()
    if (this.ended || this.#ending !== undefined) return
    this.#ending = setTimeout(() => this.cancel(), RELEASE_MS)
    this.#ending.unref()
  }

  expectTrickle(): void {
    this.#body.expectTrickle()
    this.#link?.narrow()
  }

  cancel(): void {
    if (!this.ended) this.fail(new HttpError('cancelled', 'the call was cancelled'))
    this.#body.cancel()
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
    if (framing === 'chunked') this.#chunked = this.#chunks()
    else this.#leftBytes = framing === 'untilClose' ? Number.POSITIVE_INFINITY : framing
    this.#settle(this)
    this.#receiveBody(data, start)
  }

  #chunks(): ChunkedBody {
    return new ChunkedBody((bytes) => this.#push(bytes))
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

  /** False when the rest is not wanted. */
  #push(bytes: Buffer): boolean {
    if (this.#body.push(bytes)) return !this.ended
    this.#body.giveUpText()
    this.cancel()
    return false
  }

  #complete(keepMs: number): void {
    if (this.ended) return
    clearTimeout(this.#ending)
    this.#body.unpause()
    const link = this.#link
    this.#link = undefined
    link?.finished(keepMs)
    this.#body.complete()
  }

  stopReading(): void {
    this.#link?.pause()
  }

  startReading(): void {
    this.#link?.resume()
  }

  text(maxBytes: number, progress?: { touch(): void }): Promise<string | undefined>
  text(
    maxBytes: number,
    progress: { touch(): void },
    longBytes: number,
  ): WholeText | Promise<WholeText | undefined>
  text(
    maxBytes: number,
    progress?: { touch(): void },
    longBytes?: number,
  ): WholeText | Promise<WholeText | undefined> {
    const leftBytes = this.#leftBytes === Number.POSITIVE_INFINITY ? 0 : this.#leftBytes
    const text = this.#body.text(maxBytes, leftBytes, longBytes ?? Number.POSITIVE_INFINITY)
    if (text === undefined) {
      this.cancel()
      return Promise.resolve(undefined)
    }
    if (!(text instanceof Promise)) return longBytes === undefined ? Promise.resolve(text) : text
    if (!this.ended) {
      this.#link?.widen()
      this.#progress = progress
    }
    return text
  }

  read(): Promise<Uint8Array | undefined> {
    return this.#body.read()
  }

  pipe(reader: BodyReader): void {
    this.#body.pipe(reader)
  }

  resume(): void {
    this.#body.resume()
  }
}

/** Rejects early what can never become a head, instead of waiting for its end. */
function checkUnfinishedHead(bytes: Buffer): void {
  const text = bytes.toString('latin1', 0, bytes.length)
  if (!HEAD_START.startsWith(text.slice(0, HEAD_START.length)) || BARE_LINE_FEED.test(text)) {
    throw new HttpError('invalid', 'the answer is not HTTP/1.x')
  }
}

function ignore(): void {}
