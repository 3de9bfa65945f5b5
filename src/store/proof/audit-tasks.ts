// Queries that compare tasks with the ledger, both ways: each task's hold, its single release, its
// charge, and holds that are never released. Like audit.ts, of one moment.
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { chargeTexts } from '../../contract/ledger.ts'
import type { Schema } from '../schema.ts'
import { type AuditScope, entriesIn, type Mismatch } from './audit.ts'

type Db = Kysely<Schema>
type Found = { account_id: string; ref: string }

/**
 * Tasks of an account; or those with a new entry, which is every task whose money has moved. The
 * latter are found from the entries, the former from the tasks.
 */
function tasksIn(scope: AuditScope): RawBuilder<unknown> {
  if (scope.accountId !== undefined) {
    return sql`(SELECT * FROM tasks WHERE account_id = ${scope.accountId})`
  }
  if (scope.since === undefined) return sql`tasks`
  return sql`(SELECT * FROM tasks WHERE id IN (
    SELECT n.ref FROM entries n
    WHERE ${entriesIn('n', scope)} AND n.kind IN ('hold', 'release', 'charge')
  ))`
}

/** Every success has a charge, and nothing else has one. */
export async function mischargedTasks(
  db: Db,
  scope: AuditScope,
  limit: number,
): Promise<Mismatch[]> {
  const { rows } = await sql<Found>`
    SELECT t.account_id, t.id AS ref FROM ${tasksIn(scope)} t
    LEFT JOIN entries e ON e.ref = t.id AND e.kind = 'charge'
    WHERE (e.id IS NULL) <> (t.state <> 'succeeded')
      OR t.charge_nanos <> coalesce(-CAST(e.amount_nanos AS numeric), 0)
      OR e.account_id <> t.account_id OR e.price_id <> t.price_id OR e.model <> t.model
      OR e.token_id <> t.token_id OR ${isOfOtherTime('e', 't.finished_at_ms')}
    LIMIT ${limit}`.execute(db)
  return mismatches(rows, 'charge and task do not agree')
}

/** Each task has one hold of the size it records, released once when the task ends. */
export async function misheldTasks(db: Db, scope: AuditScope, limit: number): Promise<Mismatch[]> {
  const { rows } = await sql<Found>`
    SELECT t.account_id, t.id AS ref FROM ${tasksIn(scope)} t
    LEFT JOIN entries h ON h.ref = t.id AND h.kind = 'hold'
    LEFT JOIN entries r ON r.ref = t.id AND r.kind = 'release'
    WHERE h.id IS NULL
      OR (r.id IS NULL) <> (t.state NOT IN ('succeeded', 'failed', 'cancelled'))
      OR r.amount_nanos <> -CAST(h.amount_nanos AS numeric) OR ${isOfOtherTime('r', 't.finished_at_ms')}
      OR ${isLabelled('r')}
    LIMIT ${limit}`.execute(db)
  return mismatches(rows, 'the task and its hold are not at one')
}

/** The same of parts of batches at upstreams: their holds end when their results are adopted. */
export async function misheldParts(db: Db, scope: AuditScope, limit: number): Promise<Mismatch[]> {
  const { accountId, since } = scope
  const which =
    accountId !== undefined
      ? sql`p.account_id = ${accountId}`
      : since !== undefined
        ? sql`p.id IN (SELECT n.ref FROM entries n WHERE ${entriesIn('n', scope)})`
        : sql`true`
  const { rows } = await sql<Found>`
    SELECT p.account_id, p.id AS ref FROM batch_parts p
    LEFT JOIN entries h ON h.ref = p.id AND h.kind = 'hold'
    LEFT JOIN entries r ON r.ref = p.id AND r.kind = 'release'
    WHERE ${which} AND (h.id IS NULL OR h.account_id <> p.account_id
      OR p.hold_nanos <> -CAST(h.amount_nanos AS numeric)
      OR (r.id IS NULL) <> (p.released_at_ms IS NULL)
      OR r.amount_nanos <> -CAST(h.amount_nanos AS numeric)
      OR ${isOfOtherTime('h', 'p.created_at_ms')} OR ${isOfOtherTime('r', 'p.released_at_ms')}
      OR ${isLabelled('h')} OR ${isLabelled('r')})
    LIMIT ${limit}`.execute(db)
  return mismatches(rows, 'the part of a batch and its hold are not at one')
}

