// Which channel gets a call: priority first, then weight, only with room, keys in turn.
import { describe, expect, test } from 'bun:test'
import { seeded } from '../../test/support/seeded.ts'
import type { Route } from '../catalog/snapshot.ts'
import type { Channel } from '../contract/catalog.ts'
import { Refusal } from '../contract/errors.ts'
import { type ChannelStanding, standingOf } from './channel-standing.ts'
import type { Engine } from './engine.ts'
import { type PickedRoute, pickRoute } from './pick-route.ts'

const route = (id: string, more: Partial<Channel> = {}): Route => ({
  channel: {
    id,
    name: id,
    region: 'cn',
    keys: [`key-${id}`],
    protocols: {},
    models: {},
    priority: 0,
    weight: 1,
    timeouts: { connectMs: 1, firstByteMs: 1, idleMs: 1, totalMs: 1 },
    maxConcurrency: 2,
    messages: { headers: 'both', auth: 'both' },
    disabled: false,
    source: 'file',
    ...more,
  },
  protocol: 'chat',
  baseUrl: `http://${id}.example`,
  upstreamModel: 'up',
})

type Needed = Pick<Engine, 'standings' | 'random' | 'clock'>

function engineWith(busy: Record<string, number> = {}, random = seeded(1)): Needed {
  const standings = new Map<string, ChannelStanding>()
  for (const [id, calls] of Object.entries(busy)) standingOf(standings, id).busy = calls
  return { standings, random, clock: { nowMs: () => 0 } }
}

function pick(engine: Needed, routes: readonly Route[]): PickedRoute {
  const picked = pickRoute(engine, routes)
  if (picked === 'full') throw new Error('full')
  if (picked instanceof Refusal) throw new Error(picked.message)
  return picked
}

const idOf = (engine: Needed, routes: readonly Route[]) => pick(engine, routes).route.channel.id

/** How often each channel is picked in that many tries. */
function shares(engine: Needed, routes: readonly Route[], tries: number): Record<string, number> {
  const counts: Record<string, number> = {}
  for (let i = 0; i < tries; i++) {
    const id = idOf(engine, routes)
    counts[id] = (counts[id] ?? 0) + 1
  }
  return counts
}

describe('a route', () => {
  // The catalog hands them over best first.
  const high = [route('high-1', { priority: 9 }), route('high-2', { priority: 9 })]
  const all = [...high, route('low', { priority: -5, maxConcurrency: 1 })]

  test('is of the highest priority while that has room', () => {
    expect(shares(engineWith(), all, 300)).toEqual({
      'high-1': expect.any(Number),
      'high-2': expect.any(Number),
    })
    expect(shares(engineWith({ 'high-1': 2 }), all, 50)).toEqual({ 'high-2': 50 })
  })

  test('is of the next priority when the highest is full', () => {
    expect(shares(engineWith({ 'high-1': 2, 'high-2': 7 }), all, 50)).toEqual({ low: 50 })
  })

  test('is none when all are full, which may pass, or when there is none', () => {
    expect(pickRoute(engineWith({ 'high-1': 2, 'high-2': 2, low: 1 }), all)).toBe('full')
    expect(pickRoute(engineWith({ 'high-1': 2 }), [high[0]!])).toBe('full')
    expect(pickRoute(engineWith(), [])).toMatchObject({
      code: 'no_available_channel',
      extras: { retryAfterSeconds: 1 },
    })
  })

  test('has room up to its limit and not one call further', () => {
    const one = [route('one', { maxConcurrency: 3 })]
    expect(idOf(engineWith({ one: 2 }), one)).toBe('one')
    expect(pickRoute(engineWith({ one: 3 }), one)).toBe('full')
  })
})

describe('weight', () => {
  test('shares the work among equals', () => {
    const routes = [route('a', { weight: 1 }), route('b', { weight: 2 }), route('c', { weight: 5 })]
    const counts = shares(engineWith({}, seeded(42)), routes, 8_000)
    for (const [id, share] of [
      ['a', 1_000],
      ['b', 2_000],
      ['c', 5_000],
    ] as const) {
      // Three standard deviations of the largest share are 130.
      expect(Math.abs(counts[id]! - share)).toBeLessThan(150)
    }
  })

  test('of a fraction counts as a fraction', () => {
    const routes = [route('a', { weight: 0.25 }), route('b', { weight: 0.75 })]
    const counts = shares(engineWith({}, seeded(7)), routes, 4_000)
    expect(Math.abs(counts['a']! - 1_000)).toBeLessThan(100)
  })

  test('is shared anew among those that have room', () => {
    const routes = [route('a'), route('b', { weight: 98 }), route('c')]
    const counts = shares(engineWith({ b: 2 }, seeded(3)), routes, 2_000)
    expect(Object.keys(counts).toSorted()).toEqual(['a', 'c'])
    expect(Math.abs(counts['a']! - 1_000)).toBeLessThan(150)
  })

  test('of zero gets no work as long as another one can do it', () => {
    const routes = [route('idle', { weight: 0 }), route('busy')]
    for (const edge of [0, 0.5, 1 - Number.EPSILON]) {
      expect(
        idOf(
          engineWith({}, () => edge),
          routes,
        ),
      ).toBe('busy')
    }
    expect(idOf(engineWith({ busy: 2 }), routes)).toBe('idle')
    const none = [route('a', { weight: 0 }), route('b', { weight: 0 })]
    expect(['a', 'b']).toContain(idOf(engineWith(), none))
  })
})

describe('keys', () => {
  test('are used in turn, each channel for itself', () => {
    const engine = engineWith()
    const [a, b] = [route('a', { keys: ['k1', 'k2', 'k3'] }), route('b', { keys: ['x', 'y'] })]
    const used = [a, a, b, a, b, a, b].map((each) => pick(engine, [each]).key)
    expect(used).toEqual(['k1', 'k2', 'x', 'k3', 'y', 'k1', 'x'])
  })

  test('may be missing', () => {
    expect(pick(engineWith(), [route('a', { keys: [] })]).key).toBe('')
  })
})
