// What was charged in the period, asked again by itself: the page stays open.
import { useQuery } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { periodOf, type UsageRow } from '../../lib/resources/usage.ts'
import { type Range, spans } from './traffic.ts'

const refetchMs = 15_000

export function useCharges(range: Range, by: string) {
  const period = periodOf(spans[range].days)
  return useQuery({
    queryKey: ['charges', period, by],
    queryFn: () =>
      api<{ items: UsageRow[]; total: UsageRow }>('GET', '/usage', { query: { ...period, by } }),
    refetchInterval: refetchMs,
  })
}

/** Over time, by model and unit; most parts of the page ask this. */
export const useSpend = (range: Range) => useCharges(range, `${spans[range].moneyBy},model,unit`)
