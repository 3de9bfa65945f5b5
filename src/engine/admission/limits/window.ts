// The arithmetic of a sliding window: two counters of whole minutes, where the weight of the older
// falls as the newer fills. Whole numbers only, so that rounding loses nothing at the limit.
import type { RateGauge } from '../../../contract/rate.ts'

export const windowMs = 60_000

/** What was counted in this minute and in the one before it. */
export interface Tally {
  current: number
  previous: number
}

/** The weighted count in units of one windowMs-th. `leftMs`: time left in the minute. */
const weigh = ({ current, previous }: Tally, leftMs: number) =>
  previous * leftMs + current * windowMs

/**
 * Time until `cost` more fits if nothing else happens; 0 when it fits now. A cost above the limit
 * fits when nothing else counts, as it could never run otherwise.
 */
export function waitMs(tally: Tally, cost: number, limit: number, leftMs: number): number {
  const { current, previous } = tally
  const room = limit - cost
  if (room < 0) return emptyMs(tally, leftMs)
  if (weigh(tally, leftMs) <= room * windowMs) return 0
  if (current <= room) return leftMs - Math.floor(((room - current) * windowMs) / previous)
  const leftThen = Math.min(windowMs, Math.floor((room * windowMs) / current))
  return leftMs + windowMs - leftThen
}

/** Time until these counts expire. */
function emptyMs({ current, previous }: Tally, leftMs: number): number {
  if (current > 0) return leftMs + windowMs
  return previous > 0 ? leftMs : 0
}

/** `share`: the part of the limit that may be used here. */
export const gauge = (tally: Tally, limit: number, share: number, leftMs: number): RateGauge => ({
  limit,
  remaining: Math.max(0, Math.floor(share - weigh(tally, leftMs) / windowMs)),
  resetMs: emptyMs(tally, leftMs),
})
