// Whom credit is held for as it arrives, and how much a draw must bring.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type AccountFunds, availableNanos } from '../balances.ts'
import { CreditQueue, sizeDraw, type Waiter } from './credit-queue.ts'

const fundsOf = (balanceNanos: bigint): AccountFunds => ({
  id: 'acc_1',
  balanceNanos,
  callHoldsNanos: 0n,
  taskHoldsNanos: 0n,
  pending: 0,
  version: 0,
  stale: false,
  touched: false,
})

function waiter(wantedNanos: bigint, told: (bigint | undefined)[], takesLess = false): Waiter {
  return { wantedNanos, takesLess, resolve: (held) => told.push(held), reject: () => {} }
}

test('credit is held for those who wait, in order, and never twice', () => {
  const told: (bigint | undefined)[] = []
  const queue = new CreditQueue(fundsOf(10n))
  queue.waiters = [6n, 5n, 4n].map((wanted) => waiter(wanted, told))
  queue.grant()
  expect([told, queue.waiters.length, availableNanos(queue.funds)]).toEqual([[6n, 4n], 1, 0n])
  queue.refuse(new Set(queue.waiters))
  expect([told, queue.waiters.length]).toEqual([[6n, 4n, undefined], 0])
})

test('who takes less gets what there is, once nothing more can be had', () => {
  const told: (bigint | undefined)[] = []
  const queue = new CreditQueue(fundsOf(10n))
  queue.waiters = [waiter(30n, told, true), waiter(20n, told)]
  queue.grant()
  expect(told).toEqual([])
  queue.refuse(new Set(queue.waiters))
  expect([told, availableNanos(queue.funds)]).toEqual([[10n, undefined], 0n])
})

test('an account whose last write has an open outcome gives nothing', () => {
  const told: (bigint | undefined)[] = []
  const queue = new CreditQueue({ ...fundsOf(10n), stale: true })
  queue.waiters = [waiter(1n, told, true)]
  queue.grant()
  queue.grantFirst()
  expect(told).toEqual([])
})

test('turns of an account come one after the other, also after one has failed', async () => {
  const queue = new CreditQueue(fundsOf(0n))
  const order: number[] = []
  const turn = (number: number, fails = false) =>
    queue.inTurn(async () => {
      await Bun.sleep(3 - number)
      order.push(number)
      if (fails) throw new Error('no')
    })
  const turns = [turn(1), turn(2, true), turn(3)]
  expect([queue.turns, queue.isIdle]).toEqual([3, false])
  await Promise.allSettled(turns)
  expect([order, queue.isIdle]).toEqual([[1, 2, 3], true])
})

test('a draw serves as many as it can, takes no more than is free, and no part that serves nobody', () => {
  const amount = fc.bigInt({ min: 0n, max: 50n })
  const wants = fc.array(fc.bigInt({ min: 1n, max: 30n }), { minLength: 1, maxLength: 8 })
  // Below zero: the lease behind open holds is gone.
  const have = fc.bigInt({ min: -50n, max: 50n })
  fc.assert(
    fc.property(wants, amount, have, amount, (wanted, free, have, ahead) => {
      const told: (bigint | undefined)[] = []
      const waiters = wanted.map((nanos) => waiter(nanos, told))
      const need = { waiters, haveNanos: have, aheadNanos: ahead, isLast: false }
      const { nanos, isShort } = sizeDraw(free, need)
      const sum = wanted.reduce((total, each) => total + each, 0n)
      expect(nanos >= 0n && nanos <= free).toBe(true)
      expect(isShort).toBe(sum > have + free)
      const queue = new CreditQueue(fundsOf(have + nanos))
      queue.waiters = waiters
      queue.grant()
      if (!isShort) expect(told).toEqual(wanted)
      else if (nanos > 0n) expect(availableNanos(queue.funds)).toBe(0n)
      // With everything that is free, in the same order, no other waiter would have been served.
      const all = new CreditQueue(fundsOf(have + free))
      const could: (bigint | undefined)[] = []
      all.waiters = wanted.map((each) => waiter(each, could))
      all.grant()
      expect(told).toEqual(could)
    }),
  )
})

test('who takes less never draws more than is free', () => {
  const amount = fc.bigInt({ min: 0n, max: 50n })
  const have = fc.bigInt({ min: -50n, max: 50n })
  fc.assert(
    fc.property(amount, have, (free, haveNanos) => {
      const waiters = [{ ...waiter(40n, []), takesLess: true }, waiter(30n, [])]
      const { nanos } = sizeDraw(free, { waiters, haveNanos, aheadNanos: 0n, isLast: true })
      expect(nanos >= 0n && nanos <= free).toBe(true)
    }),
  )
})

test('near its end an account is not leased in advance', () => {
  const waiters = [waiter(10n, [])]
  const draw = (free: bigint, aheadNanos: bigint) =>
    sizeDraw(free, { waiters, haveNanos: 0n, aheadNanos, isLast: false }).nanos
  expect([draw(1_000n, 320n), draw(100n, 320n), draw(10n, 320n), draw(1_000n, 0n)]).toEqual([
    10n + 247n,
    10n + 22n,
    10n,
    10n,
  ])
})
