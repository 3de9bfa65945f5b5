// Reads the pages of an upstream's list, newest or oldest first, while they can hold a match.
import type { UpstreamError } from '../../contract/provider.ts'
import { isObject } from '../../lib/json/parse.ts'
import type { Json } from './read-reply.ts'
import type { AskPage } from './style.ts'

export const pageSize = 100
const maxPages = 20

interface List {
  url(page: number): string
  rowsIn(body: Json): unknown
  /** Undefined when a row has no time. */
  createdMs(row: Json): number | undefined
}

/** Every row made between the two moments; those without a time are left out. */
export async function rowsBetween(
  list: List,
  { fromMs, untilMs }: { fromMs: number; untilMs: number },
  ask: AskPage,
): Promise<{ rows: Json[] } | { error: UpstreamError }> {
  const found: Json[] = []
  for (let page = 1; page <= maxPages; page++) {
    const answer = await ask(list.url(page))
    if ('error' in answer) return answer
    const listed = list.rowsIn(answer.body)
    const rows = Array.isArray(listed) ? listed.filter(isObject) : []
    const times = rows.map((row) => list.createdMs(row) ?? Number.NaN)
    found.push(...rows.filter((_, i) => times[i]! >= fromMs && times[i]! <= untilMs))
    const [first = Number.NaN, last = Number.NaN] = [times[0], times.at(-1)]
    const isPast = last < fromMs && first >= last
    if (rows.length < pageSize || isPast) break
  }
  return { rows: found }
}
