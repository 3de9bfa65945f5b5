// How trouble closes a channel or a key, and how it opens again. Time is handed in.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Standing, type StandingRules } from './circuit-breaker.ts'

const rules: StandingRules = { avoidAfter: 3, blockAfter: 6, firstMs: 1_000, longestMs: 5_000 }

const fail = (standing: Standing, times: number, nowMs: number, forMs?: number) => {
  for (let i = 0; i < times; i++) standing.failed(nowMs, forMs)
}

describe('failures in a row', () => {
  test('are forgiven up to a number, then it is avoided, then not asked at all', () => {
    const standing = new Standing(rules)
    const states = Array.from({ length: 7 }, () => {
      standing.failed(10)
      return standing.stateAt(10)
    })
    expect(states).toEqual(['good', 'good', 'avoided', 'avoided', 'avoided', 'blocked', 'blocked'])
  })

  test('begin anew after a success', () => {
    const standing = new Standing(rules)
    fail(standing, 2, 0)
    standing.succeeded()
    fail(standing, 2, 0)
    expect([standing.stateAt(0), standing.failuresInRow]).toEqual(['good', 2])
  })

  test('are not needed where most calls fail', () => {
    const standing = new Standing(rules)
    let worst = 0
    for (let i = 0; i < 100 && standing.stateAt(0) === 'good'; i++) {
      standing.succeeded()
      fail(standing, 2, 0)
      worst = Math.max(worst, standing.failuresInRow)
    }
    expect([worst, standing.stateAt(0)]).toEqual([2, 'avoided'])
  })

  test('that are rare close nothing', () => {
    const standing = new Standing(rules)
    for (let i = 0; i < 1_000; i++) {
      standing.failed(i)
      for (let good = 0; good < 3; good++) standing.succeeded()
      expect(standing.stateAt(i)).toBe('good')
    }
  })
})

describe('a time of trouble', () => {
  test('ends with one probe, and a good one makes all well', () => {
    const standing = new Standing(rules)
    fail(standing, 6, 0)
    expect([standing.stateAt(999), standing.stateAt(1_000)]).toEqual(['blocked', 'probe'])
    standing.beginProbe()
    expect(standing.stateAt(1_000)).toBe('blocked')
    standing.succeeded()
    expect([standing.stateAt(1_000), standing.failuresInRow]).toEqual(['good', 0])
    // The past is nearly forgotten: it takes as many failures as before to close it again.
    fail(standing, 2, 1_000)
    expect(standing.stateAt(1_000)).toBe('good')
  })

  test('is twice as long after every probe that fails, up to a bound', () => {
    const standing = new Standing(rules)
    fail(standing, 3, 0)
    const lengths = Array.from({ length: 5 }, () => {
      const fromMs = standing.untilMs
      expect(standing.stateAt(fromMs)).toBe('probe')
      standing.beginProbe()
      standing.failed(fromMs)
      return standing.untilMs - fromMs
    })
    expect(lengths).toEqual([2_000, 4_000, 5_000, 5_000, 5_000])
  })

  test('is as short as the first time after one that ended well', () => {
    const standing = new Standing(rules)
    fail(standing, 3, 0)
    standing.beginProbe()
    standing.failed(1_000)
    standing.succeeded()
    fail(standing, 3, 10_000)
    expect(standing.untilMs).toBe(11_000)
  })

  test('does not grow by calls that were under way when it began', () => {
    const standing = new Standing(rules)
    fail(standing, 3, 0)
    fail(standing, 50, 500)
    expect(standing.untilMs).toBe(1_000)
  })

  test('waits for another probe when the first said nothing', () => {
    const standing = new Standing(rules)
    fail(standing, 3, 0)
    standing.beginProbe()
    standing.dropProbe()
    expect(standing.stateAt(1_000)).toBe('probe')
  })

  test('is forgotten when a test went well', () => {
    const standing = new Standing(rules)
    fail(standing, 40, 0)
    standing.reset()
    expect(standing.stateAt(0)).toBe('good')
    fail(standing, 2, 0)
    expect(standing.stateAt(0)).toBe('good')
  })
})

