// What was given back of charges.
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'

/** By request or task; those without a refund are left out. */
export async function refundedOf(
  db: Kysely<Schema>,
  ids: readonly string[],
): Promise<Map<string, bigint>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('entries')
    .select(['refund_of', sql<bigint>`CAST(sum(amount_nanos) AS bigint)`.as('refunded_nanos')])
    .where('refund_of', 'in', ids)
    .groupBy('refund_of')
    .execute()
  return new Map(rows.map(({ refund_of, refunded_nanos }) => [refund_of!, refunded_nanos]))
}

/** The channel that served a request or a task; undefined: its row is gone. */
export async function servingChannel(db: Kysely<Schema>, id: string): Promise<string | undefined> {
  const row = id.startsWith('req_')
    ? db.selectFrom('requests').select('channel').where('request_id', '=', id)
    : db.selectFrom('tasks').select('channel').where('id', '=', id)
  return (await row.executeTakeFirst())?.channel ?? undefined
}
