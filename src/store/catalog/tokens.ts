// Rows of tokens: the HMAC of the secret, never the secret. A revoked token keeps its row, but its
// name and secret may be used again.
import { type Kysely, type Selectable, sql } from 'kysely'
import type { DataRequirement, Source, Token, TokenLimits } from '../../contract/catalog.ts'
import { defaultTags, type Tags } from '../../contract/tags/index.ts'
import type { Schema } from '../schema.ts'
import { type Page, type PageQuery, pageOf, textCursor } from '../sql/cursor.ts'
import { dialectOf } from '../sql/dialect-of.ts'
import { listed } from '../sql/json-rows.ts'
import { touchMeta } from '../sql/meta.ts'
import { policyText, tagSettingsOf } from './accounts.ts'
import { dropUnusedBudget } from './token-lineage.ts'

export interface StoredToken extends Token {
  hash: string
  createdAtMs: number
  revokedAtMs?: number
  /** Bounds set by staff, which members cannot exceed; absent: the token's own limits apply. */
  staffBounds?: TokenBounds
}

/** An absent field is unbounded. */
export type TokenBounds = Partial<
  Pick<
    Token,
    | 'models'
    | 'limits'
    | 'allowedIps'
    | 'translation'
    | 'fallback'
    | 'require'
    | 'expiresAtMs'
    | 'disabled'
  >
>

export async function insertToken(
  tx: Kysely<Schema>,
  token: Omit<StoredToken, 'accountName' | 'revokedAtMs'>,
): Promise<void> {
  await tx
    .insertInto('tokens')
    .values({
      id: token.id,
      account_id: token.accountId,
      name: token.name,
      hash: token.hash,
      prefix: token.prefix,
      models: JSON.stringify(token.models),
      limits: JSON.stringify(token.limits),
      allowed_ips: JSON.stringify(token.allowedIps),
      translation: token.translation ?? null,
      tags: token.tags === undefined ? null : JSON.stringify(token.tags),
      fallback: token.fallback ?? null,
      data_policy: policyText(token.require),
      expires_at_ms: token.expiresAtMs ?? null,
      disabled: token.disabled ? 1 : 0,
      source: token.source,
      created_at_ms: token.createdAtMs,
      revoked_at_ms: null,
      staff_bounds: token.staffBounds === undefined ? null : JSON.stringify(token.staffBounds),
      lineage: token.lineage ?? null,
    })
    .execute()
}

export interface TokenChange {
  name?: string
  models?: readonly string[]
  limits?: TokenLimits
  allowedIps?: readonly string[]
  /** Null: on. */
  translation?: Token['translation'] | null
  /** Null: none. */
  tags?: Tags | null
  /** Null: allowed. */
  fallback?: Token['fallback'] | null
  /** Null: nothing. */
  require?: DataRequirement | null
  /** Null: never. */
  expiresAtMs?: number | null
  disabled?: boolean
  staffBounds?: TokenBounds
}

