// Open items in the database, counted in the background: a scrape takes the last count and starts
// the next, so it never waits. Many gateways on one database count the same.
import { countOpen, type OpenCounts } from '../../../store/maintenance/open-counts.ts'
import type { BaseDeps } from '../../base-deps.ts'

/** Counts older than that are renewed. */
const freshMs = 5_000
/** A slow count runs less often: it takes at most one part in this many of the time. */
const restFactor = 100
/** Only the first scrape waits, and not for long. */
const firstWaitMs = 250

export interface Counted extends OpenCounts {
  atMs: number
}

export class CountedOpen {
  #last: Counted | undefined
  #notBefore = 0
  #running: Promise<void> | undefined

  /** Undefined before the first successful count. */
  async read(deps: BaseDeps): Promise<Counted | undefined> {
    if (performance.now() >= this.#notBefore) this.#running ??= this.#count(deps)
    if (this.#last === undefined && this.#running !== undefined) {
      await Promise.race([this.#running, Bun.sleep(firstWaitMs)])
    }
    return this.#last
  }

  async #count({ store, clock, log }: BaseDeps): Promise<void> {
    const began = performance.now()
    try {
      const atMs = clock.nowMs()
      this.#last = { ...(await countOpen(store.read, atMs)), atMs }
    } catch (error) {
      // The store reports its own outage; the age of the last count is exported with it.
      log.debug('open work could not be counted', { error })
    } finally {
      const tookMs = performance.now() - began
      this.#notBefore = performance.now() + Math.max(freshMs, tookMs * restFactor)
      this.#running = undefined
    }
  }
}
