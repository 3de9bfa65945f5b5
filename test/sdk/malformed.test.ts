// Answers of a malformed shape from an upstream of the caller's own style, read by the official packages:
// they must not crash, must get all of the answer, and the charge is that of the reported usage.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { GoogleGenAI } from '@google/genai'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { nanos, rowOf } from '../support/read.ts'
import { jsonReply, startUpstream, streamReply, type TestUpstream } from '../support/upstream.ts'
import { packages as anthropicPackages } from './anthropic-client.ts'
import { packages as openaiPackages, says } from './openai-client.ts'

type Json = Record<string, unknown>

let upstream: TestUpstream
let gateway: TestGateway
let reply: () => Response

/** With the upstream's own name, and with another one. */
const models = ['up', 'renamed']
const styles = ['chat', 'responses', 'messages', 'generate']

beforeAll(async () => {
  upstream = startUpstream(() => reply())
  const { chat, url } = upstream
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [{ name: 'acme', balance: '1000.00' }],
      tokens: [{ account: 'acme', name: 'test', token: apiToken }],
      channels: models.map((name) => ({
        name,
        keys: ['upk-shape-0123456789'],
        protocols: { chat, responses: chat, messages: url, generate: url },
        models: { [name]: 'up' },
      })),
      models: models.map((name) => ({ name, kind: 'text', interfaces: styles })),
      prices: models.map((model) => ({
        model,
        unit: 'token',
        per_million: { input: '10.00', output: '20.00' },
      })),
    }),
  })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

/** Each event in a packet of its own. */
const stream = (events: readonly (Json | string)[]) => () =>
  streamReply(
    events.map((event) => {
      if (typeof event === 'string') return `data: ${event}\n\n`
      const name = 'type' in event ? `event: ${event['type']}\n` : ''
      return `${name}data: ${JSON.stringify(event)}\n\n`
    }),
  )

async function rowFor({ headers }: Response) {
  return await rowOf(gateway, headers.get('x-request-id') ?? '')
}

