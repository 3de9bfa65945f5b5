import { expect, test } from 'bun:test'
import {
  checkFailover,
  extraOf,
  type FailoverFigures,
  formatFailover,
  type Phase,
  shareOf,
} from './report.ts'

const phase = (attempts: Record<string, number>, more: Partial<Phase> = {}): Phase => ({
  name: 'before',
  served: 300,
  failed: 0,
  attempts,
  p50Ms: 20,
  p99Ms: 30,
  ...more,
})

const even = { a: 100, b: 100, c: 100 }

const figures: FailoverFigures = {
  failing: 'b',
  before: phase(even),
  during: phase({ a: 150, b: 60, c: 150 }, { name: 'during' }),
  after: phase({ a: 110, b: 80, c: 110 }, { name: 'after' }),
  healedMs: 6500,
}

const met = (changed: Partial<FailoverFigures>) =>
  checkFailover({ ...figures, ...changed }).map((verdict) => verdict.met)

test('a share is of all attempts, and an attempt is extra when its call had one before', () => {
  expect(shareOf(figures.after, 'b')).toBeCloseTo(80 / 300)
  expect(shareOf(phase({ a: 1 }), 'b')).toBe(0)
  expect(shareOf(phase({}), 'b')).toBe(0)
  expect(extraOf(figures.during)).toBeCloseTo(0.2)
  expect(extraOf(phase(even, { served: 250, failed: 50 }))).toBe(0)
})

test('one failed call, one attempt too many or a share that stays away break a limit', () => {
  expect(met({})).toEqual([true, true, true])
  expect(met({ during: phase(even, { served: 299, failed: 1 }) })).toEqual([false, true, true])
  expect(met({ during: phase({ a: 150, b: 61, c: 150 }) })).toEqual([true, false, true])
  expect(met({ after: phase({ a: 111, b: 78, c: 111 }) })).toEqual([true, true, false])
})

test('a phase without calls meets nothing', () => {
  const nothing = phase({}, { served: 0 })
  expect(met({ before: nothing, during: nothing, after: nothing })).toEqual([false, false, false])
})

test('the table shows all shares and when the channel was back', () => {
  const text = formatFailover(figures)
  expect(text).toMatch(/during +300 +0 +360 +20 % +41\.7 % +16\.7 % +41\.7 %/)
  expect(text).toContain('6.50 s after it healed')
  const { healedMs: _, ...never } = figures
  expect(formatFailover(never)).toContain('did not get its share back')
})
