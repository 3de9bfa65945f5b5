// Keys of a channel: whose turn it is, and which ones are left alone. Time is handed in.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Channel } from '../../contract/catalog.ts'
import { ChannelStanding, standingOf } from './channel-state.ts'
import { testChannelWith } from './test-channel.ts'

const channel = (...keys: string[]): Channel => testChannelWith({ keys })

/** Picks and takes, as a call does. */
function next(standing: ChannelStanding, of: Channel, nowMs = 0): string {
  const { key } = standing.pickKey(of, nowMs)
  standing.took(of, key)
  return key
}

const throttle = (standing: ChannelStanding, key: string, nowMs: number, forMs?: number) => {
  const trouble = standing.keyStanding(key)
  trouble.throttled = true
  trouble.failed(nowMs, forMs)
}

describe('keys', () => {
  const three = channel('k1', 'k2', 'k3')

  test('are used in turn', () => {
    const standing = new ChannelStanding()
    expect(Array.from({ length: 5 }, () => next(standing, three))).toEqual([
      'k1',
      'k2',
      'k3',
      'k1',
      'k2',
    ])
  })

  test('that were only looked at keep their turn', () => {
    const standing = new ChannelStanding()
    expect(next(standing, three)).toBe('k1')
    for (let i = 0; i < 4; i++) expect(standing.pickKey(three, 0).key).toBe('k2')
    expect(next(standing, three)).toBe('k2')
  })

  test('in trouble are passed over, and the others share the work evenly', () => {
    const standing = new ChannelStanding()
    standing.keyStanding('k1').failed(0, 60_000)
    const used = Array.from({ length: 6 }, () => next(standing, three))
    expect(used).toEqual(['k2', 'k3', 'k2', 'k3', 'k2', 'k3'])
  })

  test('in trouble are tried again when their time is over, by one call', () => {
    const standing = new ChannelStanding()
    standing.keyStanding('k1').failed(0, 60_000)
    expect(standing.pickKey(three, 60_000)).toEqual({ key: 'k1', state: 'probe' })
    standing.keyStanding('k1').beginProbe()
    expect(standing.pickKey(three, 60_000)).toEqual({ key: 'k2', state: 'good' })
    standing.dropKeyProbe('k1')
    expect(standing.pickKey(three, 60_000).key).toBe('k1')
    standing.keySucceeded(three, 'k1')
    expect([standing.calm, standing.keyState('k1', 0)]).toEqual([true, 'good'])
  })

  test('that a call has tried already are not picked for it again', () => {
    const standing = new ChannelStanding()
    const tried = new Set(['k1', 'k3'])
    expect(standing.pickKey(three, 0, (key) => tried.has(key)).key).toBe('k2')
    expect(standing.pickKey(three, 0, () => true).state).toBe('blocked')
  })

  test('are still asked when all of them had trouble, until it has been too much', () => {
    const standing = new ChannelStanding()
    const one = channel('k')
    throttle(standing, 'k', 0, 30_000)
    expect(standing.pickKey(one, 0)).toEqual({ key: 'k', state: 'avoided' })
    for (let i = 1; i < 20; i++) throttle(standing, 'k', 0, 30_000)
    expect(standing.pickKey(one, 0).state).toBe('blocked')
    expect(standing.pickKey(one, 30_000)).toEqual({ key: 'k', state: 'probe' })
  })

  test('are throttled only if every one of them is, and now', () => {
    const standing = new ChannelStanding()
    const two = channel('k1', 'k2')
    throttle(standing, 'k1', 0, 9_000)
    expect(standing.throttledAt(two, 0)).toBe(false)
    throttle(standing, 'k2', 0, 5_000)
    expect([standing.throttledAt(two, 0), standing.keysUntilMs(two)]).toEqual([true, 5_000])
    expect(standing.throttledAt(two, 5_000)).toBe(false)
    standing.keyStanding('k2').throttled = false
    expect(standing.throttledAt(two, 0)).toBe(false)
  })

  test('that were replaced leave no trace', () => {
    const standing = new ChannelStanding()
    standing.keyStanding('old').failed(0, 60_000)
    const fresh = channel('new')
    expect(standing.pickKey(fresh, 0)).toEqual({ key: 'new', state: 'good' })
    standing.keySucceeded(fresh, 'new')
    expect(standing.calm).toBe(true)
  })

  test('may be missing altogether, and the channel still recovers from a refusal', () => {
    const standing = new ChannelStanding()
    const none = channel()
    expect(standing.pickKey(none, 0)).toEqual({ key: '', state: 'good' })
    expect(standing.pickKey(none, 0, () => false)).toEqual({ key: '', state: 'good' })
    standing.keyStanding('').failed(0, 1_000)
    expect(standing.pickKey(none, 0).state).toBe('avoided')
    expect([standing.pickKey(none, 1_000).state, standing.keysUntilMs(none)]).toEqual([
      'probe',
      1_000,
    ])
  })
})

test('a good test makes good what calls had taught', () => {
  const standing = new ChannelStanding()
  for (let i = 0; i < 30; i++) standing.health.failed(0)
  standing.keyStanding('k').failed(0, 60_000)
  expect(standing.calm).toBe(false)
  standing.reset()
  expect([standing.calm, standing.health.stateAt(0)]).toEqual([true, 'good'])
})

test('a channel keeps its standing by its id', () => {
  const standings = new Map<string, ChannelStanding>()
  const a = standingOf(standings, 'a')
  expect(standingOf(standings, 'a')).toBe(a)
  expect(standingOf(standings, 'b')).not.toBe(a)
})

test('any history: a key is passed over only for one that is better off', () => {
  const rank = { good: 0, probe: 0, avoided: 1, blocked: 2 }
  const keys = ['k1', 'k2', 'k3']
  const step = fc.record({
    key: fc.constantFrom(...keys),
    does: fc.constantFrom('fail', 'fail', 'fail for long', 'succeed'),
    afterMs: fc.integer({ min: 0, max: 8_000 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const standing = new ChannelStanding()
      const of = channel(...keys)
      let nowMs = 1
      for (const { key, does, afterMs } of steps) {
        nowMs += afterMs
        if (does === 'succeed') standing.keySucceeded(of, key)
        else standing.keyStanding(key).failed(nowMs, does === 'fail' ? undefined : 60_000)
        const picked = standing.pickKey(of, nowMs)
        const states = keys.map((each) => rank[standing.keyState(each, nowMs)])
        expect(rank[picked.state]).toBe(Math.min(...states))
        if (picked.state === 'blocked') continue
        expect(standing.keyState(picked.key, nowMs)).toBe(picked.state)
        standing.took(of, picked.key)
      }
    }),
    { numRuns: 300 },
  )
})
