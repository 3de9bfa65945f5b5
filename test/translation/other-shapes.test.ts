// Bodies of one style on the path of another: on the chat path a responses body is served as a chat
// completion; elsewhere the refusal names the right path.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chatProblems } from '../../src/styles/chat/test-grammar.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { chargeOf, errorOf, requestIdOf } from '../support/read.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

const strictToken = 'sk-strict-0123456789abcdefghijklmnop'
const nativeToken = 'sk-native-0123456789abcdefghijklmnop'

let upstream: TestUpstream
let gateway: TestGateway

const usage = { prompt_tokens: 9, completion_tokens: 3 }
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'tool_use', id: 'toolu_1', name: 'ApplyPatch', input: { input: 'a "b"' } }],
  stop_reason: 'tool_use',
  usage: { input_tokens: 9, output_tokens: 3 },
}
const chunks = [
  { choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' }, finish_reason: null }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { choices: [], usage },
]
const streamed = () =>
  new Response(
    `${chunks
      .map((each) => {
        const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up' }
        return `data: ${JSON.stringify({ ...head, ...each })}\n\n`
      })
      .join('')}data: [DONE]\n\n`,
    { headers: { 'content-type': 'text/event-stream' } },
  )

beforeAll(async () => {
  upstream = startUpstream(({ path, body }) => {
    if (path === '/v1/messages') return jsonReply(message)
    return body.includes('"stream":true') ? streamed() : jsonReply(completion(usage))
  })
  const channel = (name: string, protocol: string, url: string) => ({
    name,
    keys: ['upk-shapes-0123456789abcdef'],
    protocols: { [protocol]: url },
    models: { [`over-${protocol}`]: 'up' },
  })
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [{ name: 'acme', balance: '100.00' }],
      tokens: [
        { account: 'acme', name: 'test', token: apiToken },
        { account: 'acme', name: 'strict', token: strictToken, translation: 'strict' },
        { account: 'acme', name: 'native', token: nativeToken, translation: 'off' },
      ],
      channels: [channel('one', 'chat', upstream.chat), channel('two', 'messages', upstream.url)],
      models: ['chat', 'messages'].map((style) => ({
        name: `over-${style}`,
        kind: 'text',
        interfaces: [style],
      })),
      prices: ['chat', 'messages'].map((style) => ({
        model: `over-${style}`,
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

const path = '/v1/chat/completions'
const items = [
  { role: 'user', content: [{ type: 'input_text', text: 'Patch it.' }] },
  { type: 'function_call', call_id: 'call_1', name: 'read', arguments: '{"at":1}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'the file' },
]
const tools = [
  { type: 'function', name: 'read', parameters: { type: 'object' }, strict: false },
  { type: 'custom', name: 'ApplyPatch', description: 'Applies a patch.' },
]
const body = { model: 'over-chat', instructions: 'Be brief.', input: items, tools }

describe('a responses body on the chat path', () => {
  test('is served as a chat completion', async () => {
    upstream.calls.length = 0
    const answer = await gateway.post(path, { ...body, max_output_tokens: 50 })
    expect([answer.status, answer.headers.get('x-gateway-translation')]).toEqual([
      200,
      'responses>chat',
    ])
    const { choices, model } = (await answer.json()) as ReturnType<typeof completion>
    expect([choices[0]?.message.content, model]).toEqual(['Hello there.', 'over-chat'])
    const sent = JSON.parse(upstream.calls[0]!.body)
    expect(sent).toMatchObject({
      model: 'up',
      max_tokens: 50,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Patch it.' },
        { role: 'assistant', tool_calls: [{ id: 'call_1', function: { arguments: '{"at":1}' } }] },
        { role: 'tool', tool_call_id: 'call_1', content: 'the file' },
      ],
      tools: [
        { type: 'function', function: { name: 'read' } },
        { type: 'custom', custom: { name: 'ApplyPatch' } },
      ],
    })
    expect(Object.keys(sent)).not.toContain('input')
    expect(await chargeOf(gateway, requestIdOf(answer))).toMatchObject({ quantity: 12 })
  })

  test('is streamed as chat chunks', async () => {
    const answer = await gateway.post(path, { ...body, stream: true })
    const text = await answer.text()
    expect([answer.status, chatProblems(text)]).toEqual([200, []])
    expect(text).not.toContain('"usage"')
  })

  test('goes on to upstreams of other styles, and calls of free-form tools come back whole', async () => {
    const answer = await gateway.post(path, { ...body, model: 'over-messages' })
    expect(answer.headers.get('x-gateway-translation')).toBe('chat>messages')
    const { choices } = (await answer.json()) as {
      choices: { message: { tool_calls: object[] } }[]
    }
    expect(choices[0]?.message.tool_calls).toEqual([
      { id: 'toolu_1', type: 'custom', custom: { name: 'ApplyPatch', input: 'a "b"' } },
    ])
  })

  test('says what was lost, and is refused where that is not allowed', async () => {
    const lossy = { ...body, odd_field: 1 }
    const answer = await gateway.post(path, lossy)
    expect(answer.headers.get('x-gateway-translation-loss')).toBe('odd_field')
    const as = (token: string) => gateway.post(path, lossy, { authorization: `Bearer ${token}` })
    const strict = await as(strictToken)
    expect([strict.status, (await errorOf(strict)).param]).toEqual([400, 'odd_field'])
    const off = await as(nativeToken)
    expect([off.status, (await errorOf(off)).code]).toEqual([400, 'model_not_supported'])
  })

  test.each<[object, string]>([
    [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    [{ input: [{ type: 'no_such_item' }] }, 'input[0].type'],
    [{ model: '' }, 'model'],
  ])('with %j is refused for its %s', async (more, param) => {
    const answer = await gateway.post(path, { ...body, ...more })
    expect([answer.status, (await errorOf(answer)).param]).toEqual([400, param])
  })
})

test('a chat body on the responses path, and a responses body on the messages path, are told where they belong', async () => {
  const messages = [{ role: 'user', content: 'x' }]
  const responses = await gateway.post('/v1/responses', { model: 'over-chat', messages })
  const error = await errorOf(responses)
  expect([responses.status, error.param]).toEqual([400, 'messages'])
  expect(error.message).toContain('/v1/chat/completions')
  const other = await gateway.post('/v1/messages', { model: 'm', max_tokens: 1, input: 'x' })
  const told = await errorOf(other)
  expect([other.status, told.param]).toEqual([400, 'input'])
  expect(told.message).toContain('/v1/responses')
})
