// A sample from the start of a stream, for when its text has to be counted: a long answer need not be
// kept.
import { countTokens } from './count-tokens.ts'

const sampleBytes = 4 * 1024

export class TextSample {
  /** Copied, because a view would keep a whole network buffer alive. */
  #bytes: Buffer | undefined
  #sampledBytes = 0
  #addedBytes = 0

  /** Events with text, or unread ones, lie between these places. */
  add(whole: Buffer, from: number, to: number): void {
    this.#addedBytes += to - from
    if (this.#sampledBytes === sampleBytes) return
    this.#bytes ??= Buffer.allocUnsafeSlow(sampleBytes)
    this.#sampledBytes += whole.copy(this.#bytes, this.#sampledBytes, from, to)
  }

  get addedBytes(): number {
    return this.#addedBytes
  }

  /** Counted in the sample and scaled up. `textField` finds text in raw events. */
  countTokens(textField: RegExp): number {
    if (this.#sampledBytes === 0) return 0
    let text = ''
    // A text cut by the end of the sample ends there.
    const sample = `${this.#bytes?.toString('utf8', 0, this.#sampledBytes) ?? ''}"`
    for (const [, piece] of sample.matchAll(textField)) text += piece
    return Math.ceil((countTokens(text) * this.#addedBytes) / this.#sampledBytes)
  }
}
