// How many polls may run at once, in total and for each channel. A channel that answers quickly
// earns slots, a slow one loses them, and none can starve the others. Pure.

/** In total; a poll holds little but a connection. */
const maxPolls = 1024
const firstWidth = 64
const minWidth = 8
const quickMs = 2_000
const slowMs = 10_000

interface Lane {
  busy: number
  /** Concurrent polls it may have, learned from its response times. */
  width: number
}

export class PollRoom {
  readonly #lanes = new Map<string, Lane>()
  #busy = 0

  get busy(): number {
    return this.#busy
  }

  get free(): number {
    return maxPolls - this.#busy
  }

  /** How many more this channel may have: half of what the others leave stays free. */
  roomFor(channelId: string): number {
    const { busy, width } = this.#lanes.get(channelId) ?? { busy: 0, width: firstWidth }
    const left = maxPolls - (this.#busy - busy)
    return Math.max(0, Math.min(width, Math.floor(left / 2)) - busy)
  }

  enter(channelId: string): void {
    let lane = this.#lanes.get(channelId)
    if (lane === undefined) {
      lane = { busy: 0, width: firstWidth }
      this.#lanes.set(channelId, lane)
    }
    lane.busy++
    this.#busy++
  }

  leave(channelId: string, tookMs: number): void {
    const lane = this.#lanes.get(channelId)!
    // Only a channel that uses all its slots can need more.
    if (tookMs <= quickMs && lane.busy * 2 > lane.width) {
      lane.width = Math.min(maxPolls / 2, lane.width + 1)
    }
    if (tookMs >= slowMs) lane.width = Math.max(minWidth, Math.floor(lane.width / 2))
    lane.busy--
    this.#busy--
    if (lane.busy === 0 && lane.width === firstWidth) this.#lanes.delete(channelId)
  }
}
