import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { gauge, type Tally, waitMs, windowMs } from './window.ts'

test('the minute before fades out as the current one goes on', () => {
  const tally = { current: 0, previous: 10 }
  expect(waitMs(tally, 1, 10, windowMs)).toBe(6000)
  expect(waitMs(tally, 1, 10, windowMs - 5999)).toBe(1)
  expect(waitMs(tally, 1, 10, windowMs - 6000)).toBe(0)
  expect(waitMs(tally, 6, 10, windowMs / 2)).toBe(6000)
})

test('a full minute lets nothing in before the next one has begun to push it out', () => {
  expect(waitMs({ current: 10, previous: 0 }, 1, 10, 1000)).toBe(7000)
  expect(waitMs({ current: 10, previous: 0 }, 10, 10, 1000)).toBe(61_000)
})

test('a cost above the limit fits only when nothing else counts', () => {
  expect(waitMs({ current: 0, previous: 0 }, 11, 10, 500)).toBe(0)
  expect(waitMs({ current: 0, previous: 1 }, 11, 10, 500)).toBe(500)
  expect(waitMs({ current: 1, previous: 0 }, 11, 10, 500)).toBe(60_500)
})

test('a gauge never shows less than nothing', () => {
  expect(gauge({ current: 3, previous: 4 }, 10, 10, windowMs / 2)).toEqual({
    limit: 10,
    remaining: 5,
    resetMs: windowMs * 1.5,
  })
  expect(gauge({ current: 30, previous: 0 }, 10, 10, 1)).toMatchObject({ remaining: 0 })
  expect(gauge({ current: 3, previous: 0 }, 10, 5, 1)).toMatchObject({ limit: 10, remaining: 2 })
  expect(gauge({ current: 0, previous: 0 }, 10, 10, 1)).toMatchObject({ remaining: 10, resetMs: 0 })
})

/** The same tally some time later, when nothing has happened. */
function later(tally: Tally, leftMs: number, passedMs: number): [Tally, number] {
  if (passedMs < leftMs) return [tally, leftMs - passedMs]
  const turned = { current: 0, previous: tally.current }
  return passedMs < leftMs + windowMs
    ? [turned, leftMs + windowMs - passedMs]
    : [{ current: 0, previous: 0 }, windowMs]
}

test('whoever waits as long as it is told is let in, and not a millisecond earlier', () => {
  const count = fc.integer({ min: 0, max: 2_000_000 })
  fc.assert(
    fc.property(
      fc.record({ current: count, previous: count }),
      fc.integer({ min: 0, max: 3_000_000 }),
      fc.integer({ min: 1, max: 2_000_000 }),
      fc.integer({ min: 1, max: windowMs }),
      (tally, cost, limit, leftMs) => {
        const wait = waitMs(tally, cost, limit, leftMs)
        const [then, leftThen] = later(tally, leftMs, wait)
        expect(waitMs(then, cost, limit, leftThen)).toBe(0)
        if (wait === 0) return
        const [before, leftBefore] = later(tally, leftMs, wait - 1)
        expect(waitMs(before, cost, limit, leftBefore)).toBe(1)
      },
    ),
    { numRuns: 2000 },
  )
})
