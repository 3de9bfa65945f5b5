// What upstreams take, over real HTTP: by channel and model with versions, in other currencies, as a part of
// the general price; for every attempt that was served; and the margin that is left, in every book alike.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import {
  apiToken,
  failedStart,
  startGateway,
  type TestGateway,
  tempDir,
} from '../support/gateway.ts'
import { requests, type Style, startPricedUpstream, type Told } from '../support/priced-upstream.ts'
import { nanos, requestIdOf, rowOf, until } from '../support/read.ts'
import { startUpstream, streamReply } from '../support/upstream.ts'

const upstream = startPricedUpstream()
/** Reports its input, then an error: the call is free, the work was done. */
const broken = startUpstream(() =>
  streamReply([
    'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"up","content":[],"usage":{"input_tokens":1000,"output_tokens":1}}}\n\n',
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
  ]),
)
const failing = startUpstream(() => new Response('{"error":{"message":"no"}}', { status: 500 }))
afterAll(async () => {
  for (const each of [upstream, broken, failing]) await each.stop()
})

const price = (input: string, output: string) => ({ unit: 'token', per_million: { input, output } })
const text = (name: string, style: Style = 'chat') => ({ name, kind: 'text', interfaces: [style] })
const channel = (name: string, chat: string, models: string[], more = {}) => ({
  name,
  keys: ['upk-0123456789'],
  protocols: { chat },
  models: Object.fromEntries(models.map((model) => [model, '*'])),
  ...more,
})
const names = ['paid', 'part', 'unknown', 'second', 'mine', 'tiered', 'made']
const config = {
  currency: 'CNY',
  exchange: { USD: '7.10' },
  accounts: [{ name: 'acme', balance: '1000', tag_names: ['team'] }],
  tokens: [{ account: 'acme', name: 'test', token: apiToken }],
  models: [
    ...names.map((name) => text(name)),
    text('breaks', 'messages'),
    { name: 'coder', kind: 'text', virtual: ['second', 'paid'] },
  ],
  prices: [
    ...[...names, 'breaks'].map((model) => ({ model, ...price('10', '100') })),
    { model: 'part', account: 'acme', ...price('20', '200') },
  ],
  channels: [
    channel('alpha', upstream.chat, ['paid', 'unknown', 'second', 'mine', 'tiered', 'made']),
    channel('beta', upstream.chat, ['part'], { cost_factor: '0.7' }),
    channel('flaky', failing.chat, ['paid'], { priority: 5 }),
    { ...channel('gamma', '', ['breaks']), protocols: { messages: broken.url } },
  ],
  costs: [
    { channel: 'alpha', model: 'paid', currency: 'USD', ...price('1', '10') },
    { channel: 'flaky', model: 'paid', ...price('5', '5') },
    { channel: 'alpha', model: 'second', ...price('11', '110') },
    { channel: 'gamma', model: 'breaks', ...price('4', '40') },
    {
      channel: 'alpha',
      model: 'tiered',
      ...price('1', '10'),
      service_tiers: { priority: { factor: '3' } },
      hours: [{ from: '00:00', to: '00:00', factor: '2' }],
    },
  ],
}

