import { expect, test } from 'bun:test'
import { addTraffic, durationAt, noTraffic, tookBounds } from './traffic.ts'

/** This many requests with durations up to these bounds. */
function of(...durations: number[]) {
  const sums = noTraffic()
  for (const totalMs of durations) {
    const at = tookBounds.findIndex((bound) => totalMs <= bound)
    sums.requests++
    sums.totalMs += totalMs
    sums.took[at < 0 ? tookBounds.length : at]!++
  }
  return sums
}

test('sums of parts are the sum of all', () => {
  const sums = of(3, 70)
  addTraffic(sums, of(70, 5_000))
  expect(sums).toEqual(of(3, 70, 70, 5_000))
})

test('a percentile lies within the class it falls into', () => {
  const { took } = of(...Array.from({ length: 100 }, (_, i) => i * 10))
  expect(durationAt(took, 0.5)).toBeGreaterThan(256)
  expect(durationAt(took, 0.5)).toBeLessThanOrEqual(512)
  expect(durationAt(took, 1)).toBe(1024)
  expect(durationAt(of(10_000_000).took, 0.99)).toBe(tookBounds.at(-1)!)
  expect(durationAt(noTraffic().took, 0.5)).toBeNull()
})
