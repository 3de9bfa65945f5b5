import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Refusal } from '../../../contract/errors.ts'
import { createRateLimits, type RateLimits, type RatePass } from './rate-limits.ts'
import { keptLog, token } from './test-limits.ts'
import { windowMs } from './window.ts'

const start = 1_000_000 * windowMs
let nowMs = start
const opened: RateLimits[] = []

function newLimits(): RateLimits {
  nowMs = start
  const limits = createRateLimits({ nowMs: () => nowMs, log: keptLog().log, instanceId: 'one' })
  opened.push(limits)
  return limits
}

afterEach(() => {
  for (const limits of opened.splice(0)) limits.close()
})

function enter(limits: RateLimits, limited: ReturnType<typeof token>, tokens = 0) {
  const outcome = limits.enter(limited, tokens)
  if (outcome instanceof Promise) throw new Error('decided here, so nothing to wait for')
  return outcome
}

function admitted(limits: RateLimits, limited: ReturnType<typeof token>, tokens = 0): RatePass {
  const outcome = enter(limits, limited, tokens)
  if (outcome instanceof Refusal) throw new Error(outcome.message)
  return outcome
}

function refused(limits: RateLimits, limited: ReturnType<typeof token>, tokens = 0): Refusal {
  const outcome = enter(limits, limited, tokens)
  if (outcome instanceof Refusal) return outcome
  throw new Error('was let in')
}

test('a token without limits always gets the same pass, which does nothing', () => {
  const limits = newLimits()
  const pass = enter(limits, token('a', {}), 1e12)
  expect(enter(limits, token('b', {}), 5)).toBe(pass)
  expect(Object.isFrozen(pass)).toBe(true)
  expect(pass).not.toBeInstanceOf(Refusal)
  if (!(pass instanceof Refusal)) pass.leave(7)
  expect(pass).toMatchObject({ view: undefined })
})

describe('requests per minute', () => {
  const limited = token('a', { rpm: 3 })

  test('are let in up to the limit, and the next is told when to come back', () => {
    const limits = newLimits()
    expect(admitted(limits, limited).view).toEqual({
      requests: { limit: 3, remaining: 2, resetMs: 2 * windowMs },
    })
    admitted(limits, limited).leave(undefined)
    nowMs += 30_000
    admitted(limits, limited)
    const refusal = refused(limits, limited)
    expect(refusal.status).toBe(429)
    expect(refusal.message).toBe('this token may send 3 requests per minute')
    expect(refusal.extras.retryAfterSeconds).toBe(50)
    expect(refusal.extras.rate?.requests).toEqual({ limit: 3, remaining: 0, resetMs: 90_000 })
    nowMs += 49_999
    refused(limits, limited)
    nowMs += 1
    admitted(limits, limited)
  })

  test('of one token do not count for another', () => {
    const limits = newLimits()
    for (let i = 0; i < 3; i++) admitted(limits, limited)
    refused(limits, limited)
    admitted(limits, token('b', { rpm: 3 }))
  })

  test('that are refused cost nothing', () => {
    const limits = newLimits()
    for (let i = 0; i < 3; i++) admitted(limits, limited)
    for (let i = 0; i < 100; i++) refused(limits, limited)
    nowMs += windowMs + windowMs / 3
    admitted(limits, limited)
  })

  test('are never said to be free later than in a minute, nor at once', () => {
    const limits = newLimits()
    for (let i = 0; i < 3; i++) admitted(limits, limited)
    expect(refused(limits, limited).extras.retryAfterSeconds).toBe(60)
    nowMs += windowMs + windowMs / 3 - 1
    expect(refused(limits, limited).extras.retryAfterSeconds).toBe(1)
  })
})

