// Text calls against upstreams that lie and callers that try to pay less: what is held bounds what
// is owed, what is charged is what was delivered, and nothing that has no price is served.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { listAll, type RequestRow, until } from '../support/read.ts'
import {
  asEvents,
  type Captured,
  completion,
  finishChunk,
  jsonReply,
  startUpstream,
  streamReply,
  type TestUpstream,
  textChunk,
  usageChunk,
} from '../support/upstream.ts'

let gateway: TestGateway
let upstream: TestUpstream
/** What the upstream answers to the next calls. */
let reply: (call: Captured) => Response

beforeAll(async () => {
  upstream = startUpstream((call) => reply(call))
  gateway = await startGateway({
    config: `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: sk-test-0123456789abcdefghijklmnop }]
models:
  - { name: up-and-down, kind: text, interfaces: [chat], max_output_tokens: 100 }
  - { name: free, kind: text, interfaces: [chat] }
prices:
  - model: up-and-down
    unit: token
    tiers:
      - { up_to: 100, per_million: { input: "100.00", output: "1.00" } }
      - { up_to: 1000000, per_million: { input: "1.00", output: "1.00", cache_read: "2.00" } }
  - { model: free, unit: token, per_million: { input: "0", output: "0" } }
channels:
  - name: liar
    keys: [upstream-key-0123456789]
    protocols:
      chat: ${upstream.url}/v1
      responses: ${upstream.url}/v1
      messages: ${upstream.url}
      embeddings: ${upstream.url}/v1
    models: { "*": "*" }
    timeouts: { first_byte: 2s, idle: 2s, total: 3s }
`,
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

let made = 0
async function newAccount(balance: string) {
  const name = `account-${++made}`
  await gateway.admin('POST', '/accounts', { name, balance })
  const { body } = await gateway.admin('POST', '/tokens', { account: name, name: 'x' })
  const post = (path: string, fields: object) =>
    fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': body.token as string, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'txta-plus', ...fields }),
    })
  const row = () =>
    until('a row in the log', async () => {
      const rows = await listAll<RequestRow>(gateway, `/requests?account=${name}`)
      return rows[0]
    })
  const now = async () => (await gateway.admin('GET', `/accounts/${name}`)).body
  return { name, post, row, now }
}

const say = (content: unknown, more: object = {}) => ({
  messages: [{ role: 'user', content }],
  ...more,
})
const answerWith = (usage: object) => () => jsonReply(completion(usage as never, 'txta-plus'))
const errorOf = async (response: Response) =>
  ((await response.json()) as { error: { code: string; param: string; message: string } }).error

describe('a hold', () => {
  const video = [{ type: 'video_url', video_url: { url: 'https://media.example/v.mp4' } }]

  test('covers the whole window when the size of the input cannot be seen', async () => {
    reply = answerWith({ prompt_tokens: 900_000, completion_tokens: 1 })
    const account = await newAccount('1.50')
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        account.post('/v1/chat/completions', say(video, { max_tokens: 1 })),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 402)).toHaveLength(49)
    expect((await account.now()).balance).toBe('0.779998')
    const losses = await gateway.admin('GET', `/losses?account=${account.name}`)
    expect(losses.body.items).toEqual([])
  })

  test('covers every answer of a call that sets no bound', async () => {
    const account = await newAccount('0.10')
    const refused = await account.post('/v1/chat/completions', say('hi', { n: 128 }))
    expect(refused.status).toBe(402)
    const { message } = await errorOf(refused)
    expect(message).toContain("set 'max_tokens'")
    reply = answerWith({ prompt_tokens: 5, completion_tokens: 128 })
    const bounded = say('hi', { n: 128, max_tokens: 1 })
    expect((await account.post('/v1/chat/completions', bounded)).status).toBe(200)
  })

  test('goes by the larger of two bounds', async () => {
    const account = await newAccount('0.01')
    const two = say('hi', { max_completion_tokens: 1, max_tokens: 8_000 })
    expect((await account.post('/v1/chat/completions', two)).status).toBe(402)
  })

  test('is never less than the charge, whatever the upstream does within the bounds', async () => {
    const ways = [
      { prompt_tokens: 0, completion_tokens: 100 },
      { prompt_tokens: 90, completion_tokens: 100 },
      { prompt_tokens: 190, completion_tokens: 100, cached_tokens: 190 },
    ]
    for (const usage of ways) {
      let heldThen = ''
      const account = await newAccount('1.00')
      reply = answerWith(usage)
      const answered = await account.post('/v1/chat/completions', {
        ...say('x'.repeat(60)),
        model: 'up-and-down',
      })
      expect(answered.status).toBe(200)
      heldThen = (await account.now()).held
      expect(heldThen).toBe('0.00')
    }
    // 100 tokens in the dear tier, and 100 of output: 0.0101, which is more than all of it costs
    // in the tier that its whole size falls in.
    const account = await newAccount('0.0100')
    const refused = await account.post('/v1/chat/completions', {
      ...say('x'.repeat(60)),
      model: 'up-and-down',
    })
    expect(refused.status).toBe(402)
  })

  test('is nothing for a model that costs nothing, even with nothing in the account', async () => {
    reply = answerWith({ prompt_tokens: 5, completion_tokens: 5 })
    const account = await newAccount('0')
    const answered = await account.post('/v1/chat/completions', { ...say('hi'), model: 'free' })
    expect(answered.status).toBe(200)
  })
})

