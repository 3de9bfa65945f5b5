// Compares the wall clock of this machine with the clock of durable times. The wall clock dates and
// signs outgoing data, so a large offset raises an alert; among several gateways such a gateway
// also takes no new work until it is right again.
import { hostname } from 'node:os'
import { type Refusal, refuse } from '../../contract/errors.ts'
import { stepMs } from '../../lib/clock.ts'
import { LoopService } from '../../lib/loop.ts'
import { raiseAlert, resolveAlerts } from '../../store/catalog/alerts.ts'
import type { Store } from '../../store/index.ts'
import type { BaseDeps } from '../base-deps.ts'

const everyMs = 1_000
/** An open alert is raised again, so that it cannot stay resolved while the problem lasts. */
const raiseEveryMs = 60_000
const kind = 'clock'

/** More than a day's drift; the strictest signature checks allow five minutes. */
export const maxAheadMs = stepMs

export class ClockWatch extends LoopService {
  readonly #deps: BaseDeps
  /** Undefined before the first check. */
  #isOff: boolean | undefined
  #raisedMs = Number.NEGATIVE_INFINITY
  /** The refusal for new work. */
  refusal: Refusal | undefined

  constructor(deps: BaseDeps) {
    const failure = 'the clock could not be checked'
    super({ name: 'clock-watch', everyMs, firstMs: everyMs, log: deps.log, failure })
    this.#deps = deps
  }

  override start(): void {
    this.poll()
    super.start()
  }

  protected override run(): void {
    this.poll()
  }

  poll(): void {
    const { store, log } = this.#deps
    const problem = clockProblem(store)
    const isOff = problem !== undefined
    const wasOff = this.#isOff
    this.#isOff = isOff
    this.refusal = isOff && store.dialect === 'postgres' ? wrongClock : undefined
    if (isOff && wasOff !== true) log.error(problem, { skew_ms: store.clock.aheadMs() })
    if (!isOff && wasOff === true) log.info('clock of this machine correct again')
    if (isOff && performance.now() - this.#raisedMs >= raiseEveryMs) this.#raise(problem)
    if (!isOff && wasOff !== false) this.#resolve()
  }

  #raise(message: string): void {
    const { store, clock } = this.#deps
    this.#raisedMs = performance.now()
    const alert = { kind, subject: hostname(), message, atMs: clock.nowMs() }
    store
      .tx((tx) => raiseAlert(tx, { ...alert, isLasting: true }))
      .catch(() => {
        this.#raisedMs = Number.NEGATIVE_INFINITY
      })
  }

  #resolve(): void {
    const { store, clock } = this.#deps
    this.#raisedMs = Number.NEGATIVE_INFINITY
    store
      .tx((tx) => resolveAlerts(tx, kind, hostname(), clock.nowMs()))
      .catch(() => {
        this.#isOff = undefined
      })
  }
}

/** One sentence, when the wall clock is too far off. */
export function clockProblem(store: Store): string | undefined {
  const ms = store.clock.aheadMs()
  if (Math.abs(ms) <= maxAheadMs) return undefined
  const [seconds, way] = [Math.round(Math.abs(ms) / 1000), ms < 0 ? 'behind' : 'ahead of']
  return store.dialect === 'postgres'
    ? `the clock of this gateway is ${seconds} s ${way} the database's`
    : `the clock of this machine was set: it is ${seconds} s ${way} the gateway's, which goes on as before`
}

const wrongClock = refuse(
  'overloaded',
  "the gateway's clock is wrong; it takes no new work until it is right",
  { retryAfterSeconds: 5 },
)
