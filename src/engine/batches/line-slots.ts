// How many lines run at once, when they begin and whose: beside calls of callers one begins after the other, and
// always the account with the fewest lines is next. An account that finds no money or no slot of a channel for
// many lines has fewer at once.

interface Waiting {
  accountId: string
  go: () => void
}

interface SlotOptions {
  max: number
  /** Whether callers have calls in flight. */
  hasCallers(): boolean
  nowMs(): number
}

const growAfter = 16
/** Between the begins of two lines beside callers: their calls have most of the processor. */
const besideMs = 20
/** So long after their last call callers are expected to come again. */
const calmMs = 1_000

export class LineSlots {
  readonly #options: SlotOptions
  readonly #running = new Map<string, number>()
  #waiting: Waiting[] = []
  readonly #caps = new Map<string, { max: number; since: number }>()
  #total = 0
  #callersMs = Number.NEGATIVE_INFINITY
  #begunMs = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: SlotOptions) {
    this.#options = options
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

  /** Lines of the account were too many for its money, or for the channels. */
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

  next(): void {
    while (this.#waiting.length > 0 && this.#total < this.#options.max) {
      const waitMs = this.#waitMs()
      if (waitMs > 0) {
        this.#after(waitMs)
        return
      }
      const at = this.#nextIndex()
      if (at === -1) return
      this.#begunMs = this.#options.nowMs()
      const [first] = this.#waiting.splice(at, 1)
      this.#total++
      this.#running.set(first!.accountId, this.#of(first!.accountId) + 1)
      first!.go()
    }
  }

  /** Until a line may begin. */
  #waitMs(): number {
    const nowMs = this.#options.nowMs()
    if (this.#options.hasCallers()) this.#callersMs = nowMs
    return nowMs - this.#callersMs < calmMs ? this.#begunMs + besideMs - nowMs : 0
  }

  #after(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.next()
    }, ms)
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
