// Statements that the gateway pulls, over real HTTP: fakes of three providers' reports as their documentation
// has them, with pages, limits of requests and keys that are refused.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { startPricedUpstream } from '../support/priced-upstream.ts'
import { jsonReply, startUpstream, streamReply } from '../support/upstream.ts'

const adminKey = 'adm-0123456789abcdef'
const today = new Date().toISOString().slice(0, 10)
const todaySeconds = Date.parse(today) / 1000

/** What each provider bills of today, in dollars, by model. */
let billed: Record<string, number> = {}
/** The tokens of each model; undefined: there is no such report. */
let used: number | undefined
let limited = 0
const asked: string[] = []

const fake = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname, searchParams } = new URL(request.url)
    asked.push(pathname + new URL(request.url).search)
    const key =
      request.headers.get('x-api-key') ??
      request.headers.get('authorization')?.replace('Bearer ', '') ??
      ''
    if (key !== adminKey) return Response.json({ error: { message: 'no' } }, { status: 401 })
    if (limited > 0) {
      limited--
      return Response.json({ error: {} }, { status: 429, headers: { 'retry-after': '0.01' } })
    }
    const models = Object.entries(billed)
    // One model on a page.
    const at = Number(searchParams.get('page') ?? 0)
    const shown = models.slice(at, at + 1)
    const more = {
      has_more: at + 1 < models.length,
      next_page: at + 1 < models.length ? String(at + 1) : null,
    }
    if (pathname === '/v1/organization/costs') {
      const results = shown.flatMap(([model, value]) => [
        { amount: { value: value / 2, currency: 'usd' }, line_item: `${model}, input` },
        { amount: { value: value / 2, currency: 'usd' }, line_item: `${model}, output` },
      ])
      const bucket = { object: 'bucket', start_time: todaySeconds, results }
      return Response.json({ object: 'page', data: [bucket], ...more })
    }
    if (pathname === '/v1/organizations/cost_report') {
      const results = shown.map(([model, value]) => ({
        currency: 'USD',
        amount: String(value * 100),
        model,
        description: `${model} usage`,
        cost_type: 'tokens',
      }))
      const bucket = { starting_at: `${today}T00:00:00Z`, results }
      return Response.json({ data: [bucket], ...more })
    }
    if (pathname === '/api/v1/activity') {
      const data = models.map(([model, usage]) => ({
        date: searchParams.get('date'),
        model,
        usage,
        ...(used !== undefined && { prompt_tokens: used - 1, completion_tokens: 1 }),
      }))
      return Response.json({ data })
    }
    if (used !== undefined && pathname === '/v1/organization/usage/completions') {
      const results = shown.map(([model]) => ({
        ...{ model, input_tokens: used! - 7, input_cached_tokens: 5, output_tokens: 7 },
      }))
      return Response.json({ data: [{ start_time: todaySeconds, results }], ...more })
    }
    if (used !== undefined && pathname === '/v1/organizations/usage_report/messages') {
      const cache_creation = { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 }
      const results = shown.map(([model]) => ({
        ...{ model, cache_creation, cache_read_input_tokens: 5, output_tokens: 6 },
        uncached_input_tokens: used! - 18,
      }))
      return Response.json({ data: [{ starting_at: `${today}T00:00:00Z`, results }], ...more })
    }
    return new Response('not here', { status: 404 })
  },
})
const fakeUrl = `http://127.0.0.1:${fake.port}`
const upstream = startPricedUpstream()
const chunk = (data: object): string => `data: ${JSON.stringify(data)}\n\n`
const answer = {
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'up' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1_000, completion_tokens: 1_000 },
}
/** Answers, fails, or reports its input and breaks off, as the caller says. */
const lossy = startUpstream(({ body }) => {
  if (body.includes('case-failing')) return jsonReply({ error: { message: 'no' } }, { status: 500 })
  if (!body.includes('case-broken')) return jsonReply(answer)
  const usage = { prompt_tokens: 1_000, completion_tokens: 0 }
  return streamReply([
    chunk({ ...answer, object: 'chat.completion.chunk', choices: [], usage }),
    chunk({ error: { message: 'it broke' } }),
  ])
})
const spare = startUpstream(({ body }) =>
  JSON.parse(body).stream === true
    ? streamReply([
        chunk({ choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: 'stop' }] }),
        chunk({ choices: [], usage: answer.usage }),
        'data: [DONE]\n\n',
      ])
    : jsonReply(answer),
)
afterAll(async () => {
  await fake.stop(true)
  for (const each of [upstream, lossy, spare]) await each.stop()
})