describe('tokens per minute', () => {
  const limited = token('a', { tpm: 100 })

  test('count as estimated until the call is over, and as used from then on', () => {
    const limits = newLimits()
    const pass = admitted(limits, limited, 80)
    expect(pass.view?.tokens).toMatchObject({ limit: 100, remaining: 20 })
    const refusal = refused(limits, limited, 21)
    expect(refusal.message).toBe('this token may use 100 tokens per minute')
    pass.leave(10)
    pass.leave(0)
    expect(admitted(limits, limited, 90).view?.tokens?.remaining).toBe(0)
  })

  test('of a call that used more than estimated are counted too', () => {
    const limits = newLimits()
    admitted(limits, limited, 1).leave(500)
    expect(refused(limits, limited, 1).extras.rate?.tokens?.remaining).toBe(0)
    nowMs += windowMs
    refused(limits, limited, 1)
    nowMs += 49_000
    admitted(limits, limited, 1)
  })

  test('of a failed call are given back', () => {
    const limits = newLimits()
    admitted(limits, limited, 100).leave(undefined)
    admitted(limits, limited, 100)
  })

  test('are corrected in the minute the call began in', () => {
    const limits = newLimits()
    const pass = admitted(limits, limited, 100)
    nowMs += windowMs + windowMs / 2
    refused(limits, limited, 51)
    pass.leave(0)
    admitted(limits, limited, 100)
  })

  test('of a single call above the limit are let in when nothing else counts', () => {
    const limits = newLimits()
    admitted(limits, limited, 250)
    expect(refused(limits, limited, 250).message).toBe(
      'this token may use 100 tokens per minute; this call alone may need 250',
    )
    nowMs += 2 * windowMs - 1
    refused(limits, limited, 250)
    nowMs += 1
    admitted(limits, limited, 250)
  })

  test.each([Number.NaN, -50, 0.5])('are counted whatever number arrives, such as %p', (odd) => {
    const limits = newLimits()
    admitted(limits, limited, odd).leave(odd)
    admitted(limits, limited, odd).leave(100)
    refused(limits, limited, 100)
  })
})

describe('calls at once', () => {
  const limited = token('a', { concurrency: 2 })

  test('are refused above the limit, and let in when one is over', () => {
    const limits = newLimits()
    const first = admitted(limits, limited)
    admitted(limits, limited)
    const refusal = refused(limits, limited)
    expect(refusal.message).toBe('this token may have 2 calls running at once')
    expect(refusal.extras.retryAfterSeconds).toBe(1)
    expect(refusal.extras.rate).toBeUndefined()
    first.leave(undefined)
    first.leave(undefined)
    admitted(limits, limited)
    refused(limits, limited)
  })

  test('go on counting when the minutes have passed', () => {
    const limits = newLimits()
    admitted(limits, limited)
    admitted(limits, limited)
    nowMs += 60 * windowMs
    refused(limits, limited)
  })
})

test('a refusal names the limit that is in the way for longest', () => {
  const limits = newLimits()
  const limited = token('a', { rpm: 1, tpm: 100, concurrency: 1 })
  admitted(limits, limited, 100)
  expect(refused(limits, limited, 1).message).toContain('1 request per minute')
  expect(refused(limits, token('a', { rpm: 2, tpm: 100 }), 50).message).toContain('100 tokens')
  expect(refused(limits, token('a', { rpm: 9, tpm: 900, concurrency: 1 }), 1).message).toContain(
    '1 call running',
  )
})

type Step = { enter: number } | { leave: number; used: number | undefined } | { pass: number }

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ enter: fc.integer({ min: 0, max: 60 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      leave: fc.nat(),
      used: fc.option(fc.integer({ min: 0, max: 90 }), { nil: undefined }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      pass: fc.oneof(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 0, max: 90_000 })),
    }),
  },
)

interface Noted {
  atMs: number
  cost: number
  pass: RatePass
  running: boolean
}

const minuteOf = (ms: number) => Math.floor(ms / windowMs)
const sum = (noted: readonly Noted[], of: (one: Noted) => number) =>
  noted.reduce((total, one) => total + of(one), 0)

