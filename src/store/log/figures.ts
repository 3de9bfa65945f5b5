// Figures by which the request log is sorted. Each complete segment has one column of each: a number for every place, read as
// a whole, so that the largest of millions are found without reading rows.
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Dialect, Schema } from '../schema.ts'
import { insertColumns } from '../sql/bulk-columns.ts'
import { segmentRows } from './posting-list.ts'

const figureNames = ['charge', 'duration'] as const
export type Figure = (typeof figureNames)[number]

/** Rows that made a task have no charge of their own: what they cost is in the row of the task. */
const madeTask = '%"taskId":%'

/** Null: the row is not sorted by it. */
export const figureOf: Readonly<Record<Figure, RawBuilder<number | null>>> = {
  charge: sql`CASE WHEN detail LIKE ${sql.lit(madeTask)} THEN NULL ELSE charge_nanos END`,
  duration: sql`total_ms`,
}

/** By place; not a number where there is no row, or none that is sorted by it. */
type Figures = Float64Array

export interface FigureColumn {
  segment: number
  field: Figure
  lowest: number
  highest: number
  figures: string
}

/** All figures of the rows in a range of one segment, both bounds included. */
export async function gatherFigures(db: Kysely<Schema>, segment: number): Promise<FigureColumn[]> {
  const from = segment * segmentRows
  // One text, so that no driver handles single rows.
  const { rows } = await sql<{ lines: string | null }>`
    SELECT string_agg(seq || ' ' || coalesce(CAST(${figureOf.charge} AS text), '') || ' ' || total_ms, ',')
      AS lines
    FROM requests WHERE seq >= ${from} AND seq < ${from + segmentRows} AND detail <> ''`.execute(db)
  const columns = figureNames.map(() => new Float64Array(segmentRows).fill(Number.NaN))
  const lines = rows[0]?.lines ?? ''
  for (const line of lines === '' ? [] : lines.split(',')) {
    const [seq, ...figures] = line.split(' ')
    for (const [i, figure] of figures.entries()) {
      if (figure !== '') columns[i]![Number(seq) - from] = Number(figure)
    }
  }
  return figureNames.map((field, i) => packed(segment, field, columns[i]!))
}

function packed(segment: number, field: Figure, column: Figures): FigureColumn {
  let [lowest, highest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const figure of column) {
    if (figure < lowest) lowest = figure
    if (figure > highest) highest = figure
  }
  // Nothing to sort: no figure is above -1 or below 0.
  if (lowest > highest) [lowest, highest] = [0, -1]
  return { segment, field, lowest, highest, figures: Buffer.from(column.buffer).toString('base64') }
}

export function unpacked(text: string): Figures {
  const bytes = Buffer.from(text, 'base64')
  const column = new Float64Array(segmentRows)
  Buffer.from(column.buffer).set(bytes)
  return column
}

export const writeFigures = (
  tx: Kysely<Schema>,
  dialect: Dialect,
  columns: readonly FigureColumn[],
): Promise<void> =>
  insertColumns(tx, dialect, {
    table: 'log_figures',
    columns: ['segment', 'field', 'lowest', 'highest', 'figures'],
    values: columns.flatMap((each) => [
      ...[each.segment, each.field, each.lowest, each.highest, each.figures],
    ]),
    ending: 'ON CONFLICT (segment, field) DO NOTHING',
  })

/** The newest segment from before they were written gets its figures; false when there is none. Older ones lack them, too. */
export async function addMissingFigures(tx: Kysely<Schema>, dialect: Dialect): Promise<boolean> {
  const { rows } = await sql<{ segment: number | null }>`
    SELECT max(segment) AS segment FROM log_segments
    WHERE segment < coalesce((SELECT min(segment) FROM log_figures), ${Number.MAX_SAFE_INTEGER})`.execute(
    tx,
  )
  const segment = rows[0]?.segment ?? null
  if (segment === null) return false
  await writeFigures(tx, dialect, await gatherFigures(tx, segment))
  return true
}
