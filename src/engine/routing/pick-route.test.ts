// Which channel gets a call: priority first, then weight, only with room, keys in turn.
import { beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { seeded } from '../../../test/support/seeded.ts'
import type { Route } from '../../catalog/snapshot.ts'
import { Refusal } from '../../contract/errors.ts'
import { type ChannelState, channelStateOf } from './channel-state.ts'
import { type PickedRoute, pickRoute, Tried } from './pick-route.ts'
import { testRoute as route } from './test-channel.ts'

/** Tests that need time to pass set it. */
let nowMs = 0
beforeEach(() => {
  nowMs = 1_000_000
})

type Needed = Parameters<typeof pickRoute>[0]

function engineWith(busy: Record<string, number> = {}, random = seeded(1)): Needed {
  const channelStates = new Map<string, ChannelState>()
  for (const [id, calls] of Object.entries(busy)) channelStateOf(channelStates, id).busy = calls
  return {
    routing: { states: channelStates },
    random,
    clock: { nowMs: () => nowMs },
    catalog: { hasManyAccounts: false },
  }
}

function pick(engine: Needed, routes: readonly Route[]): PickedRoute {
  const picked = pickRoute(engine, routes, 'acc_1')
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
  // The catalog returns them best first.
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
    expect(pickRoute(engineWith({ 'high-1': 2, 'high-2': 2, low: 1 }), all, 'acc_1')).toBe('full')
    expect(pickRoute(engineWith({ 'high-1': 2 }), [high[0]!], 'acc_1')).toBe('full')
    expect(pickRoute(engineWith(), [], 'acc_1')).toMatchObject({
      code: 'no_available_channel',
      extras: { retryAfterSeconds: 1 },
    })
  })

  test('has room up to its limit and not one call further', () => {
    const one = [route('one', { maxConcurrency: 3 })]
    expect(idOf(engineWith({ one: 2 }), one)).toBe('one')
    expect(pickRoute(engineWith({ one: 3 }), one, 'acc_1')).toBe('full')
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

/** Enough failures of a channel to be avoided, or to be blocked. */
const trouble = (engine: Needed, id: string, failures: number) => {
  for (let i = 0; i < failures; i++) channelStateOf(engine.routing.states, id).health.failed(nowMs)
}
const healthOf = (engine: Needed, id: string) => channelStateOf(engine.routing.states, id).health

describe('trouble', () => {
  const two = [route('a', { priority: 9 }), route('b')]

  test('sends the work to the next priority, and back when its probe went well', () => {
    const engine = engineWith()
    trouble(engine, 'a', 3)
    expect(shares(engine, two, 20)).toEqual({ b: 20 })
    nowMs += 2_000
    expect(idOf(engine, two)).toBe('a')
    expect(shares(engine, two, 20)).toEqual({ b: 20 })
    healthOf(engine, 'a').succeeded()
    expect(shares(engine, two, 20)).toEqual({ a: 20 })
  })

  test('of all channels still lets the best be asked, until they are blocked', () => {
    const engine = engineWith()
    trouble(engine, 'a', 3)
    trouble(engine, 'b', 3)
    expect(idOf(engine, two)).toBe('a')
    trouble(engine, 'a', 17)
    expect(idOf(engine, two)).toBe('b')
    trouble(engine, 'b', 17)
    expect(pickRoute(engine, two, 'acc_1')).toMatchObject({
      code: 'no_available_channel',
      extras: { retryAfterSeconds: 2 },
    })
    nowMs += 1_999
    expect(pickRoute(engine, two, 'acc_1')).toMatchObject({ extras: { retryAfterSeconds: 1 } })
    nowMs += 1
    expect(idOf(engine, two)).toBe('a')
    expect(idOf(engine, two)).toBe('b')
    // Both probes are in flight: other calls are refused at once.
    expect(pickRoute(engine, two, 'acc_1')).toMatchObject({
      code: 'no_available_channel',
      extras: { retryAfterSeconds: 1 },
    })
  })

  test('of the only channel does not hide what the upstream says', () => {
    const engine = engineWith()
    const one = [route('one')]
    trouble(engine, 'one', 19)
    expect(idOf(engine, one)).toBe('one')
    trouble(engine, 'one', 1)
    expect(pickRoute(engine, one, 'acc_1')).toBeInstanceOf(Refusal)
  })

  test('makes a call wait for a channel that is well and full', () => {
    const engine = engineWith({ b: 2 })
    trouble(engine, 'a', 3)
    expect(pickRoute(engine, two, 'acc_1')).toBe('full')
    trouble(engine, 'b', 3)
    expect(idOf(engine, two)).toBe('a')
  })

  test('of one of several equals takes it out of the weighing', () => {
    const engine = engineWith()
    const routes = [route('a', { weight: 98 }), route('b'), route('c')]
    trouble(engine, 'a', 3)
    expect(Object.keys(shares(engine, routes, 200)).toSorted()).toEqual(['b', 'c'])
  })
})

describe('another try', () => {
  const three = [route('a', { keys: ['k1', 'k2'] }), route('b'), route('c')]

  test('goes to a channel that was not tried', () => {
    const engine = engineWith()
    const tried = new Tried()
    tried.addChannel('a')
    tried.addChannel('c')
    expect(pickRoute(engine, three, 'acc_1', tried)).toMatchObject({ key: 'key-b' })
    tried.addChannel('b')
    expect(pickRoute(engine, three, 'acc_1', tried)).toBeInstanceOf(Refusal)
  })

  test('may go to another key of the same channel', () => {
    const engine = engineWith()
    const tried = new Tried()
    tried.addKey('a', 'k1')
    expect(pickRoute(engine, [three[0]!], 'acc_1', tried)).toMatchObject({ key: 'k2' })
    tried.addKey('a', 'k2')
    expect(pickRoute(engine, [three[0]!], 'acc_1', tried)).toBeInstanceOf(Refusal)
  })

  test('does not go where things look bad, nor waits for room', () => {
    const engine = engineWith({ c: 2 })
    const tried = new Tried()
    tried.addChannel('a')
    trouble(engine, 'b', 3)
    expect(pickRoute(engine, three, 'acc_1', tried)).toBe('full')
  })

  test('may go to a channel without keys', () => {
    const tried = new Tried()
    tried.addChannel('a')
    const keyless = [three[0]!, route('open', { keys: [] })]
    expect(pickRoute(engineWith(), keyless, 'acc_1', tried)).toMatchObject({ key: '' })
  })
})

describe('keys in trouble', () => {
  const two = [route('a', { keys: ['k1', 'k2'] })]
  const fail = (engine: Needed, id: string, key: string, throttled: boolean, times = 20) => {
    const channelState = channelStateOf(engine.routing.states, id).keyBreaker(key)
    channelState.throttled = throttled
    for (let i = 0; i < times; i++) channelState.failed(nowMs, 40_000)
  }

  test('are passed over, and tried again by one call when their time is over', () => {
    const engine = engineWith()
    fail(engine, 'a', 'k1', false, 1)
    expect([1, 2, 3].map(() => pick(engine, two).key)).toEqual(['k2', 'k2', 'k2'])
    nowMs += 40_000
    const keys = [1, 2, 3, 4].map(() => pick(engine, two).key)
    expect(keys).toEqual(['k1', 'k2', 'k2', 'k2'])
  })

  test('take the channel behind one whose keys are well', () => {
    const engine = engineWith()
    const routes = [route('a', { priority: 9 }), route('b')]
    fail(engine, 'a', 'key-a', true, 1)
    expect(shares(engine, routes, 10)).toEqual({ b: 10 })
  })

  test('that are all throttled are told as that, with the shortest pause', () => {
    const engine = engineWith()
    fail(engine, 'a', 'k1', true)
    nowMs += 15_000
    fail(engine, 'a', 'k2', true)
    expect(pickRoute(engine, two, 'acc_1')).toMatchObject({
      code: 'upstream_rate_limited',
      extras: { retryAfterSeconds: 25 },
    })
  })

  test('that are refused are no rate limit', () => {
    const engine = engineWith()
    fail(engine, 'a', 'k1', true)
    fail(engine, 'a', 'k2', false)
    expect(pickRoute(engine, two, 'acc_1')).toMatchObject({
      code: 'no_available_channel',
      extras: { retryAfterSeconds: 40 },
    })
  })

  test('do not turn an outage elsewhere into a rate limit', () => {
    const engine = engineWith()
    const routes = [...two, route('b')]
    fail(engine, 'a', 'k1', true)
    fail(engine, 'a', 'k2', true)
    trouble(engine, 'b', 20)
    expect(pickRoute(engine, routes, 'acc_1')).toMatchObject({ code: 'no_available_channel' })
  })
})

describe('the turn of a key', () => {
  test('passes only when the key got the call', () => {
    // The channel is considered for every call and gets every second one.
    const engine = engineWith()
    const routes = [route('a', { keys: ['k1', 'k2'], maxConcurrency: 9 }), route('b')]
    const used: string[] = []
    for (let i = 0; i < 8; i++) {
      channelStateOf(engine.routing.states, 'b').busy = i % 2 === 0 ? 1 : 0
      channelStateOf(engine.routing.states, 'a').busy = i % 2 === 0 ? 0 : 1
      const { key } = pick(engine, routes)
      if (key !== 'key-b') used.push(key)
    }
    expect(used).toEqual(['k1', 'k2', 'k1', 'k2'])
  })
})

test('any standing: what is picked has room, is not blocked, and is the best there is', () => {
  const rank = { good: 0, probe: 0, avoided: 1, blocked: 2 }
  const channelState = fc.record({
    priority: fc.integer({ min: 0, max: 2 }),
    weight: fc.constantFrom(0, 1, 5),
    busy: fc.integer({ min: 0, max: 3 }),
    failures: fc.constantFrom(0, 0, 1, 3, 20),
    passedMs: fc.constantFrom(0, 2_000),
  })
  fc.assert(
    fc.property(fc.array(channelState, { minLength: 1, maxLength: 6 }), (given) => {
      nowMs = 1_000_000
      const engine = engineWith()
      const routes = given
        .map(({ priority, weight }, i) => route(`c${i}`, { priority, weight }))
        .toSorted((a, b) => b.channel.priority - a.channel.priority)
      for (const [i, { busy, failures, passedMs }] of given.entries()) {
        nowMs = 1_000_000 - passedMs
        channelStateOf(engine.routing.states, `c${i}`).busy = busy
        trouble(engine, `c${i}`, failures)
      }
      nowMs = 1_000_000
      const before = new Map(
        routes.map(({ channel: { id, priority } }) => {
          const { busy, health } = channelStateOf(engine.routing.states, id)
          return [id, { priority, hasRoom: busy < 2, state: rank[health.stateAt(nowMs)] }]
        }),
      )
      const usable = [...before.values()].filter(({ state }) => state < 2)
      const picked = pickRoute(engine, routes, 'acc_1')
      if (picked instanceof Refusal) return expect(usable).toEqual([])
      if (picked === 'full') {
        const good = usable.some(({ state }) => state === 0)
        return expect(usable.some((c) => c.hasRoom && (!good || c.state === 0))).toBe(false)
      }
      const got = before.get(picked.route.channel.id)!
      expect(got.hasRoom && got.state < 2).toBe(true)
      for (const other of usable.filter(({ hasRoom }) => hasRoom)) {
        expect(other.state).toBeGreaterThanOrEqual(got.state)
        if (other.state === got.state) expect(other.priority).toBeLessThanOrEqual(got.priority)
      }
    }),
    { numRuns: 1_000 },
  )
})

describe('a route by latency', () => {
  const routes = ['slow', 'fast', 'fresh'].map((id) => ({
    ...route(id, { maxConcurrency: 200 }),
    byLatency: true as const,
  }))
  const [slow, fast, fresh] = routes as [Route, Route, Route]
  const measured = (engine: Needed, { channel, upstreamModel }: Route, ...ms: number[]) => {
    const state = channelStateOf(engine.routing.states, channel.id)
    for (const each of ms) state.noteFirstByte(upstreamModel, each)
    return state
  }

  test('is the one whose answers begin first, and the others are not forgotten', () => {
    const engine = engineWith()
    measured(engine, slow, 900, 800)
    measured(engine, fast, 100, 120)
    const counts = shares(engine, [slow, fast], 2_000)
    expect(counts['fast']).toBeGreaterThan(1_850)
    expect(counts['slow']).toBeGreaterThan(20)
  })

  test('is one that was not measured yet, but not with every call at once', () => {
    const engine = engineWith({}, () => 0.5)
    measured(engine, slow, 900)
    measured(engine, fast, 100)
    expect(idOf(engine, routes)).toBe('fresh')
    channelStateOf(engine.routing.states, 'fresh').busy = 2
    expect(idOf(engine, routes)).toBe('fast')
    channelStateOf(engine.routing.states, 'fresh').busy = 0
    measured(engine, fresh, 400)
    expect(idOf(engine, routes)).toBe('fast')
  })

  test('follows a channel that becomes slow, and one that recovers', () => {
    const engine = engineWith({}, () => 0.5)
    measured(engine, slow, 300)
    measured(engine, fast, 100)
    expect(idOf(engine, [slow, fast])).toBe('fast')
    measured(engine, fast, ...Array.from({ length: 10 }, () => 2_000))
    expect(idOf(engine, [slow, fast])).toBe('slow')
    measured(engine, fast, ...Array.from({ length: 20 }, () => 50))
    expect(idOf(engine, [slow, fast])).toBe('fast')
  })

  test('goes elsewhere when the fastest is busy, in proportion to their times', () => {
    const engine = engineWith({ fast: 20 }, () => 0.5)
    measured(engine, slow, 900)
    measured(engine, fast, 100)
    expect(idOf(engine, [slow, fast])).toBe('slow')
  })

  test('is never of a lower priority, nor full', () => {
    const engine = engineWith({ fast: 1 }, () => 0.5)
    const low = { ...route('low', { priority: -1 }), byLatency: true as const }
    const narrow = { ...route('fast', { maxConcurrency: 1 }), byLatency: true as const }
    measured(engine, low, 1)
    measured(engine, slow, 900)
    measured(engine, narrow, 10)
    expect(idOf(engine, [slow, narrow, low])).toBe('slow')
  })
})