describe('usage', () => {
  test.each<[string, object, string]>([
    ['in the other spelling', { input_tokens: 100_000, output_tokens: 1_000 }, '0.082'],
    [
      'with written tokens in their new name',
      {
        prompt_tokens: 100_000,
        completion_tokens: 0,
        prompt_tokens_details: { cache_write_tokens: 100_000 },
      },
      '0.10',
    ],
    [
      'with more cached and written than sent',
      {
        prompt_tokens: 100_000,
        completion_tokens: 0,
        prompt_tokens_details: { cached_tokens: 60_000, cache_write_tokens: 60_000 },
      },
      '0.0448',
    ],
  ])('%s is read', async (_, usage, charge) => {
    for (const stream of [false, true]) {
      reply = stream
        ? () =>
            streamReply([asEvents([textChunk('hi'), finishChunk(), usageChunk(usage), '[DONE]'])])
        : answerWith(usage)
      const account = await newAccount('1.00')
      const answered = await account.post(
        '/v1/chat/completions',
        say('hi', { stream, max_tokens: 1_000 }),
      )
      await answered.text()
      expect(await account.row()).toMatchObject({ charge, estimated: false })
    }
  })

  test('of one side is used, and the other side is counted', async () => {
    reply = answerWith({ prompt_tokens: 100_000 })
    const account = await newAccount('1.00')
    await account.post('/v1/chat/completions', say('hi', { max_tokens: 50 }))
    const { usage, estimated } = await account.row()
    expect(estimated).toBe(true)
    expect(usage).toMatchObject({ input_tokens: 100_000, output_tokens: 3 })
  })

  test('above what the request allows is charged at that, and an alert is raised', async () => {
    reply = answerWith({ prompt_tokens: 1e9, completion_tokens: 1e8 })
    const account = await newAccount('5.00')
    const answered = await account.post('/v1/chat/completions', say('hi', { max_tokens: 5 }))
    expect(answered.status).toBe(200)
    // The window of the model at 0.80 for a million, and five tokens at 2.00.
    expect((await account.row()).charge).toBe('0.80001')
    const alerts = await gateway.admin('GET', '/alerts')
    expect(alerts.body.items).toContainEqual(
      expect.objectContaining({ kind: 'implausible_usage', subject: 'liar' }),
    )
  })

  test('above the hold but within the window is charged in full', async () => {
    reply = answerWith({ prompt_tokens: 500_000, completion_tokens: 1 })
    const account = await newAccount('5.00')
    await account.post('/v1/chat/completions', say('hi', { max_tokens: 5 }))
    expect((await account.row()).charge).toBe('0.400002')
  })
})

describe('a stream', () => {
  const words = (count: number) =>
    Array.from({ length: count }, () => asEvents([textChunk('word ')]))
  const end = asEvents([
    finishChunk(),
    usageChunk({ prompt_tokens: 10, completion_tokens: 40 }),
    '[DONE]',
  ])

  test('that goes on is not cut by the total limit, and is charged', async () => {
    reply = () => streamReply([...words(10), end], { pauseMs: 400 })
    const account = await newAccount('1.00')
    const answered = await account.post(
      '/v1/chat/completions',
      say('hi', { stream: true, max_tokens: 64 }),
    )
    const text = await answered.text()
    expect(text).not.toContain('upstream_timeout')
    expect(text.trimEnd().endsWith('[DONE]')).toBe(true)
    expect((await account.row()).charge).toBe('0.000088')
  })

  test('of nothing but comments is cut by it, and is free', async () => {
    reply = () =>
      streamReply([...words(1), ...Array.from({ length: 20 }, () => ': still here\n\n'), end], {
        pauseMs: 300,
      })
    const account = await newAccount('1.00')
    const answered = await account.post(
      '/v1/chat/completions',
      say('hi', { stream: true, max_tokens: 64 }),
    )
    expect(await answered.text()).toContain('upstream_timeout')
    expect((await account.row()).charge).toBe('0.00')
  })
})

describe('what has no price', () => {
  const message = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 }
  test.each<[string, string, object]>([
    ['/v1/responses', 'tools[0].type', { input: 'hi', tools: [{ type: 'web_search' }] }],
    ['/v1/responses', 'service_tier', { input: 'hi', service_tier: 'priority' }],
    ['/v1/chat/completions', 'web_search_options', { ...message, web_search_options: {} }],
    ['/v1/chat/completions', 'modalities', { ...message, modalities: ['audio'] }],
    ['/v1/chat/completions', 'enable_search', { ...message, enable_search: true }],
    ['/v1/messages', 'tools[0].type', { ...message, tools: [{ type: 'web_search_20250305' }] }],
    ['/v1/messages', 'service_tier', { ...message, service_tier: 'priority' }],
    ['/v1/embeddings', 'service_tier', { model: 'txta-embed', input: 'x', service_tier: 'flex' }],
  ])('is refused at %s by its %s', async (path, param, fields) => {
    const asked = upstream.calls.length
    const account = await newAccount('100.00')
    const refused = await account.post(path, fields)
    expect(refused.status).toBe(400)
    expect((await errorOf(refused)).param).toBe(param)
    expect(upstream.calls).toHaveLength(asked)
  })

  test('is not counted either for an account that has nothing', async () => {
    const asked = upstream.calls.length
    const account = await newAccount('0')
    expect((await account.post('/v1/messages/count_tokens', message)).status).toBe(402)
    expect(upstream.calls).toHaveLength(asked)
  })
})
