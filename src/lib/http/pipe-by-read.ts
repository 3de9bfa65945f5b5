// Hands a body that can only be read to a reader that takes it as it arrives.
import type { BodyReader } from './body-queue.ts'

type Read = () => Promise<Uint8Array | undefined>

/** The ways to read such a body. */
export function readable(read: Read) {
  const piped = new PipeByRead(read)
  return {
    read,
    pipe: (reader: BodyReader) => piped.pipe(reader),
    resume: () => piped.resume(),
  }
}

class PipeByRead {
  readonly #read: Read
  #reader: BodyReader | undefined
  #isReading = false

  constructor(read: Read) {
    this.#read = read
  }

  pipe(reader: BodyReader): void {
    this.#reader = reader
    this.resume()
  }

  resume(): void {
    if (this.#isReading || this.#reader === undefined) return
    this.#isReading = true
    void this.#readAll(this.#reader)
  }

  async #readAll(reader: BodyReader): Promise<void> {
    try {
      let bytes: Uint8Array | undefined
      do bytes = await this.#read()
      while (bytes !== undefined && reader.take(bytes))
      if (bytes !== undefined) return
      this.#reader = undefined
      reader.end()
    } catch (error) {
      this.#reader = undefined
      reader.fail(error as Error)
    } finally {
      this.#isReading = false
    }
  }
}
