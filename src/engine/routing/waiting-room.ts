// Calls wait here briefly when every channel is full, bounded in number and time. A free slot goes
// to the account with the fewest slots there, to its first call in line; in a full room the account
// with the most waiting calls loses one. Calls of low priority lose theirs first.

/** In place of an account: calls that come after those of callers, of all accounts. */
export const lowPriority = 'low-priority'

interface Waiter {
  accountId: string
  channels: readonly string[]
  /** Arrival order. */
  number: number
  wake(hasRoom: boolean): void
}

/** How many slots an account has at a channel; undefined when it gets no more. */
type PlacesOf = (accountId: string) => number | undefined

export class WaitingRoom {
  readonly #max: number
  /** In order of arrival; why not in a Set, see lib/in-flight.ts. */
  readonly #byAccount = new Map<string, Waiter[]>()
  #size = 0
  #number = 0

  constructor(limits: { queuedCalls: number }) {
    this.#max = limits.queuedCalls
  }

  /** True as soon as one of the channels has room; false when it takes too long or too many wait. */
  wait(
    accountId: string,
    channels: readonly string[],
    maxMs: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const hasRoom = this.#size < this.#max || maxMs <= 0 || this.#makeRoom(accountId)
    if (!hasRoom || maxMs <= 0 || signal.aborted) return Promise.resolve(false)
    return new Promise((resolve) => {
      const leave = () => waiter.wake(false)
      const timer = setTimeout(leave, maxMs)
      const waiter: Waiter = {
        accountId,
        channels,
        number: this.#number++,
        wake: (hasRoom) => {
          clearTimeout(timer)
          signal.removeEventListener('abort', leave)
          this.#delete(waiter)
          resolve(hasRoom)
        },
      }
      signal.addEventListener('abort', leave)
      this.#add(waiter)
    })
  }

  get isEmpty(): boolean {
    return this.#size === 0
  }

  /** A call on this channel has ended. */
  freed(channel: string, placesOf: PlacesOf): void {
    let next: Waiter | undefined
    let min = Number.POSITIVE_INFINITY
    for (const [accountId, waiters] of this.#byAccount) {
      const places = placesOf(accountId)
      if (places === undefined || places > min) continue
      const first = firstFor(waiters, channel)
      if (first === undefined) continue
      if (next !== undefined && places === min && first.number > next.number) continue
      next = first
      min = places
    }
    next?.wake(true)
  }

  /** The last call of the account with the most waiting calls leaves, if that is fair. */
  #makeRoom(accountId: string): boolean {
    if (accountId === lowPriority) return false
    const last = this.#byAccount.get(lowPriority)?.at(-1)
    if (last !== undefined) {
      last.wake(false)
      return true
    }
    let crowd: readonly Waiter[] = []
    for (const waiters of this.#byAccount.values()) {
      if (waiters.length > crowd.length) crowd = waiters
    }
    const own = this.#byAccount.get(accountId)?.length ?? 0
    if (crowd.length <= own + 1) return false
    crowd.at(-1)!.wake(false)
    return true
  }

  #add(waiter: Waiter): void {
    const waiters = this.#byAccount.get(waiter.accountId)
    if (waiters === undefined) this.#byAccount.set(waiter.accountId, [waiter])
    else waiters.push(waiter)
    this.#size++
  }

  #delete(waiter: Waiter): void {
    const waiters = this.#byAccount.get(waiter.accountId) ?? []
    const at = waiters.indexOf(waiter)
    if (at === -1) return
    waiters.splice(at, 1)
    this.#size--
    if (waiters.length === 0) this.#byAccount.delete(waiter.accountId)
  }
}

const firstFor = (waiters: readonly Waiter[], channel: string): Waiter | undefined =>
  waiters.find(({ channels }) => channels.includes(channel))
