// Which closed bills were sent to their accounts by e-mail. A row is written after a mail server has answered:
// a bill without one was not sent, or its gateway died before it could write that down.
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'

type Db = Kysely<Schema>

interface BillMail {
  accountId: string
  month: string
  email: string
  /** Why the mail server did not take it; absent: it is sent. */
  problem?: string
  atMs: number
}

/** Never changes one that is sent. */
export async function putBillMail(tx: Db, mail: BillMail): Promise<void> {
  const { accountId: account_id, month, email, problem = null, atMs: at_ms } = mail
  const state = problem === null ? ('sent' as const) : ('failed' as const)
  await tx
    .insertInto('bill_mails')
    .values({ account_id, month, state, email, problem, at_ms })
    .onConflict((conflict) =>
      conflict
        .columns(['month', 'account_id'])
        .doUpdateSet({ state, email, problem, at_ms })
        .where('bill_mails.state', '<>', 'sent'),
    )
    .execute()
}

/** A closed bill that is not marked as sent. */
interface UnsentBill {
  accountId: string
  account: string
  /** Of the account now. */
  email: string | null
  /** Of the last attempt; null: there was none. */
  failed: { email: string; problem: string; atMs: number } | null
}

/** In order of account ids, from after this one on. */
export async function listUnsentBills(
  db: Db,
  month: string,
  { after = '', limit }: { after?: string; limit: number },
): Promise<UnsentBill[]> {
  const { rows } = await sql<{
    id: string
    name: string
    email: string | null
    failed_email: string | null
    problem: string | null
    at_ms: number | null
  }>`
    SELECT a.id, a.name, a.email, m.email AS failed_email, m.problem, m.at_ms
    FROM closed_months c JOIN accounts a ON a.id = c.account_id
    LEFT JOIN bill_mails m ON m.month = c.month AND m.account_id = c.account_id
    WHERE c.month = ${month} AND c.account_id > ${after} AND (m.state IS NULL OR m.state <> 'sent')
    ORDER BY c.account_id LIMIT ${limit}`.execute(db)
  return rows.map(({ id, name, email, failed_email, problem, at_ms }) => ({
    accountId: id,
    account: name,
    email,
    failed: at_ms === null ? null : { email: failed_email!, problem: problem ?? '', atMs: at_ms },
  }))
}

interface SentCounts {
  closed: number
  sent: number
  /** Of those that are not sent and could be: the last attempt failed. */
  failed: number
  /** Not sent, and the account has no address. */
  withoutAddress: number
}

export async function countSentBills(db: Db, month: string): Promise<SentCounts> {
  const { rows } = await sql<Record<keyof SentCounts, number>>`
    SELECT count(*) AS closed, count(CASE WHEN m.state = 'sent' THEN 1 END) AS sent,
      count(CASE WHEN m.state = 'failed' AND a.email IS NOT NULL THEN 1 END) AS failed,
      count(CASE WHEN (m.state IS NULL OR m.state <> 'sent') AND a.email IS NULL THEN 1 END)
        AS "withoutAddress"
    FROM closed_months c JOIN accounts a ON a.id = c.account_id
    LEFT JOIN bill_mails m ON m.month = c.month AND m.account_id = c.account_id
    WHERE c.month = ${month}`.execute(db)
  const { closed, sent, failed, withoutAddress } = rows[0]!
  return {
    closed: Number(closed),
    sent: Number(sent),
    failed: Number(failed),
    withoutAddress: Number(withoutAddress),
  }
}
