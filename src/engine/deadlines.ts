// Time limits of upstream work. One coarse sweep looks after all calls in flight, because a timer
// per call and per chunk would cost more than the work it guards.

export interface Deadline {
  /** Something arrived: from now on the idle limit counts. */
  touch(): void
  end(): void
  readonly expired: boolean
}

interface Guarded extends Deadline {
  readonly check: (nowMs: number) => void
}

const sweepMs = 250

export class Deadlines {
  readonly #open = new Set<Guarded>()
  readonly #nowMs: () => number
  readonly #timer: ReturnType<typeof setInterval>

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
    this.#timer = setInterval(() => this.sweep(), sweepMs)
    this.#timer.unref()
  }

  start(
    limits: { firstByteMs: number; idleMs: number; totalMs: number },
    onExpired: () => void,
  ): Deadline {
    const now = this.#nowMs
    const startedMs = now()
    let lastMs = startedMs
    let idle = limits.firstByteMs
    let expired = false
    const guarded: Guarded = {
      touch() {
        lastMs = now()
        idle = limits.idleMs
      },
      end: () => this.#open.delete(guarded),
      get expired() {
        return expired
      },
      check: (nowMs) => {
        if (nowMs - lastMs <= idle && nowMs - startedMs <= limits.totalMs) return
        expired = true
        this.#open.delete(guarded)
        onExpired()
      },
    }
    this.#open.add(guarded)
    return guarded
  }

  sweep(): void {
    const nowMs = this.#nowMs()
    for (const guarded of this.#open) guarded.check(nowMs)
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
