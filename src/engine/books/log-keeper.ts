// Schedules the upkeep of the request log: partitions for the weeks to come, and removal of rows
// past their retention. Decides when and how long; the store knows how.

import { logKeepMs } from '../../contract/config-schema/index.ts'
import { sureNowMs } from '../../lib/clock.ts'
import { makeWeeks } from '../../store/log/partitions.ts'
import { trimLog } from '../../store/log/retention.ts'
import type { Engine } from '../engine.ts'

const firstMs = 5_000
const everyMs = 6 * 3_600_000
const aheadMs = 35 * 24 * 3_600_000

type Kept = Pick<Engine, 'store' | 'clock' | 'declared' | 'log'>

export class LogKeeper {
  readonly #engine: Kept
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: Promise<void> | undefined
  #stopped = false

  constructor(engine: Kept) {
    this.#engine = engine
  }

  start(): void {
    this.#wake(firstMs)
  }

  async close(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#running
  }

  #wake(afterMs: number): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      this.#running = this.run()
        .catch((error) => this.#engine.log.warn('log retention failed', { error }))
        .then(() => this.#wake(everyMs))
    }, afterMs)
    this.#timer.unref()
  }

  /** One round. */
  async run(): Promise<void> {
    const { store, clock, declared, log } = this.#engine
    const nowMs = clock.nowMs()
    if (store.dialect === 'postgres') await makeWeeks(store, nowMs, nowMs + aheadMs)
    const keepMs = logKeepMs(declared.file.logs)
    const wholeFromMs = await trimLog(store, {
      nowMs: sureNowMs(clock),
      keepMs,
      isStopped: () => this.#stopped,
    })
    log.debug('request log tended', { whole_from: new Date(wholeFromMs).toISOString() })
  }
}
