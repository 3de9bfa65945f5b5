// Models an upstream account is not entitled to: learned from its refusals and from channel tests,
// forgotten on the next successful test and, because accounts change, after a time-out.

/** A model that has worked before must be refused this often in a row: one may be transient. */
const refusalsAfterWork = 3
const rememberMs = 10 * 60_000

interface Denial {
  refusals: number
  untilMs: number
}

export class Entitlements {
  readonly #nowMs: () => number
  readonly #denials = new Map<string, Denial>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Whether any model is known to be denied. Usually none is, and the lookup can be skipped. */
  get any(): boolean {
    return this.#denials.size > 0
  }

  isDenied(channel: string, model: string): boolean {
    const key = keyOf(channel, model)
    const denial = this.#denials.get(key)
    if (denial === undefined) return false
    if (denial.untilMs === 0 || denial.untilMs > this.#nowMs()) return denial.untilMs !== 0
    this.#denials.delete(key)
    return false
  }

  refused(channel: string, model: string, hasWorked: boolean): void {
    const key = keyOf(channel, model)
    const denial = this.#denials.get(key) ?? { refusals: 0, untilMs: 0 }
    denial.refusals++
    if (!hasWorked || denial.refusals >= refusalsAfterWork) {
      denial.untilMs = this.#nowMs() + rememberMs
    }
    this.#denials.set(key, denial)
  }

  granted(channel: string, model: string): void {
    if (this.#denials.size > 0) this.#denials.delete(keyOf(channel, model))
  }

  /** A successful test that named no model. */
  forget(channel: string): void {
    for (const model of this.deniedOn(channel)) this.granted(channel, model)
  }

  /** Models that this channel is known to refuse. */
  deniedOn(channel: string): string[] {
    return [...this.#denials]
      .filter(([key, { untilMs }]) => key.startsWith(`${channel}\n`) && untilMs > this.#nowMs())
      .map(([key]) => key.slice(channel.length + 1))
  }
}

const keyOf = (channel: string, model: string): string => `${channel}\n${model}`
