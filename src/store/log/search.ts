// Searches complete segments of the request log for wanted values and their rows.
import { type Kysely, sql } from 'kysely'
import type { StatusRange } from '../../contract/traffic.ts'
import type { Schema } from '../schema.ts'
import { placesAlsoIn } from './posting-list.ts'
import { type LogField, valueKey } from './segments.ts'

export interface LogFilter {
  values: Partial<Record<Exclude<LogField, 'status'>, string>>
  status?: StatusRange | undefined
  /** From this id on, and before that one; ids begin with their time. */
  fromId?: string | undefined
  toId?: string | undefined
}

export interface FoundSegment {
  segment: number
  /** The lowest and highest id in it. */
  from_id: string
  until_id: string
  /** Positions of rows with all wanted values, the last one first; absent when none is wanted. */
  places?: readonly number[]
}

/** The most selective fields come first: segments they exclude are not queried for the others. */
const askedFirst = [
  ...(['end_user', 'token', 'tag', 'retry', 'account', 'error_code', 'model', 'channel'] as const),
] as const

const ofTime = ({ fromId, toId }: LogFilter) => sql`
  ${fromId === undefined ? sql`` : sql`AND s.until_id >= ${fromId}`}
  ${toId === undefined ? sql`` : sql`AND s.from_id < ${toId}`}`

/** The first and last segment that may have rows of the period; none when first > last. */
export async function segmentsWithin(
  db: Kysely<Schema>,
  filter: LogFilter,
): Promise<{ oldest: number; newest: number }> {
  const { rows } = await sql<{ oldest: number | null; newest: number | null }>`
    SELECT min(segment) AS oldest, max(segment) AS newest FROM log_segments s
    WHERE s.segment >= 0 ${ofTime(filter)}`.execute(db)
  return { oldest: rows[0]?.oldest ?? 0, newest: rows[0]?.newest ?? -1 }
}

/** Both bounds included, newest first: segments with all of the values in one row. */
export async function segmentsWith(
  db: Kysely<Schema>,
  filter: LogFilter,
  from: number,
  upTo: number,
): Promise<FoundSegment[]> {
  const { rows } = await sql<FoundSegment>`
    SELECT s.segment, s.from_id, s.until_id FROM log_segments s
    WHERE s.segment >= ${from} AND s.segment <= ${upTo} ${ofTime(filter)}
    ORDER BY s.segment DESC`.execute(db)
  let found: FoundSegment[] = rows
  for (const field of askedFirst) {
    const value = filter.values[field]
    if (value === undefined || found.length === 0) continue
    const key = valueKey(value)
    found = alsoIn(found, await hitsIn(db, found, field, key, key))
  }
  const { status } = filter
  if (status === undefined || found.length === 0) return found
  // All of them have three digits, so that their order as texts is that of the numbers.
  return alsoIn(found, await hitsIn(db, found, 'status', `${status.from}`, `${status.to}`))
}

/** Those of the segments and rows that are in one of the lists of their segment. */
const alsoIn = (found: readonly FoundSegment[], hits: ReadonlyMap<number, string[]>) =>
  found.flatMap((segment): FoundSegment[] => {
    const places = placesAlsoIn(segment.places, hits.get(segment.segment) ?? [])
    return places.length === 0 ? [] : [{ ...segment, places }]
  })

async function hitsIn(
  db: Kysely<Schema>,
  segments: readonly FoundSegment[],
  field: LogField,
  fromValue: string,
  toValue: string,
): Promise<Map<number, string[]>> {
  const [first, ...others] = segments.map(({ segment }) => segment)
  const { rows } = await sql<{ segment: number; hits: string }>`
    SELECT segment, hits FROM log_values
    WHERE segment IN (${sql.join(padded([first!, ...others]))})
      AND field = ${field} AND ${between(fromValue, toValue)}`.execute(db)
  const lists = new Map<number, string[]>()
  for (const { segment, hits } of rows) lists.set(segment, [...(lists.get(segment) ?? []), hits])
  return lists
}

const between = (from: string, to: string) =>
  from === to ? sql`value = ${from}` : sql`value >= ${from} AND value <= ${to}`

/** Padded to few lengths, so that prepared statements are reused. */
export function padded(numbers: readonly [number, ...number[]]): number[] {
  const length = 2 ** Math.ceil(Math.log2(numbers.length))
  return [...numbers, ...new Array<number>(length - numbers.length).fill(numbers[0])]
}
