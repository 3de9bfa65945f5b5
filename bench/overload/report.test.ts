import { expect, test } from 'bun:test'
import type { GroupResult } from '../load/open-load.ts'
import { checkOverload, formatOverload, type OverloadFigures } from './report.ts'

const group = (name: string, more: Partial<GroupResult>): GroupResult => ({
  name,
  sent: 1000,
  served: 500,
  p50Ms: 100,
  p99Ms: 400,
  refused: 500,
  refusedP99Ms: 5,
  failed: 0,
  ...more,
})

const figures = (more: Partial<OverloadFigures>): OverloadFigures => ({
  bestPerSecond: 100,
  factor: 3,
  seconds: 10,
  groups: [group('greedy', { served: 900 }), group('modest', { sent: 50, served: 50, refused: 0 })],
  modest: 'modest',
  adminMs: { p50: 5, max: 50, count: 10 },
  ...more,
})

const met = (more: Partial<OverloadFigures>) => checkOverload(figures(more)).map((each) => each.met)

test('every promise has a limit', () => {
  expect(met({})).toEqual([true, true, true, true, true, true])
  expect(formatOverload(figures({}))).toMatch(/modest +5 +5 +100 %/)
})

test('an account that is crowded out, a slow refusal or a slow admin API misses its limit', () => {
  const modest = group('modest', { sent: 50, served: 40 })
  expect(met({ groups: [group('greedy', { served: 900 }), modest] })[4]).toBe(false)
  expect(met({ groups: [group('greedy', { refusedP99Ms: 500 }), modest] })[2]).toBe(false)
  expect(met({ adminMs: { p50: 5, max: 300, count: 10 } })[5]).toBe(false)
  expect(met({ bestPerSecond: 1000 })[0]).toBe(false)
})
