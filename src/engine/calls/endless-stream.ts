// How long a stream may become: an upstream that goes on far beyond the maximum of its model is ended. Counted
// by the gateway itself, which is not exact: there is room for a language or a text that it counts badly.
import type { StreamWatcher } from '../../contract/provider.ts'

/** Of the model's maximum. */
const tokenFactor = 2
const spareTokens = 1_000
/** No text has fewer bytes for each token that the gateway counts. */
const minTokenBytes = 3
/** Events around a token may be large: alternatives with their probabilities, repeated at the end. */
const maxTokenBytes = 16 * 1024
const spareBytes = 8 * 1024 * 1024
/** Between two counts. */
const minStepBytes = 256 * 1024

export class StreamLength {
  readonly #maxTokens: number
  #bytes = 0
  #countAtBytes: number

  constructor(modelOutputTokens: number) {
    this.#maxTokens = modelOutputTokens * tokenFactor + spareTokens
    this.#countAtBytes = this.#maxTokens * minTokenBytes
  }

  /** Whether it is too long with these bytes. */
  isExceeded(bytes: number, watcher: Pick<StreamWatcher, 'countOutputTokens'>): boolean {
    this.#bytes += bytes
    if (this.#bytes < this.#countAtBytes) return false
    const tokens = watcher.countOutputTokens()
    const left = this.#maxTokens - tokens
    this.#countAtBytes = this.#bytes + Math.max(minStepBytes, left * minTokenBytes)
    return left < 0 || this.#bytes > this.#maxTokens * maxTokenBytes + spareBytes
  }
}
