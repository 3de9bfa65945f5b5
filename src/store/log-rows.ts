// Rows of the request log as late work reads them: the columns it wants, many rows as one text, so
// that neither threads nor drivers handle values one by one.
import { type Kysely, sql } from 'kysely'
import type { Schema } from './schema.ts'

export interface LogRow {
  seq: number
  requestId: string
  atMs: number
  accountId: string
  tokenId: string
  interface: string
  model: string
  channel: string
  status: number
  errorCode: string
  chargeNanos: string
  /** Negative where it was not timed. */
  firstByteMs: number
  totalMs: number
}

// The separator of the hot path: no cell contains it.
const S = '\x1f'
const columns = [
  'seq',
  'request_id',
  'at_ms',
  'account_id',
  'token_id',
  'interface',
  'model',
  `coalesce(channel, '')`,
  'status',
  `coalesce(error_code, '')`,
  'charge_nanos',
  'coalesce(first_byte_ms, -1)',
  'total_ms',
] as const
const width = columns.length

// No column is null here: this function would leave it out.
const packed = sql.raw(`string_agg(concat_ws('${S}', ${columns.join(', ')}, ''), '')`)

/** From and up to these numbers, in no order. */
export async function readLogRows(
  db: Kysely<Schema>,
  from: number,
  upTo: number,
): Promise<LogRow[]> {
  const { rows } = await sql<{ packed: string | null }>`
    SELECT ${packed} AS packed FROM requests
    WHERE seq >= ${from} AND seq <= ${upTo}`.execute(db)
  return unpack(rows[0]?.packed ?? '')
}

function unpack(text: string): LogRow[] {
  const cells = text.split(S)
  const rows: LogRow[] = []
  for (let at = 0; at + width <= cells.length; at += width) {
    rows.push({
      seq: Number(cells[at]),
      requestId: cells[at + 1]!,
      atMs: Number(cells[at + 2]),
      accountId: cells[at + 3]!,
      tokenId: cells[at + 4]!,
      interface: cells[at + 5]!,
      model: cells[at + 6]!,
      channel: cells[at + 7]!,
      status: Number(cells[at + 8]),
      errorCode: cells[at + 9]!,
      chargeNanos: cells[at + 10]!,
      firstByteMs: Number(cells[at + 11]),
      totalMs: Number(cells[at + 12]),
    })
  }
  return rows
}
