// Closed months: the bill as it was then, signed, written once and never changed.
import { type Kysely, type Selectable, type SqlBool, sql } from 'kysely'
import type { Schema } from '../schema.ts'

export interface ClosedMonth {
  accountId: string
  /** As in 2026-11. */
  month: string
  closedAtMs: number
  note?: string
  /** The last receipt that belongs to it or to an earlier one. */
  lastNumber: number
  /** The bill as it was closed; the signature covers this text. */
  body: string
  key: string
  signature: string
}

/**
 * From here to the end of the transaction nothing is booked for the account, and afterwards nothing
 * before `untilMs`: every writer of entries reads this from the row it locks.
 */
export async function closeUntil(
  tx: Kysely<Schema>,
  accountId: string,
  untilMs: number,
): Promise<void> {
  await tx
    .updateTable('accounts')
    .set({
      closed_until_ms: sql`CASE WHEN closed_until_ms < ${untilMs} THEN ${untilMs} ELSE closed_until_ms END`,
    })
    .where('id', '=', accountId)
    .execute()
}

/** False, and nothing changes, when it is already closed. */
export async function insertClosedMonth(tx: Kysely<Schema>, closed: ClosedMonth): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('closed_months')
    .values({
      account_id: closed.accountId,
      month: closed.month,
      closed_at_ms: closed.closedAtMs,
      note: closed.note ?? null,
      last_number: closed.lastNumber,
      body: closed.body,
      key: closed.key,
      signature: closed.signature,
    })
    .onConflict((conflict) => conflict.columns(['account_id', 'month']).doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

export async function findClosedMonth(
  db: Kysely<Schema>,
  accountId: string,
  month: string,
): Promise<ClosedMonth | undefined> {
  const row = await db
    .selectFrom('closed_months')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('month', '=', month)
    .executeTakeFirst()
  return row && shape(row)
}

/** Closed months of an account from one month up to but excluding another, oldest first. */
export async function listClosedMonths(
  db: Kysely<Schema>,
  accountId: string,
  { from, until }: { from: string; until: string },
): Promise<ClosedMonth[]> {
  const rows = await db
    .selectFrom('closed_months')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('month', '>=', from)
    .where('month', '<', until)
    .orderBy('month')
    .execute()
  return rows.map(shape)
}

/** The newest closed month of an account before a month. */
export async function lastClosedBefore(
  db: Kysely<Schema>,
  accountId: string,
  month: string,
): Promise<ClosedMonth | undefined> {
  const row = await db
    .selectFrom('closed_months')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('month', '<', month)
    .orderBy('month', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && shape(row)
}

/** The newest closed month of each of these accounts, up to and with that month. */
export async function newestClosedMonths(
  db: Kysely<Schema>,
  accountIds: readonly string[],
  month: string,
): Promise<ReadonlyMap<string, ClosedMonth>> {
  if (accountIds.length === 0) return new Map()
  const { rows } = await sql<Selectable<Schema['closed_months']>>`
    SELECT c.* FROM closed_months c JOIN (
      SELECT account_id, max(month) AS month FROM closed_months
      WHERE account_id IN (${sql.join(accountIds)}) AND month <= ${month} GROUP BY account_id
    ) AS newest ON c.account_id = newest.account_id AND c.month = newest.month`.execute(db)
  return new Map(rows.map((row) => [row.account_id, shape(row)]))
}

/** How many bills of a month have a number; those that 0.3 closed have none. */
export async function countNumberedMonths(db: Kysely<Schema>, month: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM closed_months
    WHERE month = ${month} AND body LIKE ${`%"number":"${month}-%`}`.execute(db)
  return rows[0]?.count ?? 0
}

const monthsAtOnce = 100

/** All closed months, or those of one account, page by page. */
export async function* closedMonthPages(
  db: Kysely<Schema>,
  accountId?: string,
): AsyncGenerator<ClosedMonth[]> {
  let after = { account_id: '', month: '' }
  for (;;) {
    let query = db.selectFrom('closed_months').selectAll()
    if (accountId !== undefined) query = query.where('account_id', '=', accountId)
    const rows = await query
      .where(sql<SqlBool>`(account_id, month) > (${after.account_id}, ${after.month})`)
      .orderBy('account_id')
      .orderBy('month')
      .limit(monthsAtOnce)
      .execute()
    if (rows.length > 0) yield rows.map(shape)
    const last = rows.at(-1)
    if (last === undefined || rows.length < monthsAtOnce) return
    after = last
  }
}

const shape = (row: Selectable<Schema['closed_months']>): ClosedMonth => ({
  accountId: row.account_id,
  month: row.month,
  closedAtMs: row.closed_at_ms,
  ...(row.note !== null && { note: row.note }),
  lastNumber: row.last_number,
  body: row.body,
  key: row.key,
  signature: row.signature,
})
