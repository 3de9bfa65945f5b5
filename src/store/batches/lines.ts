// Outcomes of the lines of a running batch. A good one is written before its charge: after a crash, one whose
// call was not charged is no outcome, and its line runs again.
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'

type Db = Kysely<Schema>

export interface LineRow {
  batchId: string
  line: number
  requestId: string | undefined
  failed: boolean
  /** Encrypted. */
  answer: string
}

const rowsAtOnce = 100

export async function putLines(tx: Db, lines: readonly LineRow[]): Promise<void> {
  for (let at = 0; at < lines.length; at += rowsAtOnce) {
    const rows = lines.slice(at, at + rowsAtOnce).map((each) => ({
      batch_id: each.batchId,
      line: each.line,
      request_id: each.requestId ?? null,
      failed: each.failed ? 1 : 0,
      answer: each.answer,
    }))
    await tx
      .insertInto('batch_lines')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['batch_id', 'line']).doUpdateSet((e) => ({
          request_id: e.ref('excluded.request_id'),
          failed: e.ref('excluded.failed'),
          answer: e.ref('excluded.answer'),
        })),
      )
      .execute()
  }
}

/** Of calls whose answers are kept and whose charges are not written. */
export async function unchargedIds(db: Db, batchId: string): Promise<string[]> {
  const { rows } = await sql<{ request_id: string }>`
    SELECT request_id FROM batch_lines l WHERE batch_id = ${batchId} AND failed = 0
      AND NOT EXISTS (SELECT 1 FROM requests r WHERE r.request_id = l.request_id)`.execute(db)
  return rows.map(({ request_id }) => request_id)
}

interface DonePage {
  done: { line: number; failed: number }[]
  /** The next page begins after it. */
  last: number
}

/**
 * Lines with an outcome, in the order of the input; undefined: there are no more. Drops answers whose charge was
 * never written, or was taken back because its call was not answered.
 */
export async function takeDone(
  tx: Db,
  batchId: string,
  after: number,
  limit: number,
): Promise<DonePage | undefined> {
  const rows = await tx
    .selectFrom('batch_lines')
    .select(['line', 'failed'])
    .where('batch_id', '=', batchId)
    .where('line', '>', after)
    .orderBy('line')
    .limit(limit)
    .execute()
  const last = rows.at(-1)?.line
  if (last === undefined) return undefined
  const { rows: dropped } = await sql<{ line: number }>`
    DELETE FROM batch_lines
    WHERE batch_id = ${batchId} AND line > ${after} AND line <= ${last} AND failed = 0 AND (
      NOT EXISTS (SELECT 1 FROM requests r
        WHERE r.request_id = batch_lines.request_id AND r.booked_at_ms IS NOT NULL AND r.status = 200)
      OR EXISTS (SELECT 1 FROM entries e WHERE e.ref = batch_lines.request_id AND e.kind = 'credit'))
    RETURNING line`.execute(tx)
  const gone = new Set(dropped.map(({ line }) => Number(line)))
  return { done: rows.filter(({ line }) => !gone.has(line)), last }
}

/** What its calls have cost. */
export async function sumCharges(db: Db, batchId: string): Promise<bigint> {
  const { rows } = await sql<{ sum_nanos: bigint }>`
    SELECT CAST(coalesce(sum(r.charge_nanos), 0) AS bigint) AS sum_nanos
    FROM batch_lines l JOIN requests r ON r.request_id = l.request_id
    WHERE l.batch_id = ${batchId}`.execute(db)
  return BigInt(rows[0]!.sum_nanos)
}

interface LinePage {
  after: number
  maxLines: number
  /** Of their answers; the first line may have more. */
  maxBytes: number
}

/** In the order of the input; empty: there are no more. */
export async function linesAfter(
  db: Db,
  batchId: string,
  failed: boolean,
  { after, maxLines, maxBytes }: LinePage,
): Promise<{ line: number; answer: string }[]> {
  const { rows } = await sql<{ line: number; answer: string }>`
    SELECT line, answer FROM (
      SELECT line, answer, sum(length(answer)) OVER (ORDER BY line) - length(answer) AS bytes_before
      FROM (SELECT line, answer FROM batch_lines
        WHERE batch_id = ${batchId} AND failed = ${failed ? 1 : 0} AND line > ${after}
        ORDER BY line LIMIT ${maxLines}) AS page) AS sized
    WHERE bytes_before < ${maxBytes} ORDER BY line`.execute(db)
  return rows
}

/** Some lines of batches that have ended; false: there are none left. */
export async function dropEndedLines(tx: Db, limit: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    DELETE FROM batch_lines WHERE (batch_id, line) IN (
      SELECT l.batch_id, l.line FROM batch_lines l JOIN batches b ON b.id = l.batch_id
      WHERE b.state IN ('completed', 'failed', 'expired', 'cancelled') LIMIT ${limit})`.execute(tx)
  return Number(numAffectedRows ?? 0n) > 0
}
