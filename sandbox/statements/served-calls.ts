// What the sandbox bills: every text that it has served whole, at a rate for its model. Kept only by a sandbox that
// was given rates.
import { formatNanos, parseNanos } from '../../src/lib/text/decimal.ts'
import type { LoggedCall } from '../http/call-log.ts'

/** In dollars for a million tokens. */
interface Rate {
  input: string
  output: string
}
export type Rates = Readonly<Record<string, Rate>>

export interface BilledCall {
  id: string
  atMs: number
  model: string
  inputTokens: number
  outputTokens: number
  /** In dollars. */
  input: bigint
  output: bigint
}

const maxCalls = 1_000_000
const million = 1_000_000n

export class ServedCalls {
  readonly #rates: Rates
  readonly #calls: { call: LoggedCall; key: string; atMs: number }[] = []

  constructor(rates: Rates) {
    this.#rates = rates
  }

  add(call: LoggedCall, key: string, atMs: number): void {
    if (this.#calls.length < maxCalls) this.#calls.push({ call, key, atMs })
  }

  /** Of one key, in the order in which they came. */
  *of(key: string, fromMs: number, untilMs: number): Generator<BilledCall> {
    for (const { call, key: own, atMs } of this.#calls) {
      if (own !== key || atMs < fromMs || atMs >= untilMs) continue
      const { id, model, status, finished } = call
      const rate =
        model === null || !Object.hasOwn(this.#rates, model) ? undefined : this.#rates[model]
      if (rate === undefined || status !== 200 || !finished) continue
      const [inputTokens, outputTokens] = [call.prompt_tokens, call.completion_tokens]
      const input = (BigInt(inputTokens) * nanosOf(rate.input)) / million
      const output = (BigInt(outputTokens) * nanosOf(rate.output)) / million
      yield { id, atMs, model: model!, inputTokens, outputTokens, input, output }
    }
  }
}

const nanosOf = (rate: string): bigint => parseNanos(rate) ?? 0n

export const dollars = (nanos: bigint): string => formatNanos(nanos)
