// Signed points of the receipt chains. At most `sealEvery` receipts lie between two seals, and the
// last seal moves with the end of its chain. Knows no keys: the caller passes a signer.
import { type Kysely, sql } from 'kysely'
import { sealText } from '../../contract/bills/receipt.ts'
import type { Signer } from '../../lib/crypto/signing.ts'
import { ensure } from '../../lib/ensure.ts'
import { bothOf } from '../rows/ledger-rows.ts'
import type { Schema } from '../schema.ts'

export type SealRow = Schema['seals']

/** No receipt is further from the next seal than this. */
export const sealEvery = 1_000
/** Made in one transaction. */
const maxSealsAtOnce = 16

/** Signs the chain up to its end, or a part of it; false when there is more to do. */
export async function sealChain(
  tx: Kysely<Schema>,
  accountId: string,
  signer: Signer,
): Promise<boolean> {
  const last = await findLastSeal(tx, accountId)
  const account = tx.selectFrom('accounts').select('last_number').where('id', '=', accountId)
  const end = (await account.executeTakeFirst())?.last_number ?? 0
  const points = pointsBetween(last?.number ?? 0, end)
  let { number, at_ms } = last ?? { number: 0, at_ms: 0 }
  for (const point of points.slice(0, maxSealsAtOnce)) {
    const { hash, newest_ms } = await describe(tx, accountId, number, point)
    at_ms = Math.max(at_ms, newest_ms)
    const signature = signer.sign(sealText(accountId, point, hash))
    const row = { account_id: accountId, number: point, hash, key: signer.key, signature, at_ms }
    await tx
      .insertInto('seals')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    number = point
  }
  if (last !== undefined && number > last.number) await dropFormerEnds(tx, accountId, number)
  return points.length <= maxSealsAtOnce
}

/** The multiples of `sealEvery` in the range, and the end. */
function pointsBetween(from: number, end: number): number[] {
  if (end <= from) return []
  const points: number[] = []
  const next = (Math.floor(from / sealEvery) + 1) * sealEvery
  for (let point = next; point < end; point += sealEvery) points.push(point)
  return [...points, end]
}

/** Deletes earlier end seals, which the newer seal covers. */
async function dropFormerEnds(tx: Kysely<Schema>, accountId: string, end: number): Promise<void> {
  await sql`
    DELETE FROM seals WHERE account_id = ${accountId} AND number < ${end}
      AND number > ${end - 2 * sealEvery} AND number % ${sql.lit(sealEvery)} <> 0`.execute(tx)
}

/** Of the receipts after one, up to another: the hash of the last, and the latest time among them. */
async function describe(
  tx: Kysely<Schema>,
  accountId: string,
  after: number,
  point: number,
): Promise<{ hash: string; newest_ms: number }> {
  const { rows } = await sql<{ hash: string | null; newest_ms: number }>`
    SELECT max(CASE WHEN number = ${point} THEN hash END) AS hash, max(at_ms) AS newest_ms
    FROM (${bothOf(
      sql`SELECT c.number, c.hash, e.at_ms FROM receipts c JOIN entries e ON e.id = c.entry_id
        WHERE c.account_id = ${accountId} AND c.number > ${after} AND c.number <= ${point}`,
      sql`SELECT r.number, r.hash, r.booked_at_ms FROM requests r
        WHERE r.account_id = ${accountId} AND r.number > ${after} AND r.number <= ${point}`,
    )}) AS both_kinds`.execute(tx)
  const { hash = null, newest_ms = 0 } = rows[0] ?? {}
  ensure(hash !== null, `receipt ${point} of ${accountId} is there to be sealed`)
  return { hash, newest_ms }
}

async function findLastSeal(db: Kysely<Schema>, accountId: string): Promise<SealRow | undefined> {
  return db
    .selectFrom('seals')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Up to this number every receipt is vouched for; 0 before the first seal. */
export const lastSealedOf = async (db: Kysely<Schema>, accountId: string): Promise<number> =>
  (await findLastSeal(db, accountId))?.number ?? 0

/** The first seal that covers this receipt. */
export async function findSealOf(
  db: Kysely<Schema>,
  accountId: string,
  number: number,
): Promise<SealRow | undefined> {
  return db
    .selectFrom('seals')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('number', '>=', number)
    .orderBy('number')
    .limit(1)
    .executeTakeFirst()
}

export async function findSealsBetween(
  db: Kysely<Schema>,
  accountId: string,
  { first, last }: { first: number; last: number },
): Promise<SealRow[]> {
  return db
    .selectFrom('seals')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('number', '>=', first)
    .where('number', '<=', last)
    .orderBy('number')
    .execute()
}

/**
 * A number up to which every receipt is earlier than that moment, close to the last such one: a
 * seal carries the latest time of all entries up to it.
 */
export async function numberBefore(
  db: Kysely<Schema>,
  accountId: string,
  ms: number,
): Promise<number> {
  const row = await db
    .selectFrom('seals')
    .select('number')
    .where('account_id', '=', accountId)
    .where('at_ms', '<', ms)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.number ?? 0
}

const accountsAtOnce = 500

/** Accounts whose last receipt is not sealed. */
export async function* unsealedAccounts(db: Kysely<Schema>): AsyncGenerator<string[]> {
  let after = ''
  for (;;) {
    const { rows } = await sql<{ id: string; last_receipt: number; last_seal: number }>`
      SELECT a.id,
        a.last_number AS last_receipt,
        coalesce((SELECT max(number) FROM seals WHERE account_id = a.id), 0) AS last_seal
      FROM accounts a WHERE a.id > ${after} ORDER BY a.id LIMIT ${accountsAtOnce}`.execute(db)
    const unsealed = rows.filter((row) => row.last_receipt > row.last_seal)
    if (unsealed.length > 0) yield unsealed.map(({ id }) => id)
    if (rows.length < accountsAtOnce) return
    after = rows.at(-1)!.id
  }
}
