// Prices with every rate, service tier, place and hour: what an upstream of any style reports is charged to the nano,
// for callers of any style, as JSON and as a stream; and every book tells it alike.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import {
  requests,
  type Style,
  startPricedUpstream,
  styles,
  type Told,
} from '../support/priced-upstream.ts'
import { chargeOf, errorOf, requestIdOf, until } from '../support/read.ts'

const upstream = startPricedUpstream()
const rates = {
  input: '1',
  output: '10',
  cache_read: '0.1',
  cache_write: '1.25',
  cache_write_1h: '2',
  input_audio: '3',
  input_image: '4',
  output_audio: '50',
  output_image: '60',
}
const prices: Record<string, object> = {
  all: { per_million: rates },
  tiered: {
    per_million: { input: '1', output: '10' },
    per_call: { web_search: '0.01' },
    service_tiers: {
      priority: { factor: '2' },
      flex: { per_million: { input: '0.4', output: '5' } },
      batch: { factor: '0.5' },
      turbo: { factor: '3' },
    },
    geo: { us: { factor: '1.1' } },
  },
  both: {
    per_million: { input: '1', output: '10' },
    service_tiers: { priority: { factor: '2' }, fast: { factor: '3' } },
  },
  always: {
    per_million: { input: '1', output: '10' },
    per_call: { web_search: '0.01' },
    service_tiers: { priority: { factor: '2' } },
    hours: [
      { days: ['mon'], from: '00:00', to: '00:00', factor: '3', except: [] },
      { from: '12:00', to: '12:00', zone: 'Asia/Shanghai', factor: '0.5' },
    ],
  },
  cheap: { per_million: { input: '0.1', output: '0.5' } },
}
const names = Object.keys(prices)
const over = (name: string, style: Style): string => `${name}-${style}`
let gateway: TestGateway
beforeAll(async () => {
  const all = names.flatMap((name) => styles.map((style) => [name, style] as const))
  const config = {
    accounts: [{ name: 'acme', balance: '1000' }],
    tokens: [{ account: 'acme', name: 'test', token: apiToken }],
    models: all.map(([name, style]) => ({
      name: over(name, style),
      kind: 'text',
      interfaces: [style],
      context_window: 1_000_000,
      max_output_tokens: 100_000,
    })),
    prices: all.map(([name, style]) => ({
      model: over(name, style),
      unit: 'token',
      ...prices[name],
    })),
    channels: styles.map((style) => ({
      name: `up-${style}`,
      keys: ['upk-0123456789'],
      protocols: { [style]: upstream.protocols[style] },
      models: {
        ...Object.fromEntries(names.map((name) => [over(name, style), '*'])),
        [over('cheap', style)]: `cheap-upstream-${style}`,
      },
    })),
  }
  gateway = await startGateway({ config: JSON.stringify(config) })
})
afterAll(async () => {
  const { body } = await gateway.admin('POST', '/audit')
  expect(body.findings ?? []).toEqual([])
  expect(body.ok).toBe(true)
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

let cases = 0

interface Asked {
  caller: Style
  model: string
  stream?: boolean
  told: Told
  more?: object
}

async function ask({ caller, model, stream = false, told, more = {} }: Asked) {
  const word = `case-${++cases}-x`
  upstream.tell(word, told)
  const { path, body } = requests[caller](model, word, stream)
  const answer = await gateway.post(path, { ...body, ...more })
  return { answer, word, id: requestIdOf(answer) }
}

/** The charge as a positive amount. */
async function chargedFor(asked: Asked): Promise<string | undefined> {
  const { answer, id } = await ask(asked)
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('hi')])
  return (await chargeOf(gateway, id))?.amount.slice(1)
}

const told: Told = {
  input: 1_000,
  output: 100,
  read: 100,
  written: 300,
  hour: 200,
  audioIn: 150,
  imageIn: 50,
  audioOut: 20,
  imageOut: 30,
}
/** In millionths: what each style can tell of it. */
const expected: Record<Style, number> = {
  // input 400 + read 10 + written 125 + hour 400 + sound 450 + images 200 + output 500 + 1,000 + 1,800
  chat: 400 + 10 + 125 + 400 + 450 + 200 + 500 + 1_000 + 1_800,
  responses: 400 + 10 + 125 + 400 + 450 + 200 + 500 + 1_000 + 1_800,
  messages: 600 + 10 + 125 + 400 + 1_000,
  generate: 700 + 10 + 450 + 200 + 500 + 1_000 + 1_800,
}

