// How failures open the breaker of a channel or a key, and how it closes. The test passes in the
// time.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type BreakerRules, CircuitBreaker } from './circuit-breaker.ts'

const rules: BreakerRules = { avoidAfter: 3, blockAfter: 6, firstMs: 1_000, maxMs: 5_000 }

const fail = (breaker: CircuitBreaker, times: number, nowMs: number, forMs?: number) => {
  for (let i = 0; i < times; i++) breaker.failed(nowMs, forMs)
}

describe('failures in a row', () => {
  test('are forgiven up to a number, then it is avoided, then not asked at all', () => {
    const breaker = new CircuitBreaker(rules)
    const states = Array.from({ length: 7 }, () => {
      breaker.failed(10)
      return breaker.stateAt(10)
    })
    expect(states).toEqual(['good', 'good', 'avoided', 'avoided', 'avoided', 'blocked', 'blocked'])
  })

  test('begin anew after a success', () => {
    const breaker = new CircuitBreaker(rules)
    fail(breaker, 2, 0)
    breaker.succeeded()
    fail(breaker, 2, 0)
    expect([breaker.stateAt(0), breaker.failuresInRow]).toEqual(['good', 2])
  })

  test('are not needed where most calls fail', () => {
    const breaker = new CircuitBreaker(rules)
    let worst = 0
    for (let i = 0; i < 100 && breaker.stateAt(0) === 'good'; i++) {
      breaker.succeeded()
      fail(breaker, 2, 0)
      worst = Math.max(worst, breaker.failuresInRow)
    }
    expect([worst, breaker.stateAt(0)]).toEqual([2, 'avoided'])
  })

  test('that are rare close nothing', () => {
    const breaker = new CircuitBreaker(rules)
    for (let i = 0; i < 1_000; i++) {
      breaker.failed(i)
      for (let good = 0; good < 3; good++) breaker.succeeded()
      expect(breaker.stateAt(i)).toBe('good')
    }
  })
})

describe('a time of trouble', () => {
  test('ends with one probe, and a good one makes all well', () => {
    const breaker = new CircuitBreaker(rules)
    fail(breaker, 6, 0)
    expect([breaker.stateAt(999), breaker.stateAt(1_000)]).toEqual(['blocked', 'probe'])
    breaker.beginProbe()
    expect(breaker.stateAt(1_000)).toBe('blocked')
    breaker.succeeded()
    expect([breaker.stateAt(1_000), breaker.failuresInRow]).toEqual(['good', 0])
    // The history is nearly cleared: it takes as many failures as before to open it again.
    fail(breaker, 2, 1_000)
    expect(breaker.stateAt(1_000)).toBe('good')
  })

  test('is twice as long after every probe that fails, up to a bound', () => {
    const breaker = new CircuitBreaker(rules)
    fail(breaker, 3, 0)
    const lengths = Array.from({ length: 5 }, () => {
      const fromMs = breaker.untilMs
      expect(breaker.stateAt(fromMs)).toBe('probe')
      breaker.beginProbe()
      breaker.failed(fromMs)
      return breaker.untilMs - fromMs
    })
    expect(lengths).toEqual([2_000, 4_000, 5_000, 5_000, 5_000])
  })

  test('is as short as the first time after one that ended well', () => {
    const breaker = new CircuitBreaker(rules)
    fail(breaker, 3, 0)
    breaker.beginProbe()
    breaker.failed(1_000)
    breaker.succeeded()
    fail(breaker, 3, 10_000)
    expect(breaker.untilMs).toBe(11_000)
  })

  test('does not grow by calls that were under way when it began', () => {
    const breaker = new CircuitBreaker(rules)
    fail(breaker, 3, 0)
    fail(breaker, 50, 500)
    expect(breaker.untilMs).toBe(1_000)
  })

  test('waits for another probe when the first said nothing', () => {
    const breaker = new CircuitBreaker(rules)
    fail(breaker, 3, 0)
    breaker.beginProbe()
    breaker.dropProbe()
    expect(breaker.stateAt(1_000)).toBe('probe')
  })

  test('is forgotten when a test went well', () => {
    const breaker = new CircuitBreaker(rules)
    fail(breaker, 40, 0)
    breaker.reset()
    expect(breaker.stateAt(0)).toBe('good')
    fail(breaker, 2, 0)
    expect(breaker.stateAt(0)).toBe('good')
  })
})

