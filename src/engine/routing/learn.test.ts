// What one call shows about the channel, the key, or the account's models. The test passes in the
// time.
import { beforeEach, describe, expect, test } from 'bun:test'
import type { Channel } from '../../contract/catalog.ts'
import type { UpstreamError } from '../../contract/provider.ts'
import { Entitlements } from '../admission/entitlements.ts'
import { ChannelState } from './channel-state.ts'
import { dropProbes, isAboutRequest, recordFailure, recordSuccess } from './learn.ts'
import type { PickedRoute } from './pick-route.ts'
import { testRoute } from './test-channel.ts'

const clock = { ms: 0 }
let entitlements: Entitlements
let channelState: ChannelState
beforeEach(() => {
  clock.ms = 1_000_000
  entitlements = new Entitlements(() => clock.ms)
  channelState = new ChannelState()
})

const engine = () => ({ entitlements, clock: { nowMs: () => clock.ms } })
const asked = (more: Partial<Channel> = {}, key = 'k1'): PickedRoute => ({
  route: testRoute('a', { keys: ['k1', 'k2'], ...more }),
  key,
  channelState,
})

const error = (code: UpstreamError['code'], more: Partial<UpstreamError> = {}): UpstreamError => ({
  code,
  message: 'no',
  ...more,
})
const fail = (given: UpstreamError, times = 1, call = asked()) => {
  for (let i = 0; i < times; i++) recordFailure(engine(), call, 'm', given)
}
const keyState = (key = 'k1') => channelState.keyState(key, clock.ms)
const state = () => channelState.health.stateAt(clock.ms)

describe('a refused key', () => {
  const refused = error('upstream_permission_denied', { httpStatus: 401, about: 'key' })

  test('is left alone for a minute; the channel and its other keys are not', () => {
    fail(refused)
    expect([keyState(), keyState('k2'), state()]).toEqual(['avoided', 'good', 'good'])
    expect(channelState.throttledAt(asked({ keys: ['k1'] }).route.channel, clock.ms)).toBe(false)
    clock.ms += 59_999
    expect(keyState()).toBe('avoided')
    clock.ms += 1
    expect(keyState()).toBe('probe')
  })

  test('is good again after one answer', () => {
    fail(refused)
    recordSuccess(engine(), asked(), 'm')
    expect([keyState(), channelState.isHealthy]).toEqual(['good', true])
  })
})

test('a path that the upstream does not have is avoided for a minute, its key and other paths are not', () => {
  fail(error('upstream_permission_denied', { httpStatus: 404, about: 'path' }))
  const pathState = (protocol: string) => channelState.pathState(protocol, clock.ms)
  const { protocol } = asked().route
  expect([pathState(protocol), pathState('other')]).toEqual(['avoided', 'good'])
  expect([keyState(), state()]).toEqual(['good', 'good'])
  clock.ms += 60_000
  expect(pathState(protocol)).toBe('good')
  fail(error('upstream_permission_denied', { httpStatus: 404, about: 'path' }))
  recordSuccess(engine(), asked(), 'm')
  expect(pathState(protocol)).toBe('good')
})

describe('a throttled key', () => {
  const throttled = (retryAfterSeconds?: number) =>
    error('upstream_rate_limited', {
      httpStatus: 429,
      about: 'key',
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    })

  test('is left alone for as long as the upstream says', () => {
    fail(throttled(7))
    expect(channelState.throttledAt(asked({ keys: ['k1'] }).route.channel, clock.ms)).toBe(true)
    clock.ms += 6_999
    expect(keyState()).toBe('avoided')
    clock.ms += 1
    expect(keyState()).toBe('probe')
  })

  test('is left alone for a while, and longer every time, when it says nothing', () => {
    fail(throttled())
    const first = channelState.keyBreaker('k1').untilMs - clock.ms
    clock.ms += first
    channelState.keyBreaker('k1').beginProbe()
    fail(throttled())
    expect(channelState.keyBreaker('k1').untilMs - clock.ms).toBe(2 * first)
  })

  test('says nothing about the health of the channel, however often', () => {
    fail(throttled(1), 50)
    expect([state(), channelState.health.failuresInRow]).toEqual(['good', 0])
  })

  test('ends a probe of the channel without a verdict', () => {
    fail(error('upstream_error', { httpStatus: 503 }), 3)
    clock.ms = channelState.health.untilMs
    channelState.health.beginProbe()
    fail(throttled(1), 1, { ...asked(), probe: true })
    expect(state()).toBe('probe')
  })
})

