// The common case of picking a channel: the same choice as where something has failed, at less cost.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type ChannelState, channelStateOf } from './channel-state.ts'
import { pickHealthy } from './healthy-route.ts'
import { pickRoute, Tried } from './pick-route.ts'
import { testRoute } from './test-channel.ts'

interface Made {
  priority: number
  weight: number
  busy: number
}

const maxConcurrency = 4

function setUp(made: readonly Made[], random: number) {
  const states = new Map<string, ChannelState>()
  const routes = made
    .map(({ priority, weight }, i) =>
      testRoute(`c${i}`, { priority, weight, maxConcurrency, keys: ['k'] }),
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
