// How long a budget lasts at the pace of its running period. Pure.
import type { Token } from './token.ts'

type Budget = NonNullable<Token['budget']>

const dayMs = 86_400_000
/** The pace of less time says nothing. */
const minElapsedMs = dayMs / 24

/** When the period began that ends then; a calendar month of its time zone is taken as one of UTC. */
function beginOf(per: Budget['per'], endMs: number): number | undefined {
  if (per === 'day') return endMs - dayMs
  if (per === 'week') return endMs - 7 * dayMs
  if (per !== 'month') return undefined
  const begin = new Date(endMs)
  begin.setUTCDate(begin.getUTCDate() - 15)
  const days = new Date(Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + 1, 0)).getUTCDate()
  return endMs - days * dayMs
}

/** Whole days until it is used up, if that is before it resets; `lasts` if it is not, undefined where nothing is known. */
export function forecastOf(
  { per, left, spent, resets_at }: Pick<Budget, 'per' | 'left' | 'spent' | 'resets_at'>,
  nowMs: number,
): number | 'lasts' | undefined {
  if (resets_at === null) return undefined
  const endMs = Date.parse(resets_at)
  const elapsedMs = nowMs - (beginOf(per, endMs) ?? nowMs)
  if (elapsedMs < minElapsedMs || Number(spent) <= 0) return undefined
  const leftMs = (Math.max(0, Number(left)) / Number(spent)) * elapsedMs
  return nowMs + leftMs >= endMs ? 'lasts' : Math.floor(leftMs / dayMs)
}
