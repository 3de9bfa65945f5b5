// Many rows as one text: neither threads nor drivers then handle single values, which would cost an
// audit most of its time. Null comes back as the empty string, or as undefined for a number.
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Dialect, Schema } from '../schema.ts'

type Shape = 'text' | 'number' | 'nanos'

/** Type and source expression of each column. */
export type TextColumns = Readonly<Record<string, readonly [shape: Shape, from: string]>>

const S = '\x1f'
const separator = { sqlite: 'char(31)', postgres: 'chr(31)' } as const
const gather = { sqlite: 'group_concat', postgres: 'string_agg' } as const

/** `rows` is everything after the columns: from, where, order and limit. */
export async function readTextRows<Row>(
  db: Kysely<Schema>,
  dialect: Dialect,
  columns: TextColumns,
  rows: RawBuilder<unknown>,
): Promise<Row[]> {
  const cells = Object.values(columns).map(([, from]) => `coalesce(CAST(${from} AS text), '')`)
  const line = sql.raw(`concat_ws(${separator[dialect]}, ${cells.join(', ')})`)
  // From an ordered subquery: both dialects aggregate in its order.
  const gathered = sql.raw(`${gather[dialect]}(line, ${separator[dialect]})`)
  const { rows: found } = await sql<{ packed: string | null; lines: number }>`
    SELECT ${gathered} AS packed, count(*) AS lines FROM (
      SELECT ${line} AS line ${rows}
    ) AS page`.execute(db)
  const { packed, lines } = found[0]!
  const values = (packed ?? '').split(S)
  const width = cells.length
  if (lines === 0) return []
  if (values.length === lines * width) return shaped<Row>(values, columns)
  // A value contains the separator: these rows are read one by one.
  return (await oneByOne(db, columns, rows)) as Row[]
}

function shaped<Row>(values: readonly string[], columns: TextColumns): Row[] {
  const named = Object.entries(columns).map(([name, [shape]]) => ({ name, shape }))
  const rows: Row[] = []
  for (let at = 0; at < values.length; ) {
    const row: Record<string, unknown> = {}
    for (const { name, shape } of named) row[name] = valueIn(values[at++]!, shape)
    rows.push(row as Row)
  }
  return rows
}

function valueIn(cell: string, shape: Shape): string | number | bigint | undefined {
  if (shape === 'text') return cell
  if (cell === '') return undefined
  return shape === 'nanos' ? BigInt(cell) : Number(cell)
}

async function oneByOne(
  db: Kysely<Schema>,
  columns: TextColumns,
  rows: RawBuilder<unknown>,
): Promise<Record<string, unknown>[]> {
  const named = Object.entries(columns)
  const selected = named.map(([name, [, from]]) => `${from} AS ${name}`).join(', ')
  const found = await sql<Record<string, unknown>>`SELECT ${sql.raw(selected)} ${rows}`.execute(db)
  return found.rows.map((row) =>
    Object.fromEntries(
      named.map(([name, [shape]]) => [name, row[name] ?? (shape === 'text' ? '' : undefined)]),
    ),
  )
}

/** Rows processed in one turn of the event loop. */
const rowsInOneGo = 500

/** Page after page, each in small parts; the next one is read while the last one is processed. */
export async function* readAhead<Row>(
  rowsAtOnce: number,
  read: (last: Row | undefined) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  let reading = read(undefined)
  for (;;) {
    const page = await reading
    const isLast = page.length < rowsAtOnce
    if (!isLast) {
      reading = read(page.at(-1))
      // A consumer sees the failure when it awaits the page; without one it may be ignored.
      reading.catch(() => {})
    }
    for (let at = 0; at < page.length; at += rowsInOneGo) {
      yield page.slice(at, at + rowsInOneGo)
      await new Promise((go) => setImmediate(go))
    }
    if (isLast) return
  }
}
