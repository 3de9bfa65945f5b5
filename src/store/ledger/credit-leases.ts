// Credit leases of gateways that share a database. Leased credit still belongs to the account, but
// only the lease holder can spend it. An account's row is locked before its credit leases, so that
// draws, returns and charges wait for each other instead of deadlocking.
import { type Kysely, sql } from 'kysely'
import { ensure } from '../../lib/ensure.ts'
import { freeDeliveries } from '../deliveries/queue.ts'
import type { Schema } from '../schema.ts'
import { freeLeases } from '../tasks/leases.ts'
import { releaseShortClaims } from './short-accounts.ts'

interface CreditLeaseOf {
  accountId: string
  gatewayId: string
}

/** For gateways that share the database: one that was evicted must lease nothing. */
export async function isEvicted(tx: Kysely<Schema>, gatewayId: string): Promise<boolean> {
  const gateway = tx.selectFrom('gateways').select('id').where('id', '=', gatewayId)
  return (await gateway.forShare().executeTakeFirst()) === undefined
}

/** An account's balance that is neither held nor leased; locks its row until the tx ends. */
export async function lockFreeNanos(tx: Kysely<Schema>, accountId: string): Promise<bigint> {
  const row = await tx
    .selectFrom('accounts')
    .select(sql<bigint>`balance_nanos - held_nanos - leased_nanos`.as('free_nanos'))
    .where('id', '=', accountId)
    .forUpdate()
    .executeTakeFirst()
  ensure(row !== undefined, `account ${accountId} exists`)
  return row.free_nanos
}

/** How much of the free balance to move into a lease; below zero: out of it. */
export interface Draw {
  nanos: bigint
  /** It is less than needed: the other lease holders are asked next. */
  isShort: boolean
}

interface Moved extends Draw {
  /** Other gateways with a credit lease of the account; only read when it is short. */
  holders: readonly string[]
}

/** Undefined when this gateway has been evicted: its lease is gone, and what it draws would be lost. */
export async function moveCredit(
  tx: Kysely<Schema>,
  of: CreditLeaseOf,
  choose: (freeNanos: bigint) => Draw,
): Promise<Moved | undefined> {
  const { accountId, gatewayId } = of
  if (await isEvicted(tx, gatewayId)) return undefined
  const { nanos, isShort } = choose(await lockFreeNanos(tx, accountId))
  const moved = { nanos, isShort, holders: isShort ? await otherHolders(tx, of) : [] }
  if (nanos === 0n) return moved
  const key = { account_id: accountId, gateway_id: gatewayId }
  const { numUpdatedRows } = await tx
    .updateTable('credit_leases')
    .set((e) => ({ amount_nanos: e('amount_nanos', '+', nanos) }))
    .where((e) => e.and(key))
    .where('amount_nanos', '>=', -nanos)
    .executeTakeFirst()
  if (numUpdatedRows === 0n && nanos < 0n) return undefined
  if (numUpdatedRows === 0n) {
    await tx
      .insertInto('credit_leases')
      .values({ ...key, amount_nanos: nanos })
      .execute()
  }
  await addLeased(tx, accountId, nanos)
  const emptied = tx.deleteFrom('credit_leases').where((e) => e.and({ ...key, amount_nanos: 0n }))
  if (nanos < 0n) await emptied.execute()
  return moved
}

async function addLeased(tx: Kysely<Schema>, accountId: string, nanos: bigint): Promise<void> {
  await tx
    .updateTable('accounts')
    .set((e) => ({ leased_nanos: e('leased_nanos', '+', nanos) }))
    .where('id', '=', accountId)
    .execute()
}

/** Of the accounts between two ids, both included. */
export function readCreditLeases(db: Kysely<Schema>, firstId: string, lastId: string) {
  return db
    .selectFrom('credit_leases')
    .selectAll()
    .where('account_id', '>=', firstId)
    .where('account_id', '<=', lastId)
    .execute()
}

export async function readCreditLease(
  db: Kysely<Schema>,
  { accountId, gatewayId }: CreditLeaseOf,
): Promise<bigint> {
  const leases = await readCreditLeases(db, accountId, accountId)
  return leases.find((each) => each.gateway_id === gatewayId)?.amount_nanos ?? 0n
}

/** Waits for transactions that change it, and keeps others from it until the tx ends. */
export async function lockCreditLease(tx: Kysely<Schema>, of: CreditLeaseOf): Promise<bigint> {
  const account = tx.selectFrom('accounts').select('id').where('id', '=', of.accountId)
  await account.forShare().execute()
  return readCreditLease(tx, of)
}

/** The other gateways with a credit lease of the account. */
export async function otherHolders(
  db: Kysely<Schema>,
  { accountId, gatewayId }: CreditLeaseOf,
): Promise<string[]> {
  const leases = await readCreditLeases(db, accountId, accountId)
  const filled = leases.filter(({ amount_nanos }) => amount_nanos > 0n)
  return filled.map(({ gateway_id }) => gateway_id).filter((id) => id !== gatewayId)
}

/** Evicts a dead gateway: releases all that it has leased or claimed, and deletes its row. */
export async function evictGateway(tx: Kysely<Schema>, gatewayId: string): Promise<void> {
  const creditLeases = await tx
    .selectFrom('credit_leases')
    .selectAll()
    .where('gateway_id', '=', gatewayId)
    .orderBy('account_id')
    .forUpdate()
    .execute()
  for (const { account_id, amount_nanos } of creditLeases)
    await addLeased(tx, account_id, -amount_nanos)
  await releaseShortClaims(tx, gatewayId)
  await freeLeases(tx, gatewayId)
  await freeDeliveries(tx, 'callbacks', gatewayId)
  await freeDeliveries(tx, 'notice_deliveries', gatewayId)
  await tx.deleteFrom('credit_leases').where('gateway_id', '=', gatewayId).execute()
  await tx.deleteFrom('budget_leases').where('gateway_id', '=', gatewayId).execute()
  await tx.deleteFrom('gateways').where('id', '=', gatewayId).execute()
}
