// How many tokens an input has, asked in every style that has such a question, over upstreams of every
// style: asked of the upstream where it can count, translated if need be, else estimated and marked. Free.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { accountOf, errorOf, requestIdOf, rowOf } from '../support/read.ts'
import { jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'
import { type Style, styles } from './upstream-errors.ts'

const askers = ['responses', 'messages', 'generate'] as const
type Asker = (typeof askers)[number]
const strictToken = 'sk-strict-0123456789abcdefghijklmnop'
const nativeToken = 'sk-native-0123456789abcdefghijklmnop'

let upstream: TestUpstream
let gateway: TestGateway

const replies: Record<string, object> = {
  '/v1/responses/input_tokens': { object: 'response.input_tokens', input_tokens: 4242 },
  '/v1/messages/count_tokens': { input_tokens: 4242 },
  '/v1beta/models/up:countTokens': { totalTokens: 4242 },
}

beforeAll(async () => {
  upstream = startUpstream(({ path }) =>
    replies[path] === undefined
      ? jsonReply({ error: { message: 'no such path' } }, { status: 404 })
      : jsonReply(replies[path]),
  )
  const base = (over: Style) =>
    over === 'chat' || over === 'responses' ? `${upstream.url}/v1` : upstream.url
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [{ name: 'acme', balance: '100.00' }],
      tokens: [
        { account: 'acme', name: 'test', token: apiToken },
        { account: 'acme', name: 'strict', token: strictToken, translation: 'strict' },
        { account: 'acme', name: 'native', token: nativeToken, translation: 'off' },
      ],
      channels: styles.map((over) => ({
        name: `only-${over}`,
        keys: ['upk-counts-0123456789abcdef'],
        protocols: { [over]: base(over) },
        models: { [`over-${over}`]: 'up' },
      })),
      models: styles.map((over) => ({ name: `over-${over}`, kind: 'text', interfaces: [over] })),
      prices: styles.map((over) => ({
        model: `over-${over}`,
        unit: 'token',
        per_million: { input: '1.00', output: '2.00' },
      })),
    }),
  })
})

afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const text = 'How long is this?'
const schema = { type: 'object', properties: { city: { type: 'string' } } }

const questions: Record<Asker, (model: string) => [path: string, body: object, field: string]> = {
  responses: (model) => [
    '/v1/responses/input_tokens',
    {
      model,
      instructions: 'Be brief.',
      input: text,
      tools: [{ type: 'function', name: 'weather', parameters: schema, strict: false }],
    },
    'input_tokens',
  ],
  messages: (model) => [
    '/v1/messages/count_tokens',
    {
      model,
      system: 'Be brief.',
      messages: [{ role: 'user', content: text }],
      tools: [{ name: 'weather', input_schema: schema }],
    },
    'input_tokens',
  ],
  generate: (model) => [
    `/vendorg/v1beta/models/${model}:countTokens`,
    {
      generateContentRequest: {
        model: `models/${model}`,
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [{ role: 'user', parts: [{ text }] }],
        tools: [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: schema }] }],
      },
    },
    'totalTokens',
  ],
}

/** What a question of the upstream's style may have. */
const allowed: Record<Asker, readonly string[]> = {
  responses: ['model', 'input', 'instructions', 'tools', 'tool_choice', 'reasoning', 'text'],
  messages: ['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking'],
  generate: ['generateContentRequest'],
}

describe.each(askers)('%s', (style) => {
  test.each(styles)('over %s', async (over) => {
    upstream.calls.length = 0
    const [path, body, field] = questions[style](`over-${over}`)
    const response = await gateway.post(path, body)
    const answer = (await response.json()) as Record<string, unknown>
    const isCounted = over !== 'chat'
    expect([
      response.status,
      response.headers.get('x-gateway-estimated'),
      response.headers.get('x-gateway-translation'),
      isCounted ? answer[field] : undefined,
    ]).toEqual([
      200,
      isCounted ? null : 'true',
      isCounted && over !== style ? `${style}>${over}` : null,
      isCounted ? 4242 : undefined,
    ])
    expect(answer[field]).toBeGreaterThan(0)
    expect(upstream.calls.length).toBe(isCounted ? 1 : 0)
    const [sent] = upstream.calls
    if (sent !== undefined) {
      const { body: asked } = sent
      expect([
        asked.includes(text),
        asked.includes('Be brief.'),
        asked.includes('weather'),
      ]).toEqual([true, true, true])
      const names = Object.keys(JSON.parse(asked) as object)
      if (over !== style) expect(allowed[over as Asker]).toEqual(expect.arrayContaining(names))
      // Nothing is added that would be counted.
      else expect(asked).toBe(JSON.stringify(body).replace(`over-${over}`, 'up'))
    }
    const row = await rowOf(gateway, requestIdOf(response))
    expect(row).toMatchObject({ interface: style, status: 200 })
  })

  test('of an unknown model is refused as a call is', async () => {
    const [path, body] = questions[style]('no-such-model')
    const response = await gateway.post(path, body)
    expect([response.status, (await errorOf(response)).code]).toEqual([404, 'model_not_found'])
  })

  test('is refused where the token allows no translation', async () => {
    const [path, body] = questions[style]('over-chat')
    const as = (token: string) => gateway.post(path, body, { authorization: `Bearer ${token}` })
    expect((await as(nativeToken)).status).toBe(400)
    expect((await as(strictToken)).status).toBe(200)
  })
})

test('an id that this gateway did not issue is not counted', async () => {
  const body = { model: 'over-responses', input: text, previous_response_id: 'resp_of_another' }
  const response = await gateway.post('/v1/responses/input_tokens', body)
  expect(response.status).toBe(404)
})

test('no count was charged', async () => {
  expect(await accountOf(gateway)).toMatchObject({ balance: '100.00', held: '0.00' })
})
