// How the calls of each channel went in the last hour, asked for once for all of them.
import { useQuery } from '@tanstack/react-query'
import { api } from '../api.ts'
import type { TrafficRow } from './traffic.ts'

const hourMs = 3_600_000
const refetchMs = 15_000

interface Row extends TrafficRow {
  channel?: string | null
}

interface RecentCalls {
  /** Answered and failed ones. */
  attempts: number
  failed: number
}

/** Undefined: there was none. What the caller did wrong, or sent too fast, is no fault of a channel. */
export function useRecentCalls(channel: string): RecentCalls | undefined {
  const toMs = Math.ceil(Date.now() / hourMs) * hourMs
  const bounds = {
    from: new Date(toMs - 2 * hourMs).toISOString(),
    to: new Date(toMs).toISOString(),
  }
  const asked = (by: string) => ({
    queryKey: ['traffic', 'recent', by, bounds],
    queryFn: () => api<{ items: Row[] }>('GET', '/traffic', { query: { ...bounds, by } }),
    refetchInterval: refetchMs,
  })
  const own = (rows: readonly Row[] | undefined) => rows?.filter((row) => row.channel === channel)
  const whole = own(useQuery(asked('channel')).data?.items)
  const statuses = own(useQuery(asked('channel,status')).data?.items)
  if (whole === undefined || statuses === undefined) return undefined
  const failed = whole.reduce((sum, row) => sum + (row.failed_attempts ?? 0), 0)
  const answered = statuses
    .filter(({ status = 200 }) => status < 500 && status !== 429)
    .reduce((sum, row) => sum + row.requests, 0)
  return { attempts: answered + failed, failed }
}
