// The common case of picking a channel: the same choice as where something has failed, at less cost.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Conversations } from './affinity.ts'
import { type ChannelState, channelStateOf } from './channel-state.ts'
import { pickHealthy } from './healthy-route.ts'
import { pickRoute, Tried } from './pick-route.ts'
import { testRoute } from './test-channel.ts'

interface Made {
  priority: number
  weight: number
  busy: number
  keys?: readonly string[]
  affinity?: 'off' | undefined
}

const maxConcurrency = 4

function setUp(made: readonly Made[], random: number) {
  const states = new Map<string, ChannelState>()
  const routes = made
    .map(({ priority, weight, keys = ['k'], affinity }, i) =>
      testRoute(`c${i}`, { priority, weight, maxConcurrency, keys, ...(affinity && { affinity }) }),
    )
    .sort((a, b) => b.channel.priority - a.channel.priority)
  for (const [i, { busy }] of made.entries()) channelStateOf(states, `c${i}`).busy = busy
  const deps = {
    routing: { states },
    random: () => random,
    clock: { nowMs: () => 1_000_000 },
    catalog: { hasManyAccounts: false },
  }
  return { deps, routes, states }
}

const idOf = (picked: ReturnType<typeof pickRoute> | undefined): string | undefined =>
  picked !== undefined && picked !== 'full' && 'route' in picked
    ? picked.route.channel.id
    : undefined

test('among healthy channels the choice is the one that is made in every other case', () => {
  const made = fc.record({
    priority: fc.integer({ min: 0, max: 1 }),
    weight: fc.integer({ min: 0, max: 3 }),
    busy: fc.integer({ min: 0, max: maxConcurrency }),
  })
  const random = fc.double({ min: 0, max: 0.999, noNaN: true })
  fc.assert(
    fc.property(fc.array(made, { minLength: 2, maxLength: 6 }), random, (all, luck) => {
      const { deps, routes } = setUp(all, luck)
      const quick = idOf(pickHealthy(deps, routes, 'acc_1'))
      // A call that has tried something before is weighed in full.
      const full = idOf(pickRoute(deps, routes, 'acc_1', new Tried()))
      if (quick !== undefined) expect(quick).toBe(full!)
    }),
    { seed: 20 },
  )
})

test('a conversation goes where it goes in every other case, call after call', () => {
  const channel = fc.record({
    priority: fc.constantFrom(0, 0, 0, 1),
    weight: fc.constantFrom(0, 1, 1, 3),
    busy: fc.integer({ min: 0, max: maxConcurrency }),
    keys: fc.constantFrom(['k'], ['k'], ['k1', 'k2', 'k3'], []),
    affinity: fc.constantFrom(undefined, undefined, undefined, 'off' as const),
  })
  /** A call of a conversation; before it, a channel may get busier or less busy, or fail. */
  const step = fc.record({
    text: fc.constantFrom('one', 'two', 'three', 'four', 'five'),
    isNew: fc.boolean(),
    at: fc.nat(5),
    busy: fc.option(fc.integer({ min: 0, max: maxConcurrency }), { nil: undefined }),
    fails: fc.constantFrom(false, false, false, false, true),
  })
  const channels = fc.array(channel, { minLength: 2, maxLength: 6 })
  let quick = 0
  fc.assert(
    fc.property(channels, fc.array(step, { maxLength: 12 }), (all, steps) => {
      const both = [undefined, new Tried()].map((tried) => {
        const set = setUp(all, 0.3)
        return { ...set, tried, conversations: new Conversations(set.deps.clock) }
      })
      for (const { text, isNew, at, busy, fails } of steps) {
        const [fast, full] = both.map(({ deps, routes, states, tried, conversations }) => {
          const state = states.get(`c${at % all.length}`)!
          if (busy !== undefined) state.busy = busy
          if (fails) for (let i = 0; i < 3; i++) state.health.failed(1_000_000)
          const call = {
            model: 'm',
            inputTokens: 5_000,
            conversation: () => ({ text, isNew }),
          }
          const token = { accountId: 'acc_1', accountName: 'acme' }
          const placement = conversations.placementOf(routes, token, call)
          const picked = pickRoute(deps, routes, 'acc_1', tried, placement)
          if (picked === 'full' || !('route' in picked)) return undefined
          const { route, key, affinity, moved } = picked
          return { id: route.channel.id, key, affinity, moved }
        })
        // One that has tried something goes to healthy channels only.
        if (full === undefined) return
        expect(fast).toEqual(full)
        quick++
      }
    }),
    { seed: 21, numRuns: 2_000 },
  )
  expect(quick).toBeGreaterThan(5_000)
})

test('the least busy for its weight is picked, and equals by their weight', () => {
  const busy = [
    { priority: 1, weight: 1, busy: 3 },
    { priority: 1, weight: 2, busy: 2 },
    { priority: 1, weight: 1, busy: 1 },
    { priority: 0, weight: 9, busy: 0 },
  ]
  const pick = (random: number) => {
    const { deps, routes } = setUp(busy, random)
    return pickHealthy(deps, routes, 'acc_1')?.route.channel.id
  }
  expect([pick(0), pick(0.6), pick(0.7)]).toEqual(['c1', 'c1', 'c2'])
})

test('where a channel of the highest priority has failed, it does not decide', () => {
  const all = [
    { priority: 0, weight: 1, busy: 0 },
    { priority: 0, weight: 1, busy: 0 },
  ]
  const { deps, routes, states } = setUp(all, 0)
  states.get('c1')!.missPath('chat', 2_000_000)
  expect(pickHealthy(deps, routes, 'acc_1')).toBeUndefined()
})