describe.each(openaiPackages)('chat by %s', (_, sdk) => {
  const client = () =>
    new sdk.OpenAI({ apiKey: apiToken, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const usage = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 }
  const chunk = (choices: unknown, more: Json = {}): Json => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'up',
    choices,
    ...more,
  })
  const opened = chunk([{ index: 0, delta: { role: 'assistant', content: '' } }])
  const said = (content: string) => chunk([{ index: 0, delta: { content }, finish_reason: null }])
  const callChunks = (...parts: unknown[]) =>
    parts.map((part) => chunk([{ index: 0, delta: { tool_calls: [part] }, finish_reason: null }]))
  const call = (index: number | undefined, id: string, city: string) => [
    { index, id, type: 'function', function: { name: 'weather', arguments: '' } },
    { index, function: { arguments: `{"city":"${city}"}` } },
  ]
  const rome = '{"city":"Rome"}'
  const oslo = '{"city":"Oslo"}'

  const shapes: Record<string, { sent: (Json | string)[]; calls?: string[] }> = {
    'choices: null': { sent: [chunk(null)] },
    'no choices': { sent: [chunk(undefined)] },
    'choices: {}': { sent: [chunk({})] },
    'choices: [null]': { sent: [chunk([null])] },
    'delta: null': { sent: [chunk([{ index: 0, delta: null, finish_reason: null }])] },
    'a choice without index': { sent: [chunk([{ delta: { content: '' }, finish_reason: null }])] },
    'tool_calls: {}': { sent: [chunk([{ index: 0, delta: { tool_calls: {} } }])] },
    'tool_calls: [null]': { sent: callChunks(null), calls: [] },
    'an event that is null': { sent: ['null'] },
    'an event that is not JSON': { sent: ['{"choices":[}'] },
    'calls without index': {
      sent: callChunks(...call(undefined, 'call_1', 'Rome'), ...call(undefined, 'call_2', 'Oslo')),
      calls: [rome, oslo],
    },
    'two calls under one index': {
      sent: callChunks(...call(0, 'call_1', 'Rome'), ...call(0, 'call_2', 'Oslo')),
      calls: [rome, oslo],
    },
    'calls numbered from one': {
      sent: callChunks(...call(1, 'call_1', 'Rome'), ...call(2, 'call_2', 'Oslo')),
      calls: [rome, oslo],
    },
    'a call without type': {
      sent: callChunks({ index: 0, id: 'call_1', function: { name: 'weather', arguments: rome } }),
      calls: [rome],
    },
    'arguments as an object': {
      sent: callChunks({
        index: 0,
        id: 'call_1',
        type: 'function',
        function: { name: 'weather', arguments: { city: 'Rome' } },
      }),
      calls: [rome],
    },
  }

  describe.each(models)('the model %s', (model) => {
    test.each(Object.entries(shapes))('reads a stream with %s', async (_name, { sent, calls }) => {
      const end = chunk([{ index: 0, delta: {}, finish_reason: calls ? 'tool_calls' : 'stop' }])
      const before = [opened, said('H'), said('el'), said('l')]
      reply = stream([...before, ...sent, said('o'), end, chunk([], { usage }), '[DONE]'])
      const read = client().chat.completions.stream({ model, messages: says('hi') })
      const { choices } = await read.finalChatCompletion()
      expect(choices[0]?.message.content).toBe('Hello')
      const made = choices[0]?.message.tool_calls?.map((each) =>
        each.type === 'function' ? each.function.arguments : each.type,
      )
      expect(made ?? []).toEqual(calls ?? [])
    })
  })

  test('reads an answer with a choice without index or message', async () => {
    const choices = [{ message: null, finish_reason: 'stop' }, null]
    reply = () => jsonReply({ id: 'chatcmpl-1', object: 'chat.completion', choices, usage })
    const call = client().chat.completions.create({ model: 'up', messages: says('hi') })
    const { data, response } = await call.withResponse()
    expect(data.choices).toMatchObject([{ index: 0, message: { content: null } }])
    expect(nanos((await rowFor(response)).charge)).toBe(2_000_000n)
  })

  test('reads two calls under one index in a stream that was not asked for', async () => {
    const parts = callChunks(...call(0, 'call_1', 'Rome'), ...call(0, 'call_2', 'Oslo'))
    const end = chunk([{ index: 0, delta: {}, finish_reason: 'tool_calls' }], { usage })
    reply = stream([opened, ...parts, end, '[DONE]'])
    const { choices } = await client().chat.completions.create({
      model: 'up',
      messages: says('hi'),
    })
    expect(choices[0]?.message.tool_calls).toMatchObject([
      { id: 'call_1', function: { arguments: rome } },
      { id: 'call_2', function: { arguments: oslo } },
    ])
  })

  test('an event that was left out is named in the request log', async () => {
    const end = chunk([{ index: 0, delta: {}, finish_reason: 'stop' }])
    reply = stream([opened, said('Hi'), 'no JSON', end, chunk([], { usage }), '[DONE]'])
    const { data, response } = await client()
      .chat.completions.create({ model: 'up', messages: says('hi'), stream: true })
      .withResponse()
    const parts: (string | null | undefined)[] = []
    for await (const { choices } of data) parts.push(choices[0]?.delta.content)
    expect(parts.join('')).toBe('Hi')
    expect(await rowFor(response)).toMatchObject({ translation_losses: ['answer.content'] })
  })
})

describe.each(openaiPackages)('responses by %s', (_, sdk) => {
  const client = () =>
    new sdk.OpenAI({ apiKey: apiToken, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const usage = { input_tokens: 100, output_tokens: 50, total_tokens: 150 }
  const part = { type: 'output_text', text: 'Hello', annotations: [] }
  const item = (content: unknown = [part]): Json => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content,
  })
  const response = (output: unknown, status = 'completed'): Json => ({
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'up',
    status,
    output,
    usage,
  })
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const events = (begun: unknown, added: unknown, done: unknown, last: unknown): Json[] => [
    { type: 'response.created', response: response(begun, 'in_progress') },
    { type: 'response.output_item.added', output_index: 0, item: item(added) },
    { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...place, delta: 'Hello', logprobs: [] },
    { type: 'response.output_text.done', ...place, text: 'Hello', logprobs: [] },
    { type: 'response.content_part.done', ...place, part },
    { type: 'response.output_item.done', output_index: 0, item: item(done) },
    { type: 'response.completed', response: response(last) },
  ]

  describe.each(models)('the model %s', (model) => {
    test.each<[string, Json[]]>([
      ['output: null at the beginning', events(null, [], [part], [item()])],
      ['output: null at the end', events([], [], [part], null)],
      ['no output', events(undefined, [], [part], undefined)],
      ['content: null in an item that begins', events([], null, [part], [item()])],
      ['a part that is null', events([], [], [part, null], [item([part, null]), null])],
    ])('reads a stream with %s', async (_name, sent) => {
      reply = stream(sent)
      const read = client().responses.stream({ model, input: 'hi' })
      expect((await read.finalResponse()).output_text).toBe('Hello')
    })
  })

  test.each<[string, unknown, string]>([
    ['output: null', null, ''],
    ['content: null', [item(null), item()], 'Hello'],
    ['an item that is null', [null, item([null, part])], 'Hello'],
  ])('reads an answer with %s', async (_name, output, text) => {
    reply = () => jsonReply(response(output))
    const { data, response: got } = await client()
      .responses.create({ model: 'up', input: 'hi' })
      .withResponse()
    expect(data.output_text).toBe(text)
    expect(nanos((await rowFor(got)).charge)).toBe(2_000_000n)
  })
})

