// Requests to an upstream of the generate style, and how its answers are read.
import { describe, expect, test } from 'bun:test'
import { Cancellation } from '../../lib/cancellation.ts'
import { callOf, eventStream, type Given, upstreamWith } from '../common/test-client.ts'
import { generate } from './index.ts'

const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 }
const candidate = (text: string, more: object = { finishReason: 'STOP' }) => ({
  content: { role: 'model', parts: [{ text }] },
  index: 0,
  ...more,
})
const answer = { candidates: [candidate('ho')], usageMetadata, modelVersion: 'up-model' }

async function ask(
  given: Given | object,
  more: Parameters<typeof callOf>[1] = {},
  fields: Record<string, unknown> = { contents },
  model = 'up-model',
) {
  const reply = 'body' in given ? (given as Given) : { body: JSON.stringify(given) }
  const { upstream, sent } = upstreamWith(reply, { model })
  const call = callOf(fields, { interface: 'generate', ...more })
  return { reply: await generate.text!.send(call, upstream, new Cancellation()), sent: sent[0]! }
}

describe('a request', () => {
  test('names the model in the path and carries the key in the usual header', async () => {
    const { sent } = await ask(answer, {}, { contents }, 'a/b:c')
    expect(sent.url).toBe('http://up/base/v1beta/models/a%2Fb%3Ac:generateContent')
    expect(sent.headers['x-goog-api-key']).toBe('k-secret')
    expect(sent.headers['authorization']).toBeUndefined()
    expect(sent.body).toBe(JSON.stringify({ contents }))
  })

  test('for a stream asks for events', async () => {
    const { sent } = await ask({ body: '', headers: eventStream }, { stream: true })
    expect(sent.url).toEndWith('/v1beta/models/up-model:streamGenerateContent?alt=sse')
  })

  test('that names the model, too, names that of the upstream', async () => {
    const { sent } = await ask(answer, {}, { model: 'models/own', contents })
    expect(JSON.parse(sent.body)).toEqual({ model: 'models/up-model', contents })
  })

  test('for vectors names the model of the upstream in every part', async () => {
    const content = { parts: [{ text: 'a' }] }
    const vectors = { embeddings: [{ values: [1] }, { values: [2] }] }
    const { sent, reply } = await ask(
      vectors,
      { method: 'batchEmbedContents', makes: 'embedding' },
      { requests: [{ model: 'models/own', content }, { content }] },
    )
    expect(sent.url).toEndWith(':batchEmbedContents')
    expect(JSON.parse(sent.body)).toEqual({
      requests: [
        { model: 'models/up-model', content },
        { content, model: 'models/up-model' },
      ],
    })
    expect(reply).toMatchObject({ kind: 'json', body: JSON.stringify(vectors) })
  })
})

