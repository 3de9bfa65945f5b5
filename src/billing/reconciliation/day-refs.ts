// The requests and tasks behind lines that name none: all work of their day and model.
import type { Store } from '../../store/index.ts'
import { channelUsage } from '../../store/ledger/channel-usage.ts'
import { usageItems } from './channel-usage.ts'

interface DayLine {
  atMs: number | null
  model: string | null
}

const dayMs = 86_400_000
const workPerPage = 2_000
const maxRefs = 1_000

/** In the order of the lines; no more than a thousand for each. */
export async function refsOfDays(
  store: Store,
  channel: string,
  lines: readonly DayLine[],
): Promise<string[][]> {
  const found = lines.map((): string[] => [])
  const dated = lines.flatMap(({ atMs, model }, at) => (atMs === null ? [] : [{ atMs, model, at }]))
  for (const [fromMs, some] of Map.groupBy(dated, ({ atMs }) => atMs)) {
    const input = { channel, fromMs, untilMs: fromMs + dayMs }
    for await (const page of channelUsage(store.read, store.dialect, input, workPerPage)) {
      for (const { ref, atMs, model, upstreamModel } of page.flatMap(usageItems)) {
        if (atMs < fromMs || atMs >= fromMs + dayMs) continue
        for (const line of some) {
          const refs = found[line.at]!
          const names = [model.toLowerCase(), upstreamModel.toLowerCase()]
          const isOf = line.model === null || names.includes(line.model.toLowerCase())
          if (isOf && refs.length < maxRefs) refs.push(ref)
        }
      }
    }
  }
  return found
}
