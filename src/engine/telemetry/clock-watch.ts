// Compares the wall clock of this machine with the clock of durable times. The wall clock dates and
// signs outgoing data, so a large offset raises an alert; among several gateways such a gateway
// also takes no new work until it is right again.
import { hostname } from 'node:os'
import { type Refusal, refuse } from '../../contract/errors.ts'
import { stepMs } from '../../lib/clock.ts'
import { raiseAlert, resolveAlerts } from '../../store/catalog/alerts.ts'
import type { Engine } from '../engine.ts'

const pollEveryMs = 1_000
/** An open alert is raised again, so that it cannot stay resolved while the problem lasts. */
const raiseEveryMs = 60_000
const kind = 'clock'

/** More than a day's drift; the strictest signature checks allow five minutes. */
export const maxAheadMs = stepMs

export class ClockWatch {
  #timer: ReturnType<typeof setInterval> | undefined
  /** Undefined before the first check. */
  #isOff: boolean | undefined
  #raisedMs = Number.NEGATIVE_INFINITY
  /** The refusal for new work. */
  refusal: Refusal | undefined

  start(engine: Engine): void {
    this.poll(engine)
    this.#timer = setInterval(() => this.poll(engine), pollEveryMs)
    this.#timer.unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  poll(engine: Engine): void {
    const problem = clockProblem(engine)
    const isOff = problem !== undefined
    const wasOff = this.#isOff
    this.#isOff = isOff
    this.refusal = isOff && engine.store.dialect === 'postgres' ? wrongClock : undefined
    if (isOff && wasOff !== true) engine.log.error(problem, { skew_ms: aheadMs(engine) })
    if (!isOff && wasOff === true) engine.log.info('clock of this machine correct again')
    if (isOff && performance.now() - this.#raisedMs >= raiseEveryMs) this.#raise(engine, problem)
    if (!isOff && wasOff !== false) this.#resolve(engine)
  }

  #raise(engine: Engine, message: string): void {
    this.#raisedMs = performance.now()
    const alert = { kind, subject: hostname(), message, atMs: engine.clock.nowMs() }
    engine.store
      .tx((tx) => raiseAlert(tx, alert))
      .catch(() => {
        this.#raisedMs = Number.NEGATIVE_INFINITY
      })
  }

  #resolve(engine: Engine): void {
    this.#raisedMs = Number.NEGATIVE_INFINITY
    engine.store
      .tx((tx) => resolveAlerts(tx, kind, hostname(), engine.clock.nowMs()))
      .catch(() => {
        this.#isOff = undefined
      })
  }
}

const aheadMs = ({ store }: Pick<Engine, 'store'>): number => store.clock.aheadMs()

/** One sentence, when the wall clock is too far off. */
export function clockProblem(engine: Pick<Engine, 'store'>): string | undefined {
  const ms = aheadMs(engine)
  if (Math.abs(ms) <= maxAheadMs) return undefined
  const [seconds, way] = [Math.round(Math.abs(ms) / 1000), ms < 0 ? 'behind' : 'ahead of']
  return engine.store.dialect === 'postgres'
    ? `the clock of this gateway is ${seconds} s ${way} the database's`
    : `the clock of this machine was set: it is ${seconds} s ${way} the gateway's, which goes on as before`
}

const wrongClock = refuse(
  'overloaded',
  "the gateway's clock is wrong; it takes no new work until it is right",
  { retryAfterSeconds: 5 },
)
