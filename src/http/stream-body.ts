// The body of a streamed answer: bytes go straight into the connection's buffer and are sent at the end of
// the turn, without a queue and without a promise for each piece.
import type { AnswerStream, StreamSink } from '../contract/caller-api.ts'

/** `closeIdle`: closes the connection if nothing is read from it. */
export const bodyOf = (stream: AnswerStream, closeIdle: () => void): ReadableStream<Uint8Array> =>
  new ReadableStream(new DirectBody(stream, closeIdle))

class DirectBody implements StreamSink, Bun.DirectUnderlyingSource<Uint8Array> {
  readonly type = 'direct'
  readonly #stream: AnswerStream
  readonly #closeIdle: () => void
  #controller: ReadableStreamDirectController | undefined

  constructor(stream: AnswerStream, closeIdle: () => void) {
    this.#stream = stream
    this.#closeIdle = closeIdle
  }

  /** Once. The body stays open until it is closed. */
  pull(controller: ReadableStreamDirectController): void {
    this.#controller = controller
    this.#stream.start(this)
  }

  /** The caller has left; the stream learns that from the call's signal. */
  cancel(): void {
    this.#controller = undefined
  }

  write(bytes: Uint8Array): undefined | Promise<unknown> {
    const written = this.#controller?.write(bytes)
    return typeof written === 'object' ? written : undefined
  }

  end(): void {
    this.#controller?.close()
    this.#controller = undefined
  }

  cut(): void {
    this.#controller = undefined
    this.#closeIdle()
  }
}
