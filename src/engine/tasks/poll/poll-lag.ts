// How late the poller is: the time from when a poll was due to when it began, over recent polls.
// Pure; the caller supplies the times.

interface LagReading {
  /** All polls so far. */
  polls: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

const maxKept = 1024

export class PollLag {
  readonly #late = new Float64Array(maxKept)
  #polls = 0

  /** A poll that was due at this moment begins now; returns how late it is. */
  note(dueMs: number, nowMs: number): number {
    const lateMs = Math.max(0, nowMs - dueMs)
    this.#late[this.#polls % maxKept] = lateMs
    this.#polls++
    return lateMs
  }

  read(): LagReading {
    const sorted = this.#late.slice(0, Math.min(this.#polls, maxKept)).sort()
    const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
    return { polls: this.#polls, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) }
  }
}