/** The count of a list of calls, computed from the list alone. */
function weighed(noted: readonly Noted[], of: (one: Noted) => number): number {
  const inMinute = (minute: number) => noted.filter(({ atMs }) => minuteOf(atMs) === minute)
  const fraction = (nowMs % windowMs) / windowMs
  const [current, previous] = [minuteOf(nowMs), minuteOf(nowMs) - 1]
  return sum(inMinute(current), of) + sum(inMinute(previous), of) * (1 - fraction)
}

// The guarantee of two minute counters, and no more than that: by the calendar no minute has more
// than the limit; of any sixty seconds the older part counts only by the average of its minute, so
// that they can have up to, and never quite, twice the limit.
function checkRequests(noted: readonly Noted[], rpm: number): void {
  for (const { atMs } of noted) {
    const minute = noted.filter((other) => minuteOf(other.atMs) === minuteOf(atMs))
    expect(minute.length).toBeLessThanOrEqual(rpm)
    const ago = (other: Noted) => atMs - other.atMs
    const span = noted.filter((other) => ago(other) >= 0 && ago(other) < windowMs)
    expect(span.length).toBeLessThan(2 * rpm)
  }
}

test('whatever happens, a call is let in exactly when all three limits leave room for it', () => {
  const limit = (max: number) => fc.option(fc.integer({ min: 2, max }), { nil: undefined })
  const anyLimits = fc.record({ rpm: limit(12), tpm: limit(200), concurrency: limit(6) })
  fc.assert(
    fc.property(anyLimits, fc.array(anyStep, { maxLength: 120 }), (given, steps) => {
      const limits = newLimits()
      const { rpm = Infinity, tpm = Infinity, concurrency = Infinity } = given
      const set = Object.entries(given).filter(([, value]) => value !== undefined)
      const limited = token('a', Object.fromEntries(set))
      const noted: Noted[] = []
      for (const step of steps) {
        if ('pass' in step) nowMs += step.pass
        else if ('leave' in step) {
          const open = noted.filter((one) => one.running)
          const one = open[step.leave % open.length]
          if (one === undefined) continue
          one.running = false
          one.cost = step.used ?? 0
          one.pass.leave(step.used)
        } else {
          const cost = step.enter
          const used = weighed(noted, (one) => one.cost)
          const running = noted.filter((one) => one.running).length
          const fits =
            weighed(noted, () => 1) + 1 <= rpm + 1e-9 &&
            (used + cost <= tpm + 1e-9 || (cost > tpm && used === 0)) &&
            running < concurrency
          const outcome = enter(limits, limited, cost)
          expect(!(outcome instanceof Refusal)).toBe(fits)
          if (outcome instanceof Refusal) continue
          noted.push({ atMs: nowMs, cost, pass: outcome, running: true })
          expect(running + 1).toBeLessThanOrEqual(concurrency)
        }
      }
      if (given.rpm !== undefined) checkRequests(noted, given.rpm)
      limits.close()
    }),
    { numRuns: 300 },
  )
})

test('tokens of a calendar minute stay within the limit when estimates are not exceeded', () => {
  const anyCall = fc.record({
    estimate: fc.integer({ min: 0, max: 100 }),
    usedPart: fc.double({ min: 0, max: 1, noNaN: true }),
    passMs: fc.integer({ min: 0, max: 20_000 }),
  })
  fc.assert(
    fc.property(fc.array(anyCall, { maxLength: 100 }), (calls) => {
      const limits = newLimits()
      const used = new Map<number, number>()
      for (const { estimate, usedPart, passMs } of calls) {
        const outcome = enter(limits, token('a', { tpm: 100 }), estimate)
        if (!(outcome instanceof Refusal)) {
          const tokens = Math.floor(estimate * usedPart)
          outcome.leave(tokens)
          const minute = minuteOf(nowMs)
          used.set(minute, (used.get(minute) ?? 0) + tokens)
          expect(used.get(minute)).toBeLessThanOrEqual(100)
        }
        nowMs += passMs
      }
      limits.close()
    }),
    { numRuns: 200 },
  )
})
