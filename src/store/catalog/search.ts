// Accounts, tokens and people by a part of their name; tokens and people also by that of their account.
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import { contains } from '../sql/contains.ts'
import { namesMatch } from './accounts.ts'

export interface Hit {
  id: string
  name: string
  /** Name of the account it belongs to. */
  account: string | null
  display_name?: string
}

/** The shortest names first: they are nearest to the text. */
export async function searchAccounts(
  db: Kysely<Schema>,
  text: string,
  limit: number,
): Promise<Hit[]> {
  const rows = await db
    .selectFrom('accounts')
    .select(['id', 'name', 'name as account', 'display_name'])
    .where(namesMatch(text))
    .orderBy((e) => e.fn('length', ['name']))
    .orderBy('name')
    .limit(limit)
    .execute()
  return rows.map(({ display_name, ...hit }) =>
    display_name === null ? hit : { ...hit, display_name },
  )
}

/** Oldest first, so that reading ends with the last one that is wanted. */
export function searchTokens(
  db: Kysely<Schema>,
  text: string,
  { limit, accountId }: { limit: number; accountId?: string | undefined },
): Promise<Hit[]> {
  let query = db
    .selectFrom('tokens')
    .innerJoin('accounts', 'accounts.id', 'tokens.account_id')
    .select(['tokens.id', 'tokens.name', 'accounts.name as account'])
    .where('revoked_at_ms', 'is', null)
    .where((e) =>
      e.or([contains('tokens.name', text), contains('accounts.name', text), prefixIs(text)]),
    )
    .orderBy('tokens.id')
    .limit(limit)
  if (accountId !== undefined) query = query.where('tokens.account_id', '=', accountId)
  return query.execute()
}

/** The first letters of a secret, as lists show them. */
const prefixIs = (text: string) => contains('tokens.prefix', text.replace(/…$/, ''))

export const searchPeople = (db: Kysely<Schema>, text: string, limit: number): Promise<Hit[]> =>
  db
    .selectFrom('people')
    .leftJoin('accounts', 'accounts.id', 'people.account_id')
    .select(['people.id', 'people.name', 'accounts.name as account'])
    .where((e) => e.or([contains('people.name', text), contains('accounts.name', text)]))
    .orderBy('people.name')
    .limit(limit)
    .execute()
