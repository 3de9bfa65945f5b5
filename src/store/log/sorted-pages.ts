// A page of the request log in the order of a figure, over all rows that pass a filter. Rows with equal figures are in a fixed
// order, so that pages neither repeat nor miss one. Reads the columns of complete segments, then the rows of the page alone.
import { type Kysely, type Selectable, sql } from 'kysely'
import type { Schema } from '../schema.ts'
import type { Page } from '../sql/cursor.ts'
import { type Figure, figureOf, unpacked } from './figures.ts'
import { type Ids, matchingRows } from './matching.ts'
import { type FoundSegment, padded, segmentsWith, segmentsWithin } from './search.ts'
import { firstSeqOf, lastSeqOf, segmentOf } from './segments.ts'
import { Best, cursorOf, type Place, type SortedQuery } from './sorted-places.ts'
import { addTasks } from './task-charges.ts'
import { indexedSeq } from './watermark.ts'

type Row = Selectable<Schema['requests']>

/** Segments queried at once, and columns read at once. */
const segmentsAtOnce = 128
const columnsAtOnce = 16

export async function sortedPageOfLog(db: Kysely<Schema>, query: SortedQuery): Promise<Page<Row>> {
  const best = new Best(query)
  // Read first: rows indexed meanwhile are found twice rather than missed.
  const indexed = await indexedSeq(db)
  await readRange(db, query, best, { from: indexed + 1, upTo: Number.MAX_SAFE_INTEGER })
  await readSegments(db, query, best, indexed)
  if (query.sort === 'charge') await addTasks(db, query, best)
  const places = best.places.slice(0, query.limit)
  const items = await rowsAt(db, query, places)
  const last = best.places.length > query.limit ? places.at(-1) : best.end
  return last === undefined ? { items } : { items, nextCursor: cursorOf(last) }
}

/** Rows that have no column: those after the last segment, and of segments that lie in the period in part. */
async function readRange(
  db: Kysely<Schema>,
  { filter, sort, isRising, limit }: SortedQuery,
  best: Best,
  { from, upTo, ids }: { from: number; upTo: number; ids?: Ids },
): Promise<void> {
  const figure = sort === 'time' ? sql<number>`seq` : figureOf[sort]
  const { after } = best
  let query = matchingRows(db, filter, ids)
    .clearSelect()
    .select(['seq', sql<string | null>`CAST(${figure} AS text)`.as('figure')])
    .where('seq', '>=', from)
    .where('seq', '<=', upTo)
    .where(sql<boolean>`${figure} IS NOT NULL`)
  if (after !== undefined) {
    query = query.where(sql<boolean>`${figure} ${isRising ? sql`>=` : sql`<=`} ${after.figure}`)
    if (after.task === undefined) {
      const isBehind = isRising ? sql`seq > ${after.seq}` : sql`seq < ${after.seq}`
      query = query.where(sql<boolean>`(${figure} <> ${after.figure} OR ${isBehind})`)
    } else query = query.where(sql<boolean>`${figure} <> ${after.figure}`)
  }
  const direction = isRising ? sql`ASC` : sql`DESC`
  const found = await query
    .orderBy(sql`${figure} ${direction}, seq ${direction}`)
    .limit(limit + 1)
    .execute()
  for (const row of found) best.add({ figure: Number(row.figure), seq: row.seq })
}

async function readSegments(
  db: Kysely<Schema>,
  query: SortedQuery,
  best: Best,
  indexed: number,
): Promise<void> {
  const { filter, isRising, sort } = query
  const { oldest, newest } = await segmentsWithin(db, filter)
  const top = Math.min(newest, segmentOf(indexed))
  const starts: number[] = []
  for (let from = oldest; from <= top; from += segmentsAtOnce) starts.push(from)
  // In the order of time, the first ones have what is wanted.
  const isOldestFirst = sort === 'time' && isRising
  for (const from of isOldestFirst ? starts : starts.toReversed()) {
    const upTo = Math.min(top, from + segmentsAtOnce - 1)
    if (sort === 'time' && !best.mayHave(firstSeqOf(from), lastSeqOf(upTo))) continue
    const found = await segmentsWith(db, filter, from, upTo)
    await readFound(db, query, best, isOldestFirst ? found.toReversed() : found)
  }
}

