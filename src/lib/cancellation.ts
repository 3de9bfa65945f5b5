// "Stop that": said by one side, heard by the other. Lighter than an AbortController, of which
// every call would need one.

export class Cancellation {
  #reply: { cancel(): void } | undefined
  cancelled = false

  /** Passes it on to `other`, at once if it has been said already. */
  replyBy(other: { cancel(): void }): void {
    this.#reply = other
    if (this.cancelled) other.cancel()
  }

  cancel(): void {
    if (this.cancelled) return
    this.cancelled = true
    this.#reply?.cancel()
  }

  /** So that it can listen to an AbortSignal itself. */
  handleEvent(): void {
    this.cancel()
  }
}
