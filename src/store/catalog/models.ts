// Rows of models.
import type { Kysely, Selectable } from 'kysely'
import type { Model } from '../../contract/catalog.ts'
import type { Schema } from '../schema.ts'

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

export async function deleteModel(tx: Kysely<Schema>, name: string): Promise<void> {
  await tx.deleteFrom('models').where('name', '=', name).execute()
}

export async function findModel(db: Kysely<Schema>, name: string): Promise<Model | undefined> {
  const row = await db.selectFrom('models').selectAll().where('name', '=', name).executeTakeFirst()
  return row === undefined ? undefined : shape(row)
}

/** All of them, for the snapshot in memory. */
export async function loadModels(db: Kysely<Schema>): Promise<Model[]> {
  return (await db.selectFrom('models').selectAll().orderBy('name').execute()).map(shape)
}

const shape = ({ name, body }: Selectable<Schema['models']>): Model => ({
  ...(JSON.parse(body) as Omit<Model, 'name'>),
  name,
})
