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

/** How much of the free balance to move into a lease. */
export interface Draw {
  nanos: bigint
  /** It is less than needed: the other lease holders are asked next. */
  isShort: boolean
}

export interface Drawn extends Draw {
  /** Other gateways with a credit lease of the account; only read when it is short. */
  holders: readonly string[]
}

/**
 * Moves as much of the free balance as `choose` wants into the credit lease. Undefined when this
 * gateway has been evicted: what it draws would be lost.
 */
export async function fillCreditLease(
  tx: Kysely<Schema>,
  { accountId, gatewayId }: CreditLeaseOf,
  choose: (freeNanos: bigint) => Draw,
): Promise<Drawn | undefined> {
  const here = await tx
    .selectFrom('gateways')
    .select('id')
    .where('id', '=', gatewayId)
    .forShare()
    .executeTakeFirst()
  if (here === undefined) return undefined
  const { nanos, isShort } = choose(await lockFreeNanos(tx, accountId))
  const holders = isShort ? await otherHolders(tx, { accountId, gatewayId }) : []
  if (nanos <= 0n) return { nanos: 0n, isShort, holders }
  await tx
    .updateTable('accounts')
    .set((e) => ({ leased_nanos: e('leased_nanos', '+', nanos) }))
    .where('id', '=', accountId)
    .execute()
  await tx
    .insertInto('credit_leases')
    .values({ account_id: accountId, gateway_id: gatewayId, amount_nanos: nanos })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'gateway_id'])
        .doUpdateSet((e) => ({ amount_nanos: e('credit_leases.amount_nanos', '+', nanos) })),
    )
    .execute()
  return { nanos, isShort, holders }
}

/** False when the credit lease is gone: its credit was already returned. */
export async function emptyCreditLease(
  tx: Kysely<Schema>,
  { accountId, gatewayId }: CreditLeaseOf,
  amount: bigint,
): Promise<boolean> {
  await lockFreeNanos(tx, accountId)
  const creditLease = { account_id: accountId, gateway_id: gatewayId }
  const { numUpdatedRows } = await tx
    .updateTable('credit_leases')
    .set((e) => ({ amount_nanos: e('amount_nanos', '-', amount) }))
    .where((e) => e.and(creditLease))
    .where('amount_nanos', '>=', amount)
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) return false
  await tx
    .updateTable('accounts')
    .set((e) => ({ leased_nanos: e('leased_nanos', '-', amount) }))
    .where('id', '=', accountId)
    .execute()
  await tx
    .deleteFrom('credit_leases')
    .where((e) => e.and(creditLease))
    .where('amount_nanos', '=', 0n)
    .execute()
  return true
}

export async function readCreditLease(
  db: Kysely<Schema>,
  { accountId, gatewayId }: CreditLeaseOf,
): Promise<bigint> {
  const row = await db
    .selectFrom('credit_leases')
    .select('amount_nanos')
    .where((e) => e.and({ account_id: accountId, gateway_id: gatewayId }))
    .executeTakeFirst()
  return row?.amount_nanos ?? 0n
}

/** The other gateways with a credit lease of the account. */
export async function otherHolders(
  db: Kysely<Schema>,
  { accountId, gatewayId }: CreditLeaseOf,
): Promise<string[]> {
  const rows = await db
    .selectFrom('credit_leases')
    .select('gateway_id')
    .where('account_id', '=', accountId)
    .where('gateway_id', '<>', gatewayId)
    .where('amount_nanos', '>', 0n)
    .execute()
  return rows.map(({ gateway_id }) => gateway_id)
}

/** What these gateways have leased of the accounts between two ids, both included. */
export async function leasesBetween(
  db: Kysely<Schema>,
  { firstId, lastId }: { firstId: string; lastId: string },
  gatewayIds: readonly string[],
): Promise<{ accountId: string; nanos: bigint }[]> {
  if (gatewayIds.length === 0) return []
  const rows = await db
    .selectFrom('credit_leases')
    .select(['account_id', 'amount_nanos'])
    .where('account_id', '>=', firstId)
    .where('account_id', '<=', lastId)
    .where('gateway_id', 'in', gatewayIds)
    .execute()
  return rows.map(({ account_id, amount_nanos }) => ({
    accountId: account_id,
    nanos: amount_nanos,
  }))
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
  for (const { account_id, amount_nanos } of creditLeases) {
    await tx
      .updateTable('accounts')
      .set((e) => ({ leased_nanos: e('leased_nanos', '-', amount_nanos) }))
      .where('id', '=', account_id)
      .execute()
  }
  await releaseShortClaims(tx, gatewayId)
  await freeLeases(tx, gatewayId)
  await freeDeliveries(tx, 'callbacks', gatewayId)
  await freeDeliveries(tx, 'notice_deliveries', gatewayId)
  await tx.deleteFrom('credit_leases').where('gateway_id', '=', gatewayId).execute()
  await tx.deleteFrom('budget_leases').where('gateway_id', '=', gatewayId).execute()
  await tx.deleteFrom('gateways').where('id', '=', gatewayId).execute()
}
