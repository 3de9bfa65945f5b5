// Contents of files in the database, in parts: for gateways that share one and no directory.
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'

type Db = Kysely<Schema>

export const insertPart = (tx: Db, name: string, number: number, bytes: Uint8Array) =>
  tx
    .insertInto('file_parts')
    .values({ name, number, body: Buffer.from(bytes).toString('base64') })
    .execute()

export async function readPart(
  db: Db,
  name: string,
  number: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const row = await db
    .selectFrom('file_parts')
    .select('body')
    .where('name', '=', name)
    .where('number', '=', number)
    .executeTakeFirst()
  return row && Buffer.from(row.body, 'base64')
}

export const deleteParts = (tx: Db, name: string) =>
  tx.deleteFrom('file_parts').where('name', '=', name).execute()
