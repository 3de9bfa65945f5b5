// What lasts, on a real store: told once by several gateways, an alert while it lasts, and over with its
// cause.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Channel } from '../../contract/catalog.ts'
import type { ErrorRateRule, NoticeType } from '../../contract/notices/webhooks.ts'
import { listAlerts, resolveAlert } from '../../store/catalog/alerts.ts'
import { putWebhook } from '../../store/deliveries/webhooks.ts'
import { insertTask } from '../../store/tasks/tasks.ts'
import { aTask } from '../../store/tasks/test-tasks.ts'
import { aRequest, storeKinds } from '../../store/test-stores.ts'
import { ChannelState } from '../routing/channel-state.ts'
import { testChannelWith } from '../routing/test-channel.ts'
import { newTestEngine, type TestEngine } from '../test-engine.ts'
import { Conditions } from './conditions.ts'
import { Subscriptions } from './subscriptions.ts'

describe.each([...storeKinds])('conditions on %s', (on) => {
  let it: TestEngine
  let subscriptions: Subscriptions
  beforeEach(async () => {
    it = await newTestEngine(on)
    subscriptions = new Subscriptions()
  })
  afterEach(() => it.close())

  const store = () => it.engine.store

  async function subscribe(events: NoticeType[], rules: ErrorRateRule[] = []): Promise<void> {
    const known = { disabled: false, source: 'api', createdAtMs: 1 } as const
    const address = 'mailto:a@b.example'
    await store().tx((tx) => putWebhook(tx, { id: 'whk_1', address, events, rules, ...known }))
    await subscriptions.load(store().read)
  }

  interface Gateway {
    state: ChannelState
    watch: Conditions
    /** Of its catalog. */
    channels: Channel[]
  }

  /** One that has its own view of the only channel. */
  function gateway(owner: string, channel: Channel, store = it.engine.store): Gateway {
    const state = new ChannelState()
    const routing = { states: new Map([[channel.id, state]]) }
    const channels = [channel]
    const catalog = { channels } as unknown as TestEngine['engine']['catalog']
    const deps = { ...it.engine, store, subscriptions, routing, catalog, jobs: it.engine.jobs }
    return { state, watch: new Conditions(deps, owner), channels }
  }
  const own = () => store().cluster?.gatewayId ?? 'test'
  /** Without the time between two counts. */
  const round = async (owner = own()) => gateway(owner, testChannelWith({ keys: [] })).watch.round()

  const alerts = async () => (await listAlerts(store().read, { limit: 10 })).items
  const open = async () => (await alerts()).map(({ kind, subject }) => `${kind} ${subject}`)
  async function told(): Promise<string[]> {
    const rows = await store().read.selectFrom('notices').select('type').execute()
    return rows.map(({ type }) => type).toSorted()
  }
  const dismiss = (watch: Conditions) =>
    store().tx(async (tx) => {
      const [alert] = (await listAlerts(tx, { limit: 1 })).items
      if (alert === undefined) return undefined
      const isOver = await watch.dismiss(tx, alert.kind, alert.subject)
      return isOver && (await resolveAlert(tx, alert.id, { atMs: 1, by: 'ada' }))
    })

  test('a channel that is down is one alert of all gateways, until a call succeeds', async () => {
    await subscribe(['channel.down', 'channel.recovered'])
    const channel = testChannelWith({ id: 'ch_1', name: 'far' })
    const [first, second] = [gateway(own(), channel), gateway('another', channel)]
    for (const { state } of [first, second]) for (let n = 0; n < 3; n++) state.health.failed(1)
    await first.watch.round()
    await second.watch.round()
    expect([await open(), await told()]).toEqual([['channel_down ch_1'], ['channel.down']])
    expect(await dismiss(first.watch)).toBe(false)
    expect(await open()).toHaveLength(1)
    first.state.health.succeeded()
    first.state.worked.add('m')
    await first.watch.round()
    expect([await open(), await told()]).toEqual([[], ['channel.down', 'channel.recovered']])
  })

  test('what a gateway that is gone has reported can be resolved by hand, and begins anew', async () => {
    await subscribe(['channel.down'])
    const channel = testChannelWith({ id: 'ch_1', name: 'far' })
    const gone = gateway('gone', channel)
    for (let n = 0; n < 3; n++) gone.state.health.failed(1)
    await gone.watch.round()
    const next = gateway(own(), channel)
    await next.watch.round()
    expect(await dismiss(next.watch)).toBe(true)
    expect(await open()).toEqual([])
    for (let n = 0; n < 3; n++) next.state.health.failed(1)
    await next.watch.round()
    expect([await open(), await told()]).toEqual([
      ['channel_down ch_1'],
      Array(2).fill('channel.down'),
    ])
  })

  test('a key that was rejected before a restart and works is told when it is rejected again', async () => {
    await subscribe(['key.rejected'])
    const channel = testChannelWith({ id: 'ch_1', name: 'far', keys: ['k'] })
    const gone = gateway('gone', channel)
    gone.state.keyBreaker('k').failed(1)
    await gone.watch.round()
    const next = gateway(own(), channel)
    next.state.worked.add('m')
    await next.watch.round()
    next.state.keyBreaker('k').failed(1)
    await next.watch.round()
    await next.watch.round()
    expect(await told()).toEqual(Array(2).fill('key.rejected'))
  })

  const rule = { model: 'txta-plus', above: 0.5, overMs: 300_000, min: 4 }
  const calls = async (count: number, status: number) => {
    for (let n = 0; n < count; n++) await store().record(aRequest({ status, atMs: it.clock.ms }))
  }

  test('a gateway that is alone reads what is down at its start and after its own changes', async () => {
    const channel = testChannelWith({ id: 'ch_1', name: 'far' })
    let reads = 0
    const counting = new Proxy(store(), {
      get(of, name) {
        if (name === 'read') reads++
        const found: unknown = Reflect.get(of, name)
        return typeof found === 'function' ? found.bind(of) : found
      },
    })
    const { state, watch, channels } = gateway(own(), channel, counting)
    const readsOf = async (rounds: number) => {
      reads = 0
      for (let n = 0; n < rounds; n++) await watch.round()
      return reads
    }
    expect(await readsOf(1)).toBeGreaterThan(0)
    expect(await readsOf(3)).toBe(0)
    for (let n = 0; n < 3; n++) state.health.failed(1)
    await watch.round()
    expect(await open()).toEqual(['channel_down ch_1'])
    if (store().cluster === undefined) expect(await readsOf(3)).toBe(1)
    // It was deleted.
    channels.pop()
    await watch.round()
    expect(await open()).toEqual([])
  })

  test('an error rate is an alert of its model, until it falls below the last rule', async () => {
    await subscribe(['error_rate'], [rule, { ...rule, above: 0.8 }])
    await calls(5, 502)
    await round()
    await round('another')
    expect(await open()).toEqual(['error_rate model txta-plus'])
    expect((await alerts())[0]).toMatchObject({
      message: "5 of 5 requests of model 'txta-plus' failed within 300 s, more than 80 %",
    })
    expect(await told()).toEqual(Array(2).fill('error_rate'))
    await calls(3, 200)
    await round()
    expect(await open()).toHaveLength(1)
    expect(await dismiss(gateway(own(), testChannelWith()).watch)).toBe(false)
    await calls(2, 200)
    await round()
    expect(await open()).toEqual([])
  })

  test('the alert of a rule ends with the rule, and a rule that is made again tells again', async () => {
    await subscribe(['error_rate'], [rule])
    await calls(5, 502)
    await round()
    const stale = subscriptions
    // Another gateway has not heard of a rule yet: the alert stays.
    subscriptions = new Subscriptions()
    await round()
    expect(await open()).toHaveLength(1)
    subscriptions = stale
    await subscribe(['channel.down'])
    await round()
    expect(await open()).toEqual([])
    await subscribe(['error_rate'], [rule])
    await round()
    expect([await open(), await told()]).toEqual([
      ['error_rate model txta-plus'],
      Array(2).fill('error_rate'),
    ])
  })

  test('tasks that fail are an alert of their model and channel, while ten minutes of them do', async () => {
    await subscribe(['task.failures'])
    await store().tx(async (tx) => {
      for (let n = 0; n < 10; n++) {
        const state = n < 5 ? 'failed' : 'succeeded'
        const atMs = it.clock.ms - 1_000
        await insertTask(tx, aTask({ state, createdAtMs: atMs, finishedAtMs: atMs }))
      }
    })
    await round()
    await round('another')
    expect((await alerts()).map(({ subject, message }) => [subject, message])).toEqual([
      [
        'vfa-2.7-t2v main',
        "5 of 10 tasks of model 'vfa-2.7-t2v' on channel 'main' failed within 10 minutes",
      ],
    ])
    it.clock.ms += 600_000
    await round()
    expect([await open(), await told()]).toEqual([[], ['task.failures']])
  })
})
