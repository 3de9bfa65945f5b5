// Thresholds of accounts, whether each account is known to be below its own, and the entries that move
// their balances.
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'

const type = 'balance.low'

/** Both ends of what is read: after the first, up to and with the second. */
export interface FeedRange {
  afterId: number
  untilId: number
  limit: number
}

/** What was last known of an account: its threshold then, and whether it was told to be below it. */
export interface LowState {
  thresholdNanos: bigint
  isLow: boolean
}

export interface WatchedAccount {
  id: string
  name: string
  thresholdNanos: bigint
  /** Before the entries that are yet to be read. */
  balanceNanos: bigint
  /** With all entries. */
  nowNanos: bigint
  /** Undefined: its threshold is new. */
  state: LowState | undefined
  /** The text of the state. */
  body: string | undefined
}

export interface Movement {
  id: number
  accountId: string
  isCredit: boolean
  amountNanos: bigint
}

/** Of a new account. */
export async function putLowState(
  tx: Kysely<Schema>,
  accountId: string,
  state: LowState,
  atMs: number,
): Promise<void> {
  const cells = { body: lowText(state), at_ms: atMs }
  await tx
    .insertInto('notice_states')
    .values({ type, subject: accountId, reporter: '', ...cells })
    .onConflict((conflict) => conflict.columns(['type', 'subject', 'reporter']).doUpdateSet(cells))
    .execute()
}

/** Accounts that are below their threshold now are not told: they were before anyone listened. */
export async function resetLowStates(tx: Kysely<Schema>): Promise<void> {
  await tx.deleteFrom('notice_states').where('type', '=', type).execute()
  await sql`
    INSERT INTO notice_states (type, subject, reporter, body, at_ms)
    SELECT ${type}, id, '', CAST(balance_low_nanos AS text) ||
      CASE WHEN balance_nanos < balance_low_nanos THEN ' low' ELSE ' fine' END, 0
    FROM accounts WHERE balance_low_nanos IS NOT NULL`.execute(tx)
}

export const lowText = ({ thresholdNanos, isLow }: LowState): string =>
  `${thresholdNanos} ${isLow ? 'low' : 'fine'}`

function stateIn(text: string): LowState {
  const [nanos = '0', word] = text.split(' ')
  return { thresholdNanos: BigInt(nanos), isLow: word === 'low' }
}

/** A credit that is not for a call that was charged but not answered. */
const byHand = sql`(e.kind = 'credit' AND e.ref NOT LIKE 'req_%')`

/** What moved the balances of accounts with a threshold. */
export async function movementsIn(
  db: Kysely<Schema>,
  { afterId, untilId, limit }: FeedRange,
): Promise<Movement[]> {
  const { rows } = await sql<{
    id: number
    account_id: string
    is_credit: number
    amount_nanos: bigint
  }>`
    SELECT e.id, e.account_id, e.amount_nanos,
      CASE WHEN ${byHand} THEN 1 ELSE 0 END AS is_credit
    FROM ledger e JOIN accounts a ON a.id = e.account_id
    WHERE e.id > ${afterId} AND e.id <= ${untilId} AND e.kind NOT IN ('hold', 'release')
      AND a.balance_low_nanos IS NOT NULL
    ORDER BY e.id LIMIT ${limit}`.execute(db)
  return rows.map((row) => ({
    id: row.id,
    accountId: row.account_id,
    isCredit: row.is_credit === 1,
    amountNanos: row.amount_nanos,
  }))
}

/**
 * These accounts, and those whose threshold has changed. The balance after `afterId` is that of now
 * without the entries since; one statement, so that both are of one moment.
 */
export async function watchedAccounts(
  db: Kysely<Schema>,
  ids: readonly string[],
  afterId: number,
): Promise<WatchedAccount[]> {
  const moved = ids.length === 0 ? sql`1 = 0` : sql`a.id IN (${sql.join([...ids])})`
  const threshold = sql`CAST(a.balance_low_nanos AS text)`
  const { rows } = await sql<{
    id: string
    name: string
    threshold_nanos: bigint
    before_nanos: bigint
    now_nanos: bigint
    body: string | null
  }>`
    SELECT a.id, a.name, a.balance_low_nanos AS threshold_nanos, s.body,
      a.balance_nanos AS now_nanos,
      CAST(a.balance_nanos - coalesce((
        SELECT sum(e.amount_nanos) FROM ledger e WHERE e.account_id = a.id
          AND e.id > ${afterId} AND e.kind NOT IN ('hold', 'release')), 0) AS bigint)
        AS before_nanos
    FROM accounts a LEFT JOIN notice_states s
      ON s.type = ${type} AND s.subject = a.id AND s.reporter = ''
    WHERE a.balance_low_nanos IS NOT NULL AND (${moved} OR s.body IS NULL
      OR s.body NOT IN (${threshold} || ' low', ${threshold} || ' fine'))
    ORDER BY a.id`.execute(db)
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    thresholdNanos: row.threshold_nanos,
    balanceNanos: row.before_nanos,
    nowNanos: row.now_nanos,
    state: row.body === null ? undefined : stateIn(row.body),
    body: row.body ?? undefined,
  }))
}

/** The id of its newest credit: 0 where there is none. */
export async function lastCreditOf(db: Kysely<Schema>, accountId: string): Promise<number> {
  const { rows } = await sql<{ id: number | null }>`
    SELECT max(e.id) AS id FROM entries e
    WHERE e.account_id = ${accountId} AND e.kind IN ('credit', 'adjust') AND ${byHand}`.execute(db)
  return rows[0]?.id ?? 0
}
