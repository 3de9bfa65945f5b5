// Planned events by time, then by tie-breaker. A heap.

/** One simulated process. A restart makes a new one. */
export interface Proc {
  readonly name: string
  alive: boolean
  /** By how much its wall clock is off. */
  skewMs: number
  /** Called when it dies. */
  readonly onDeath: Set<() => void>
}

export interface Planned {
  readonly atMs: number
  readonly tie: number
  readonly proc: Proc | undefined
  /** Undefined: cancelled. */
  work: (() => void) | undefined
}

const isBefore = (a: Planned, b: Planned): boolean =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.tie < b.tie)

export class Schedule {
  readonly #heap: Planned[] = []

  get isEmpty(): boolean {
    return this.#heap.length === 0
  }

  add(planned: Planned): void {
    const heap = this.#heap
    let at = heap.push(planned) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(planned, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = planned
  }

  /** The next one, unless it is later than that. */
  take(untilMs: number): Planned | undefined {
    const heap = this.#heap
    const first = heap[0]
    if (first === undefined || first.atMs > untilMs) return undefined
    const last = heap.pop()!
    if (heap.length > 0) this.#sink(last)
    return first
  }

  #sink(planned: Planned): void {
    const heap = this.#heap
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (!isBefore(heap[child]!, planned)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = planned
  }
}
