// The caller's end of a streamed answer: holds what was written until the caller reads it.
import type { StreamSink } from '../../src/contract/caller-api.ts'

export class CallerConnection implements StreamSink {
  readonly #unread: { bytes: Uint8Array; room: PromiseWithResolvers<void> }[] = []
  #isOver = false
  #wake = () => {}

  write(bytes: Uint8Array): Promise<void> {
    const room = Promise.withResolvers<void>()
    this.#unread.push({ bytes, room })
    this.#wake()
    return room.promise
  }

  end(): void {
    this.#isOver = true
    this.#wake()
  }

  cut(): void {
    this.end()
  }

  /** Undefined at the end. */
  async read(): Promise<Uint8Array | undefined> {
    while (this.#unread.length === 0 && !this.#isOver) {
      await new Promise<void>((wake) => {
        this.#wake = wake
      })
    }
    const next = this.#unread.shift()
    next?.room.resolve()
    return next?.bytes
  }
}
