// Rows of accounts. Balances are changed by ledger entries only, in entries.ts.
import type { Kysely, Selectable } from 'kysely'
import type { Source } from '../../contract/catalog.ts'
import type { Schema } from '../schema.ts'
import { type Page, type PageQuery, pageOf, textCursor } from '../sql/cursor.ts'

export interface Account {
  id: string
  name: string
  /** Sum of credits, charges and adjustments. */
  balanceNanos: bigint
  /** Total of open holds. */
  heldNanos: bigint
  source: Source
  createdAtMs: number
  /** Time since which the account is suspended: no billable work starts. */
  suspendedSinceMs?: number
}

/** A new account starts at zero; its first money is an entry. */
export async function insertAccount(
  tx: Kysely<Schema>,
  account: Omit<Account, 'balanceNanos' | 'heldNanos'>,
): Promise<void> {
  await tx
    .insertInto('accounts')
    .values({
      id: account.id,
      name: account.name,
      balance_nanos: 0n,
      held_nanos: 0n,
      source: account.source,
      created_at_ms: account.createdAtMs,
    })
    .execute()
}

/** By id, or else by name. */
export async function findAccount(
  db: Kysely<Schema>,
  idOrName: string,
): Promise<Account | undefined> {
  const rows = await db
    .selectFrom('accounts')
    .selectAll()
    .where((e) => e.or([e('id', '=', idOrName), e('name', '=', idOrName)]))
    .execute()
  const row = rows.find(({ id }) => id === idOrName) ?? rows[0]
  return row === undefined ? undefined : shape(row)
}

/** In order of id, which is creation order for ids that the gateway assigned. */
export async function listAccounts(
  db: Kysely<Schema>,
  { limit, cursor }: PageQuery,
): Promise<Page<Account>> {
  let query = db
    .selectFrom('accounts')
    .selectAll()
    .orderBy('id')
    .limit(limit + 1)
  if (cursor !== undefined) query = query.where('id', '>', textCursor(cursor))
  return pageOf(await query.execute(), limit, (row) => row.id, shape)
}

/** Display name of every account, by id. */
export async function accountNames(db: Kysely<Schema>): Promise<Map<string, string>> {
  const rows = await db.selectFrom('accounts').select(['id', 'name']).execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

type Balance = Pick<Account, 'id' | 'balanceNanos' | 'heldNanos'>

/** Balances of all accounts, for the in-memory copy. */
export async function listBalances(db: Kysely<Schema>): Promise<Balance[]> {
  const rows = await db
    .selectFrom('accounts')
    .select(['id', 'balance_nanos', 'held_nanos'])
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    balanceNanos: row.balance_nanos,
    heldNanos: row.held_nanos,
  }))
}

const shape = (row: Selectable<Schema['accounts']>): Account => ({
  id: row.id,
  name: row.name,
  balanceNanos: row.balance_nanos,
  heldNanos: row.held_nanos,
  source: row.source as Source,
  createdAtMs: row.created_at_ms,
  ...(row.suspended_since_ms !== null && { suspendedSinceMs: row.suspended_since_ms }),
})
