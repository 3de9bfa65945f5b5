// The time before which sums of money can no longer change.
import { type Kysely, sql } from 'kysely'
import { bothOf } from '../rows/ledger-rows.ts'
import type { Schema } from '../schema.ts'

/** Maximum clock difference of gateways that share a database. */
const doubtMs = 3_600_000

/**
 * No entry of a time before this moment can follow. Read from the row that was written last: while a journal is
 * replayed, that is an old one. Whether it was charged does not matter: a search for the last call that was would
 * read all that were not.
 */
export async function settledUntil(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ ms: number }>`SELECT ms FROM (${bothOf(
    sql`SELECT id, at_ms AS ms FROM entries ORDER BY id DESC LIMIT 1`,
    sql`SELECT seq AS id, coalesce(booked_at_ms, at_ms) AS ms FROM requests
      ORDER BY seq DESC LIMIT 1`,
  )}) AS newest ORDER BY id DESC LIMIT 1`.execute(db)
  return (rows[0]?.ms ?? 0) - doubtMs
}