describe('a pause that was asked for', () => {
  test('is kept, and never shortened by a later and shorter one', () => {
    const standing = new Standing({ ...rules, avoidAfter: 1 })
    standing.failed(0, 30_000)
    standing.failed(10, 1_000)
    expect(standing.untilMs).toBe(30_000)
    expect([standing.stateAt(29_999), standing.stateAt(30_000)]).toEqual(['avoided', 'probe'])
  })

  test('does not close what is not in trouble', () => {
    const standing = new Standing(rules)
    standing.failed(0, 30_000)
    standing.leaveAlone(0, 30_000)
    expect(standing.stateAt(0)).toBe('good')
  })

  test('lengthens a time of trouble, within its bound', () => {
    const standing = new Standing(rules)
    fail(standing, 3, 0)
    standing.leaveAlone(0, 500)
    expect(standing.untilMs).toBe(1_000)
    standing.leaveAlone(0, 3_000)
    expect(standing.untilMs).toBe(3_000)
    standing.leaveAlone(0, 600_000)
    expect(standing.untilMs).toBe(rules.longestMs)
  })
})

type Step =
  | { kind: 'ask'; outcome: 'success' | 'failure' | 'silence'; forMs: number | undefined }
  | { kind: 'late'; outcome: 'success' | 'failure' }
  | { kind: 'time'; ms: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('ask' as const),
    outcome: fc.constantFrom('success', 'failure', 'failure', 'silence'),
    forMs: fc.option(fc.integer({ min: 1_000, max: 600_000 }), { nil: undefined, freq: 4 }),
  }),
  fc.record({ kind: fc.constant('late' as const), outcome: fc.constantFrom('success', 'failure') }),
  fc.record({ kind: fc.constant('time' as const), ms: fc.integer({ min: 0, max: 20_000 }) }),
)

const anyRules = fc
  .record({
    avoidAfter: fc.integer({ min: 1, max: 5 }),
    more: fc.integer({ min: 0, max: 10 }),
    firstMs: fc.integer({ min: 1, max: 5_000 }),
    longestMs: fc.integer({ min: 5_000, max: 300_000 }),
  })
  .map(({ more, ...rest }) => ({ ...rest, blockAfter: rest.avoidAfter + more }))

/** The rules in the simplest words, checked after every step of any history. */
function check(standing: Standing, given: StandingRules, nowMs: number, inRow: number) {
  const state = standing.stateAt(nowMs)
  expect(standing.failuresInRow).toBe(inRow)
  if (state === 'blocked') expect(inRow).toBeGreaterThanOrEqual(given.blockAfter)
  if (inRow >= given.avoidAfter) expect(state).not.toBe('good')
  // Whatever happened, it is due for a probe by then: it never stays closed for ever.
  const longestMs = Math.max(given.longestMs, 600_000)
  expect(standing.untilMs).toBeLessThanOrEqual(nowMs + longestMs)
  expect(['good', 'probe']).toContain(standing.stateAt(nowMs + longestMs))
}

test('any history: blocked only after enough failures in a row, and never closed for good', () => {
  fc.assert(
    fc.property(anyRules, fc.array(step, { maxLength: 80 }), (given, steps) => {
      const standing = new Standing(given)
      let nowMs = 1
      let inRow = 0
      for (const each of steps) {
        if (each.kind === 'time') nowMs += each.ms
        else if (each.outcome === 'silence') {
          if (standing.stateAt(nowMs) !== 'probe') continue
          standing.beginProbe()
          expect(standing.stateAt(nowMs)).not.toBe('probe')
          standing.dropProbe()
          expect(standing.stateAt(nowMs)).toBe('probe')
        } else {
          if (each.kind === 'ask' && standing.stateAt(nowMs) === 'probe') standing.beginProbe()
          inRow = each.outcome === 'success' ? 0 : inRow + 1
          if (each.outcome === 'success') standing.succeeded()
          else standing.failed(nowMs, each.kind === 'ask' ? each.forMs : undefined)
          if (each.outcome === 'success') expect(standing.stateAt(nowMs)).toBe('good')
        }
        check(standing, given, nowMs, inRow)
      }
    }),
    { numRuns: 1_000 },
  )
})

test('any time: while a probe runs nobody else is one', () => {
  fc.assert(
    fc.property(anyRules, fc.nat(1_000_000), fc.nat(1_000_000), (given, atMs, laterMs) => {
      const standing = new Standing(given)
      fail(standing, given.avoidAfter, atMs)
      const dueMs = standing.untilMs
      expect(standing.stateAt(dueMs - 1)).not.toBe('probe')
      expect(standing.stateAt(dueMs)).toBe('probe')
      standing.beginProbe()
      expect(standing.stateAt(dueMs + laterMs)).not.toBe('probe')
    }),
  )
})