describe.each(styles)('a caller of %s', (caller) => {
  test.each(styles.flatMap((style) => [false, true].map((stream) => [style, stream] as const)))(
    'pays every rate at an upstream of %s, as a stream: %p',
    async (style, stream) => {
      const charge = await chargedFor({ caller, model: over('all', style), stream, told })
      expect(Number(charge)).toBe(expected[style] / 1e6)
    },
  )
})

test('explain names each part by its rate, and usage shows the parts', async () => {
  const { id } = await ask({ caller: 'chat', model: 'all-chat', told })
  const { body } = await gateway.admin('GET', `/explain/${id}`)
  for (const line of [
    'input: 400 x 1.00 per million = 0.0004',
    'cache_read: 100 x 0.10 per million = 0.00001',
    'cache_write: 100 x 1.25 per million = 0.000125',
    'cache_write_1h: 200 x 2.00 per million = 0.0004',
    'input_audio: 150 x 3.00 per million = 0.00045',
    'input_image: 50 x 4.00 per million = 0.0002',
    'output: 50 x 10.00 per million = 0.0005',
    'output_audio: 20 x 50.00 per million = 0.001',
    'output_image: 30 x 60.00 per million = 0.0018',
  ]) {
    expect(body.steps).toContain(line)
  }
  expect(body).toMatchObject({ service_tier: null, factors: [], charge: '0.004885' })
  expect(body.usage).toMatchObject({ cache_write_1h_tokens: 200, output_image_tokens: 30 })
})

describe('output other than text', () => {
  const sound = { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } }
  const picture = { generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } }
  const speech = {
    generationConfig: { response_modalities: ['AUDIO'], speechConfig: { languageCode: 'en' } },
  }
  const asks = [
    ['chat', 'modalities', sound],
    ['chat', 'modalities', { modalities: ['image', 'text'] }],
    ['generate', 'generationConfig.responseModalities', picture],
    ['generate', 'generationConfig.responseModalities', speech],
  ] as const

  test.each(asks)('is for models of %s with a rate for it: %s, %j', async (caller, param, more) => {
    const model = over('all', caller)
    const charge = await chargedFor({ caller, model, told, more })
    expect(Number(charge)).toBe(expected[caller] / 1e6)
    expect(JSON.parse(upstream.calls.at(-1)!.body)).toMatchObject(more)
    const before = upstream.calls.length
    const { answer } = await ask({ caller, model: over('cheap', caller), told, more })
    expect([answer.status, (await errorOf(answer)).param]).toEqual([400, param])
    expect(upstream.calls.length).toBe(before)
  })

  test.each([
    { modalities: ['text', 'video'] },
    { modalities: 'audio' },
    { modalities: [null] },
    { audio: 'loud' },
  ])('of another kind is refused: %j', async (more) => {
    const { answer } = await ask({ caller: 'chat', model: 'all-chat', told, more })
    expect([answer.status, (await errorOf(answer)).param]).toEqual([400, Object.keys(more)[0]!])
  })

  test('is held at its own rate', async () => {
    const config = { account: 'poor', name: 'poor' }
    await gateway.admin('POST', '/accounts', { name: 'poor', balance: '0.10' })
    const { body } = await gateway.admin('POST', '/tokens', config)
    const own = { authorization: `Bearer ${body.token}` }
    const messages = [{ role: 'user', content: 'case-held' }]
    const plain = { model: 'all-chat', messages, max_tokens: 5_000 }
    upstream.tell('case-held', { input: 5, output: 5 })
    expect((await gateway.post('/v1/chat/completions', plain, own)).status).toBe(200)
    const spoken = await gateway.post('/v1/chat/completions', { ...plain, ...sound }, own)
    expect([spoken.status, (await errorOf(spoken)).code]).toEqual([402, 'insufficient_quota'])
  })
})

test('parts never exceed their whole', async () => {
  const lie = { input: 100, output: 10, audioIn: 9e9, imageIn: 9e9, audioOut: 9e9, imageOut: 5 }
  expect(await chargedFor({ caller: 'chat', model: 'all-chat', told: lie })).toBe('0.0008')
})

