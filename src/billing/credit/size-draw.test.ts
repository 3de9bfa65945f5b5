// How much credit a draw must bring.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { sizeDraw } from './credit-leases.ts'

const waiter = (nanos: bigint, takesLess = false) => ({
  of: ['credit' as const],
  nanos,
  takesLess,
  resolve: () => {},
  reject: () => {},
})

/** Whom this much serves, in order. */
function servedBy(
  haveNanos: bigint,
  wanted: readonly bigint[],
): { served: bigint[]; left: bigint } {
  let left = haveNanos
  const served = wanted.filter((nanos) => {
    if (left < nanos) return false
    left -= nanos
    return true
  })
  return { served, left }
}

test('a draw serves as many as it can, takes no more than is free, and no part that serves nobody', () => {
  const amount = fc.bigInt({ min: 0n, max: 50n })
  const wants = fc.array(fc.bigInt({ min: 0n, max: 30n }), { minLength: 1, maxLength: 8 })
  // Below zero: the lease behind open holds is gone.
  const have = fc.bigInt({ min: -50n, max: 50n })
  fc.assert(
    fc.property(wants, amount, have, amount, (wanted, free, haveNanos, aheadNanos) => {
      const waiters = wanted.map((nanos) => waiter(nanos))
      const { nanos, isShort } = sizeDraw(free, { waiters, haveNanos, aheadNanos, isLast: false })
      const sum = wanted.reduce((total, each) => total + each, 0n)
      expect(nanos >= 0n && nanos <= free).toBe(true)
      expect(isShort).toBe(sum > haveNanos + free)
      const { served, left } = servedBy(haveNanos + nanos, wanted)
      if (!isShort) expect(served).toEqual(wanted)
      else if (nanos > 0n) expect(left).toBe(0n)
      // With everything that is free, in the same order, no other waiter would have been served.
      const could = servedBy(haveNanos + free, wanted).served.filter((each) => each > 0n)
      expect(served.filter((each) => each > 0n)).toEqual(could)
    }),
  )
})

test('who takes less never draws more than is free', () => {
  const amount = fc.bigInt({ min: 0n, max: 50n })
  const have = fc.bigInt({ min: -50n, max: 50n })
  fc.assert(
    fc.property(amount, have, (free, haveNanos) => {
      const waiters = [waiter(40n, true), waiter(30n)]
      const need = { waiters, haveNanos, aheadNanos: 0n }
      const { nanos } = sizeDraw(free, { ...need, isLast: true })
      expect(nanos >= 0n && nanos <= free).toBe(true)
      const all = haveNanos + free
      // Only at the end it takes a part, and then all that there is.
      if (all < 40n && all > haveNanos && all > 0n) expect(haveNanos + nanos).toBe(all)
      if (all < 30n) expect(sizeDraw(free, { ...need, isLast: false }).nanos).toBe(0n)
    }),
  )
})

test('near its end an account is not leased in advance', () => {
  const waiters = [waiter(10n)]
  const draw = (free: bigint, aheadNanos: bigint) =>
    sizeDraw(free, { waiters, haveNanos: 0n, aheadNanos, isLast: false }).nanos
  expect([draw(1_000n, 320n), draw(100n, 320n), draw(10n, 320n), draw(1_000n, 0n)]).toEqual([
    10n + 247n,
    10n + 22n,
    10n,
    10n,
  ])
})
