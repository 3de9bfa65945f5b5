// A channel with several protocols whose upstream has the paths of only some of them: the call goes on by
// another protocol of the same channel, unless another channel speaks the caller's style.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { errorOf, rowOf } from '../support/read.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

const nativeToken = 'sk-native-0123456789abcdefghijklmnop'
const usage = { prompt_tokens: 9, completion_tokens: 3 }
const response = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output: [{ type: 'message', id: 'm', content: [{ type: 'output_text', text: 'Native.' }] }],
  usage: { input_tokens: 9, output_tokens: 3 },
}

let partial: TestUpstream
let whole: TestUpstream
let gateway: TestGateway

beforeAll(async () => {
  partial = startUpstream(({ path }) =>
    path === '/v1/chat/completions'
      ? jsonReply(completion(usage))
      : new Response('404 page not found', { status: 404 }),
  )
  whole = startUpstream(() => jsonReply(response))
  const keys = ['upk-paths-0123456789abcdef']
  const claims = (upstream: TestUpstream) => ({
    messages: upstream.url,
    responses: upstream.chat,
    chat: upstream.chat,
  })
  const models = ['alone', 'off', 'beside']
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [{ name: 'acme', balance: '100.00' }],
      tokens: [
        { account: 'acme', name: 'test', token: apiToken },
        { account: 'acme', name: 'native', token: nativeToken, translation: 'off' },
      ],
      channels: [
        { name: 'alone', keys, protocols: claims(partial), models: { alone: '*' } },
        { name: 'off', keys, protocols: claims(partial), models: { off: '*' }, translation: 'off' },
        { name: 'first', keys, protocols: claims(partial), models: { beside: '*' }, priority: 9 },
        { name: 'second', keys, protocols: { responses: whole.chat }, models: { beside: '*' } },
      ],
      models: models.map((name) => ({ name, kind: 'text', interfaces: ['responses', 'chat'] })),
      prices: models.map((model) => ({
        model,
        unit: 'token',
        per_million: { input: '1.00', output: '2.00' },
      })),
    }),
  })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await partial.stop()
  await whole.stop()
})

const ask = (model: string, token = apiToken) =>
  gateway.post('/v1/responses', { model, input: 'Hello' }, { authorization: `Bearer ${token}` })

const attemptsOf = async (answer: Response) =>
  (await rowOf(gateway, answer.headers.get('x-request-id')!)).attempts.map(
    ({ channel, status }) => `${channel} ${status}`,
  )

test('a call goes on by another protocol of its channel, and the next one begins there', async () => {
  const first = await ask('alone')
  expect([first.status, first.headers.get('x-gateway-translation')]).toEqual([
    200,
    'responses>chat',
  ])
  expect(await first.text()).toContain('Hello there.')
  // The path of chat is tried where the others are missing, and no key is blamed.
  expect(await attemptsOf(first)).toEqual(['alone 404', 'alone 404', 'alone 200'])
  const second = await ask('alone')
  expect(second.status).toBe(200)
  expect(await attemptsOf(second)).toEqual(['alone 200'])
})

test.each([
  ['the token', 'alone', nativeToken],
  ['the channel', 'off', apiToken],
])('a call that may not be translated fails (%s)', async (_, model, token) => {
  const answer = await ask(model, token)
  expect([answer.status, (await errorOf(answer)).code]).toEqual([502, 'upstream_error'])
  expect(partial.calls.at(-1)?.path).toBe('/v1/responses')
})

test('another channel that speaks the style comes first', async () => {
  const answer = await ask('beside')
  expect([answer.status, answer.headers.get('x-gateway-translation')]).toEqual([200, null])
  expect(await answer.text()).toContain('Native.')
  expect(await attemptsOf(answer)).toEqual(['first 404', 'second 200'])
})

test('a list as input arrives whole wherever the call ends', async () => {
  const input = [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'First.' }] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Second.' }] },
    { role: 'user', content: 'Third.' },
  ]
  const ends = async (model: string, upstream: TestUpstream) => {
    const answer = await gateway.post('/v1/responses', { model, input })
    expect(answer.status).toBe(200)
    return JSON.parse(upstream.calls.at(-1)!.body)
  }
  expect(await ends('beside', whole)).toMatchObject({ input })
  expect((await ends('alone', partial)).messages).toMatchObject([
    { role: 'user', content: 'First.' },
    { role: 'assistant', content: 'Second.' },
    { role: 'user', content: 'Third.' },
  ])
})