describe('an answer', () => {
  const usage = { inputTokens: 3, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 }

  test('has the name that the caller used and is otherwise as it came', async () => {
    const { reply } = await ask({ body: ` ${JSON.stringify(answer)}` })
    expect(reply).toMatchObject({
      kind: 'json',
      body: ` ${JSON.stringify({ ...answer, modelVersion: 'own' })}`,
      reported: { usage, raw: usageMetadata },
    })
  })

  test('may be written with underscores', async () => {
    const { reply } = await ask({
      candidates: [candidate('ho', { finish_reason: 'STOP' })],
      usage_metadata: { prompt_token_count: 3, candidates_token_count: 2 },
      model_version: 'up-model',
    })
    expect(reply).toMatchObject({ kind: 'json', reported: { usage } })
    expect(reply.kind === 'json' && JSON.parse(reply.body as string).model_version).toBe('own')
  })

  test('that refuses the request is an answer and costs what was reported', async () => {
    const blocked = { promptFeedback: { blockReason: 'SAFETY' } }
    const { reply } = await ask({
      ...blocked,
      usageMetadata: { promptTokenCount: 3, totalTokenCount: 3 },
    })
    expect(reply).toMatchObject({
      kind: 'json',
      reported: { usage: { ...usage, outputTokens: 0 } },
    })
    const { reply: silent } = await ask(blocked)
    const none = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 }
    expect(silent).toMatchObject({ kind: 'json', reported: { usage: none } })
  })

  test.each([
    ['a candidate that has not stopped', { candidates: [candidate('ho', {})] }],
    ['no candidate', { candidates: [], usageMetadata }],
    ['something else', { hello: 'world' }],
    ['an empty list', { body: '[]' }],
  ])('with %s is none', async (_, given) => {
    const { reply } = await ask(given)
    expect(reply).toMatchObject({ kind: 'failed', error: { code: 'upstream_invalid_response' } })
  })

  test('that comes as a list of its parts is put together', async () => {
    const list = [
      { candidates: [candidate('a', {})], modelVersion: 'up-model' },
      { candidates: [candidate('b')], usageMetadata, modelVersion: 'up-model' },
    ]
    const { reply } = await ask({ body: JSON.stringify(list) })
    expect(reply).toMatchObject({ kind: 'json', reported: { usage } })
    expect(reply.kind === 'json' && JSON.parse(reply.body as string)).toEqual({
      candidates: [candidate('ab')],
      usageMetadata,
      modelVersion: 'own',
    })
    const { reply: streamed } = await ask({ body: JSON.stringify(list) }, { stream: true })
    expect(streamed.kind).toBe('stream')
    if (streamed.kind !== 'stream') return
    streamed.watcher.take((await streamed.answer.read())!)
    streamed.watcher.close()
    expect(streamed.watcher.outcome).toBe('finished')
    expect(streamed.watcher.reported.usage).toEqual(usage)
  })
})

describe('an error', () => {
  const errorOf = async (status: number, error: object, isList = false) => {
    const body = JSON.stringify(isList ? [{ error }] : { error })
    const { reply } = await ask({ status, body })
    return reply.kind === 'failed' ? reply.error : undefined
  }

  test.each([
    [400, 'INVALID_ARGUMENT', 'Unknown name "x"', 'upstream_invalid_request', undefined],
    [
      400,
      'INVALID_ARGUMENT',
      'API key not valid. Please pass a valid API key.',
      'upstream_permission_denied',
      'key',
    ],
    [403, 'PERMISSION_DENIED', 'not enabled', 'upstream_permission_denied', 'key'],
    [
      404,
      'NOT_FOUND',
      'models/x is not found for API version v1beta',
      'upstream_permission_denied',
      'model',
    ],
    [429, 'RESOURCE_EXHAUSTED', 'Quota exceeded', 'upstream_rate_limited', 'key'],
    [503, 'UNAVAILABLE', 'The model is overloaded.', 'overloaded', undefined],
    [504, 'DEADLINE_EXCEEDED', 'too slow', 'upstream_timeout', undefined],
  ] as const)('of status %d %s "%s" is %s', async (code, status, message, wanted, about) => {
    for (const isList of [false, true]) {
      const error = await errorOf(code, { code, status, message }, isList)
      expect([error?.code, error?.about, error?.message]).toEqual([wanted, about, message])
    }
  })

  test('in an answer that began well is a failure', async () => {
    const error = { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'later' }
    expect(await errorOf(200, error)).toMatchObject({
      code: 'upstream_rate_limited',
      message: 'later',
    })
    expect(await errorOf(200, error, true)).toMatchObject({ code: 'upstream_rate_limited' })
  })
})

test('tokens are counted by the upstream', async () => {
  const { upstream, sent } = upstreamWith({ body: '{"totalTokens":31}' })
  const call = callOf({ generateContentRequest: { model: 'models/own', contents } })
  const counted = await generate.text!.countTokens!(call, upstream, new Cancellation())
  expect(counted).toMatchObject({ kind: 'counted', inputTokens: 31 })
  expect(sent[0]!.url).toEndWith('/v1beta/models/up-model:countTokens')
  expect(JSON.parse(sent[0]!.body)).toEqual({
    generateContentRequest: { model: 'models/up-model', contents },
  })
})