describe.each([...storeKinds])('costs on %s', (engine) => {
  let place: Place
  let gateway: TestGateway
  beforeAll(async () => {
    place = await newPlace(engine)
    const { dataDir, databaseUrl } = place.options
    gateway = await startGateway({
      config: JSON.stringify(config),
      ...(databaseUrl === undefined && { dataDir }),
      env: {
        GATEWAY_SANDBOX: 'on',
        GATEWAY_SANDBOX_TASK_SECONDS: '0.1',
        ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
      },
    })
  })
  afterAll(async () => {
    const { body } = await gateway.admin('POST', '/audit')
    expect([body.ok, body.problems]).toEqual([true, []])
    expect(await gateway.stop()).toBe(0)
    await place.remove()
  })

  let cases = 0
  async function ask(model: string, told: Told, headers = {}, style: Style = 'chat', more = {}) {
    const word = `case-${++cases}-x`
    upstream.tell(word, told)
    const { path, body } = requests[style](model, word, style === 'messages')
    const answer = await gateway.post(path, { ...body, ...more }, headers)
    await answer.text()
    const row = await rowOf(gateway, requestIdOf(answer))
    // biome-ignore lint/suspicious/noExplicitAny: rows of all kinds
    return { id: requestIdOf(answer), row: row as any }
  }
  const get = async (path: string) => (await gateway.admin('GET', path)).body
  const usage = { input: 1_000, output: 100 }

  test('a cost in another currency, and the margin that is left, wherever a call is told of', async () => {
    const { id, row } = await ask('paid', usage)
    // 1,000 x 1 + 100 x 10 per million, at 7.10; a channel that answers 500 has done nothing.
    expect(row).toMatchObject({ channel: 'alpha', charge: '0.02', cost: '0.0142' })
    expect(row.margin).toBe('0.0058')
    expect((await get(`/explain/${id}`)).cost).toBe('0.0142')
    expect((await get(`/explain/${id}`)).margin).toBe('0.0058')
    const { items } = await get('/requests?limit=5')
    expect(items.find((each: { request_id: string }) => each.request_id === id).cost).toBe('0.0142')
    const csv = await fetch(`${gateway.url}/admin/v1/requests?format=csv`, {
      headers: { authorization: 'Bearer admin-token-for-tests-0123456789' },
    })
    expect((await csv.text()).split('\n')[0]).toMatch(/,cost,margin,/)
  })

  test('a part of the general price, also where the account has one of its own', async () => {
    const { row } = await ask('part', usage)
    expect(row).toMatchObject({ charge: '0.04', cost: '0.014', margin: '0.026' })
  })

  test('neither: not known, and counted as such', async () => {
    const { row } = await ask('unknown', usage)
    expect(row).toMatchObject({ charge: '0.02', cost: null, margin: null })
    const { items } = await get('/usage?by=model')
    const unknown = items.find(({ model }: { model: string }) => model === 'unknown')
    expect(unknown).toMatchObject({ cost: '0.00', margin: '0.02', cost_unknown: 1 })
  })

  test('service tiers and hours of a cost are its own', async () => {
    const { row } = await ask('tiered', { ...usage, tier: 'priority' })
    expect(row).toMatchObject({ charge: '0.02', cost: '0.012' })
  })

  test('the row of the member of a virtual model counts', async () => {
    const { row } = await ask('coder', usage)
    expect(row).toMatchObject({ served_model: 'second', charge: '0.02', cost: '0.022' })
    expect(row.margin).toBe('-0.002')
  })

  test('work that was free for its caller costs what the answer reported', async () => {
    const { row } = await ask('breaks', {}, {}, 'messages')
    expect(row).toMatchObject({ charge: '0.00', cost: '0.004', margin: '-0.004' })
    const { items } = await get('/usage?by=model')
    const breaks = items.find(({ model }: { model: string }) => model === 'breaks')
    expect(breaks).toMatchObject({ charges: 0, amount: '0.00', cost: '0.004', cost_unknown: 0 })
  })

  test('what was refused before it went upstream costs nothing', async () => {
    const { row } = await ask('no-such-model', usage)
    expect(row).toMatchObject({ cost: '0.00', margin: '0.00' })
  })

  test('a refund lowers the margin; by tag, token and day it adds up', async () => {
    const { id } = await ask('paid', usage, { 'x-gateway-tags': 'team=red' })
    await gateway.admin('POST', `/requests/${id}/refunds`, { amount: '0.005', reason: 'slow' })
    expect((await get(`/requests/${id}`)).margin).toBe('0.0008')
    const { total } = await get('/usage?by=day')
    for (const by of [
      'model',
      'token',
      'tag:team',
      'account',
      'unit,price',
      'channel',
      'channel,model',
      'day,channel,account',
      'account,model',
      'month',
      'tag:team,model',
      'hour',
    ]) {
      const { items, total: same } = await get(`/usage?by=${by}`)
      expect([by, same.margin, same.cost]).toEqual([by, total.margin, total.cost])
      const sum = (name: string) =>
        items.reduce((all: bigint, item: Record<string, string>) => all + nanos(item[name]!), 0n)
      expect([by, sum('margin'), sum('cost')]).toEqual([by, nanos(total.margin), nanos(total.cost)])
    }
    const { items } = await get('/usage?by=tag:team')
    const byChannel = await get('/usage?by=channel')
    const alpha = byChannel.items.find(({ channel }: { channel: string }) => channel === 'alpha')
    const mine = (await get('/requests?channel=alpha&limit=500')).items as {
      margin: string | null
    }[]
    const known = mine.reduce((sum, { margin }) => sum + nanos(margin ?? '0'), 0n)
    expect(byChannel.from).toEndWith('T00:00:00.000Z')
    if (mine.every(({ margin }) => margin !== null)) expect(nanos(alpha.margin)).toBe(known)
    const red = items.find(({ tag }: { tag: string }) => tag === 'red')
    expect(red).toMatchObject({ amount: '0.02', cost: '0.0142', margin: '0.0008' })
  })

  test('usage by channel takes no key that its totals do not have, and no tag', async () => {
    for (const by of ['channel,hour', 'channel,token', 'channel,price', 'channel,tag:team']) {
      const { status, body } = await gateway.admin('GET', `/usage?by=${by}`)
      expect([by, status, body.error.param]).toEqual([by, 400, 'by'])
    }
  })

  test('a list is imported as a whole or not at all; what is in force stays', async () => {
    const line = (model: string, more = '') =>
      `  - { channel: alpha, model: ${model}, unit: token, per_million: { input: "1", output: "2" }${more} }\n`
    const load = (yaml: string, dry_run = false) =>
      gateway.admin('POST', '/costs/import', { yaml, dry_run })
    const count = async () => (await get('/costs?channel=alpha&limit=500')).items.length
    const before = await count()
    const list = `costs:\n${line('txta-embed')}${line('txta-turbo', ', currency: USD')}`
    const plan = await load(list, true)
    expect(plan.body).toMatchObject({ dry_run: true, added: 2, unchanged: 0 })
    expect(await count()).toBe(before)
    for (const [yaml, message] of [
      [`costs:\n${line('txta-embed')}${line('nothing')}`, "there is no model 'nothing'"],
      [`costs:\n${line('txta-embed')}${line('txta-embed')}`, 'costs[1] is there twice'],
      [`costs:\n${line('txta-embed', ', currency: XXX')}`, 'no rate'],
      ['costs: [{ channel: alpha }]', 'costs[0]'],
      ['costs: []', 'costs'],
      [': :', 'YAML'],
    ] as const) {
      const { status, body } = await load(yaml)
      expect([yaml, status, body.error?.param]).toEqual([yaml, 400, 'yaml'])
      expect(body.error.message).toContain(message)
    }
    expect(await count()).toBe(before)
    expect((await load(list)).body).toMatchObject({ dry_run: false, added: 2, unchanged: 0 })
    expect((await load(list)).body).toMatchObject({ added: 0, unchanged: 2 })
    expect(await count()).toBe(before + 2)
    const { channels, exchange, currency } = await get('/costs/factors')
    expect([currency, Object.keys(exchange)]).toEqual(['CNY', ['USD']])
    expect(channels.map(({ channel }: { channel: string }) => channel)).toContain('alpha')
  })

  test('a task has its cost when it is over', async () => {
    const made = await gateway.admin('POST', '/costs', {
      channel: 'sandbox',
      model: 'vfa-2.7-t2v',
      unit: 'video_second',
      per_second: { '720p': '0.10', '1080p': '0.20' },
    })
    expect(made.status).toBe(201)
    const body = { model: 'vfa-2.7-t2v', prompt: 'a cat', seconds: 5 }
    const { id } = (await (await gateway.post('/v1/videos', body)).json()) as { id: string }
    expect((await get(`/tasks/${id}`)).cost).toBeNull()
    const task = await until('the end', async () => {
      const found = await get(`/tasks/${id}`)
      return found.finished_at === null ? undefined : found
    })
    expect(task).toMatchObject({ state: 'succeeded', cost: '1.00' })
    expect(nanos(task.margin)).toBe(nanos(task.charge) - nanos('1.00'))
    expect((await get(`/requests/${task.request_id}`)).cost).toBe('1.00')
    expect((await get(`/explain/${id}`)).margin).toBe(task.margin)
    const { items } = await get('/usage?by=model')
    const used = items.find(({ model }: { model: string }) => model === 'vfa-2.7-t2v')
    expect(used).toMatchObject({ cost: '1.00', cost_unknown: 0 })
  })

  test('versions: a newer one takes over, one that has not begun can be withdrawn', async () => {
    const make = (more: object) =>
      gateway.admin('POST', '/costs', { channel: 'alpha', model: 'made', ...more })
    const first = await make(price('1', '1'))
    expect(first).toMatchObject({ status: 201, body: { state: 'in_force', currency: 'CNY' } })
    expect((await ask('made', usage)).row.cost).toBe('0.0011')
    await make({ ...price('2', '2'), currency: 'USD' })
    expect((await ask('made', usage)).row.cost).toBe('0.01562')
    const later = await make({ ...price('3', '3'), effective_from: '2099-01-01T00:00:00Z' })
    const { items } = await get('/costs?channel=alpha&model=made')
    expect(items.map(({ state }: { state: string }) => state).toSorted()).toEqual(
      ['past', 'in_force', 'scheduled'].toSorted(),
    )
    const gone = await gateway.admin('DELETE', `/costs/${later.body.id}`)
    expect(gone).toMatchObject({ status: 200, body: { deleted: true } })
    const stays = await gateway.admin('DELETE', `/costs/${first.body.id}`)
    expect([stays.status, stays.body.error.code]).toEqual([409, 'price_in_force'])
    expect((await gateway.admin('DELETE', `/prices/${first.body.id}`)).status).toBe(404)
    expect((await get('/prices?model=made')).items).toHaveLength(1)
  })

  test('a draft below cost names the channel; a day below cost is an alert and a notice', async () => {
    await ask('second', usage)
    const { body } = await gateway.admin('POST', '/prices/preview', {
      month: new Date().toISOString().slice(0, 7),
      prices: [{ model: 'second', ...price('1', '10') }],
    })
    // 0.022 paid, 0.002 charged for each; the call of the virtual model is one of them.
    expect(body.losing).toEqual([
      { model: 'second', channel: 'alpha', charges: 2, per_call: '0.02', total: '0.04' },
    ])
    const day = new Date().toISOString().slice(0, 10)
    const alerts = await until('the alert', async () => {
      const { items } = await get('/alerts?kind=margin.negative')
      const subjects = items.map(({ subject }: { subject: string }) => subject)
      return subjects.includes(`second ${day}`) ? subjects : undefined
    })
    expect(new Set(alerts).size).toBe(alerts.length)
    expect(alerts).toContain(`breaks ${day}`)
    expect(alerts).not.toContain(`part ${day}`)
  })

  test('staff see cost and margin beside a bill', async () => {
    const bill = await get('/bills?account=acme')
    const { total } = await get('/usage?by=month')
    expect([bill.cost, bill.margin, bill.cost_unknown]).toEqual([
      total.cost,
      total.margin,
      total.cost_unknown,
    ])
  })

  test.each([
    [{ channel: 'nowhere' }, 'channel'],
    [{ model: 'nothing' }, 'model'],
    [{ model: 'coder' }, 'model'],
    [{ unit: 'image', per_image: '1', per_million: undefined }, 'unit'],
    [{ currency: 'EUR' }, 'currency'],
    [{ account: 'acme' }, 'account'],
    [{ per_million: { input: '1' } }, 'per_million.output'],
  ])('%j is refused', async (wrong, param) => {
    const body = { channel: 'alpha', model: 'mine', ...price('1', '1'), ...wrong }
    const { status, body: answer } = await gateway.admin('POST', '/costs', body)
    expect([status, answer.error.param]).toEqual([400, param])
    expect((await get('/costs?model=mine')).items).toEqual([])
  })

  test('a row of the file is changed in the file', async () => {
    const { status } = await gateway.admin('POST', '/costs', {
      ...{ channel: 'alpha', model: 'paid' },
      ...price('1', '1'),
    })
    expect(status).toBe(409)
    const { items } = await get('/costs?channel=alpha&model=paid')
    const gone = await gateway.admin('DELETE', `/costs/${items[0].id}`)
    expect([gone.status, gone.body.error.code]).toEqual([409, 'price_in_force'])
  })

  test('a channel made by the API has a factor that can be changed and taken away', async () => {
    const made = await gateway.admin('POST', '/channels', {
      ...channel('delta', upstream.chat, ['mine'], { cost_factor: '0.5', priority: 9 }),
    })
    expect(made.body.cost_factor).toBe('0.5')
    expect((await ask('mine', usage)).row.cost).toBe('0.01')
    const path = `/channels/${made.body.id}`
    expect((await gateway.admin('PATCH', path, { cost_factor: '0' })).body.cost_factor).toBe('0')
    expect((await ask('mine', usage)).row.cost).toBe('0.00')
    expect((await gateway.admin('PATCH', path, { cost_factor: null })).body.cost_factor).toBeNull()
    expect((await ask('mine', usage)).row.cost).toBeNull()
    for (const cost_factor of ['-1', '101', 0.7]) {
      expect((await gateway.admin('PATCH', path, { cost_factor })).status).toBe(400)
    }
    await gateway.admin('DELETE', path)
  })
})

test.each([
  [
    'costs: [{ channel: nowhere, model: txta-plus, unit: token, per_million: { input: "1", output: "1" } }]',
    'nowhere',
  ],
  [
    'costs: [{ channel: sandbox, model: txta-plus, currency: USD, unit: token, per_million: { input: "1", output: "1" } }]',
    'exchange',
  ],
  ['exchange: { USD: "0" }', 'exchange.USD'],
  [
    'costs: [{ channel: sandbox, model: txta-plus, account: acme, unit: token, per_million: { input: "1", output: "1" } }]',
    'account',
  ],
])('%s in the file stops the start', async (yaml, word) => {
  const path = join(tempDir(), 'gateway.yaml')
  await Bun.write(path, yaml)
  const { code, text: printed } = await failedStart({ GATEWAY_CONFIG: path })
  expect([code, printed.includes(word)]).toEqual([78, true])
})
