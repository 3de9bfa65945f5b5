// A stream that was written in the thread as a whole, on its way to the caller.
import type { Reported, StreamWatcher, UpstreamError } from '../../../contract/provider.ts'
import { withServed } from '../style.ts'
import type { StreamRest } from './thread-work.ts'

export class ReadyStream implements StreamWatcher {
  outcome: 'finished' | UpstreamError | undefined
  ending: Uint8Array | undefined
  events = 0
  readonly losses: readonly string[] | undefined
  readonly reported: Reported
  readonly #rest: StreamRest
  readonly #allBytes: number
  readonly #lastEvents: Uint8Array | undefined
  #takenBytes = 0
  #seenBytes = 0

  constructor(rest: StreamRest, allBytes: number, lastEvents: Uint8Array | undefined) {
    this.#rest = rest
    this.#allBytes = allBytes
    this.#lastEvents = lastEvents
    this.losses = rest.losses
    this.reported = rest.reported
  }

  set served(served: Reported['served']) {
    withServed(this.reported, served)
  }

  take(chunk: Uint8Array): Uint8Array | undefined {
    this.#takenBytes += chunk.length
    this.events = Math.ceil(this.#rest.events * this.#share)
    return chunk
  }

  close(): void {
    this.outcome = this.#rest.outcome
    this.ending = this.#lastEvents
  }

  break(): void {
    this.close()
  }

  /** Of what has gone out. */
  get #share(): number {
    return this.#allBytes === 0 ? 1 : this.#takenBytes / this.#allBytes
  }

  countOutputTokens(): number {
    return Math.ceil(this.#rest.outputTokens * this.#share)
  }

  hasGoneOn(): boolean {
    const hasMore = this.#takenBytes > this.#seenBytes
    this.#seenBytes = this.#takenBytes
    return hasMore
  }

  finishReason(): string | undefined {
    return this.#rest.finishReason
  }
}
