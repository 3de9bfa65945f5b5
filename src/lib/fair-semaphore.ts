// A semaphore with a fair queue: waiters take turns by key, so that one key with many waiters does
// not delay the others. Both the queue and each key's share of it are bounded.

interface SemaphoreLimits {
  /** Maximum concurrent runs. */
  concurrency: number
  /** Maximum waiters, of all keys and of one. */
  queue: number
  queuePerKey: number
}

type Waiter = () => void

export class FairSemaphore {
  readonly #limits: SemaphoreLimits
  #running = 0
  #waiting = 0
  /** By key, in the order of their turns. */
  readonly #queues = new Map<string, Waiter[]>()

  constructor(limits: SemaphoreLimits) {
    this.#limits = limits
  }

  /** Undefined, at once, when the queue is full. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T | undefined> {
    if (this.#running < this.#limits.concurrency) this.#running++
    else if (!(await this.#enter(key))) return undefined
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  /** Resolves when the previous holder releases its slot. */
  #enter(key: string): Promise<true> | false {
    const queue = this.#queues.get(key) ?? []
    const { queue: maxQueue, queuePerKey } = this.#limits
    if (this.#waiting >= maxQueue || queue.length >= queuePerKey) return false
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
    // Moves the key to the end, if it has more waiters.
    this.#queues.delete(key)
    if (queue.length > 0) this.#queues.set(key, queue)
    waiter()
  }
}
