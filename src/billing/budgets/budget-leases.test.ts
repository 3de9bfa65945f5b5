// What a gateway may spend of a budget, in memory: never more than it has leased in the store.
import { expect, test } from 'bun:test'
import type { StoredBudget } from '../../store/ledger/budgets.ts'
import { BudgetLease } from './budget-leases.ts'

const budget: StoredBudget = {
  id: 'bud_1',
  accountId: 'acc_1',
  scope: 'account',
  subject: 'acc_1',
  amountNanos: 100n,
  per: 'month',
  zone: 'UTC',
}

/** With this much drawn and nothing held. */
function leaseOf(nanos: bigint): BudgetLease {
  const lease = new BudgetLease(budget)
  lease.written(nanos, lease.keepHeld())
  lease.seen(undefined)
  return lease
}

test('what a call does not need can be taken by the next', () => {
  const lease = leaseOf(40n)
  lease.hold(40n)
  expect(lease.fits(1n)).toBe(false)
  lease.end(40n, 30n)
  expect([lease.fits(10n), lease.fits(11n)]).toEqual([true, false])
  expect(lease.unheldNanos).toBe(40n)
})

test('after eviction, other terms, a charge above the hold or a return, only a draw brings room', () => {
  const losses: ((lease: BudgetLease) => void)[] = [
    (lease) => lease.keepHeld(),
    (lease) => lease.dropSpendable(),
    (lease) => lease.declare({ ...budget, amountNanos: 200n }),
    (lease) => lease.end(0n, 21n),
  ]
  for (const lose of losses) {
    const lease = leaseOf(40n)
    lease.hold(20n)
    lose(lease)
    expect(lease.fits(1n)).toBe(false)
    lease.end(20n, 5n)
    expect([lease.fits(1n), lease.isUsed]).toEqual([false, true])
    lease.written(10n, lease.keepHeld())
    lease.seen(undefined)
    expect(lease.fits(10n)).toBe(true)
  }
})

test('a call that was admitted before the budget was set is held without room for it', () => {
  const lease = leaseOf(0n)
  lease.hold(70n)
  expect(lease.unheldNanos).toBe(0n)
  lease.written(70n, lease.keepHeld())
  expect(lease.unheldNanos).toBeUndefined()
  lease.end(70n, 0n)
  expect([lease.fits(1n), lease.unheldNanos]).toEqual([false, 70n])
})
