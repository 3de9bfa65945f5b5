// Attempts to be served cheaper than the price says, by fields, service tiers, caches, times and endings, in all four
// text styles. Each is either refused with nothing sent, or charged for what the upstream says that it did.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import {
  requests,
  type Style,
  startPricedUpstream,
  styles,
  type Told,
} from '../support/priced-upstream.ts'
import { chargeOf, requestIdOf, until } from '../support/read.ts'

const upstream = startPricedUpstream()
const rates = {
  input: '1',
  output: '10',
  cache_read: '0.1',
  cache_write: '1.25',
  input_audio: '3',
  output_audio: '50',
}
const price = {
  unit: 'token',
  per_million: rates,
  service_tiers: {
    priority: { factor: '2' },
    flex: { factor: '0.5' },
    batch: { factor: '0.5' },
  },
}
const sized = {
  unit: 'token',
  tiers: [
    { up_to: 1_000, per_million: { input: '1', output: '10' } },
    { per_million: { input: '2', output: '20' } },
  ],
}
const config = {
  accounts: [{ name: 'acme', balance: '1000' }],
  tokens: [{ account: 'acme', name: 'test', token: apiToken }],
  models: styles.flatMap((style) =>
    ['m', 'sized', 'plain'].map((name) => ({
      name: `${name}-${style}`,
      kind: 'text',
      interfaces: [style],
      context_window: 100_000,
      max_output_tokens: 10_000,
    })),
  ),
  prices: styles.flatMap((style) => [
    { model: `m-${style}`, ...price },
    { model: `sized-${style}`, ...sized },
    { model: `plain-${style}`, unit: 'token', per_million: rates },
  ]),
  channels: styles.map((style) => ({
    name: `up-${style}`,
    keys: ['upk-0123456789'],
    protocols: { [style]: upstream.protocols[style] },
    models: Object.fromEntries(['m', 'sized', 'plain'].map((name) => [`${name}-${style}`, '*'])),
  })),
}
let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({ config: JSON.stringify(config) })
})
afterAll(async () => {
  const { body } = await gateway.admin('POST', '/audit')
  expect(body.findings ?? []).toEqual([])
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

const used: Told = { input: 1_000, output: 100 }
const field: Readonly<Record<Style, string>> = {
  chat: 'service_tier',
  responses: 'service_tier',
  messages: 'service_tier',
  generate: 'serviceTier',
}

interface Attempt {
  what: string
  style: Style
  model?: string
  told?: Told
  fields?: object
  headers?: Record<string, string>
  stream?: boolean
  /** Text of the body; `{}` is where the fields of the request go. */
  raw?: (fields: string) => string
  /** In millionths; absent: refused, and nothing is sent. */
  costs?: number
}

const refused: readonly (readonly [string, (style: Style) => object])[] = [
  ['another case', (style) => ({ [field[style]]: 'Flex ' })],
  ['a list', (style) => ({ [field[style]]: ['flex'] })],
  ['an object', (style) => ({ [field[style]]: { name: 'flex' } })],
  ['a number', (style) => ({ [field[style]]: 0 })],
  ['a name of an object’s own', (style) => ({ [field[style]]: 'constructor' })],
  ['the tier of batches', (style) => ({ [field[style]]: 'batch' })],
  ['a tier of nobody', (style) => ({ [field[style]]: 'free' })],
  ['a look-alike', (style) => ({ [field[style]]: 'ﬂex' })],
  ['the field in another case', (style) => ({ [field[style].toUpperCase()]: 'flex' })],
]

const served: readonly (readonly [string, (style: Style) => Partial<Attempt>])[] = [
  [
    'asks for flex and gets priority',
    (style) => ({
      fields: { [field[style]]: 'flex' },
      told: { ...used, tier: 'priority' },
      costs: 4_000,
    }),
  ],
  [
    'asks for flex and gets the plain one',
    (style) => ({
      fields: { [field[style]]: 'flex' },
      told: { ...used, tier: 'standard' },
      costs: 2_000,
    }),
  ],
  [
    'asks for flex and gets one that the price does not have',
    (style) => ({
      fields: { [field[style]]: 'flex' },
      told: { ...used, tier: 'scale' },
      costs: 2_000,
    }),
  ],
  [
    'asks for nothing and gets priority',
    () => ({ told: { ...used, tier: 'priority' }, costs: 4_000 }),
  ],
  [
    'asks for priority of an upstream that says nothing',
    (style) => ({
      fields: { [field[style]]: 'priority' },
      told: { ...used, tier: null },
      costs: 4_000,
    }),
  ],
  [
    'asks for auto and gets priority',
    (style) => ({
      fields: { [field[style]]: 'auto' },
      told: { ...used, tier: 'priority' },
      costs: 4_000,
    }),
  ],
  [
    'takes a stream of priority',
    () => ({ stream: true, told: { ...used, tier: 'priority' }, costs: 4_000 }),
  ],
  [
    'is one token above a size',
    (style) => ({
      model: `sized-${style}`,
      told: { input: 1_001, output: 100 },
      costs: 2_002 + 2_000,
    }),
  ],
  [
    'hides its size in a cache',
    (style) => ({
      model: `sized-${style}`,
      told: { input: 1_001, read: 1_000, output: 100 },
      costs: 2_002 + 2_000,
    }),
  ],
  [
    'has more read from a cache than there is',
    (style) => ({
      told: { input: 1_000, read: style === 'messages' ? 1_000 : 5_000, output: 100 },
      costs: 100 + 1_000,
    }),
  ],
  [
    'says when it was sent',
    () => ({
      headers: { date: 'Sun, 01 Jan 2023 00:00:00 GMT', 'x-request-start': '0' },
      costs: 2_000,
    }),
  ],
  [
    'names tiers in headers',
    () => ({
      headers: {
        'x-gemini-service-tier': 'flex',
        'x-vertex-ai-llm-shared-request-type': 'flex',
        'x-amzn-bedrock-service-tier': 'flex',
        'service-tier': 'flex',
      },
      costs: 2_000,
    }),
  ],
]

const attempts: readonly Attempt[] = [
  ...styles.flatMap((style) =>
    refused.map(([what, fields]) => ({ what: `${what} as a tier`, style, fields: fields(style) })),
  ),
  ...styles.map((style) => ({
    what: 'a tier of a price without tiers',
    style,
    model: `plain-${style}`,
    fields: { [field[style]]: 'flex' },
  })),
  ...styles.map((style) => ({
    what: 'the tier twice',
    style,
    raw: (fields: string) =>
      `{"${field[style]}":"priority",${fields.slice(1, -1)},"${field[style]}":"flex"}`,
  })),
  ...styles.flatMap((style) => served.map(([what, more]) => ({ what, style, ...more(style) }))),
  ...['flex', 'priority'].flatMap((tier): Attempt[] =>
    [
      { service_tier: tier, speed: 'fast' },
      { speed: 'fast', service_tier: tier },
    ].map((fields) => ({ what: `two tiers at once, ${tier}`, style: 'messages', fields })),
  ),
  { what: 'speed of another kind', style: 'messages', fields: { speed: 'slow' } },
  {
    what: 'a place that the price does not have',
    style: 'messages',
    fields: { inference_geo: 'moon' },
  },
  {
    what: 'fast, and only priority has a price',
    style: 'messages',
    fields: { speed: 'fast' },
    told: { ...used, speed: 'fast' },
    costs: 4_000,
  },
  {
    what: 'fast that turned out standard, and its tier is priority',
    style: 'messages',
    fields: { speed: 'fast' },
    told: { ...used, speed: 'standard', tier: 'priority' },
    costs: 4_000,
  },
  {
    what: 'an hour of cache as five minutes',
    style: 'messages',
    told: { input: 1_000, written: 500, hour: 500, output: 100 },
    costs: 500 + 1_000 + 1_000,
  },
  {
    what: 'an hour of cache in a chat call',
    style: 'chat',
    told: { input: 1_000, written: 500, hour: 500, output: 100 },
    costs: 500 + 1_000 + 1_000,
  },
  {
    what: 'passes beside the top level',
    style: 'messages',
    fields: { context_management: { edits: [{ type: 'compact_20260112' }] } },
    told: {
      input: 10,
      output: 1,
      iterations: [
        { type: 'compaction', input_tokens: 1_000, output_tokens: 50 },
        { type: 'message', input_tokens: 10, output_tokens: 1 },
      ],
    },
    costs: 1_010 + 510,
  },
  {
    what: 'sound as text',
    style: 'chat',
    told: { input: 1_000, audioIn: 1_000, output: 100, audioOut: 100 },
    costs: 3_000 + 5_000,
  },
  {
    what: 'sound as text',
    style: 'generate',
    told: { input: 1_000, audioIn: 1_000, output: 100, audioOut: 100 },
    costs: 3_000 + 5_000,
  },
  {
    what: 'a stream without its usage',
    style: 'chat',
    stream: true,
    fields: { stream_options: { include_usage: false } },
    told: used,
    costs: 2_000,
  },
  { what: 'a search without a price', style: 'chat', fields: { web_search_options: {} } },
  {
    what: 'a search without a price',
    style: 'messages',
    fields: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
  },
  {
    what: 'a search without a price',
    style: 'responses',
    fields: { tools: [{ type: 'web_search' }] },
  },
  {
    what: 'a search without a price',
    style: 'generate',
    fields: { tools: [{ googleSearch: {} }] },
  },
  { what: 'work in the background', style: 'chat', fields: { deferred: true } },
]

let cases = 0

test('there are at least sixty', () => {
  expect(attempts.length).toBeGreaterThan(60)
})

describe.each([...styles])('a caller of %s', (style) => {
  const own = attempts.filter((each) => each.style === style)
  test.each(own.map((each) => [each.what, each] as const))('%s', async (_what, attempt) => {
    const { model = `m-${style}`, told = used, fields = {}, headers = {}, stream = false } = attempt
    const word = `case-${++cases}-x`
    upstream.tell(word, told)
    const before = upstream.calls.length
    const { path, body } = requests[style](model, word, stream)
    const text = JSON.stringify({ ...body, ...fields })
    const answer = await gateway.post(path, attempt.raw?.(text) ?? text, headers)
    const answered = await answer.text()
    if (attempt.costs === undefined) {
      expect([answer.status, answered]).toEqual([400, expect.any(String)])
      expect(upstream.calls.length).toBe(before)
      return
    }
    expect([answer.status, answered]).toEqual([200, expect.stringContaining('hi')])
    const charge = await chargeOf(gateway, requestIdOf(answer))
    expect(Number(charge?.amount)).toBeCloseTo(-attempt.costs / 1e6, 12)
    const sent = upstream.calls.at(-1)!.headers
    for (const name of Object.keys(headers)) {
      if (name !== 'date') expect([name, sent.get(name)]).toEqual([name, null])
    }
  })

  test('who leaves a stream of priority pays for it', async () => {
    const word = `case-${++cases}-x`
    upstream.tell(word, { ...used, tier: 'priority' })
    const { path, body } = requests[style](`m-${style}`, word, true)
    const answer = await gateway.post(path, body)
    await answer.body!.getReader().cancel()
    const id = requestIdOf(answer)
    const charge = await until('the charge', () => chargeOf(gateway, id))
    expect(charge.amount).toBe('-0.004')
  })
})