/** False when no such unrevoked token exists. */
export async function updateToken(
  tx: Kysely<Schema>,
  id: string,
  change: TokenChange,
): Promise<boolean> {
  const { name, models, limits, allowedIps, expiresAtMs, disabled, staffBounds } = change
  const { translation, fallback, tags, require: policy } = change
  const columns = {
    ...(name !== undefined && { name }),
    ...(models !== undefined && { models: JSON.stringify(models) }),
    ...(limits !== undefined && { limits: JSON.stringify(limits) }),
    ...(allowedIps !== undefined && { allowed_ips: JSON.stringify(allowedIps) }),
    ...(translation !== undefined && { translation }),
    ...(tags !== undefined && { tags: tags === null ? null : JSON.stringify(tags) }),
    ...(fallback !== undefined && { fallback }),
    ...(policy !== undefined && { data_policy: policyText(policy) }),
    ...(expiresAtMs !== undefined && { expires_at_ms: expiresAtMs }),
    ...(disabled !== undefined && { disabled: disabled ? 1 : 0 }),
    ...(staffBounds !== undefined && { staff_bounds: JSON.stringify(staffBounds) }),
  }
  if (Object.keys(columns).length === 0) return (await findToken(tx, id)) !== undefined
  const result = await tx
    .updateTable('tokens')
    .set(columns)
    .where('id', '=', id)
    .where('revoked_at_ms', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

/** Replaces the secret of a token; the old secret stops working. */
export async function replaceSecret(
  tx: Kysely<Schema>,
  id: string,
  secret: Pick<StoredToken, 'hash' | 'prefix'>,
): Promise<void> {
  await tx.updateTable('tokens').set(secret).where('id', '=', id).execute()
}

/** False when it does not exist or was already revoked. */
export async function revokeToken(tx: Kysely<Schema>, id: string, atMs: number): Promise<boolean> {
  const result = await tx
    .updateTable('tokens')
    .set({ revoked_at_ms: atMs })
    .where('id', '=', id)
    .where('revoked_at_ms', 'is', null)
    .executeTakeFirst()
  if (result.numUpdatedRows === 1n) await dropUnusedBudget(tx, id)
  return result.numUpdatedRows === 1n
}

export async function findToken(db: Kysely<Schema>, id: string): Promise<StoredToken | undefined> {
  const row = await valid(db).where('tokens.id', '=', id).executeTakeFirst()
  return row === undefined ? undefined : shape(row)
}

/** The account of a token, revoked or not. */
export async function ownerOfToken(db: Kysely<Schema>, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('tokens')
    .select('account_id')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.account_id
}

/** Reads the token and locks its row until the transaction ends. */
export async function lockToken(tx: Kysely<Schema>, id: string): Promise<StoredToken | undefined> {
  // A write takes the row lock on both dialects; reads after it see the newest version.
  await tx
    .updateTable('tokens')
    .set({ revoked_at_ms: null })
    .where('id', '=', id)
    .where('revoked_at_ms', 'is', null)
    .execute()
  return findToken(tx, id)
}

/** True when the account has an unrevoked token of this name. */
export async function tokenNameTaken(
  db: Kysely<Schema>,
  accountId: string,
  name: string,
): Promise<boolean> {
  const row = await valid(db)
    .where('account_id', '=', accountId)
    .where('tokens.name', '=', name)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Tokens of an account that the admin API has issued: those that are valid, and revoked ones that were
 * created since. Others who count them wait until the transaction ends.
 */
export async function countIssued(
  tx: Kysely<Schema>,
  accountId: string,
  sinceMs: number,
): Promise<number> {
  await touchMeta(tx, 'token_count_lock', '')
  const { count } = await tx
    .selectFrom('tokens')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .where('source', '=', 'api')
    .where((e) => e.or([e('revoked_at_ms', 'is', null), e('created_at_ms', '>', sinceMs)]))
    .executeTakeFirstOrThrow()
  return Number(count)
}

export interface TokenNames {
  token: string
  account: string
}

/** Names of these tokens and of their accounts, including revoked tokens. */
export async function namesOfTokens(
  db: Kysely<Schema>,
  ids: readonly string[],
): Promise<Map<string, TokenNames>> {
  if (ids.length === 0) return new Map()
  const given = listed(
    dialectOf(db),
    { id: 'text' },
    ids.map((id) => ({ id })),
  )
  const { rows } = await sql<TokenNames & { id: string }>`
    SELECT tokens.id, tokens.name AS token, accounts.name AS account FROM ${given}
      JOIN tokens ON tokens.id = given.id JOIN accounts ON accounts.id = tokens.account_id`.execute(
    db,
  )
  return new Map(rows.map(({ id, token, account }) => [id, { token, account }]))
}

/** All unrevoked tokens, or those of one source. */
export async function loadTokens(db: Kysely<Schema>, source?: Source): Promise<StoredToken[]> {
  const all = valid(db).orderBy('tokens.id')
  const rows = source === undefined ? all : all.where('tokens.source', '=', source)
  return (await rows.execute()).map((row) => shape(row))
}

/** Rows at a time: other work gets its turn in between, and a page is small in memory. */
const usualPageRows = 5_000

/** Passes all unrevoked tokens, or those with these ids, with their hashes to `add`. */
export async function readTokens(
  db: Kysely<Schema>,
  add: (hash: string, token: Token) => void,
  { ids, pageRows = usualPageRows }: { ids?: readonly string[]; pageRows?: number } = {},
): Promise<void> {
  const parsed = new Map<string, unknown>()
  const parse = (text: string): unknown => {
    if (!parsed.has(text)) parsed.set(text, JSON.parse(text))
    return parsed.get(text)
  }
  for (let last = ''; ; ) {
    const page = valid(db).where('tokens.id', '>', last).orderBy('tokens.id').limit(pageRows)
    const rows = await (ids === undefined ? page : page.where('tokens.id', 'in', ids)).execute()
    for (const row of rows) {
      const { hash, createdAtMs: _, staffBounds: __, ...token } = shape(row, parse)
      add(hash, token)
    }
    if (rows.length < pageRows) return
    last = rows.at(-1)!.id
  }
}

/** Ids of unrevoked tokens of an account, so many at most. */
export async function tokenIdsOf(db: Kysely<Schema>, accountId: string, limit: number) {
  const rows = await valid(db).where('account_id', '=', accountId).limit(limit).execute()
  return rows.map(({ id }) => id)
}

/** Whether the admin API has issued a token of this name or secret that is not revoked. */
export async function isIssued(
  db: Kysely<Schema>,
  by: { accountId: string; name: string } | { hash: string },
): Promise<boolean> {
  const query = db
    .selectFrom('tokens')
    .select('id')
    .where('revoked_at_ms', 'is', null)
    .where('source', '<>', 'file')
  const found =
    'hash' in by
      ? query.where('hash', '=', by.hash)
      : query.where('account_id', '=', by.accountId).where('name', '=', by.name)
  return (await found.executeTakeFirst()) !== undefined
}

/** Whether a token with this secret existed and was revoked. */
export async function wasRevoked(db: Kysely<Schema>, hash: string): Promise<boolean> {
  const row = await db
    .selectFrom('tokens')
    .select('id')
    .where('hash', '=', hash)
    .where('revoked_at_ms', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Unrevoked tokens, in order of id. */
export async function listTokens(
  db: Kysely<Schema>,
  { limit, cursor, accountId }: PageQuery & { accountId?: string | undefined },
): Promise<Page<StoredToken>> {
  let query = valid(db)
    .orderBy('tokens.id')
    .limit(limit + 1)
  if (accountId !== undefined) query = query.where('account_id', '=', accountId)
  if (cursor !== undefined) query = query.where('tokens.id', '>', textCursor(cursor))
  return pageOf(
    await query.execute(),
    limit,
    (row) => row.id,
    (row) => shape(row),
  )
}

const valid = (db: Kysely<Schema>) =>
  db
    .selectFrom('tokens')
    .innerJoin('accounts', 'accounts.id', 'tokens.account_id')
    .selectAll('tokens')
    .select(['accounts.name as account_name', 'accounts.tag_names', 'accounts.end_users'])
    .select('accounts.data_policy as account_policy')
    .where('revoked_at_ms', 'is', null)

type TokenRow = Selectable<Schema['tokens']> &
  Pick<Selectable<Schema['accounts']>, 'tag_names' | 'end_users'> & {
    account_name: string
    account_policy: string | null
  }

function shape(row: TokenRow, parse: (text: string) => unknown = JSON.parse): StoredToken {
  const token: StoredToken = {
    id: row.id,
    accountId: row.account_id,
    accountName: row.account_name,
    name: row.name,
    hash: row.hash,
    prefix: row.prefix,
    models: parse(row.models) as string[],
    limits: parse(row.limits) as TokenLimits,
    allowedIps: parse(row.allowed_ips) as string[],
    disabled: row.disabled === 1,
    source: row.source as Source,
    createdAtMs: row.created_at_ms,
  }
  if (row.translation !== null) token.translation = row.translation as 'strict' | 'off'
  addTagSettings(token, row)
  if (row.fallback === 'never') token.fallback = 'never'
  if (row.data_policy !== null) token.require = parse(row.data_policy) as DataRequirement
  if (row.account_policy !== null) {
    token.accountRequire = parse(row.account_policy) as DataRequirement
  }
  if (row.expires_at_ms !== null) token.expiresAtMs = row.expires_at_ms
  if (row.staff_bounds !== null) token.staffBounds = JSON.parse(row.staff_bounds) as TokenBounds
  if (row.lineage !== null) token.lineage = row.lineage
  if (row.revoked_at_ms !== null) token.revokedAtMs = row.revoked_at_ms
  return token
}

function addTagSettings(token: StoredToken, row: TokenRow): void {
  Object.assign(token, tagSettingsOf(row))
  if (row.tags === null) return
  token.tags = JSON.parse(row.tags) as Tags
  const defaults = defaultTags(token.tags, token.tagNames)
  if (defaults !== undefined) token.tagDefaults = defaults
}
