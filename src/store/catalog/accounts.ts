// Rows of accounts. Balances are changed by ledger entries only, in entries.ts.
import { type Kysely, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { DataRequirement, Source } from '../../contract/catalog.ts'
import {
  type Profile,
  type ProfileChange,
  profileIn,
} from '../../contract/config-schema/profile.ts'
import { profileNames } from '../../contract/config-schema/profile-fields.ts'
import type { Schema } from '../schema.ts'
import { contains } from '../sql/contains.ts'
import { BadCursor, type Page, type PageQuery, pageOf, textCursor } from '../sql/cursor.ts'

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
  /** Names of tags that its calls may have. */
  tagNames?: readonly string[]
  /** How it keeps end users, if not hashed. */
  endUsers?: 'plain' | 'off'
  /** Notices tell when the balance falls below it. */
  balanceLowNanos?: bigint
  /** Tokens that its members may have, if not the usual number. */
  tokenLimit?: number
  /** What channels must promise of data to be asked for its calls. */
  require?: DataRequirement
  /** What is known of who it is. */
  profile: Profile
}

/** Null: as if it had never been set. */
export interface AccountChange {
  tagNames?: readonly string[] | null
  endUsers?: 'plain' | 'off' | null
  balanceLowNanos?: bigint | null
  tokenLimit?: number | null
  require?: DataRequirement | null
  profile?: ProfileChange
}

/** A new account starts at zero; its first money is an entry. */
export async function insertAccount(
  tx: Kysely<Schema>,
  account: Pick<Account, 'id' | 'name' | 'source' | 'createdAtMs'> & AccountChange,
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
      ...columnsOf(account),
    })
    .execute()
}

/** Changes its settings; money is changed by entries only. */
export async function updateAccount(
  tx: Kysely<Schema>,
  id: string,
  change: AccountChange,
): Promise<void> {
  const columns = columnsOf(change)
  if (Object.keys(columns).length === 0) return
  await tx.updateTable('accounts').set(columns).where('id', '=', id).execute()
  if (change.balanceLowNanos !== null) return
  // A threshold that is set again is a new one.
  await tx
    .deleteFrom('notice_states')
    .where('type', '=', 'balance.low')
    .where('subject', '=', id)
    .execute()
}

const columnsOf = ({
  tagNames,
  endUsers,
  balanceLowNanos,
  tokenLimit,
  require: policy,
  profile = {},
}: AccountChange) => ({
  ...profileIn(profile),
  ...(policy !== undefined && { data_policy: policyText(policy) }),
  ...(tokenLimit !== undefined && { token_limit: tokenLimit }),
  ...(balanceLowNanos !== undefined && { balance_low_nanos: balanceLowNanos }),
  ...(tagNames !== undefined && { tag_names: tagNames === null ? null : JSON.stringify(tagNames) }),
  ...(endUsers !== undefined && { end_users: endUsers }),
})

/** Null: nothing is required. */
export const policyText = (policy: DataRequirement | null | undefined): string | null =>
  policy == null ? null : JSON.stringify(policy)

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

type AccountSort = 'created' | 'name' | 'balance' | 'spend'

interface AccountQuery extends PageQuery {
  search?: string | undefined
  sort?: AccountSort | undefined
  isFalling?: boolean | undefined
  /** Where the month begins of which `spend` is. */
  monthMs?: number | undefined
}

/** In order of id, which is creation order for ids that the gateway assigned, or as asked. */
export async function listAccounts(
  db: Kysely<Schema>,
  { limit, cursor, search, sort = 'created', isFalling = false, monthMs = 0 }: AccountQuery,
): Promise<Page<Account>> {
  const figure = accountFigure(sort, monthMs)
  const direction = isFalling ? 'desc' : 'asc'
  let query = db
    .selectFrom('accounts')
    .selectAll()
    .select(sql<string>`CAST(${figure} AS text)`.as('figure'))
    .orderBy(sql`${figure} ${sql.raw(direction)}, id ${sql.raw(direction)}`)
    .limit(limit + 1)
  if (search !== undefined) query = query.where(namesMatch(search))
  if (cursor !== undefined) {
    const { id, text } = placeIn(cursor)
    const value = sort === 'created' || sort === 'name' ? text : nanosIn(text)
    query = query.where(
      sql<SqlBool>`(${figure}, id) ${isFalling ? sql`<` : sql`>`} (${value}, ${id})`,
    )
  }
  return pageOf(await query.execute(), limit, ({ id, figure: by }) => `${id} ${by}`, shape)
}

/** No ID has a blank. */
function placeIn(cursor: string): { id: string; text: string } {
  const [, id, text] = /^(\S+) (.*)$/s.exec(textCursor(cursor)) ?? []
  if (id === undefined || text === undefined) throw new BadCursor('unknown cursor')
  return { id, text }
}

function nanosIn(text: string): bigint {
  if (!/^-?\d{1,18}$/.test(text)) throw new BadCursor('unknown cursor')
  return BigInt(text)
}

function accountFigure(sort: AccountSort, monthMs: number): RawBuilder<unknown> {
  if (sort === 'spend') {
    return sql`coalesce((SELECT CAST(-sum(amount_nanos) AS bigint) FROM monthly_totals AS m
      WHERE m.month_ms = ${monthMs} AND m.account_id = accounts.id), 0)`
  }
  return sql.ref({ created: 'id', name: 'name', balance: 'balance_nanos' }[sort])
}

/** The name, or a field of the profile. */
export const namesMatch = (search: string) =>
  sql<SqlBool>`(${sql.join(
    ['name', ...profileNames].map((name) => contains(`accounts.${name}`, search)),
    sql` OR `,
  )})`

/** Name of every account, by id. */
export async function accountNames(db: Kysely<Schema>): Promise<Map<string, string>> {
  const rows = await db.selectFrom('accounts').select(['id', 'name']).execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Names of tags that an account declares, or any account, in order. */
export async function listTagNames(
  db: Kysely<Schema>,
  accountId: string | undefined,
  limit: number,
): Promise<string[]> {
  let query = db
    .selectFrom('accounts')
    .select('tag_names')
    .distinct()
    .where('tag_names', 'is not', null)
  if (accountId !== undefined) query = query.where('id', '=', accountId)
  const rows = await query.execute()
  const names = rows.flatMap(({ tag_names }) => JSON.parse(tag_names!) as string[])
  return [...new Set(names)].sort().slice(0, limit)
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
  ...(row.balance_low_nanos !== null && { balanceLowNanos: row.balance_low_nanos }),
  ...(row.token_limit !== null && { tokenLimit: row.token_limit }),
  ...(row.data_policy !== null && { require: JSON.parse(row.data_policy) as DataRequirement }),
  ...tagSettingsOf(row),
  profile: profileOfRow(row),
})

const profileOfRow = (row: Selectable<Schema['accounts']>): Profile =>
  Object.fromEntries(
    profileNames.flatMap((name) => (row[name] === null ? [] : [[name, row[name]]])),
  )

export const tagSettingsOf = (
  row: Pick<Selectable<Schema['accounts']>, 'tag_names' | 'end_users'>,
): Pick<Account, 'tagNames' | 'endUsers'> => ({
  ...(row.tag_names !== null && { tagNames: JSON.parse(row.tag_names) as string[] }),
  ...(row.end_users !== null && { endUsers: row.end_users as 'plain' | 'off' }),
})
