// One holder at a time, first come, first served.

export class Mutex {
  readonly #waiting: (() => void)[] = []
  #held = false

  /** Undefined when it could be taken at once, so that the free case costs no turn. */
  lock(): Promise<void> | undefined {
    if (!this.#held) {
      this.#held = true
      return undefined
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Hands over to the longest waiting, if any. */
  unlock(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#held = false
    else next()
  }
}
