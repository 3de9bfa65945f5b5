// Single values that belong to the database as a whole.
import type { Kysely } from 'kysely'
import type { Schema } from './schema.ts'

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

/** The value that is stored afterwards: the one given, or the one that was there first. */
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
