// Rows of models.
import type { Kysely, Selectable } from 'kysely'
import type { Model } from '../contract/catalog.ts'
import { type Page, type PageQuery, pageOf, textCursor } from './cursor.ts'
import type { Schema } from './schema.ts'

export async function upsertModel(
  tx: Kysely<Schema>,
  { name, ...rest }: Model,
  atMs: number,
): Promise<void> {
  const columns = { body: JSON.stringify(rest), updated_at_ms: atMs }
  await tx
    .insertInto('models')
    .values({ name, ...columns })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(columns))
    .execute()
}

export async function findModel(db: Kysely<Schema>, name: string): Promise<Model | undefined> {
  const row = await db.selectFrom('models').selectAll().where('name', '=', name).executeTakeFirst()
  return row === undefined ? undefined : shape(row)
}

/** All of them, for the snapshot in memory. */
export async function loadModels(db: Kysely<Schema>): Promise<Model[]> {
  return (await db.selectFrom('models').selectAll().orderBy('name').execute()).map(shape)
}

export async function listModels(
  db: Kysely<Schema>,
  { limit, cursor }: PageQuery,
): Promise<Page<Model>> {
  let query = db
    .selectFrom('models')
    .selectAll()
    .orderBy('name')
    .limit(limit + 1)
  if (cursor !== undefined) query = query.where('name', '>', textCursor(cursor))
  return pageOf(await query.execute(), limit, (row) => row.name, shape)
}

const shape = ({ name, body }: Selectable<Schema['models']>): Model => ({
  ...(JSON.parse(body) as Omit<Model, 'name'>),
  name,
})
