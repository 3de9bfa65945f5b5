// How far time is known to have come, kept with the data: what lies between the last such moment and
// a start was lived by no gateway, or the clock is wrong.
import type { SteadyClock } from '../../lib/clock.ts'
import { getMeta, setMeta } from '../sql/meta.ts'
import type { Store } from '../store.ts'

const key = 'clock_at_ms'
const everyMs = 15_000
/** A shorter gap is a restart, also one of many in a row that each end before they keep the time. */
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

  /** Tells the clock how far time was known before, and keeps it from now on. */
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

  /** Missed once, it comes with the next. */
  async #keep(): Promise<void> {
    const atMs = String(this.#clock.sureMs())
    await this.#store.tx((tx) => setMeta(tx, key, atMs)).catch(() => {})
  }
}
