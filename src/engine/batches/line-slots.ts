// How many lines run at once, when they begin and whose: beside calls of callers one begins after the other, and
// always the account with the fewest lines is next. An account that finds no money or no slot of a channel for
// many lines has fewer at once.
import { besideMs, type Callers } from './callers.ts'

interface Waiting {
  accountId: string
  go: () => void
}

interface SlotOptions {
  max: number
  callers: Pick<Callers, 'areAbout'>
  nowMs(): number
}

const growAfter = 16
/** A timer that is late says that there is too much to do: lines then begin so much later for each millisecond. */
const perLateMs = 10
const maxBesideMs = 500
/** Every timer may be. */
const usualLateMs = 2

export class LineSlots {
  readonly #options: SlotOptions
  readonly #running = new Map<string, number>()
  #waiting: Waiting[] = []
  readonly #caps = new Map<string, { max: number; since: number }>()
  #total = 0
  #lateMs = 0
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
    if (!this.#options.callers.areAbout()) return 0
    const betweenMs = Math.min(maxBesideMs, besideMs + perLateMs * this.#lateMs)
    return this.#begunMs + betweenMs - this.#options.nowMs()
  }

  #after(ms: number): void {
    if (this.#timer !== undefined) return
    const dueMs = this.#options.nowMs() + ms
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#lateMs = Math.max(0, this.#options.nowMs() - dueMs - usualLateMs)
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