describe.each([false, true])('iterations, as a stream: %p,', (stream) => {
  const own = { input_tokens: 1_000, output_tokens: 10 }
  const iterations = [
    { type: 'compaction', input_tokens: 2_000, output_tokens: 20 },
    { type: 'message', model: 'up', ...own },
    {
      type: 'advisor_message',
      model: 'cheap-upstream-messages',
      input_tokens: 5_000,
      output_tokens: 100,
    },
    { type: 'fallback_message', model: 'cheap-messages', input_tokens: 500, output_tokens: 0 },
    { type: 'message', model: 'nobody-prices-this', ...own },
  ]
  test('are summed, each at the price of its model', async () => {
    const { answer, id } = await ask({
      caller: 'messages',
      model: 'all-messages',
      stream,
      told: { ...own, input: 1_000, output: 10, iterations },
      more: { context_management: { edits: [{ type: 'compact_20260112' }] } },
    })
    await answer.text()
    // 4,000 x 1 + 40 x 10 of its own; 5,500 x 0.1 + 100 x 0.5 of the other model
    expect((await chargeOf(gateway, id))?.amount).toBe('-0.005')
    const { body } = await gateway.admin('GET', `/explain/${id}`)
    expect(body.steps).toContain('input: 4000 x 1.00 per million = 0.004')
    expect(body.steps.join('\n')).toContain('cheap-messages input: 5000 x 0.10 per million')
    expect(body.steps.join('\n')).toContain('cheap-messages output: 100 x 0.50 per million')
    expect(body.usage).toMatchObject({ input_tokens: 9_500, output_tokens: 140 })
  })
})

describe('a whole answer to a call for a stream', () => {
  const letters = /x{5,}/g
  test.each([
    ...styles.map((style): [Style, object] => [style, {}]),
    ['chat', { stream_options: { include_usage: true } }],
  ] as const)('has the same events when it is large: %s %j', async (caller, more) => {
    const shown = async (length: number) => {
      const told: Told = { input: 1_000, output: 100, text: 'x'.repeat(length), whole: true }
      const model = over('tiered', caller)
      const { answer, id } = await ask({ caller, model, stream: true, told, more })
      const text = await answer.text()
      expect((await chargeOf(gateway, id))?.amount).toBe('-0.002')
      expect(Math.max(...lengths(text))).toBe(length)
      return text.replaceAll(letters, 'x')
    }
    const lengths = (text: string) => [...text.matchAll(letters)].map(({ 0: run }) => run.length)
    expect(await shown(90_000)).toBe(await shown(100))
  })
})

