// Rows of prices: one version each, never edited. Amounts are written into the JSON text as whole
// numbers with an `n` behind ("800n"), because JSON's own numbers are not exact.
import type { Kysely, Selectable } from 'kysely'
import type { Source } from '../contract/catalog.ts'
import type { Price, PriceTerms } from '../contract/price.ts'
import { type Page, type PageQuery, pageOf, textCursor } from './cursor.ts'
import type { Schema } from './schema.ts'

export async function insertPrice(
  tx: Kysely<Schema>,
  price: Price,
  createdAtMs: number,
): Promise<void> {
  await tx
    .insertInto('prices')
    .values({
      id: price.id,
      model: price.model,
      body: JSON.stringify(price.terms, (_, value) =>
        typeof value === 'bigint' ? `${value}n` : value,
      ),
      source: price.source,
      effective_from_ms: price.effectiveFromMs,
      created_at_ms: createdAtMs,
      account_id: price.account?.id ?? null,
    })
    .execute()
}

/** Every version of every price, oldest first within a model. */
export async function loadPrices(db: Kysely<Schema>): Promise<Price[]> {
  const rows = await withNames(db)
    .orderBy('prices.model')
    .orderBy('effective_from_ms')
    .orderBy('prices.id')
    .execute()
  return rows.map(shape)
}

export interface PriceFilter extends PageQuery {
  model?: string | undefined
  /** Versions of this account's own list only. */
  accountId?: string | undefined
}

/** In order of id. */
export async function listPrices(
  db: Kysely<Schema>,
  { limit, cursor, model, accountId }: PriceFilter,
): Promise<Page<Price>> {
  let query = withNames(db)
    .orderBy('prices.id')
    .limit(limit + 1)
  if (model !== undefined) query = query.where('prices.model', '=', model)
  if (accountId !== undefined) query = query.where('account_id', '=', accountId)
  if (cursor !== undefined) query = query.where('prices.id', '>', textCursor(cursor))
  return pageOf(await query.execute(), limit, (row) => row.id, shape)
}

const withNames = (db: Kysely<Schema>) =>
  db
    .selectFrom('prices')
    .leftJoin('accounts', 'accounts.id', 'prices.account_id')
    .selectAll('prices')
    .select('accounts.name as account_name')

const wholeNumber = /^-?\d+n$/

type Row = Selectable<Schema['prices']> & { account_name: string | null }

const shape = (row: Row): Price => ({
  id: row.id,
  model: row.model,
  ...(row.account_id !== null && {
    account: { id: row.account_id, name: row.account_name ?? row.account_id },
  }),
  terms: JSON.parse(row.body, (_, value) =>
    typeof value === 'string' && wholeNumber.test(value) ? BigInt(value.slice(0, -1)) : value,
  ) as PriceTerms,
  effectiveFromMs: row.effective_from_ms,
  source: row.source as Source,
})
