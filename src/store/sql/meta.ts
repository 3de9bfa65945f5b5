// Single values that belong to the database as a whole.
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'

export async function getMeta(db: Kysely<Schema>, key: string): Promise<string | undefined> {
  const row = await db.selectFrom('meta').select('value').where('key', '=', key).executeTakeFirst()
  return row?.value
}

export async function setMeta(db: Kysely<Schema>, key: string, value: string): Promise<void> {
  await db
    .insertInto('meta')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute()
}

/** Creates the value if absent, and locks it until the transaction ends. */
export async function touchMeta(tx: Kysely<Schema>, key: string, first: string): Promise<void> {
  await tx
    .insertInto('meta')
    .values({ key, value: first })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((e) => ({ value: e.ref('meta.value') })),
    )
    .execute()
}

/** The value stored afterwards: the given one, or the one that existed. */
export async function putMetaIfAbsent(
  tx: Kysely<Schema>,
  key: string,
  value: string,
): Promise<string> {
  await tx
    .insertInto('meta')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute()
  return (await getMeta(tx, key)) ?? value
}

/** True: the turn is the caller's for so long; false: another has it. */
export async function claimTurn(
  tx: Kysely<Schema>,
  { key, nowMs, forMs }: { key: string; nowMs: number; forMs: number },
): Promise<boolean> {
  const { rows } = await sql`
    INSERT INTO meta (key, value) VALUES (${key}, ${String(nowMs)})
    ON CONFLICT (key) DO UPDATE SET value = excluded.value
    WHERE CAST(meta.value AS bigint) NOT BETWEEN ${nowMs - forMs + 1} AND ${nowMs + forMs}
    RETURNING key`.execute(tx)
  return rows.length > 0
}

export async function endTurn(tx: Kysely<Schema>, key: string): Promise<void> {
  await tx.deleteFrom('meta').where('key', '=', key).execute()
}
