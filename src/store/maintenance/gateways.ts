// The gateways that share this database, as they registered themselves.
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

export async function listGateways(
  db: Kysely<Schema>,
): Promise<{ id: string; startedAtMs: number }[]> {
  const rows = await db
    .selectFrom('gateways')
    .select(['id', 'started_at_ms'])
    .orderBy('started_at_ms')
    .execute()
  return rows.map(({ id, started_at_ms }) => ({ id, startedAtMs: started_at_ms }))
}

export async function isGateway(db: Kysely<Schema>, id: string): Promise<boolean> {
  const row = await db.selectFrom('gateways').select('id').where('id', '=', id).executeTakeFirst()
  return row !== undefined
}
