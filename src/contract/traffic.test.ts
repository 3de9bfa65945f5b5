import { expect, test } from 'bun:test'
import { addTraffic, countRequest, durationAt, noTraffic, tookBounds } from './traffic.ts'

const of = (...durations: number[]) => {
  const sums = noTraffic()
  for (const totalMs of durations)
    countRequest(sums, { totalMs, firstByteMs: -1, chargeNanos: '2' })
  return sums
}

test('requests are counted once, in the class of their duration', () => {
  const sums = of(0, 8, 9, 16, 17, 999_999)
  expect(sums.took).toEqual([2, 2, 1, ...new Array(12).fill(0), 1])
  expect(sums).toMatchObject({ requests: 6, firstBytes: 0, firstByteMs: 0, chargeNanos: 12n })
  countRequest(sums, { totalMs: 1, firstByteMs: 0, chargeNanos: '0' })
  expect(sums).toMatchObject({ requests: 7, firstBytes: 1, chargeNanos: 12n })
})

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
