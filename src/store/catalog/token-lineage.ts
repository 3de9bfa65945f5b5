// Tokens that took the place of others share one budget: its end, and who spent what it counts.
import type { Kysely } from 'kysely'
import type { Token } from '../../contract/catalog.ts'
import type { Schema } from '../schema.ts'

/** The budget of a token ends with the last token that shares it. */
export async function dropUnusedBudget(tx: Kysely<Schema>, id: string): Promise<void> {
  const row = await tx
    .selectFrom('tokens')
    .select('lineage')
    .where('id', '=', id)
    .executeTakeFirst()
  const first = row?.lineage ?? id
  const left = await tx
    .selectFrom('tokens')
    .select('id')
    .where((e) => e.or([e('id', '=', first), e('lineage', '=', first)]))
    .where('revoked_at_ms', 'is', null)
    .limit(1)
    .executeTakeFirst()
  if (left !== undefined) return
  const budget = { scope: 'token', subject: first } as const
  await tx
    .deleteFrom('budgets')
    .where((e) => e.and(budget))
    .execute()
}

/** Who spent, with a token that may be revoked by now. */
export async function findSpender(
  db: Kysely<Schema>,
  id: string,
): Promise<Pick<Token, 'id' | 'name' | 'accountName' | 'lineage'> | undefined> {
  const row = await db
    .selectFrom('tokens')
    .innerJoin('accounts', 'accounts.id', 'tokens.account_id')
    .select(['tokens.id', 'tokens.name', 'tokens.lineage', 'accounts.name as accountName'])
    .where('tokens.id', '=', id)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { lineage, ...token } = row
  return lineage === null ? token : { ...token, lineage }
}
