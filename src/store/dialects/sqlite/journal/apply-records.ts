// Applies records of the journal to the tables. Rows that the database refuses are set aside in the
// meta table one record at a time: they must stop no other, and none may be lost.
import type { Database } from 'bun:sqlite'
import { callColumns } from '../../../rows/call-row.ts'
import { cellsOf, lossColumns } from '../../group-commit-rows.ts'
import type { BatchWriter, RowCells } from '../batch-writer.ts'
import type { RowTexts } from './batch-format.ts'

/** Keys of the meta table that hold a refused record. */
const refusedPrefix = 'journal_refused_'

/**
 * Returns the number of records that were set aside. Batch by batch, so that the cells of a whole
 * stretch are never in memory; `batches` may be called again.
 */
export function applyRecords(
  db: Database,
  writer: BatchWriter,
  batches: () => Iterable<RowTexts>,
  number: number,
): number {
  try {
    writer.write(cellsIn(batches()), number)
    return 0
  } catch (error) {
    if (!isRefused(error)) throw error
  }
  return applyOneByOne(db, writer, cellsIn(batches()), number)
}

function* cellsIn(batches: Iterable<RowTexts>): Generator<RowCells> {
  for (const { requests, losses } of batches) {
    yield { requests: cellsOf(requests), losses: cellsOf(losses) }
  }
}

const isRefused = (error: unknown): boolean =>
  /^SQLITE_(CONSTRAINT|MISMATCH|TOOBIG)/.test((error as { code?: string }).code ?? '')

/** Killed in between, it begins again: what is in the tables stays as it is. */
function applyOneByOne(
  db: Database,
  writer: BatchWriter,
  parts: Iterable<RowCells>,
  number: number,
): number {
  const insert = 'INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO NOTHING'
  let refused = 0
  for (const record of recordsIn(parts)) {
    try {
      writer.write([record])
    } catch (error) {
      if (!isRefused(error)) throw error
      db.run(insert, [refusedPrefix + record.requests[0]!, JSON.stringify(record)])
      refused++
    }
  }
  writer.write([], number)
  return refused
}

const lossRef = lossColumns.indexOf('ref')

function* recordsIn(parts: Iterable<RowCells>): Generator<RowCells> {
  for (const { requests, losses } of parts) {
    const lossesOf = Map.groupBy(rowsOf(losses, lossColumns.length), (row) => row[lossRef])
    for (const request of rowsOf(requests, callColumns.length)) {
      yield { requests: request, losses: lossesOf.get(request[0])?.flat() ?? [] }
    }
  }
}

function* rowsOf(cells: readonly string[], width: number): Generator<string[]> {
  for (let at = 0; at < cells.length; at += width) yield cells.slice(at, at + width)
}
