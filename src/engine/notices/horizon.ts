// How far the ledger and the losses can be read without missing a row that appears later. Numbers are
// drawn before a transaction commits, so on PostgreSQL a smaller one may appear after a larger one.
import { type FeedEnd, readFeedEnd } from '../../store/deliveries/feeds.ts'
import type { Store } from '../../store/index.ts'

/** How long a number may be drawn before its transaction has written anything. */
const settleMs = 2_000
/** Between two sightings. */
const gapMs = 400
const maxSightings = 64

interface Sighting extends FeedEnd {
  atMs: number
}

type Settled = Pick<FeedEnd, 'entryId' | 'lossSeq'>

export class Horizon {
  readonly #store: Store
  readonly #nowMs: () => number
  /** Oldest first. */
  #sightings: Sighting[] = []
  #settled: Settled = { entryId: 0, lossSeq: 0 }

  constructor(store: Store, nowMs: () => number = () => performance.now()) {
    this.#store = store
    this.#nowMs = nowMs
  }

  /** No row can appear at or below these numbers. */
  async settled(): Promise<Settled> {
    const { read, dialect } = this.#store
    const end = await readFeedEnd(read, dialect)
    // One writer: its numbers come in order.
    if (dialect === 'sqlite') return end
    const atMs = this.#nowMs()
    const isOver = (each: Sighting) =>
      atMs - each.atMs >= settleMs && end.oldestOpen >= each.nextNew
    const last = this.#sightings.findLastIndex(isOver)
    if (last >= 0) {
      this.#settled = this.#sightings[last]!
      this.#sightings = this.#sightings.slice(last + 1)
    }
    const newest = this.#sightings.at(-1)
    const isDue = newest === undefined || atMs - newest.atMs >= gapMs
    if (isDue && this.#sightings.length < maxSightings) this.#sightings.push({ ...end, atMs })
    return this.#settled
  }
}
