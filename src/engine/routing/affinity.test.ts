// Where the calls of a conversation go: one channel and key, alike in every process, by weight over
// many conversations, and elsewhere when that place cannot be used.
import { beforeEach, describe, expect, test } from 'bun:test'
import { seeded } from '../../../test/support/seeded.ts'
import type { Route } from '../../catalog/snapshot.ts'
import { Refusal } from '../../contract/errors.ts'
import type { ConversationIdentity } from '../../contract/requests.ts'
import { Conversations } from './affinity.ts'
import { channelStateOf } from './channel-state.ts'
import { type PickedRoute, pickRoute, Tried } from './pick-route.ts'
import { testRoute as route } from './test-channel.ts'

let nowMs = 0
beforeEach(() => {
  nowMs = 1_000_000
})
const clock = { nowMs: () => nowMs }

interface Asked extends Partial<ConversationIdentity> {
  account?: string
  model?: string
  inputTokens?: number
  tried?: Tried
}

/** A process with its own memory. */
function gateway(routes: readonly Route[], conversations = new Conversations(clock)) {
  const engine = {
    routing: { states: new Map() },
    random: seeded(1),
    clock,
    catalog: { hasManyAccounts: false },
  }
  const maybe = ({ account = 'acme', model = 'm', inputTokens = 5_000, tried, ...more }: Asked) => {
    const identity = { text: 'one', isNew: false, ...more }
    const placement = conversations.placementOf(
      routes,
      { accountId: `acc_${account}`, accountName: account },
      { model, inputTokens, conversation: () => identity },
    )
    return pickRoute(engine, routes, `acc_${account}`, tried, placement)
  }
  const ask = (asked: Asked = {}): PickedRoute => {
    const picked = maybe(asked)
    if (picked === 'full' || picked instanceof Refusal) throw new Error(String(picked))
    return picked
  }
  const stateOf = (id: string) => channelStateOf(engine.routing.states, id)
  return { ask, maybe, stateOf, conversations }
}

const place = ({ route: { channel }, key }: PickedRoute) => `${channel.id} ${key}`
const told = ({ affinity, moved }: PickedRoute) => [affinity, moved].filter(Boolean).join(' ')
const names = (count: number) => Array.from({ length: count }, (_, i) => `conversation ${i}`)

const keys = ['k1', 'k2', 'k3']
const threeKeys = [route('a', { keys, maxConcurrency: 9 })]
const threeChannels = ['a', 'b', 'c'].map((id) => route(id, { maxConcurrency: 9 }))

describe('a conversation', () => {
  test.each([
    ['keys', threeKeys],
    ['channels', threeChannels],
    ['keys and channels', ['a', 'b'].map((id) => route(id, { keys: keys.map((k) => id + k) }))],
  ])('stays at one of three %s, at any gateway and after a restart', (_, routes) => {
    for (const text of names(20)) {
      const first = place(gateway(routes).ask({ text, isNew: true }))
      const here = gateway(routes)
      for (let turn = 0; turn < 9; turn++) {
        expect(place(here.ask({ text }))).toBe(first)
        expect(place(gateway(routes).ask({ text }))).toBe(first)
      }
    }
  })

  test('is of one account, one model and one kind of name', () => {
    const { ask } = gateway([route('a', { keys: names(64), maxConcurrency: 999 })])
    const places = [
      {},
      { account: 'other' },
      { model: 'n' },
      { by: 'prompt_cache_key' },
      { text: 'two' },
    ].map((asked) => place(ask(asked)))
    expect(new Set(places).size).toBe(5)
  })

  test('of one account does not move that of another with the same name', () => {
    const { ask, stateOf } = gateway(['a', 'b'].map((id) => route(id)))
    const home = ask({ by: 'session-id', account: 'other' }).route.channel.id
    stateOf(home).busy = 2
    ask({ by: 'session-id', account: 'acme' })
    stateOf(home).busy = 0
    expect(ask({ by: 'session-id', account: 'other' }).route.channel.id).toBe(home)
  })

  test('is told as new, then as kept', () => {
    const { ask } = gateway(threeKeys)
    expect(told(ask({ isNew: true }))).toBe('new')
    expect([told(ask()), told(ask())]).toEqual(['kept', 'kept'])
    expect(told(gateway(threeKeys).ask())).toBe('kept')
  })

  test('takes no turn of a key from other calls', () => {
    const { ask } = gateway(threeKeys)
    const others: string[] = []
    for (let i = 0; i < 6; i++) {
      ask()
      others.push(ask({ text: `small ${i}`, isNew: true, inputTokens: 10 }).key)
    }
    expect(others).toEqual([...keys, ...keys])
  })
})

