// Models an upstream account is not entitled to. The test passes in the time.
import { expect, test } from 'bun:test'
import { Entitlements } from './entitlements.ts'

function at(startMs = 1) {
  const clock = { ms: startMs }
  return { clock, known: new Entitlements(() => clock.ms) }
}

test('one refusal of a model that never worked is believed', () => {
  const { known } = at()
  expect(known.any).toBe(false)
  known.refused('a', 'm', false)
  expect([known.any, known.isDenied('a', 'm')]).toEqual([true, true])
  expect(known.deniedOn('a')).toEqual(['m'])
})

test('a model that has worked must be refused three times in a row', () => {
  const { known } = at()
  known.refused('a', 'm', true)
  known.refused('a', 'm', true)
  expect([known.isDenied('a', 'm'), known.deniedOn('a')]).toEqual([false, []])
  known.granted('a', 'm')
  known.refused('a', 'm', true)
  known.refused('a', 'm', true)
  expect(known.isDenied('a', 'm')).toBe(false)
  known.refused('a', 'm', true)
  expect([known.isDenied('a', 'm'), known.deniedOn('a')]).toEqual([true, ['m']])
})

test('a denial is about one model on one channel', () => {
  const { known } = at()
  known.refused('a', 'm', false)
  expect(known.isDenied('a', 'm-2')).toBe(false)
  expect(known.isDenied('b', 'm')).toBe(false)
  expect([known.deniedOn('b'), known.deniedOn('')]).toEqual([[], []])
})

test('a good answer makes it good again, and nothing has to be looked up any more', () => {
  const { known } = at()
  known.refused('a', 'm', false)
  known.granted('a', 'm')
  expect([known.isDenied('a', 'm'), known.any]).toEqual([false, false])
  known.granted('a', 'm')
})

test('accounts change: after ten minutes the model is tried again', () => {
  const { clock, known } = at()
  known.refused('a', 'm', false)
  clock.ms += 10 * 60_000 - 1
  expect(known.isDenied('a', 'm')).toBe(true)
  clock.ms += 1
  expect(known.deniedOn('a')).toEqual([])
  expect([known.isDenied('a', 'm'), known.any]).toEqual([false, false])
  known.refused('a', 'm', false)
  expect(known.isDenied('a', 'm')).toBe(true)
})

test('refusals of calls under way make a denial last longer, not shorter', () => {
  const { clock, known } = at()
  known.refused('a', 'm', false)
  clock.ms += 60_000
  known.refused('a', 'm', false)
  clock.ms += 10 * 60_000 - 1
  expect(known.isDenied('a', 'm')).toBe(true)
})
