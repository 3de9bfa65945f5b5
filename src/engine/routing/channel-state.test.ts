// Keys of a channel: rotation, and which keys are skipped. The test passes in the time.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Channel } from '../../contract/catalog.ts'
import { ChannelState, channelStateOf } from './channel-state.ts'
import { testChannelWith } from './test-channel.ts'

const channel = (...keys: string[]): Channel => testChannelWith({ keys })

/** Picks and takes, as a call does. */
function next(channelState: ChannelState, of: Channel, nowMs = 0): string {
  const { key } = channelState.pickKey(of, nowMs)
  channelState.took(of, key)
  return key
}

const throttle = (channelState: ChannelState, key: string, nowMs: number, forMs?: number) => {
  const trouble = channelState.keyBreaker(key)
  trouble.throttled = true
  trouble.failed(nowMs, forMs)
}

describe('keys', () => {
  const three = channel('k1', 'k2', 'k3')

  test('are used in turn', () => {
    const channelState = new ChannelState()
    expect(Array.from({ length: 5 }, () => next(channelState, three))).toEqual([
      'k1',
      'k2',
      'k3',
      'k1',
      'k2',
    ])
  })

  test('that were only looked at keep their turn', () => {
    const channelState = new ChannelState()
    expect(next(channelState, three)).toBe('k1')
    for (let i = 0; i < 4; i++) expect(channelState.pickKey(three, 0).key).toBe('k2')
    expect(next(channelState, three)).toBe('k2')
  })

  test('in trouble are passed over, and the others share the work evenly', () => {
    const channelState = new ChannelState()
    channelState.keyBreaker('k1').failed(0, 60_000)
    const used = Array.from({ length: 6 }, () => next(channelState, three))
    expect(used).toEqual(['k2', 'k3', 'k2', 'k3', 'k2', 'k3'])
  })

  test('in trouble are tried again when their time is over, by one call', () => {
    const channelState = new ChannelState()
    channelState.keyBreaker('k1').failed(0, 60_000)
    expect(channelState.pickKey(three, 60_000)).toEqual({ key: 'k1', state: 'probe' })
    channelState.keyBreaker('k1').beginProbe()
    expect(channelState.pickKey(three, 60_000)).toEqual({ key: 'k2', state: 'good' })
    channelState.dropKeyProbe('k1')
    expect(channelState.pickKey(three, 60_000).key).toBe('k1')
    channelState.keySucceeded(three, 'k1')
    expect([channelState.isHealthy, channelState.keyState('k1', 0)]).toEqual([true, 'good'])
  })

  test('that a call has tried already are not picked for it again', () => {
    const channelState = new ChannelState()
    const tried = new Set(['k1', 'k3'])
    expect(channelState.pickKey(three, 0, (key) => tried.has(key)).key).toBe('k2')
    expect(channelState.pickKey(three, 0, () => true).state).toBe('blocked')
  })

  test('are still asked when all of them had trouble, until it has been too much', () => {
    const channelState = new ChannelState()
    const one = channel('k')
    throttle(channelState, 'k', 0, 30_000)
    expect(channelState.pickKey(one, 0)).toEqual({ key: 'k', state: 'avoided' })
    for (let i = 1; i < 20; i++) throttle(channelState, 'k', 0, 30_000)
    expect(channelState.pickKey(one, 0).state).toBe('blocked')
    expect(channelState.pickKey(one, 30_000)).toEqual({ key: 'k', state: 'probe' })
  })

  test('are throttled only if every one of them is, and now', () => {
    const channelState = new ChannelState()
    const two = channel('k1', 'k2')
    throttle(channelState, 'k1', 0, 9_000)
    expect(channelState.throttledAt(two, 0)).toBe(false)
    throttle(channelState, 'k2', 0, 5_000)
    expect([channelState.throttledAt(two, 0), channelState.keysUntilMs(two)]).toEqual([true, 5_000])
    expect(channelState.throttledAt(two, 5_000)).toBe(false)
    channelState.keyBreaker('k2').throttled = false
    expect(channelState.throttledAt(two, 0)).toBe(false)
  })

  test('that were replaced leave no trace', () => {
    const channelState = new ChannelState()
    channelState.keyBreaker('old').failed(0, 60_000)
    const fresh = channel('new')
    expect(channelState.pickKey(fresh, 0)).toEqual({ key: 'new', state: 'good' })
    channelState.keySucceeded(fresh, 'new')
    expect(channelState.isHealthy).toBe(true)
  })

  test('may be missing altogether, and the channel still recovers from a refusal', () => {
    const channelState = new ChannelState()
    const none = channel()
    expect(channelState.pickKey(none, 0)).toEqual({ key: '', state: 'good' })
    expect(channelState.pickKey(none, 0, () => false)).toEqual({ key: '', state: 'good' })
    channelState.keyBreaker('').failed(0, 1_000)
    expect(channelState.pickKey(none, 0).state).toBe('avoided')
    expect([channelState.pickKey(none, 1_000).state, channelState.keysUntilMs(none)]).toEqual([
      'probe',
      1_000,
    ])
  })
})

test('a good test makes good what calls had taught', () => {
  const channelState = new ChannelState()
  for (let i = 0; i < 30; i++) channelState.health.failed(0)
  channelState.keyBreaker('k').failed(0, 60_000)
  expect(channelState.isHealthy).toBe(false)
  channelState.reset()
  expect([channelState.isHealthy, channelState.health.stateAt(0)]).toEqual([true, 'good'])
})

test('a channel keeps its standing by its id', () => {
  const channelStates = new Map<string, ChannelState>()
  const a = channelStateOf(channelStates, 'a')
  expect(channelStateOf(channelStates, 'a')).toBe(a)
  expect(channelStateOf(channelStates, 'b')).not.toBe(a)
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
      const channelState = new ChannelState()
      const of = channel(...keys)
      let nowMs = 1
      for (const { key, does, afterMs } of steps) {
        nowMs += afterMs
        if (does === 'succeed') channelState.keySucceeded(of, key)
        else channelState.keyBreaker(key).failed(nowMs, does === 'fail' ? undefined : 60_000)
        const picked = channelState.pickKey(of, nowMs)
        const states = keys.map((each) => rank[channelState.keyState(each, nowMs)])
        expect(rank[picked.state]).toBe(Math.min(...states))
        if (picked.state === 'blocked') continue
        expect(channelState.keyState(picked.key, nowMs)).toBe(picked.state)
        channelState.took(of, picked.key)
      }
    }),
    { numRuns: 300 },
  )
})
