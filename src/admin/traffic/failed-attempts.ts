// Attempts that failed, beside the traffic of channels: a request counts at the channel that answered it
// last, its failed attempts at the channels that failed.
import { noTraffic } from '../../contract/traffic.ts'
import type { Store } from '../../store/index.ts'
import { listFailedAttempts } from '../../store/log/facts.ts'
import { type TrafficQuery, type TrafficSum, timeSpans } from '../../store/log/traffic.ts'

const hourMs = timeSpans.hour

/** Attempts are counted by channel and hour. */
const isCounted = ({ by, where, time }: TrafficQuery): boolean =>
  by.length === 1 &&
  by[0] === 'channel' &&
  time !== 'slot' &&
  Object.keys(where).every((name) => name === 'channel')

export interface CountedSum extends TrafficSum {
  failedAttempts?: number
}

/** The sums, with a row also for a channel at which attempts did nothing but fail. */
export async function withFailedAttempts(
  db: Store['read'],
  query: TrafficQuery,
  { sums, fromMs, untilMs }: { sums: TrafficSum[]; fromMs: number; untilMs: number },
): Promise<CountedSum[]> {
  if (!isCounted(query)) return sums
  const spanMs = query.time === undefined ? undefined : timeSpans[query.time]
  const counted = new Map<string, CountedSum>(
    sums.map((sum) => [nameOf(sum), { ...sum, failedAttempts: 0 }]),
  )
  const hours = {
    fromMs: fromMs - (fromMs % hourMs),
    untilMs: Math.ceil(untilMs / hourMs) * hourMs,
  }
  for (const { hourMs: atMs, channel, failed } of await listFailedAttempts(db, hours)) {
    if (query.where.channel !== undefined && query.where.channel !== channel) continue
    const slotMs = spanMs === undefined ? 0 : atMs - (atMs % spanMs)
    const row: CountedSum = { slotMs, values: [channel], ...noTraffic() }
    const known = counted.get(nameOf(row)) ?? row
    counted.set(nameOf(row), { ...known, failedAttempts: (known.failedAttempts ?? 0) + failed })
  }
  return [...counted.values()].toSorted((a, b) => (a.slotMs ?? 0) - (b.slotMs ?? 0))
}

const nameOf = ({ slotMs = 0, values }: TrafficSum): string => `${slotMs} ${values[0]}`
