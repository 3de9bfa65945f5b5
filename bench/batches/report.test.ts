import { expect, test } from 'bun:test'
import { type BatchFigures, checkBatch, formatBatch } from './report.ts'

const caller = { name: 'alone', served: 100, failed: 0, p50Ms: 20, p99Ms: 30 }
const figures: BatchFigures = {
  ...{ lines: 50, seconds: 10, kills: 2, answered: 50, charges: 50, chargedOnce: 50 },
  ...{ costNanos: 7n, chargedNanos: 7n, peakBytes: 200 * 1024 ** 2 },
  alone: [caller, caller, caller],
  // One round may be bad.
  beside: [36, 90, 35].map((p99Ms) => ({ ...caller, name: 'beside', p99Ms })),
}
const met = (changed: Partial<BatchFigures>) =>
  checkBatch({ ...figures, ...changed }).map((verdict) => verdict.met)

test('a batch is whole, charged once, small, and leaves calls beside it alone', () => {
  expect(met({})).toEqual([true, true, true, true])
  expect(met({ answered: 49 })[0]).toBe(false)
  expect(met({ chargedOnce: 49 })[1]).toBe(false)
  expect(met({ charges: 51 })[1]).toBe(false)
  expect(met({ chargedNanos: 8n })[1]).toBe(false)
  expect(met({ peakBytes: 260 * 1024 ** 2 })[2]).toBe(false)
  expect(met({ beside: Array(3).fill({ ...caller, p99Ms: 45 }) })[3]).toBe(false)
  expect(met({ beside: [...figures.beside.slice(1), { ...caller, failed: 1 }] })[3]).toBe(false)
})

test('the table has both kinds of caller, and the batch below', () => {
  const text = formatBatch(figures)
  expect(text).toContain('beside')
  expect(text).toContain('50 lines in 10 s with 2 kills')
})
