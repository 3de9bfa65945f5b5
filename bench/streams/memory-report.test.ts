import { expect, test } from 'bun:test'
import {
  checkSlow,
  checkStalled,
  formatSlow,
  formatStalled,
  type SlowFigures,
  type StalledFigures,
} from './memory-report.ts'

const slow: SlowFigures = {
  streams: 5000,
  held: 5000,
  baseBytes: 50_000_000,
  rssBytes: 200_000_000,
  peakBytes: 255_900_000,
  tokens: 100_000,
  delayP50Ms: 1,
  delayP99Ms: 12.5,
  delayMaxMs: 40,
  failed: 0,
}

const stalled: StalledFigures = {
  callers: 500,
  reached: 500,
  baseBytes: 100_000_000,
  rssBytes: 163_000_000,
  peakBytes: 170_000_000,
  acceptedMedianBytes: 4_000_000,
  acceptedMaxBytes: 5_000_000,
  grownBytes: 0,
}

const met = (verdicts: { met: boolean }[]) => verdicts.map((verdict) => verdict.met)

test('the peak counts, and every stream must have been held', () => {
  expect(met(checkSlow(slow))).toEqual([true, true])
  expect(met(checkSlow({ ...slow, peakBytes: 256_000_000 }))).toEqual([true, false])
  expect(met(checkSlow({ ...slow, held: 4999 }))).toEqual([false, true])
  expect(met(checkSlow({ ...slow, held: 0 }))).toEqual([false, false])
})

test('stalled callers may raise memory a little, and must stop the upstream', () => {
  expect(met(checkStalled(stalled))).toEqual([true, true])
  expect(met(checkStalled({ ...stalled, rssBytes: 360_000_000 }))).toEqual([false, true])
  expect(met(checkStalled({ ...stalled, grownBytes: 1 }))).toEqual([true, false])
})

test('a limit is not kept by streams that never were', () => {
  expect(met(checkStalled({ ...stalled, reached: 499 }))).toEqual([false, false])
  expect(met(checkStalled({ ...stalled, acceptedMedianBytes: 0 }))).toEqual([false, false])
})

test('the tables show memory per stream, delays and what the upstream could send', () => {
  expect(formatSlow(slow)).toMatch(/5000 of 5000 +50 +200 +256 +30 +100,000 +1 +12\.5/)
  expect(formatStalled(stalled)).toMatch(/500 of 500 +100 +163 +170 +63 +4 +5 +0/)
})
