// Rows of prices and of costs, which have a channel: one version each, never edited. Amounts are stored in the JSON text as whole
// numbers with an `n` suffix ("800n"), because JSON numbers are not exact.
import type { Kysely, Selectable } from 'kysely'
import type { Source } from '../../contract/catalog.ts'
import type { Price, PriceTerms } from '../../contract/price.ts'
import type { Schema } from '../schema.ts'
import { type Page, type PageQuery, pageOf, textCursor } from '../sql/cursor.ts'

/**
 * Returns when the price starts. One that starts at once starts after every version of its list
 * that has started, including those created under a clock that was ahead.
 */
export async function insertPrice(
  tx: Kysely<Schema>,
  price: Price,
  createdAtMs: number,
): Promise<number> {
  const isAtOnce = price.effectiveFromMs <= createdAtMs
  const lastMs = isAtOnce ? await lastAtOnceMs(tx, price, createdAtMs) : undefined
  const fromMs = lastMs === undefined ? price.effectiveFromMs : lastMs + 1
  await tx
    .insertInto('prices')
    .values({
      id: price.id,
      model: price.model,
      body: JSON.stringify(price.terms, (_, value) =>
        typeof value === 'bigint' ? `${value}n` : value,
      ),
      source: price.source,
      effective_from_ms: fromMs,
      created_at_ms: isAtOnce ? Math.max(createdAtMs, fromMs) : createdAtMs,
      account_id: price.account?.id ?? null,
      created_by: price.createdBy ?? null,
      channel: price.channel ?? null,
      currency: price.currency ?? null,
    })
    .execute()
  return fromMs
}

/** False: it has begun. */
export async function deletePrice(tx: Kysely<Schema>, id: string, nowMs: number): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('prices')
    .where('id', '=', id)
    .where('effective_from_ms', '>', nowMs)
    .whereRef('effective_from_ms', '>', 'created_at_ms')
    .executeTakeFirst()
  return numDeletedRows === 1n
}

/** The latest start in its list of a version that started at creation, if that is in the future. */
async function lastAtOnceMs(
  tx: Kysely<Schema>,
  { model, account, channel, source }: Price,
  nowMs: number,
): Promise<number | undefined> {
  const row = await tx
    .selectFrom('prices')
    .select('effective_from_ms')
    .where('model', '=', model)
    .where('source', '=', source)
    .where('account_id', account === undefined ? 'is' : '=', account?.id ?? null)
    .where('channel', channel === undefined ? 'is' : '=', channel ?? null)
    .where('effective_from_ms', '>', nowMs)
    .whereRef('effective_from_ms', '<=', 'created_at_ms')
    .orderBy('effective_from_ms', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.effective_from_ms
}

/** Every version of every price, oldest first within a model. */
export const loadPrices = (db: Kysely<Schema>): Promise<Price[]> => load(db, 'price')
/** The same of costs. */
export const loadCosts = (db: Kysely<Schema>): Promise<Price[]> => load(db, 'cost')

async function load(db: Kysely<Schema>, kind: Kind): Promise<Price[]> {
  const rows = await versionsOf(db, kind)
    .orderBy('prices.model')
    .orderBy('effective_from_ms')
    .orderBy('prices.id')
    .execute()
  return rows.map(shape)
}

interface PriceFilter extends PageQuery {
  model?: string | undefined
  /** Versions of this account's own list only. */
  accountId?: string | undefined
  /** Costs of this channel only. */
  channel?: string | undefined
}

export async function findPrice(
  db: Kysely<Schema>,
  id: string,
  kind: Kind = 'price',
): Promise<Price | undefined> {
  const row = await versionsOf(db, kind).where('prices.id', '=', id).executeTakeFirst()
  return row && shape(row)
}

/** In order of id. */
export async function listPrices(
  db: Kysely<Schema>,
  { limit, cursor, model, accountId, channel }: PriceFilter,
  kind: Kind = 'price',
): Promise<Page<Price>> {
  let query = versionsOf(db, kind)
    .orderBy('prices.id')
    .limit(limit + 1)
  if (model !== undefined) query = query.where('prices.model', '=', model)
  if (accountId !== undefined) query = query.where('account_id', '=', accountId)
  if (channel !== undefined) query = query.where('prices.channel', '=', channel)
  if (cursor !== undefined) query = query.where('prices.id', '>', textCursor(cursor))
  return pageOf(await query.execute(), limit, (row) => row.id, shape)
}

type Kind = 'price' | 'cost'

const versionsOf = (db: Kysely<Schema>, kind: Kind) =>
  db
    .selectFrom('prices')
    .leftJoin('accounts', 'accounts.id', 'prices.account_id')
    .selectAll('prices')
    .select('accounts.name as account_name')
    .where('prices.channel', kind === 'price' ? 'is' : 'is not', null)

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
  ...(row.effective_from_ms <= row.created_at_ms && { atOnce: true as const }),
  source: row.source as Source,
  ...(row.created_by !== null && { createdBy: row.created_by }),
  ...(row.channel !== null && { channel: row.channel }),
  ...(row.currency !== null && { currency: row.currency }),
})
