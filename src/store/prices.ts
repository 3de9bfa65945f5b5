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
    })
    .execute()
}

/** Every version of every price, oldest first within a model. */
export async function loadPrices(db: Kysely<Schema>): Promise<Price[]> {
  const rows = await db
    .selectFrom('prices')
    .selectAll()
    .orderBy('model')
    .orderBy('effective_from_ms')
    .orderBy('id')
    .execute()
  return rows.map(shape)
}

/** In order of id. */
export async function listPrices(
  db: Kysely<Schema>,
  { limit, cursor, model }: PageQuery & { model?: string | undefined },
): Promise<Page<Price>> {
  let query = db
    .selectFrom('prices')
    .selectAll()
    .orderBy('id')
    .limit(limit + 1)
  if (model !== undefined) query = query.where('model', '=', model)
  if (cursor !== undefined) query = query.where('id', '>', textCursor(cursor))
  return pageOf(await query.execute(), limit, (row) => row.id, shape)
}

const wholeNumber = /^-?\d+n$/

const shape = (row: Selectable<Schema['prices']>): Price => ({
  id: row.id,
  model: row.model,
  terms: JSON.parse(row.body, (_, value) =>
    typeof value === 'string' && wholeNumber.test(value) ? BigInt(value.slice(0, -1)) : value,
  ) as PriceTerms,
  effectiveFromMs: row.effective_from_ms,
  source: row.source as Source,
})
