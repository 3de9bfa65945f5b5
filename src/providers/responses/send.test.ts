// Whole answers of the responses style: which are valid, and what they report.
import { describe, expect, test } from 'bun:test'
import { Cancellation } from '../../lib/cancellation.ts'
import { callOf, eventStream, type Given, upstreamWith } from '../common/test-client.ts'
import { responses } from './index.ts'

const fields = { model: 'own', input: 'hi' }

async function send(given: Given, stream = false) {
  const { upstream, sent } = upstreamWith(given)
  const call = callOf({ ...fields, stream }, { interface: 'responses' })
  return { reply: await responses.text!.send(call, upstream, new Cancellation()), sent }
}

const bodyOf = (more: object) => JSON.stringify({ id: 'resp_1', model: 'up-model', ...more })

test('a response is asked for at its place with the key as a bearer', async () => {
  const { sent } = await send({ body: bodyOf({ output: [] }) })
  expect(sent[0]?.url).toBe('http://up/base/responses')
  expect(sent[0]?.headers).toMatchObject({ authorization: 'Bearer k-secret' })
  expect(sent[0]?.headers).not.toHaveProperty('x-api-key')
})

describe('an answer', () => {
  test.each(['completed', 'incomplete', undefined])('whose status is %p is one', async (status) => {
    const usage = { input_tokens: 3, output_tokens: 2, x_details: [{ x: 1.0 }] }
    const body = bodyOf({ status, output: [], error: null, usage })
    const { reply } = await send({ body })
    expect(reply).toMatchObject({ kind: 'json', reported: { raw: usage } })
    expect(reply.kind === 'json' && reply.body).toBe(body.replace('up-model', 'own'))
  })

  test.each<[string, object]>([
    ['is queued', { status: 'queued', output: [] }],
    ['is in progress', { status: 'in_progress', output: [] }],
    ['was cancelled', { status: 'cancelled', output: [] }],
    ['has no output', { status: 'completed' }],
  ])('that %s is none', async (_, body) => {
    const { reply } = await send({ body: bodyOf(body) })
    expect(reply).toMatchObject({ error: { code: 'upstream_invalid_response' } })
  })

  test.each<[unknown, string, string]>([
    [{ code: 'server_error', message: 'boom' }, 'upstream_error', 'boom'],
    [{ code: 'rate_limit_exceeded', message: 'slow' }, 'upstream_rate_limited', 'slow'],
    [{ code: 'data_inspection_failed', message: 'no' }, 'content_policy_violation', 'no'],
    [null, 'upstream_error', 'the upstream reported an error in its stream'],
  ])('that failed with %j is that failure', async (error, code, message) => {
    const body = bodyOf({ status: 'failed', output: [], error })
    const { reply } = await send({ body, headers: { 'x-request-id': 'up_1' } })
    expect(reply).toMatchObject({
      kind: 'failed',
      error: { code, message, upstreamRequestId: 'up_1' },
    } as object)
  })

  test('without usage can be counted: texts, summaries and calls', async () => {
    const output = [
      { type: 'message', content: [{ text: 'x'.repeat(8) }, { refusal: 'y' }, 5] },
      { type: 'reasoning', summary: [{ text: 'x'.repeat(8) }] },
      { type: 'function_call', name: 'four', arguments: 'x'.repeat(4) },
      null,
    ]
    const { reply } = await send({ body: bodyOf({ output }) })
    expect(reply.kind === 'json' && reply.countOutputTokens()).toBe(6)
  })
})

test('a stream nobody asked for is one answer, and its error keeps its words', async () => {
  const done = { type: 'response.completed', response: { model: 'up-model', output: [] } }
  const events = (data: object) => `event: x\ndata: ${JSON.stringify(data)}\n\n`
  const { reply } = await send({ headers: eventStream, body: events(done) })
  expect(reply).toMatchObject({ kind: 'json', body: '{"model":"own","output":[]}' })
  const failed = { type: 'error', code: 'x', message: 'boom' }
  const { reply: other } = await send({ headers: eventStream, body: events(failed) })
  expect(other).toMatchObject({ kind: 'failed', error: { message: 'boom' } })
})
