// A one-way cancel signal. Lighter than an AbortController, of which every call would need one.

export class Cancellation {
  #reply: { cancel(): void } | undefined
  cancelled = false

  /** Cancels `other` when this is cancelled, at once if it already is. */
  replyBy(other: { cancel(): void }): void {
    this.#reply = other
    if (this.cancelled) other.cancel()
  }

  cancel(): void {
    if (this.cancelled) return
    this.cancelled = true
    this.#reply?.cancel()
  }

  /** So that it can be the listener of an AbortSignal. */
  handleEvent(): void {
    this.cancel()
  }
}
