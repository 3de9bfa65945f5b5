// Passes the bytes of a file on to the caller. Its last byte waits until the charge is durable, so that no
// caller has the whole file before.
import type { Reported, StreamWatcher, UpstreamError } from '../../contract/provider.ts'

export class FileWatcher implements StreamWatcher {
  readonly isRaw = true
  outcome: 'finished' | UpstreamError | undefined
  ending: Uint8Array | undefined
  readonly reported: Reported = { usage: undefined, raw: undefined }
  /** Reads that brought bytes. */
  events = 0
  readonly #outputTokens: number
  readonly #upstreamRequestId: string | undefined
  #last: Uint8Array | undefined
  #seen = 0

  constructor(outputTokens: number, upstreamRequestId: string | undefined) {
    this.#outputTokens = outputTokens
    this.#upstreamRequestId = upstreamRequestId
  }

  take(chunk: Uint8Array): Uint8Array | undefined {
    if (this.outcome !== undefined || chunk.length === 0) return undefined
    this.events++
    const before = this.#last
    this.#last = chunk.slice(-1)
    const rest = chunk.subarray(0, -1)
    if (before !== undefined) return Buffer.concat([before, rest])
    return rest.length === 0 ? undefined : rest
  }

  close(): void {
    if (this.outcome !== undefined) return
    if (this.#last === undefined) this.#fail('the upstream sent an empty file')
    else {
      this.outcome = 'finished'
      this.ending = this.#last
    }
  }

  break(): void {
    if (this.outcome === undefined) this.#fail('the upstream broke off its file')
  }

  #fail(message: string): void {
    const id = this.#upstreamRequestId
    const about = {
      message,
      begun: true,
      ...(id !== undefined && { upstreamRequestId: id }),
    } as const
    this.outcome = { code: 'upstream_error', ...about }
  }

  countOutputTokens(): number {
    return this.events === 0 ? 0 : this.#outputTokens
  }

  hasGoneOn(): boolean {
    const seen = this.#seen
    this.#seen = this.events
    return this.events > seen
  }

  finishReason(): undefined {
    return undefined
  }
}