/** Holds and releases must belong to a task of the same account that was created with them. */
export async function unmatchedHolds(
  db: Db,
  scope: AuditScope,
  limit: number,
): Promise<Mismatch[]> {
  const { rows } = await sql<Found>`
    SELECT h.account_id, h.ref FROM entries h LEFT JOIN tasks t ON t.id = h.ref
    WHERE h.kind IN ('hold', 'release') AND ${entriesIn('h', scope)}
    AND NOT EXISTS (SELECT 1 FROM batch_parts p WHERE p.id = h.ref) AND (
      t.id IS NULL OR t.account_id <> h.account_id OR (h.kind = 'hold' AND (
        t.hold_nanos <> -CAST(h.amount_nanos AS numeric) OR ${isOfOtherTime('h', 't.created_at_ms')} OR ${isLabelled('h')}
      ))
    ) LIMIT ${limit}`.execute(db)
  return mismatches(rows, 'hold and task do not agree')
}

/**
 * An entry has its task's time. Where the months of that time were already closed, it has the first
 * moment after them, which is the start of a day.
 */
const isOfOtherTime = (alias: string, taskMs: string): RawBuilder<boolean> => {
  const [e, ms] = [sql.ref(alias), sql.ref(taskMs)]
  return sql`(${e}.at_ms <> ${ms} AND (${e}.at_ms < ${ms} OR ${e}.at_ms % 86400000 <> 0 OR ${e}.at_ms > (
    SELECT a.closed_until_ms FROM accounts a WHERE a.id = ${e}.account_id
  )))`
}

/** Holds and releases carry no labels. */
const isLabelled = (alias: string): RawBuilder<boolean> => {
  const e = sql.ref(alias)
  const texts = chargeTexts.map(({ column }) => sql`${sql.ref(`${alias}.${column}`)} IS NOT NULL`)
  return sql`${e}.model IS NOT NULL OR ${e}.unit IS NOT NULL OR ${e}.quantity IS NOT NULL
    OR ${e}.price_id IS NOT NULL OR ${e}.note IS NOT NULL OR ${e}.token_id IS NOT NULL
    OR ${e}.tier IS NOT NULL OR ${e}.estimated <> 0 OR ${sql.join(texts, sql` OR `)}`
}

/** Requests that were charged themselves although their task is charged. */
export async function paidTwice(db: Db, scope: AuditScope, limit: number): Promise<Mismatch[]> {
  const { rows } = await sql<Found>`
    SELECT t.account_id, t.id AS ref FROM ${tasksIn(scope)} t
    LEFT JOIN entries e ON e.ref = t.request_id AND e.kind = 'charge'
    LEFT JOIN requests r ON r.request_id = t.request_id AND r.number IS NOT NULL
    WHERE e.id IS NOT NULL OR r.seq IS NOT NULL LIMIT ${limit}`.execute(db)
  return mismatches(rows, 'the task and the request that made it are both charged')
}

/** Live tasks created before this moment. */
export async function overdueTasks(
  db: Db,
  { accountId }: AuditScope,
  { madeBeforeMs, limit }: { madeBeforeMs: number; limit: number },
): Promise<Mismatch[]> {
  const which = accountId === undefined ? sql`` : sql`AND account_id = ${accountId}`
  const { rows } = await sql<Found>`
    SELECT account_id, id AS ref FROM tasks
    WHERE state IN ('accepted', 'unknown', 'queued', 'running')
      AND created_at_ms < ${madeBeforeMs} ${which} LIMIT ${limit}`.execute(db)
  return mismatches(rows, 'its hold is older than any task may become')
}

const mismatches = (rows: readonly Found[], problem: string): Mismatch[] =>
  rows.map(({ account_id, ref }) => ({ accountId: account_id, ref, problem }))
