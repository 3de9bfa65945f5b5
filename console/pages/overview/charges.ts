// The charges of the period, refetched while the page is open.
import { periodOf, type UsageRow } from '../../lib/resources/usage.ts'
import { useResource } from '../../lib/use-resource.ts'
import { type Range, spans } from './traffic.ts'

const refetchMs = 15_000

export function useCharges(range: Range, by: string) {
  const period = periodOf(spans[range].days)
  return useResource<{ items: UsageRow[]; total: UsageRow }>('/usage', {
    query: { ...period, by },
    refetchInterval: refetchMs,
  })
}

/** Over time, by model and unit; most parts of the page ask this. */
export const useSpend = (range: Range) => useCharges(range, `${spans[range].moneyBy},model,unit`)
