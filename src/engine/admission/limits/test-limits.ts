// For tests of the rate limits: a log that keeps its lines, and calls that report their outcome.
import type { TokenLimits } from '../../../contract/catalog.ts'
import { Refusal } from '../../../contract/errors.ts'
import { createLog, type Log } from '../../../lib/telemetry/log.ts'
import type { RateLimits, RatePass } from './rate-limits.ts'

export function keptLog(): { log: Log; lines: { level: string; msg: string }[] } {
  const lines: { level: string; msg: string }[] = []
  const write = (line: string) => lines.push(JSON.parse(line))
  return { log: createLog({ level: 'debug', pretty: false, write }), lines }
}

export const token = (id: string, limits: TokenLimits) => ({ id, limits })
type Limited = ReturnType<typeof token>

type Outcome = RatePass | Refusal

export const isPass = (outcome: Outcome): outcome is RatePass => !(outcome instanceof Refusal)

/** Tries this many calls in sequence, and returns the passes it got. */
export async function passes(
  limits: RateLimits,
  limited: Limited,
  calls: number,
  estimatedTokens = 0,
): Promise<RatePass[]> {
  const got: RatePass[] = []
  for (let call = 0; call < calls; call++) {
    const outcome = await limits.enter(limited, estimatedTokens)
    if (isPass(outcome)) got.push(outcome)
  }
  return got
}
