// The last known time, stored with the data: between it and the next start either no gateway ran,
// or the clock is wrong.
import type { SteadyClock } from '../../lib/clock.ts'
import { getMeta, setMeta } from '../sql/meta.ts'
import type { Store } from '../store.ts'

const key = 'clock_at_ms'
const everyMs = 15_000
/** A shorter gap counts as a restart, even a series of restarts too short to store the time. */
const restartGapMs = 10 * 60_000

export class ClockKeeper {
  readonly #store: Pick<Store, 'tx'>
  readonly #clock: SteadyClock
  readonly #maxGapMs: number
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(store: Pick<Store, 'tx'>, clock: SteadyClock, maxGapMs = restartGapMs) {
    this.#store = store
    this.#clock = clock
    this.#maxGapMs = maxGapMs
  }

  /** Tells the clock the last stored time, then stores the time periodically. */
  async start(): Promise<void> {
    await this.#store.tx(async (tx) => {
      const lastMs = Number((await getMeta(tx, key)) ?? 'NaN')
      if (this.#clock.nowMs() - lastMs > this.#maxGapMs) this.#clock.knownUntil(lastMs)
      await setMeta(tx, 'opened_at_ms', String(this.#clock.nowMs()))
      await setMeta(tx, key, String(this.#clock.sureMs()))
    })
    this.#timer = setInterval(() => void this.#keep(), everyMs)
    this.#timer.unref()
  }

  async stop(): Promise<void> {
    if (this.#timer === undefined) return
    clearInterval(this.#timer)
    this.#timer = undefined
    await this.#keep()
  }

  /** A missed write is made up by the next one. */
  async #keep(): Promise<void> {
    const atMs = String(this.#clock.sureMs())
    await this.#store.tx((tx) => setMeta(tx, key, atMs)).catch(() => {})
  }
}
