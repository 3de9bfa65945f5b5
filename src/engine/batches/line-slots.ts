// How many lines run at once, and whose: few while callers have calls in flight, and always the account with
// the fewest lines next. An account whose money does not cover the holds of many lines has fewer at once.

interface Waiting {
  accountId: string
  go: () => void
}

const growAfter = 16

export class LineSlots {
  readonly #limit: () => number
  readonly #running = new Map<string, number>()
  #waiting: Waiting[] = []
  readonly #caps = new Map<string, { max: number; since: number }>()
  #total = 0

  constructor(limit: () => number) {
    this.#limit = limit
  }

  get running(): number {
    return this.#total
  }

  /** Resolves when a line of this account may run; `leave` ends it. */
  take(accountId: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ accountId, go: resolve })
      this.next()
    })
  }

  /** Whether no other line of the account can be running beside this one. */
  isOnlyLine(accountId: string): boolean {
    return this.#caps.get(accountId)?.max === 1 && this.#of(accountId) === 1
  }

  /** Lines of the account were too many for its money. */
  shrink(accountId: string): void {
    const max = Math.max(1, Math.floor(this.#of(accountId) / 2))
    this.#caps.set(accountId, { max, since: 0 })
  }

  /** One was paid: after some of these, the account may have one more. */
  paid(accountId: string): void {
    const cap = this.#caps.get(accountId)
    if (cap === undefined || ++cap.since < growAfter) return
    cap.since = 0
    cap.max++
  }

  leave(accountId: string): void {
    this.#total--
    const left = this.#of(accountId) - 1
    if (left > 0) this.#running.set(accountId, left)
    else this.#running.delete(accountId)
    this.next()
  }

  /** The limit may have changed. */
  next(): void {
    while (this.#waiting.length > 0 && this.#total < this.#limit()) {
      const at = this.#nextIndex()
      if (at === -1) return
      const [first] = this.#waiting.splice(at, 1)
      this.#total++
      this.#running.set(first!.accountId, this.#of(first!.accountId) + 1)
      first!.go()
    }
  }

  /** The first waiting line of the account with the fewest running. */
  #nextIndex(): number {
    let best = -1
    let min = Number.POSITIVE_INFINITY
    for (const [at, { accountId }] of this.#waiting.entries()) {
      const count = this.#of(accountId)
      const max = this.#caps.get(accountId)?.max ?? Number.POSITIVE_INFINITY
      if (count >= min || count >= max) continue
      best = at
      min = count
    }
    return best
  }

  #of(accountId: string): number {
    return this.#running.get(accountId) ?? 0
  }
}
