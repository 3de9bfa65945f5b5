// How far the log is indexed, and from when on it is complete.
import type { Kysely } from 'kysely'
import type { Schema } from '../schema.ts'
import { getMeta } from '../sql/meta.ts'

/** Complete segments cover the log up to this row; absent: there are none. */
export const watermarkKey = 'upstream_ids_seq'

export const indexedSeq = async (db: Kysely<Schema>): Promise<number> =>
  Number((await getMeta(db, watermarkKey)) ?? '-1')

/** Set before rows are dropped. */
export const logHorizonKey = 'log_horizon_ms'

/** Rows of requests from this moment on are complete; older ones may have been dropped. */
export const logHorizonMs = async (db: Kysely<Schema>): Promise<number> =>
  Number((await getMeta(db, logHorizonKey)) ?? '0')
