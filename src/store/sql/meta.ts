// Single values that belong to the database as a whole.
import type { Kysely } from 'kysely'
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
