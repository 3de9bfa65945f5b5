// The charges of the period, refetched while the page is open.
import { type Period, periodOf, type UsageRow } from '../../lib/resources/usage.ts'
import { useResource } from '../../lib/use-resource.ts'
import type { Chosen } from './period.ts'
import { type Range, spans } from './traffic.ts'

const refetchMs = 15_000
const settledMs = 300_000

interface Charged {
  items: UsageRow[]
  total: UsageRow
}

export function useCharges(range: Range, by: string) {
  const period = periodOf(spans[range].days)
  const query = { ...period, by }
  return useResource<Charged>('/usage', { query, isEarly: true, refetchInterval: refetchMs })
}

/** Over time, by model and unit; most parts of a member's page ask this. */
export const useSpend = (range: Range) => useCharges(range, `${spans[range].moneyBy},model,unit`)

/** Of the chosen time, and of the time before it, which comes second and changes no more. */
export function useBusiness({ period, before }: Chosen, by: 'account' | 'model') {
  const asked = (of: Period, isWanted: boolean, everyMs: number) => ({
    ...{ query: { ...of, by }, isEarly: true as const, enabled: isWanted },
    ...{ refetchInterval: everyMs, staleTime: everyMs },
  })
  const now = useResource<Charged>('/usage', asked(period, true, refetchMs)).data
  const then = useResource<Charged>('/usage', asked(before, now !== undefined, settledMs)).data
  return { now, before: then }
}
