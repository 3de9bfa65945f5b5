// Requests to an upstream of the messages style, and its token counts.
import { describe, expect, test } from 'bun:test'
import type { MessagesSettings } from '../../contract/catalog.ts'
import type { TextCall } from '../../contract/requests.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { callOf, eventStream, type Given, upstreamWith } from '../common/test-client.ts'
import { messages } from './index.ts'

const fields = { model: 'own', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }
const good: Given = { body: '{"content":[],"model":"up-model"}' }

async function headersFor(settings: MessagesSettings, dialect: TextCall['dialect']) {
  const { upstream, sent } = upstreamWith(good, { messages: settings })
  const call = callOf(fields, { interface: 'messages', ...(dialect && { dialect }) })
  await messages.text!.send(call, upstream, new Cancellation())
  const { 'content-type': _, accept: __, 'accept-encoding': ___, ...rest } = sent[0]!.headers
  return rest
}

describe('headers', () => {
  const ours = { 'user-agent': 'model-gateway' }
  const both = { version: '2024-01-01', beta: 'a-1,b-2' }

  test.each<[MessagesSettings, TextCall['dialect'], Record<string, string>]>([
    [
      { headers: 'msgapi', auth: 'x-api-key' },
      both,
      { 'x-api-key': 'k-secret', 'msgapi-version': '2024-01-01', 'msgapi-beta': 'a-1,b-2' },
    ],
    [
      { headers: 'anthropic', auth: 'bearer' },
      both,
      {
        authorization: 'Bearer k-secret',
        'anthropic-version': '2024-01-01',
        'anthropic-beta': 'a-1,b-2',
      },
    ],
    [
      { headers: 'both', auth: 'both' },
      { version: 'x' },
      {
        authorization: 'Bearer k-secret',
        'x-api-key': 'k-secret',
        'msgapi-version': 'x',
        'anthropic-version': 'x',
      },
    ],
    [
      { headers: 'msgapi', auth: 'x-api-key' },
      undefined,
      { 'x-api-key': 'k-secret', 'msgapi-version': '2023-06-01' },
    ],
    [
      { headers: 'msgapi', auth: 'x-api-key', version: '2025-05-05' },
      both,
      { 'x-api-key': 'k-secret', 'msgapi-version': '2025-05-05', 'msgapi-beta': 'a-1,b-2' },
    ],
  ])('of a channel with %j for a caller who speaks %j', async (settings, dialect, wanted) => {
    expect(await headersFor(settings, dialect)).toEqual({ ...wanted, ...ours })
  })
})

describe('an answer', () => {
  const stream = (...events: object[]) =>
    events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  const send = (given: Given, wantsStream = false) => {
    const { upstream } = upstreamWith(given)
    const call = callOf({ ...fields, stream: wantsStream }, { interface: 'messages' })
    return messages.text!.send(call, upstream, new Cancellation())
  }
  const start = { type: 'message_start', message: { model: 'up-model', content: [] } }
  const stopped = { type: 'message_delta', delta: { stop_reason: 'tool_use' } }

  test('with half of a tool’s input, streamed without being asked for, is a failure', async () => {
    const body = stream(
      start,
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', input: {} } },
      { type: 'content_block_delta', index: 0, delta: { partial_json: '{"a":' } },
      { type: 'content_block_stop', index: 0 },
      stopped,
    )
    expect(await send({ headers: eventStream, body })).toMatchObject({
      kind: 'failed',
      error: { code: 'upstream_invalid_response' },
    })
  })

  test('that is an error, streamed without being asked for, keeps its words', async () => {
    const error = { type: 'rate_limit_error', message: 'slow down' }
    const body = stream(start, { type: 'error', error })
    expect(await send({ headers: { ...eventStream, 'request-id': 'up_9' }, body })).toMatchObject({
      kind: 'failed',
      error: { code: 'upstream_rate_limited', message: 'slow down', upstreamRequestId: 'up_9' },
    })
  })

  test('whole where a stream was asked for is played as one, under the caller’s name', async () => {
    const content = [{ type: 'text', text: 'hi' }]
    const usage = { input_tokens: 3, output_tokens: 2 }
    const body = JSON.stringify({ model: 'up-model', content, usage, stop_reason: 'end_turn' })
    const reply = await send({ body }, true)
    if (reply.kind !== 'stream') throw new Error(`no stream but ${reply.kind}`)
    const passed = reply.watcher.take((await reply.answer.read())!)
    expect(Buffer.from(passed!).toString()).toContain('"message":{"model":"own"')
    expect(reply.watcher).toMatchObject({ outcome: 'finished', reported: { raw: usage } })
    expect(await reply.answer.read()).toBeUndefined()
  })

  test.each(['{}', '{"content":"x"}', '[]', 'x', '', '{"type":"message","content":null}'])(
    'that is %j is none',
    async (body) => {
      expect(await send({ body })).toMatchObject({
        error: { code: 'upstream_invalid_response' },
      })
    },
  )

  test('without usage can be counted, thinking and tools included', async () => {
    const content = [
      { type: 'thinking', thinking: 'x'.repeat(8) },
      { type: 'text', text: 'x'.repeat(8) },
      { type: 'tool_use', name: 'four', input: { a: 1 } },
      'odd',
    ]
    const reply = await send({ body: JSON.stringify({ content }) })
    expect(reply.kind === 'json' && reply.countOutputTokens()).toBe(7)
  })
})

describe('the size of a call', () => {
  const ask = async (given: Given) => {
    const { upstream, sent } = upstreamWith(given)
    const call = callOf(fields, { interface: 'messages' })
    const reply = await messages.text!.countTokens!(call, upstream, new Cancellation())
    return { reply, sent }
  }

  test('is asked for beside the messages and told as it comes', async () => {
    const { reply, sent } = await ask({
      body: '{"input_tokens":42}',
      headers: { 'request-id': 'up_1' },
    })
    expect(reply).toEqual({ kind: 'counted', inputTokens: 42, upstreamRequestId: 'up_1' })
    expect(sent[0]?.url).toBe('http://up/base/v1/messages/count_tokens')
    expect(JSON.parse(sent[0]!.body)).toEqual({ ...fields, model: 'up-model' })
  })

  test.each([
    '{}',
    '{"input_tokens":-1}',
    '{"input_tokens":"9"}',
    '[]',
    'x',
    '',
    '{"input_tokens":1e99}',
  ])('is not what %j tells', async (body) => {
    expect((await ask({ body })).reply).toMatchObject({
      kind: 'failed',
      error: { code: 'upstream_invalid_response' },
    })
  })

  test('that the upstream refuses to tell is its refusal', async () => {
    const { reply } = await ask({ status: 404, body: '{"error":{"message":"no such path"}}' })
    expect(reply).toMatchObject({ kind: 'failed', error: { message: 'no such path' } })
  })
})
