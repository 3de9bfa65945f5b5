// "Stop that": said by one side, heard by the other. Lighter than an AbortController, of which
// every call would need one.

export class Cancellation {
  #stop: (() => void) | undefined
  cancelled = false

  /** Calls `stop` when it is said, at once if it has been said already. */
  heardBy(stop: () => void): void {
    this.#stop = stop
    if (this.cancelled) stop()
  }

  readonly cancel = (): void => {
    if (this.cancelled) return
    this.cancelled = true
    this.#stop?.()
  }
}