describe('service tiers', () => {
  const used = { input: 1_000, output: 100 }
  const ways = styles.flatMap((style) => [false, true].map((stream) => [style, stream] as const))

  test.each(ways)('of %s are charged as served, as a stream: %p', async (style, stream) => {
    const model = over('tiered', style)
    const at = (tier: string | null, more: object = {}) =>
      chargedFor({ caller: style, model, stream, told: { ...used, tier }, more })
    const field = style === 'generate' ? 'serviceTier' : 'service_tier'
    // Not asked for, and named by the answer.
    expect(await at('priority')).toBe('0.004')
    // Asked for, and said by nobody.
    expect(await at(null, { [field]: 'flex' })).toBe('0.0009')
    // Asked for, and served by another.
    expect(await at('standard', { [field]: 'priority' })).toBe('0.002')
    expect(await at('flex', { [field]: 'priority' })).toBe('0.0009')
    // Words for the usual one.
    expect(await at('default')).toBe('0.002')
    expect(await at(null, { [field]: 'auto' })).toBe('0.002')
    expect(await at('batch', { [field]: 'auto' })).toBe('0.001')
  })

  const pairs = styles.flatMap((caller) =>
    styles.flatMap((to) => [false, true].map((stream) => [caller, to, stream] as const)),
  )
  test.each(pairs)(
    'are charged as a large answer says, %s over %s, as a stream: %p',
    async (caller, to, stream) => {
      const told: Told = { ...used, tier: 'flex', text: 'hi '.repeat(30_000), whole: true }
      const model = over('tiered', to)
      expect(await chargedFor({ caller, model, stream, told })).toBe('0.0009')
    },
  )

  test('fast and priority are one tier where the price has one, and the asked one where it has both', async () => {
    const fast = { service_tier: 'fast' }
    const at = (model: string, tier: string | null, more: object) =>
      chargedFor({ caller: 'chat', model, told: { ...used, tier }, more })
    expect(await at('tiered-chat', 'priority', fast)).toBe('0.004')
    expect(await at('tiered-chat', null, fast)).toBe('0.004')
    expect(await at('both-chat', 'priority', fast)).toBe('0.006')
    expect(await at('both-chat', 'fast', { service_tier: 'priority' })).toBe('0.004')
    expect(await at('both-chat', 'priority', {})).toBe('0.004')
  })

  test.each([false, true])('speed is a tier of messages, as a stream: %p', async (stream) => {
    const at = (told: Told, more: object = {}) =>
      chargedFor({
        caller: 'messages',
        model: 'both-messages',
        stream,
        told: { ...used, ...told },
        more,
      })
    expect(await at({ speed: 'fast', tier: 'standard' }, { speed: 'fast' })).toBe('0.006')
    expect(await at({ speed: 'standard', tier: 'standard' }, { speed: 'fast' })).toBe('0.002')
    expect(await at({}, { speed: 'fast' })).toBe('0.006')
    expect(await at({ tier: 'priority' })).toBe('0.004')
  })

  test('a tier that the price does not name is refused, and nothing is sent', async () => {
    for (const [caller, field, value] of [
      ['chat', 'service_tier', 'ultrafast'],
      ['responses', 'service_tier', 'Priority'],
      ['messages', 'service_tier', 'constructor'],
      ['messages', 'speed', 'ludicrous'],
      ['messages', 'inference_geo', 'eu'],
      ['chat', 'service_tier', 7],
      ['generate', 'serviceTier', 'ULTRA'],
    ] as const) {
      const before = upstream.calls.length
      const asked = { caller, model: over('tiered', caller), told: used, more: { [field]: value } }
      const { answer } = await ask(asked)
      expect(answer.status).toBe(400)
      expect((await errorOf(answer)).param).toBe(field)
      expect(upstream.calls.length).toBe(before)
    }
    const { answer } = await ask({
      caller: 'chat',
      model: 'all-chat',
      told: used,
      more: { service_tier: 'flex' },
    })
    expect(answer.status).toBe(400)
  })

  test('a tier that only the answer names costs the plain rates and raises an alert', async () => {
    const told = { ...used, tier: 'scale' }
    expect(await chargedFor({ caller: 'chat', model: 'tiered-chat', told })).toBe('0.002')
    const { body } = await gateway.admin('GET', '/alerts?kind=missing_price')
    expect(body.items.map(({ subject }: { subject: string }) => subject)).toContain(
      'tiered-chat scale',
    )
  })

  test.each<[Style, Style, object, object, string]>([
    ['chat', 'responses', { service_tier: 'flex' }, { service_tier: 'flex' }, '0.0009'],
    ['messages', 'chat', { speed: 'fast' }, { service_tier: 'priority' }, '0.004'],
    ['chat', 'messages', { service_tier: 'priority' }, { speed: 'fast' }, '0.004'],
    ['responses', 'generate', { service_tier: 'flex' }, { serviceTier: 'flex' }, '0.0009'],
    ['generate', 'chat', { serviceTier: 'PRIORITY' }, { service_tier: 'priority' }, '0.004'],
    // It has no such tier: the plain one serves.
    ['chat', 'messages', { service_tier: 'flex' }, {}, '0.002'],
    ['responses', 'generate', { service_tier: 'turbo' }, {}, '0.002'],
  ])('from %s to %s they are translated: %p is %p', async (caller, style, asked, sent, amount) => {
    const model = over('tiered', style)
    const { answer, word, id } = await ask({ caller, model, told: used, more: asked })
    await answer.text()
    const { service_tier, speed, serviceTier } = upstream.sent(word)
    const found = { service_tier, speed, serviceTier }
    expect(JSON.parse(JSON.stringify(found))).toEqual(sent)
    expect((await chargeOf(gateway, id))?.amount).toBe(`-${amount}`)
    const lost = answer.headers.get('x-gateway-translation-loss') ?? ''
    expect(lost.includes('service_tier')).toBe(Object.keys(sent).length === 0)
  })

  // As the tools and SDKs send them: their fields and headers go on unchanged, and what is served is charged.
  const beta = 'fast-mode-2026-02-01'
  const codex = {
    ...{ instructions: 'You are Codex.', store: false, parallel_tool_calls: true },
    ...{
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'thread-1',
      tool_choice: 'auto',
    },
  }
  const claudeCode = { system: [{ type: 'text', text: 'You are Claude Code.' }] }
  test.each<[string, Style, string, object, Told, string, string | null]>([
    [
      '/fast of Codex',
      'responses',
      'tiered',
      { ...codex, service_tier: 'priority' },
      { tier: 'priority' },
      '0.004',
      'priority',
    ],
    [
      '/fast of Codex, not granted',
      'responses',
      'tiered',
      { ...codex, service_tier: 'priority' },
      { tier: 'default' },
      '0.002',
      null,
    ],
    [
      'fast of its older versions',
      'responses',
      'tiered',
      { ...codex, service_tier: 'fast' },
      { tier: 'priority' },
      '0.004',
      'priority',
    ],
    [
      'flex of Codex',
      'responses',
      'tiered',
      { ...codex, service_tier: 'flex' },
      { tier: 'flex' },
      '0.0009',
      'flex',
    ],
    [
      '/fast of Claude Code',
      'messages',
      'both',
      { ...claudeCode, speed: 'fast' },
      { speed: 'fast', tier: 'standard' },
      '0.006',
      'fast',
    ],
    [
      '/fast of Claude Code, cooled down',
      'messages',
      'both',
      { ...claudeCode, speed: 'fast' },
      { speed: 'standard', tier: 'standard' },
      '0.002',
      null,
    ],
    [
      'Claude Code without it',
      'messages',
      'both',
      { ...claudeCode, service_tier: 'auto' },
      { speed: 'standard', tier: 'standard' },
      '0.002',
      null,
    ],
    [
      'flex of the OpenAI SDK',
      'chat',
      'tiered',
      { service_tier: 'flex' },
      { tier: 'flex' },
      '0.0009',
      'flex',
    ],
    [
      'priority of the Google SDK',
      'generate',
      'tiered',
      { serviceTier: 'priority' },
      { tier: 'priority' },
      '0.004',
      'priority',
    ],
  ])('%s works unchanged', async (_, style, price, fields, said, amount, tier) => {
    for (const stream of [false, true]) {
      const word = `case-${++cases}-x`
      upstream.tell(word, { ...used, ...said })
      const { path, body } = requests[style](over(price, style), word, stream)
      const answer = await gateway.post(path, { ...body, ...fields }, { 'anthropic-beta': beta })
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('hi')])
      expect(upstream.sent(word)).toMatchObject(fields)
      const { headers } = upstream.calls.findLast((call) => call.body.includes(word))!
      expect(headers.get('anthropic-beta')).toBe(style === 'messages' ? beta : null)
      const { body: row } = await gateway.admin('GET', `/requests/${requestIdOf(answer)}`)
      expect([row.charge, row.service_tier]).toEqual([amount, tier])
    }
  })

  test.each<[Style, Told, boolean, string]>([
    ['chat', { tier: 'flex' }, false, 'flex'],
    ['chat', { tier: 'priority' }, true, 'priority'],
    ['messages', { speed: 'fast', tier: 'standard' }, false, 'priority'],
    ['generate', { tier: 'priority' }, true, 'priority'],
    ['generate', { tier: 'standard' }, false, 'default'],
    ['chat', {}, true, 'default'],
  ])(
    'a response that %s served tells the tier: %p, as a stream: %p',
    async (style, said, stream, tier) => {
      const told = { ...used, ...said }
      const model = over('tiered', style)
      const { answer } = await ask({ caller: 'responses', model, stream, told })
      const text = await answer.text()
      const last = stream ? text.trim().split('data: ').at(-1)! : text
      const body = JSON.parse(last)
      expect((stream ? body.response : body).service_tier).toBe(tier)
    },
  )

  test.each<[Style, string]>([
    ['chat', '-0.0009'],
    ['messages', '-0.002'],
  ])(
    'a tier that %s was not asked for is not charged in the background: %s',
    async (style, all) => {
      const model = over('tiered', style)
      const more = { background: true, service_tier: 'flex' }
      const { answer } = await ask({ caller: 'responses', model, told: used, more })
      const { id } = (await answer.json()) as { id: string }
      const entries = await until('the charge', async () => {
        const { body } = await gateway.admin('GET', '/accounts/acme/ledger?limit=20')
        const own = body.items.filter((entry: { task_id: string }) => entry.task_id === id)
        return own.some(({ kind }: { kind: string }) => kind === 'charge') ? own : undefined
      })
      const { amount } = entries.find(({ kind }: { kind: string }) => kind === 'charge')
      expect(amount).toBe(all)
    },
  )

  test('the place that the answer names multiplies, and tool calls are not multiplied', async () => {
    const told = {
      ...used,
      geo: 'us',
      tier: 'priority',
      more: { server_tool_use: { web_search_requests: 2 } },
    }
    const { answer, id } = await ask({ caller: 'messages', model: 'tiered-messages', told })
    expect(answer.status).toBe(200)
    const { body } = await gateway.admin('GET', `/explain/${id}`)
    expect(body).toMatchObject({
      charge: '0.0244',
      service_tier: 'priority',
      factors: [
        { kind: 'service_tier', name: 'priority', factor: '2' },
        { kind: 'geo', name: 'us', factor: '1.1' },
      ],
    })
  })
})