describe('a pause that was asked for', () => {
  test('is kept, and never shortened by a later and shorter one', () => {
    const breaker = new CircuitBreaker({ ...rules, avoidAfter: 1 })
    breaker.failed(0, 30_000)
    breaker.failed(10, 1_000)
    expect(breaker.untilMs).toBe(30_000)
    expect([breaker.stateAt(29_999), breaker.stateAt(30_000)]).toEqual(['avoided', 'probe'])
  })

  test('does not close what is not in trouble', () => {
    const breaker = new CircuitBreaker(rules)
    breaker.failed(0, 30_000)
    breaker.pauseFor(0, 30_000)
    expect(breaker.stateAt(0)).toBe('good')
  })

  test('lengthens a time of trouble, within its bound', () => {
    const breaker = new CircuitBreaker(rules)
    fail(breaker, 3, 0)
    breaker.pauseFor(0, 500)
    expect(breaker.untilMs).toBe(1_000)
    breaker.pauseFor(0, 3_000)
    expect(breaker.untilMs).toBe(3_000)
    breaker.pauseFor(0, 600_000)
    expect(breaker.untilMs).toBe(rules.maxMs)
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
    maxMs: fc.integer({ min: 5_000, max: 300_000 }),
  })
  .map(({ more, ...rest }) => ({ ...rest, blockAfter: rest.avoidAfter + more }))

/** The rules in their simplest form, checked after every step of any history. */
function check(breaker: CircuitBreaker, given: BreakerRules, nowMs: number, inRow: number) {
  const state = breaker.stateAt(nowMs)
  expect(breaker.failuresInRow).toBe(inRow)
  if (state === 'blocked') expect(inRow).toBeGreaterThanOrEqual(given.blockAfter)
  if (inRow >= given.avoidAfter) expect(state).not.toBe('good')
  // Whatever happened, it is due for a probe by then: it never stays open for ever.
  const maxMs = Math.max(given.maxMs, 600_000)
  expect(breaker.untilMs).toBeLessThanOrEqual(nowMs + maxMs)
  expect(['good', 'probe']).toContain(breaker.stateAt(nowMs + maxMs))
}

test('any history: blocked only after enough failures in a row, and never closed for good', () => {
  fc.assert(
    fc.property(anyRules, fc.array(step, { maxLength: 80 }), (given, steps) => {
      const breaker = new CircuitBreaker(given)
      let nowMs = 1
      let inRow = 0
      for (const each of steps) {
        if (each.kind === 'time') nowMs += each.ms
        else if (each.outcome === 'silence') {
          if (breaker.stateAt(nowMs) !== 'probe') continue
          breaker.beginProbe()
          expect(breaker.stateAt(nowMs)).not.toBe('probe')
          breaker.dropProbe()
          expect(breaker.stateAt(nowMs)).toBe('probe')
        } else {
          if (each.kind === 'ask' && breaker.stateAt(nowMs) === 'probe') breaker.beginProbe()
          inRow = each.outcome === 'success' ? 0 : inRow + 1
          if (each.outcome === 'success') breaker.succeeded()
          else breaker.failed(nowMs, each.kind === 'ask' ? each.forMs : undefined)
          if (each.outcome === 'success') expect(breaker.stateAt(nowMs)).toBe('good')
        }
        check(breaker, given, nowMs, inRow)
      }
    }),
    { numRuns: 1_000 },
  )
})

test('any time: while a probe runs nobody else is one', () => {
  fc.assert(
    fc.property(anyRules, fc.nat(1_000_000), fc.nat(1_000_000), (given, atMs, laterMs) => {
      const breaker = new CircuitBreaker(given)
      fail(breaker, given.avoidAfter, atMs)
      const dueMs = breaker.untilMs
      expect(breaker.stateAt(dueMs - 1)).not.toBe('probe')
      expect(breaker.stateAt(dueMs)).toBe('probe')
      breaker.beginProbe()
      expect(breaker.stateAt(dueMs + laterMs)).not.toBe('probe')
    }),
  )
})