describe.each(anthropicPackages)('messages by %s', (_, sdk) => {
  const client = () =>
    new sdk.Anthropic({
      apiKey: apiToken,
      authToken: null,
      baseURL: gateway.url,
      maxRetries: 0,
    })
  const asked = { max_tokens: 200, messages: says('hi') }
  const message = (more: Json = {}): Json => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'up',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 1 },
    ...more,
  })
  const used = { usage: { input_tokens: 100, output_tokens: 50 } }
  const events = (begun: Json, ...ends: Json[]): Json[] => [
    { type: 'message_start', message: message(begun) },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
    { type: 'content_block_stop', index: 0 },
    ...ends.map((end) => ({ type: 'message_delta', ...end })),
    { type: 'message_stop' },
  ]
  const delta = { stop_reason: 'end_turn', stop_sequence: null }

  describe.each(models)('the model %s', (model) => {
    test.each<[string, Json[]]>([
      ['content: null', events({ content: null }, { delta, ...used })],
      ['no content', events({ content: undefined }, { delta, ...used })],
      ['usage: null at the beginning', events({ usage: null }, { delta, ...used })],
      ['usage: null behind the usage', events({}, { delta, ...used }, { delta, usage: null })],
      ['no usage behind the usage', events({}, { delta, ...used }, { delta })],
      ['delta: null', events({}, { delta, ...used }, { delta: null, ...used })],
    ])('reads a stream with %s', async (_name, sent) => {
      reply = stream(sent)
      const read = client().messages.stream({ model, ...asked })
      const { content, usage } = await read.finalMessage()
      expect(content).toMatchObject([{ type: 'text', text: 'Hello' }])
      expect(usage.output_tokens).toBe(50)
      const row = await rowFor((await read.withResponse()).response)
      expect(nanos(row.charge)).toBe(2_000_000n)
    })
  })

  test('a stream without usage is charged by the gateway’s own count', async () => {
    reply = stream(events({ usage: null }, { delta, usage: null }))
    const read = client().messages.stream({ model: 'up', ...asked })
    expect((await read.finalMessage()).content).toHaveLength(1)
    const row = await rowFor((await read.withResponse()).response)
    expect(row).toMatchObject({ estimated: true })
    expect(nanos(row.charge)).toBeGreaterThan(0n)
  })

  test.each<[string, unknown, number]>([
    ['content: null', null, 0],
    ['a block that is null', [null, { type: 'text', text: 'Hello' }], 1],
  ])('reads an answer with %s', async (_name, content, blocks) => {
    reply = () => jsonReply(message({ content, stop_reason: 'end_turn', ...used }))
    const { data, response } = await client()
      .messages.create({ model: 'up', ...asked })
      .withResponse()
    expect(data.content).toHaveLength(blocks)
    expect(nanos((await rowFor(response)).charge)).toBe(2_000_000n)
  })
})

describe('generate by @google/genai', () => {
  const client = () =>
    new GoogleGenAI({ apiKey: apiToken, httpOptions: { baseUrl: `${gateway.url}/vendorg` } })
  const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 50 }
  const answer = (parts: unknown, more: Json = {}): Json => ({
    candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
    modelVersion: 'up',
    usageMetadata,
  })
  const end = { finishReason: 'STOP' }

  test.each(models)('a conversation with %s goes on behind parts: null', async (model) => {
    reply = stream([answer([{ text: 'Hello' }]), answer(null, end)])
    const talk = client().chats.create({ model })
    let text = ''
    for await (const chunk of await talk.sendMessageStream({ message: 'hi' })) {
      text += chunk.text ?? ''
    }
    expect(text).toBe('Hello')
  })

  test.each(models)('an answer of %s with a part that is null is read', async (model) => {
    reply = () => jsonReply(answer([null, { text: 'Hello' }], end))
    const { text } = await client().models.generateContent({ model, contents: 'hi' })
    expect(text).toBe('Hello')
  })
})