describe('a failing channel', () => {
  test.each([
    error('upstream_error', { httpStatus: 503 }),
    error('upstream_unreachable'),
    error('upstream_timeout'),
    error('upstream_invalid_response'),
  ])('is avoided after three failures ($code), its keys are not', (given) => {
    fail(given, 2)
    expect(state()).toBe('good')
    fail(given)
    expect([state(), keyState()]).toEqual(['avoided', 'good'])
    clock.ms += 2_000
    expect(state()).toBe('probe')
    recordSuccess(engine(), asked(), 'm')
    expect(state()).toBe('good')
  })

  test('that asks for a pause gets it, at most half a minute', () => {
    fail(error('upstream_error', { httpStatus: 503, retryAfterSeconds: 12 }), 3)
    expect(channelState.health.untilMs - clock.ms).toBe(12_000)
    fail(error('upstream_error', { httpStatus: 503, retryAfterSeconds: 600 }))
    expect(channelState.health.untilMs - clock.ms).toBe(30_000)
  })

  test('is blocked after twenty in a row, and its one probe decides', () => {
    fail(error('upstream_unreachable'), 20)
    expect(state()).toBe('blocked')
    clock.ms = channelState.health.untilMs
    channelState.health.beginProbe()
    expect(state()).toBe('blocked')
    fail(error('upstream_unreachable'))
    expect([state(), channelState.health.untilMs - clock.ms]).toEqual(['blocked', 4_000])
  })
})

describe('a refusal of the request', () => {
  test.each(['upstream_invalid_request', 'content_policy_violation'] as const)(
    'shows that the channel is well (%s)',
    (code) => {
      expect(isAboutRequest(error(code))).toBe(true)
      fail(error('upstream_error'), 3)
      clock.ms = channelState.health.untilMs
      channelState.health.beginProbe()
      fail(error(code))
      expect(state()).toBe('good')
      fail(error(code), 100)
      expect([state(), channelState.isHealthy]).toEqual(['good', true])
    },
  )

  test('is told apart from every other failure', () => {
    for (const code of [
      'upstream_error',
      'upstream_timeout',
      'upstream_rate_limited',
      'upstream_permission_denied',
      'upstream_unreachable',
      'upstream_invalid_response',
    ] as const) {
      expect(isAboutRequest(error(code))).toBe(false)
    }
  })
})

describe('a refused model', () => {
  const denied = error('upstream_permission_denied', { httpStatus: 403, about: 'model' })

  test('is denied at once on a channel that never served it', () => {
    fail(denied)
    expect(entitlements.isDenied('a', 'm')).toBe(true)
    expect([state(), keyState()]).toEqual(['good', 'good'])
  })

  test('is denied after three times on a channel that has served it', () => {
    recordSuccess(engine(), asked(), 'm')
    fail(denied, 2)
    expect(entitlements.isDenied('a', 'm')).toBe(false)
    recordSuccess(engine(), asked(), 'm')
    fail(denied, 2)
    expect(entitlements.isDenied('a', 'm')).toBe(false)
    fail(denied)
    expect(entitlements.isDenied('a', 'm')).toBe(true)
  })

  test('of the sandbox is never believed', () => {
    fail(denied, 10, asked({ source: 'builtin' }))
    expect(entitlements.isDenied('a', 'm')).toBe(false)
  })

  test('ends probes without a verdict', () => {
    fail(error('upstream_error'), 3)
    channelState.keyBreaker('k1').failed(clock.ms, 1_000)
    clock.ms += 5_000
    channelState.health.beginProbe()
    channelState.keyBreaker('k1').beginProbe()
    fail(denied, 1, { ...asked(), probe: true })
    expect([state(), keyState()]).toEqual(['probe', 'probe'])
  })
})

test('a caller that leaves teaches nothing, and its probe may be repeated', () => {
  fail(error('upstream_error'), 3)
  clock.ms = channelState.health.untilMs
  channelState.health.beginProbe()
  dropProbes(asked())
  expect(state()).toBe('avoided')
  dropProbes({ ...asked(), probe: true })
  expect([state(), channelState.health.failuresInRow]).toEqual(['probe', 3])
})
