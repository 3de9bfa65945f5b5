// A FIFO mutex.

/** Turns at the writer. */
export type Turns = Pick<Mutex, 'lock' | 'unlock'>

export class Mutex {
  readonly #waiting: (() => void)[] = []
  #held = false

  /** Undefined when it was free, so that the uncontended case costs no turn. */
  lock(): Promise<void> | undefined {
    if (!this.#held) {
      this.#held = true
      return undefined
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Passes the lock to the longest-waiting caller, if any. */
  unlock(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#held = false
    else next()
  }
}
