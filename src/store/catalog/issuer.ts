// Who sends the bills, where the configuration file does not say it; and the numbers of bills.
import type { Kysely } from 'kysely'
import type { Issuer } from '../../contract/config-schema/issuer.ts'
import type { Schema } from '../schema.ts'
import { getMeta, setMeta, touchMeta } from '../sql/meta.ts'

const key = 'issuer'

export async function findIssuer(db: Kysely<Schema>): Promise<Issuer | null> {
  const text = await getMeta(db, key)
  return text === undefined ? null : (JSON.parse(text) as Issuer)
}

export const setIssuer = (tx: Kysely<Schema>, issuer: Issuer): Promise<void> =>
  setMeta(tx, key, JSON.stringify(issuer))

/** The next of its month, without gaps: it is given back if the transaction is. */
export async function nextBillNumber(tx: Kysely<Schema>, month: string): Promise<string> {
  const counter = `bill_number ${month}`
  // Writing is the lock that both dialects know.
  await touchMeta(tx, counter, '0')
  const number = Number(await getMeta(tx, counter)) + 1
  await setMeta(tx, counter, String(number))
  return `${month}-${String(number).padStart(4, '0')}`
}