const kinds = ['openai', 'anthropic', 'openrouter'] as const
/** At one channel, and at two. */
const lossyModels = ['one', 'two']

describe.each([...storeKinds])('pulled statements on %s', (engine) => {
  let place: Place
  let gateway: TestGateway
  beforeAll(async () => {
    place = await newPlace(engine)
    const { dataDir, databaseUrl } = place.options
    const config = {
      currency: 'CNY',
      exchange: { USD: '7.10' },
      accounts: [{ name: 'acme', balance: '1000' }],
      tokens: [{ account: 'acme', name: 'test', token: apiToken }],
      models: [
        ...kinds.map((name) => ({ name: `m-${name}`, kind: 'text', interfaces: ['chat'] })),
        ...lossyModels.map((name) => ({ name, kind: 'text', interfaces: ['chat'] })),
      ],
      prices: [...kinds.map((kind) => `m-${kind}`), ...lossyModels].map((model) => ({
        model,
        unit: 'token',
        per_million: { input: '100', output: '100' },
      })),
      channels: [
        ...kinds.map((kind, at) => ({
          name: kind,
          keys: ['upk-0123456789'],
          protocols: { chat: upstream.chat },
          models: { [`m-${kind}`]: `up-${kind}` },
          // With and without /v1.
          billing: { kind, key: adminKey, url: at === 0 ? `${fakeUrl}/v1` : fakeUrl },
        })),
        {
          name: 'lossy',
          keys: ['upk-0123456789'],
          protocols: { chat: lossy.url },
          models: Object.fromEntries(lossyModels.map((model) => [model, `up-${model}`])),
          billing: { kind: 'openrouter', key: adminKey, url: fakeUrl },
          priority: 5,
        },
        {
          name: 'spare',
          keys: ['upk-0123456789'],
          protocols: { chat: spare.url },
          models: { two: '*' },
        },
      ],
      costs: [
        ...kinds.map((kind) => [kind, `m-${kind}`]),
        ...lossyModels.map((model) => ['lossy', model]),
        ['spare', 'two'],
      ].map(([channel, model]) => ({
        channel,
        model,
        currency: 'USD',
        unit: 'token',
        per_million: { input: '10', output: '10' },
      })),
    }
    gateway = await startGateway({
      config: JSON.stringify(config),
      ...(databaseUrl === undefined && { dataDir }),
      ...(databaseUrl !== undefined && { env: { GATEWAY_DATABASE_URL: databaseUrl } }),
    })
    upstream.tell('case-pull', { input: 1_000, output: 1_000 })
    for (const kind of kinds) {
      const messages = [{ role: 'user', content: 'case-pull' }]
      const answer = await gateway.post('/v1/chat/completions', { model: `m-${kind}`, messages })
      expect(answer.status).toBe(200)
      await answer.text()
    }
  })
  afterAll(async () => {
    expect(await gateway.stop()).toBe(0)
    await place.remove()
  })
  const pull = (kind: string, body: object = { from: today, to: today }) =>
    gateway.admin('POST', `/channels/${kind}/statements/pull`, body)

  test.each(kinds)('%s bills what the usage costs: all is matched', async (kind) => {
    // 2,000 tokens at 10 dollars per million; a dated name is the plain one.
    billed = { [`up-${kind}-2026-01-01`]: 0.02, 'up-other': 0 }
    limited = 2
    const { status, body } = await pull(kind)
    expect([status, body.error]).toEqual([201, undefined])
    expect(body).toMatchObject({ channel: kind, currency: 'CNY' })
    expect(body.outcomes.matched).toMatchObject({ amount: '0.142', our_amount: '0.142' })
    expect(body.outcomes.amount_differs.lines).toBe(0)
    const { body: lines } = await gateway.admin('GET', `/statements/${body.id}/lines`)
    expect(lines.items.length).toBeGreaterThan(1)
  })

  test.each(kinds)('%s bills ten percent too much: that is told', async (kind) => {
    billed = { [`up-${kind}`]: 0.022 }
    const { body } = await pull(kind)
    expect(body.outcomes.matched.lines).toBe(0)
    expect(body.outcomes.amount_differs).toMatchObject({ amount: '0.1562', our_amount: '0.142' })
    // With what was used: the price differs, or more was used than here.
    used = 2_000
    const same = (await pull(kind)).body
    used = 2_200
    const more = (await pull(kind)).body
    expect(same.outcomes.amount_differs).toMatchObject({ quantity: 2_000, our_quantity: 2_000 })
    expect(more.outcomes.amount_differs.lines).toBe(0)
    expect(more.outcomes.quantity_differs).toMatchObject({ quantity: 2_200, our_quantity: 2_000 })
    billed = { [`up-${kind}`]: 0.02 }
    expect((await pull(kind)).body.outcomes.matched).toMatchObject({ amount: '0.142' })
    used = undefined
  })

  test('work that no caller pays for costs what it costs, at the channel that did it', async () => {
    for (const model of lossyModels) {
      for (const word of ['case-fine', 'case-failing', 'case-broken']) {
        const messages = [{ role: 'user', content: word }]
        const stream = word !== 'case-fine'
        const given = await gateway.post('/v1/chat/completions', { model, messages, stream })
        const text = await given.text()
        const isServed = model === 'two' || word === 'case-fine'
        expect([model, word, text.includes('"content":"hi"')]).toEqual([model, word, isServed])
      }
    }
    // 2,000 tokens of the answer and 1,000 of the one that broke off.
    billed = { 'up-one': 0.03, 'up-two': 0.03 }
    const { body } = await pull('lossy')
    expect(body.outcomes.matched).toMatchObject({ lines: 2, amount: '0.426', our_amount: '0.426' })
    const asked = `/months/${today.slice(0, 7)}/channels?channel=lossy`
    const [found] = (await gateway.admin('GET', asked)).body.items
    expect(found.explained_by).toMatchObject([{ reason: 'matched', lines: 2, difference: '0.00' }])
    billed = { 'up-one': 0.033, 'up-two': 0.033 }
    const more = (await pull('lossy')).body.outcomes
    expect([more.matched.lines, more.amount_differs.lines]).toEqual([0, 2])
  })

  test('nothing was billed: our usage stands alone', async () => {
    billed = {}
    const { status, body } = await pull('openai')
    expect([status, body.lines, body.outcomes.gateway_only.lines]).toEqual([201, 0, 1])
  })

  test('limits that do not end, wrong keys and wrong periods are refused, and nothing is kept', async () => {
    const before = (await gateway.admin('GET', '/statements')).body.items.length
    limited = 100
    expect((await pull('openai')).body.error.code).toBe('upstream_rate_limited')
    limited = 0
    for (const body of [
      { from: today },
      { from: '2026-02-30', to: today },
      { from: today, to: '2026-01-01' },
      { from: '2020-01-01', to: today },
      { from: today, to: today, more: 1 },
    ]) {
      expect((await pull('openai', body)).status).toBe(400)
    }
    const made = await gateway.admin('POST', '/channels', {
      name: 'wrong-key',
      keys: ['upk-0123456789'],
      protocols: { chat: upstream.chat },
      models: { 'm-openai': '*' },
      billing: { kind: 'openai', key: 'adm-not-the-right-one', url: fakeUrl },
      priority: -5,
    })
    expect(made.body.billing).toEqual({ kind: 'openai', url: fakeUrl })
    expect(JSON.stringify(made.body)).not.toContain('adm-not')
    expect((await pull('wrong-key')).body.error.code).toBe('upstream_permission_denied')
    // The key stays when something else is changed, is replaced with its object, and goes with null.
    const path = `/channels/${made.body.id}`
    await gateway.admin('PATCH', path, { weight: 2 })
    expect((await pull('wrong-key')).body.error.code).toBe('upstream_permission_denied')
    await gateway.admin('PATCH', path, { billing: { kind: 'openai', key: adminKey, url: fakeUrl } })
    expect((await pull('wrong-key')).status).toBe(201)
    await gateway.admin('PATCH', path, { billing: null })
    expect((await pull('wrong-key')).status).toBe(409)
    expect((await gateway.admin('GET', '/statements')).body.items.length).toBe(before + 1)
  })
})
