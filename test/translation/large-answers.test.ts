// Large answers are read, translated and encoded in a thread: with the same result as small ones, in every pair of
// styles, as JSON and where an upstream answers a request for a stream with JSON.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  modelOver,
  type OneWireStage,
  startOneWire,
  type Wire,
  wires,
} from '../support/one-wire.ts'
import { jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

const short = 'a short text'
const long = 'ein längerer Text '.repeat(4_000)
let text = short

const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }
const call = { name: 'look_up', arguments: '{"a":1}' }

const answers: Readonly<Record<Wire, () => object>> = {
  chat: () => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'txta-plus',
    cost: 0.25,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text,
          tool_calls: [{ id: 'call_1', type: 'function', function: call }],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage,
  }),
  responses: () => ({
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'txta-plus',
    output: [
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text, annotations: [] }],
      },
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', status: 'completed', ...call },
    ],
    usage: { input_tokens: 7, output_tokens: 5, total_tokens: 12 },
  }),
  messages: () => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'txta-plus',
    content: [
      { type: 'text', text },
      { type: 'tool_use', id: 'call_1', name: 'look_up', input: { a: 1 } },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 7, output_tokens: 5 },
  }),
  generate: () => ({
    candidates: [
      {
        content: {
          role: 'model',
          parts: [{ text }, { functionCall: { id: 'call_1', name: 'look_up', args: { a: 1 } } }],
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12 },
    modelVersion: 'txta-plus',
  }),
}

const said = [{ role: 'user', content: 'Hi' }]
const asks: Readonly<Record<Wire, (model: string, stream: boolean) => [string, object]>> = {
  chat: (model, stream) => ['/v1/chat/completions', { model, stream, messages: said }],
  responses: (model, stream) => ['/v1/responses', { model, stream, input: 'Hi' }],
  messages: (model, stream) => ['/v1/messages', { model, stream, max_tokens: 20, messages: said }],
  generate: (model, stream) => [
    stream
      ? `/vendorg/v1beta/models/${model}:streamGenerateContent?alt=sse`
      : `/vendorg/v1beta/models/${model}:generateContent`,
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  ],
}

let upstream: TestUpstream
let stage: OneWireStage

beforeAll(async () => {
  upstream = startUpstream(({ path }) => {
    const wire = wires.find((each) => path.startsWith(`/${each}/`))
    return jsonReply(answers[wire!]())
  })
  stage = await startOneWire({
    channel: (wire) => ({
      protocols: {
        [wire]: `${upstream.url}/${wire}${wire === 'chat' || wire === 'responses' ? '/v1' : ''}`,
      },
    }),
  })
})
afterAll(async () => {
  await stage.stop()
  await upstream.stop()
})

async function answerTo(given: string, from: Wire, to: Wire, stream: boolean) {
  text = given
  const [path, body] = asks[from](modelOver(to), stream)
  const answer = await stage.gateway.post(path, body)
  expect(answer.status).toBe(200)
  return {
    body: await answer.text(),
    translation: answer.headers.get('x-gateway-translation'),
    loss: answer.headers.get('x-gateway-translation-loss'),
  }
}

/** Without what differs from call to call. */
const comparable = (body: string): string =>
  body
    .replaceAll(long, short)
    .replaceAll(/"(?:id|item_id|responseId)":"[^"]*"/g, '')
    .replaceAll(/"(?:created|created_at|completed_at|createTime)":(?:\d+|"[^"]*")/g, '')

describe.each(wires)('of %s', (from) => {
  test.each(wires)('over %s, a large answer is as a small one', async (to) => {
    for (const stream of [false, true]) {
      const small = await answerTo(short, from, to, stream)
      const large = await answerTo(long, from, to, stream)
      expect(large.body.length).toBeGreaterThan(long.length)
      expect(comparable(large.body)).toBe(comparable(small.body))
      expect({ ...large, body: '' }).toEqual({ ...small, body: '' })
      expect(large.body).not.toContain('txta-plus')
      expect(large.body).not.toContain('"cost"')
    }
  })
})

test('the ids of a large answer belong to the account that got it', async () => {
  const { body } = await answerTo(long, 'responses', 'responses', false)
  const { id, output } = JSON.parse(body) as { id: string; output: { id: string }[] }
  const marked = /^(?:resp|msg|fc)_1_gw[0-9a-f]{44}$/
  for (const each of [id, ...output.map((item) => item.id)]) expect(each).toMatch(marked)
})

test('a large answer that is an error, or none, is a failure as a small one is', async () => {
  const odd = { chat: answers.chat }
  const error = { error: { message: `no ${'x'.repeat(100_000)}`, type: 'server_error' } }
  Object.assign(answers, { chat: () => error })
  const [path, body] = asks.chat(modelOver('chat'), false)
  const failed = await stage.gateway.post(path, body)
  expect([failed.status, await failed.text()]).toEqual([502, expect.stringContaining('no xxx')])
  Object.assign(answers, { chat: () => ({ hello: 'x'.repeat(100_000) }) })
  const none = await stage.gateway.post(path, body)
  expect([none.status, await none.text()]).toEqual([
    502,
    expect.stringContaining('not a chat completion'),
  ])
  Object.assign(answers, odd)
})
