import { expect, test } from 'bun:test'
import { isNegative, refundedIn, shareOf } from './margin.ts'
import type { UsageRow } from './usage.ts'

const row = (amount: string, cost: string, margin: string) =>
  ({ amount, cost, margin }) as unknown as UsageRow

test('what was refunded is what the margin lacks, to the billionth', () => {
  expect(refundedIn(row('1.000000007', '0.25', '0.5'))).toBe('0.250000007')
  expect(refundedIn(row('0.00', '0.20', '-0.20'))).toBe('0.00')
})

test('a margin below zero is one, and has a share of what was charged', () => {
  expect([isNegative(row('1', '2', '-1')), isNegative(row('1', '1', '0.00'))]).toEqual([
    true,
    false,
  ])
  expect([shareOf(row('4', '1', '3')), shareOf(row('0.00', '1', '-1'))]).toEqual([0.75, undefined])
})