describe('many conversations', () => {
  test('are shared by weight among channels, and evenly among keys', () => {
    const weights: Record<string, number> = { a: 6, b: 3, c: 1 }
    const routes = Object.entries(weights).map(([id, weight]) =>
      route(id, { weight, keys: keys.map((key) => `${id}-${key}`), maxConcurrency: 9 }),
    )
    const { ask } = gateway(routes)
    const counts = new Map<string, number>()
    for (const text of names(10_000)) {
      const { route: to, key } = ask({ text })
      for (const name of [to.channel.id, key]) counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    for (const [id, weight] of Object.entries(weights)) {
      expect(counts.get(id)! / 10_000).toBeCloseTo(weight / 10, 1)
      expect(Math.abs(counts.get(id)! - weight * 1_000)).toBeLessThan(200)
      for (const key of keys) {
        const share = counts.get(`${id}-${key}`)! / counts.get(id)!
        expect(Math.abs(share - 1 / 3)).toBeLessThan(0.05)
      }
    }
  })

  test('hardly move when a key is added, and the remembered ones not at all', () => {
    const texts = names(3_000)
    const before = gateway(threeKeys)
    const old = texts.map((text) => before.ask({ text }).key)
    const four = [route('a', { keys: [...keys, 'k4'], maxConcurrency: 9 })]
    const moved = texts.filter((text, i) => gateway(four).ask({ text }).key !== old[i])
    expect(Math.abs(moved.length - 750)).toBeLessThan(150)
    const after = gateway(four, before.conversations)
    expect(texts.map((text) => after.ask({ text }).key)).toEqual(old)
  })

  test('are remembered up to a limit, those used lately longer than the others', () => {
    const conversations = new Conversations(clock)
    let largest = 0
    for (let i = 0; i < 45_000; i++) {
      conversations.remember(`c${i}`, 'a', 'k')
      if (i % 6_000 === 0) conversations.remember('c0', 'a', 'k')
      largest = Math.max(largest, conversations.size)
    }
    expect(largest).toBeWithin(19_000, 20_001)
    const found = ['c0', 'c1', 'c30000', 'c36000', 'c44999'].filter((id) => conversations.find(id))
    expect(found).toEqual(['c0', 'c30000', 'c36000', 'c44999'])
  })
})

test('a name or a beginning that very many calls share is spread over all keys while that lasts', () => {
  const { ask } = gateway(threeKeys)
  const asks = (count: number) => Array.from({ length: count }, () => ask({ by: 'session-id' }))
  const one = asks(120)
  expect(new Set(one.map(({ key }) => key)).size).toBe(1)
  const many = asks(60)
  expect(many.map(({ key }) => key)).toEqual(many.map((_, i) => keys[i % 3]!))
  expect(many.map(told)).toEqual(many.map(() => ''))
  nowMs += 60_000
  expect(asks(9).map(told)).toEqual(Array(9).fill('kept'))
})

describe('a small first call without a name', () => {
  const small = { isNew: true, inputTokens: 255 }

  test('is spread like any other, and the next calls follow it', () => {
    const { ask } = gateway(threeKeys)
    const firsts = Array.from({ length: 6 }, () => ask(small))
    expect(firsts.map(({ key }) => key)).toEqual([...keys, ...keys])
    expect(firsts.map(told)).toEqual(firsts.map(() => ''))
    const next = Array.from({ length: 9 }, () => ask({ inputTokens: 300 }))
    expect(next.map(({ key }) => key)).toEqual(next.map(() => 'k3'))
  })

  test('with a name, or with as much as is cached, goes where the conversation belongs', () => {
    const first = gateway(threeKeys).ask({ ...small, by: 'session-id' })
    expect(place(gateway(threeKeys).ask({ by: 'session-id' }))).toBe(place(first))
    expect(told(first)).toBe('new')
    const { ask } = gateway(threeKeys)
    const all = Array.from({ length: 6 }, () => place(ask({ isNew: true, inputTokens: 256 })))
    expect(new Set(all).size).toBe(1)
  })
})

describe('a place that cannot be used', () => {
  const two = ['a', 'b'].map((id) => route(id))
  const elsewhere = (id: string) => (id === 'a' ? 'b' : 'a')

  test('because it is full: the conversation moves, and stays where its newer cache is', () => {
    const { ask, stateOf } = gateway(two)
    const home = ask().route.channel.id
    stateOf(home).busy = 2
    const moved = ask()
    expect([moved.route.channel.id, told(moved)]).toEqual([elsewhere(home), 'moved full'])
    stateOf(home).busy = 0
    expect([ask().route.channel.id, told(ask())]).toEqual([elsewhere(home), 'kept'])
    nowMs += 3_600_000
    expect(ask().route.channel.id).toBe(home)
  })

  test('because a key is throttled or rejected: another key of the same channel', () => {
    for (const throttled of [true, false]) {
      const { ask, stateOf } = gateway([
        route('a', { keys, maxConcurrency: 9 }),
        route('b', { keys: ['k4', 'k5'], maxConcurrency: 9 }),
      ])
      const { route: to, key } = ask()
      const breaker = stateOf(to.channel.id).keyBreaker(key)
      breaker.throttled = throttled
      breaker.failed(nowMs, 60_000)
      const moved = ask()
      expect(moved.route.channel.id).toBe(to.channel.id)
      expect(told(moved)).toBe(throttled ? 'moved throttled' : 'moved rejected')
      nowMs += 60_001
      expect(place(ask())).toBe(place(moved))
    }
  })

  test('because it failed in the same call, or has failed lately', () => {
    const { ask, stateOf } = gateway(two)
    const home = ask().route.channel.id
    const tried = new Tried()
    tried.addChannel(home)
    expect(told(ask({ tried }))).toBe('moved failed')
    const other = gateway(two)
    for (let i = 0; i < 3; i++) other.stateOf(home).health.failed(nowMs)
    expect(told(other.ask())).toBe('moved unhealthy')
    expect(stateOf(home).busy).toBe(0)
  })

  test('because it is gone: what is left serves the conversation', () => {
    const before = gateway(threeKeys)
    const { key } = before.ask()
    const left = [route('a', { keys: keys.filter((each) => each !== key), maxConcurrency: 9 })]
    const after = gateway(left, before.conversations)
    expect([told(after.ask()), told(after.ask())]).toEqual(['moved gone', 'kept'])
  })

  test('with every place full, it waits like any other call; with none left, it is refused', () => {
    const { maybe, stateOf } = gateway(two)
    for (const id of ['a', 'b']) stateOf(id).busy = 2
    expect(maybe({})).toBe('full')
    const tried = new Tried()
    for (const id of ['a', 'b']) tried.addChannel(id)
    expect(maybe({ tried })).toBeInstanceOf(Refusal)
  })
})

describe('other rules come first', () => {
  test('priority: the conversation returns when a better channel can be used again', () => {
    const { ask, stateOf } = gateway([route('high', { priority: 9 }), route('low')])
    expect(ask().route.channel.id).toBe('high')
    stateOf('high').busy = 2
    expect([ask().route.channel.id, told(ask())]).toEqual(['low', 'kept'])
    stateOf('high').busy = 0
    const back = ask()
    expect([back.route.channel.id, told(back)]).toEqual(['high', 'moved priority'])
  })

  test('the caller’s own style before translation', () => {
    const routes = [route('own'), { ...route('other'), translated: true as const }]
    const { ask, stateOf } = gateway(routes)
    stateOf('own').health.failed(nowMs)
    stateOf('own').health.failed(nowMs)
    for (let i = 0; i < 20; i++) stateOf('own').health.failed(nowMs)
    expect([ask().route.channel.id, told(ask())]).toEqual(['other', 'kept'])
    stateOf('own').health.reset()
    expect(ask().route.channel.id).toBe('own')
  })

  test('a channel without weight gets no conversation while another can serve it', () => {
    const { ask } = gateway([route('a', { weight: 0 }), route('b')])
    for (const text of names(20)) expect(ask({ text }).route.channel.id).toBe('b')
  })
})

describe('affinity off', () => {
  test('on a channel: its keys are used in turn, and nothing is told', () => {
    const { ask } = gateway([route('a', { keys, maxConcurrency: 9, affinity: 'off' })])
    const picked = Array.from({ length: 6 }, () => ask())
    expect(picked.map(({ key }) => key)).toEqual([...keys, ...keys])
    expect(picked.map(told)).toEqual(picked.map(() => ''))
  })

  test('on all channels: they are chosen by load and weight', () => {
    const { ask } = gateway(['a', 'b'].map((id) => route(id, { affinity: 'off' })))
    const used = new Set(Array.from({ length: 40 }, () => ask().route.channel.id))
    expect(used.size).toBe(2)
  })
})

test('without a choice, the conversation is not even asked for', () => {
  const conversations = new Conversations(clock)
  const conversation = () => {
    throw new Error('asked')
  }
  const token = { accountId: 'acc_1', accountName: 'acme' }
  const call = { model: 'm', inputTokens: 9_000, conversation }
  expect(conversations.placementOf([route('a')], token, call)).toBeUndefined()
  expect(conversations.placementOf([route('a', { keys: [] })], token, call)).toBeUndefined()
  const off = [route('a', { keys, affinity: 'off' })]
  expect(conversations.placementOf(off, token, call)).toBeUndefined()
})