async function readFound(
  db: Kysely<Schema>,
  query: SortedQuery,
  best: Best,
  found: readonly FoundSegment[],
): Promise<void> {
  const { filter, sort } = query
  const bounds = sort === 'time' ? new Map() : await boundsOf(db, sort, found)
  const columns: FoundSegment[] = []
  for (const each of found) {
    const { segment, from_id, until_id } = each
    const isWhole =
      (filter.fromId === undefined || from_id >= filter.fromId) &&
      (filter.toId === undefined || until_id < filter.toId)
    const [from, upTo] = [firstSeqOf(segment), lastSeqOf(segment)]
    if (sort === 'time' && !best.mayHave(from, upTo)) continue
    if (isWhole && bounds.has(segment)) columns.push(each)
    else await readRange(db, query, best, { from, upTo, ids: each })
  }
  if (sort === 'time') return
  // The columns with the best figures first: they spare reading the others.
  columns.sort((a, b) => {
    const [first, second] = [bounds.get(a.segment)!, bounds.get(b.segment)!]
    return best.sign === 1 ? second.highest - first.highest : first.lowest - second.lowest
  })
  for (let at = 0; at < columns.length; at += columnsAtOnce) {
    const wanted = columns.slice(at, at + columnsAtOnce).filter(({ segment }) => {
      const { lowest, highest } = bounds.get(segment)!
      return best.mayHave(lowest, highest)
    })
    if (wanted.length > 0) await readColumns(db, sort, best, wanted)
  }
}

async function boundsOf(
  db: Kysely<Schema>,
  sort: Figure,
  found: readonly FoundSegment[],
): Promise<Map<number, { lowest: number; highest: number }>> {
  const [first, last] = [found[0]?.segment ?? 0, found.at(-1)?.segment ?? -1]
  const rows = await db
    .selectFrom('log_figures')
    .select(['segment', 'lowest', 'highest'])
    .where('field', '=', sort)
    .where('segment', '>=', Math.min(first, last))
    .where('segment', '<=', Math.max(first, last))
    .execute()
  return new Map(rows.map(({ segment, ...bounds }) => [segment, bounds]))
}

async function readColumns(
  db: Kysely<Schema>,
  sort: Figure,
  best: Best,
  wanted: readonly FoundSegment[],
): Promise<void> {
  const [first, ...others] = wanted.map(({ segment }) => segment)
  const rows = await db
    .selectFrom('log_figures')
    .select(['segment', 'figures'])
    .where('field', '=', sort)
    .where('segment', 'in', padded([first!, ...others]))
    .execute()
  const texts = new Map(rows.map(({ segment, figures }) => [segment, figures]))
  for (const { segment, places } of wanted) {
    const column = unpacked(texts.get(segment) ?? '')
    const seq = firstSeqOf(segment)
    for (const place of places ?? column.keys()) {
      const figure = column[place]!
      if (!Number.isNaN(figure)) best.add({ figure, seq: seq + place })
    }
  }
}

/** Some may be gone, or fail the full filter: the page is then shorter. */
async function rowsAt(
  db: Kysely<Schema>,
  { filter }: SortedQuery,
  places: readonly Place[],
): Promise<Row[]> {
  const [first, ...others] = places.flatMap(({ seq, task }) => (task === undefined ? [seq] : []))
  const ids = places.flatMap(({ task }) => (task === undefined ? [] : [task.requestId]))
  const bySeq =
    first === undefined
      ? []
      : await matchingRows(db, filter)
          .where('seq', 'in', padded([first, ...others]))
          .execute()
  const byId =
    ids.length === 0 ? [] : await matchingRows(db, filter).where('request_id', 'in', ids).execute()
  const rows = new Map<number | string, Row>()
  for (const row of bySeq) rows.set(row.seq, row)
  for (const row of byId) rows.set(row.request_id, row)
  return places.flatMap(({ seq, task }) => rows.get(task?.requestId ?? seq) ?? [])
}