describe('hours', () => {
  // On Mondays (UTC) the first applies, on all other days the second.
  const times = () => (new Date().getUTCDay() === 1 ? 3 : 0.5)

  test.each(styles)('multiply everything that a price of %s says', async (style) => {
    const before = times()
    const told = {
      input: 1_000,
      output: 100,
      tier: 'priority',
      more: { server_tool_use: { web_search_requests: 1 } },
    }
    const { answer, id } = await ask({ caller: style, model: over('always', style), told })
    await answer.text()
    const calls = style === 'generate' ? 0 : 0.01
    const charge = await chargeOf(gateway, id)
    if (before !== times()) return
    expect(Number(charge?.amount)).toBeCloseTo(-(0.004 + calls) * before, 12)
    const { body } = await gateway.admin('GET', `/explain/${id}`)
    expect(body.factors.map(({ kind }: { kind: string }) => kind)).toEqual([
      'hours',
      'service_tier',
    ])
    expect(Number(body.factors[0].factor)).toBe(before)
    const { body: row } = await gateway.admin('GET', `/requests/${id}`)
    expect([row.service_tier, body.entries[0].service_tier]).toEqual(['priority', 'priority'])
  })

  test('a preview at the terms of today says what was charged', async () => {
    const month = new Date().toISOString().slice(0, 7)
    const { body } = await gateway.admin('POST', '/prices/preview', {
      month,
      prices: names.flatMap((name) =>
        styles.map((style) => ({ model: over(name, style), unit: 'token', ...prices[name] })),
      ),
    })
    expect(
      body.items.filter(({ not_comparable: why }: { not_comparable?: string }) => why),
    ).toEqual([])
    expect(body.total).toMatchObject({ exact: true, difference: '0.00' })
  })

  test.each<[string, object]>([
    ['hours', { hours: [{ from: '24:00', to: '01:00', factor: '1' }] }],
    ['hours', { hours: [{ from: '01:00', to: '02:00', factor: '0' }] }],
    ['hours', { hours: [{ from: '01:00', to: '02:00', factor: '100.1' }] }],
    ['hours', { hours: [{ from: '01:00', to: '02:00', factor: '1', zone: 'Mars/One' }] }],
    ['hours', { hours: [{ from: '01:00', to: '02:00', factor: '1', except: ['2026-02-30'] }] }],
    ['hours', { hours: [{ from: '01:00', to: '02:00', factor: '1', day: ['mon'] }] }],
    ['hours', { hours: Array(17).fill({ from: '01:00', to: '02:00', factor: '1' }) }],
    ['service_tiers', { service_tiers: { Fast: { factor: '1' } } }],
    ['service_tiers', { service_tiers: { fast: {} } }],
    ['service_tiers', { service_tiers: { fast: { factor: '1', per_million: rates } } }],
    ['geo', { geo: { us: { factor: '-1' } } }],
    ['per_million', { per_million: { input: '1', output: '1', cache_write_2h: '1' } }],
  ])('%s that make no sense are refused: %p', async (field, more) => {
    const body = {
      model: 'txta-turbo',
      unit: 'token',
      per_million: { input: '1', output: '1' },
      ...more,
    }
    const { status, body: answer } = await gateway.admin('POST', '/prices', body)
    expect(status).toBe(400)
    expect(answer.error.param).toContain(field)
  })
})
