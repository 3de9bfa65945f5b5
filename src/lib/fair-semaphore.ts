// A semaphore whose queue is fair: those who wait take turns by key, so that one key with many waiters
// does not hold up the others, and both the queue and each key's part of it are bounded.

export interface SemaphoreLimits {
  /** At the same time. */
  concurrency: number
  /** Waiting, of all keys and of one. */
  queue: number
  queuePerKey: number
}

type Waiter = () => void

export class FairSemaphore {
  readonly #limits: SemaphoreLimits
  #running = 0
  #waiting = 0
  /** By key; keys stand in the order in which it is their turn. */
  readonly #queues = new Map<string, Waiter[]>()

  constructor(limits: SemaphoreLimits) {
    this.#limits = limits
  }

  /** Undefined, at once, when too many wait already. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T | undefined> {
    if (this.#running < this.#limits.concurrency) this.#running++
    else if (!(await this.#enter(key))) return undefined
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  /** Resolves with a place that the one before has left. */
  #enter(key: string): Promise<true> | false {
    const queue = this.#queues.get(key) ?? []
    const { queue: most, queuePerKey } = this.#limits
    if (this.#waiting >= most || queue.length >= queuePerKey) return false
    this.#waiting++
    const { promise, resolve } = Promise.withResolvers<true>()
    queue.push(() => resolve(true))
    this.#queues.set(key, queue)
    return promise
  }

  #leave(): void {
    const next = this.#queues.entries().next().value
    if (next === undefined) {
      this.#running--
      return
    }
    const [key, queue] = next
    const waiter = queue.shift()!
    this.#waiting--
    // To the end of the line, if more of this key wait.
    this.#queues.delete(key)
    if (queue.length > 0) this.#queues.set(key, queue)
    waiter()
  }
}
