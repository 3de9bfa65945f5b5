// How far the log is indexed.
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import { getMeta } from '../sql/meta.ts'

/** Complete segments cover the log up to this row; absent: there are none. */
export const watermarkKey = 'upstream_ids_seq'

export const indexedSeq = async (db: Kysely<Schema>): Promise<number> =>
  Number((await getMeta(db, watermarkKey)) ?? '-1')
