// Advisory locks among gateways that share a PostgreSQL database.
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.ts'

/** False when another gateway holds it; otherwise held until the transaction ends. */
export async function tryAdvisoryLock(tx: Kysely<Schema>, lock: number): Promise<boolean> {
  const { rows } = await sql<{ got: boolean }>`
    SELECT pg_try_advisory_xact_lock(${sql.lit(lock)}) AS got`.execute(tx)
  return rows[0]?.got === true
}
