// How many extra attempts the budget allows, over any history.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { RetryBudget } from './retry-budget.ts'

const reserve = 20

function takeAll(budget: RetryBudget): number {
  let taken = 0
  while (taken < 1_000 && budget.take()) taken++
  return taken
}

test('a gateway that has just started can mend its first failures, and no more', () => {
  const budget = new RetryBudget()
  expect(takeAll(budget)).toBe(reserve)
  expect(budget.take()).toBe(false)
})

test('from then on one call in five pays for an extra attempt', () => {
  const budget = new RetryBudget()
  takeAll(budget)
  let taken = 0
  for (let call = 0; call < 1_000; call++) {
    budget.recordCall()
    if (budget.take()) taken++
  }
  expect(taken).toBeGreaterThanOrEqual(199)
  expect(taken).toBeLessThanOrEqual(200)
})

test('a long quiet time does not save up for a storm', () => {
  const budget = new RetryBudget()
  for (let call = 0; call < 100_000; call++) budget.recordCall()
  budget.giveBack()
  expect(takeAll(budget)).toBe(100)
})

test('what was given back can be taken again', () => {
  const budget = new RetryBudget()
  takeAll(budget)
  budget.giveBack()
  expect([budget.take(), budget.take()]).toEqual([true, false])
})

test('any history: extra attempts stay within the reserve and a fifth of the calls', () => {
  const step = fc.constantFrom('call', 'call', 'take', 'take', 'take and give back')
  fc.assert(
    fc.property(fc.array(step, { maxLength: 2_000 }), (steps) => {
      const budget = new RetryBudget()
      let calls = 0
      let extra = 0
      for (const each of steps) {
        if (each === 'call') {
          budget.recordCall()
          calls++
        } else if (budget.take()) {
          if (each === 'take') extra++
          else budget.giveBack()
        }
        expect(extra).toBeLessThanOrEqual(reserve + calls / 5 + 1e-9)
      }
    }),
    { numRuns: 200 },
  )
})
