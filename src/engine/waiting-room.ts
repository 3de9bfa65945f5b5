// Calls for which every channel is full wait here for a moment: first come, first served, bounded
// in number and time.

interface Waiter {
  channels: readonly string[]
  wake(hasRoom: boolean): void
}

export class WaitingRoom {
  readonly #most: number
  readonly #waiters = new Set<Waiter>()

  constructor(limits: { queuedCalls: number }) {
    this.#most = limits.queuedCalls
  }

  /** True as soon as one of the channels has room; false when it takes too long or too many wait. */
  wait(channels: readonly string[], longestMs: number, signal: AbortSignal): Promise<boolean> {
    const crowded = this.#waiters.size >= this.#most
    if (crowded || longestMs <= 0 || signal.aborted) return Promise.resolve(false)
    return new Promise((resolve) => {
      const leave = () => waiter.wake(false)
      const timer = setTimeout(leave, longestMs)
      const waiter: Waiter = {
        channels,
        wake: (hasRoom) => {
          clearTimeout(timer)
          signal.removeEventListener('abort', leave)
          this.#waiters.delete(waiter)
          resolve(hasRoom)
        },
      }
      signal.addEventListener('abort', leave)
      this.#waiters.add(waiter)
    })
  }

  /** A call on this channel has ended. */
  freed(channel: string): void {
    if (this.#waiters.size === 0) return
    for (const waiter of this.#waiters) {
      if (!waiter.channels.includes(channel)) continue
      waiter.wake(true)
      return
    }
  }
}
