// Whatever an upstream of any style replies, the outcome is a value: nothing throws, because every
// call has a hold to end.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Protocol } from '../../contract/catalog.ts'
import type { TextReply } from '../../contract/provider.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { callOf, eventStream, type Given, upstreamWith } from '../common/test-client.ts'
import { providers } from '../index.ts'

const styles: Protocol[] = ['chat', 'responses', 'messages', 'embeddings']

const names = fc.constantFrom(
  ...['type', 'model', 'error', 'usage', 'choices', 'delta', 'message', 'index', 'finish_reason'],
  ...['tool_calls', 'function', 'arguments', 'content', 'content_block', 'partial_json', 'text'],
  ...['stop_reason', 'response', 'output', 'status', 'data', 'embedding', 'logprobs', 'input'],
)
const types = fc.constantFrom(
  ...['message_start', 'content_block_start', 'content_block_delta', 'message_delta', 'error'],
  ...['response.created', 'response.completed', 'response.failed', 'message', 'text', 'tool_use'],
)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 0 }) },
    { weight: 2, arbitrary: types },
    { weight: 2, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    { weight: 4, arbitrary: fc.dictionary(names, tie('value'), { maxKeys: 6 }) },
  ),
}))
const event = fc
  .tuple(types, fc.dictionary(names, value))
  .map(([type, rest]) => ({ type, ...rest }))

const given: fc.Arbitrary<Given> = fc.oneof(
  fc.oneof(value, event).map((body): Given => ({ body: JSON.stringify(body) ?? '' })),
  fc.array(fc.oneof(value, event)).map(
    (events): Given => ({
      headers: eventStream,
      body: events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(''),
    }),
  ),
  fc.string().map((body): Given => ({ body, headers: eventStream })),
)

async function readOut(reply: TextReply): Promise<string> {
  if (reply.kind === 'json') {
    JSON.parse(reply.body as string)
    expect(reply.countOutputTokens()).toBeGreaterThanOrEqual(0)
  }
  if (reply.kind !== 'stream') return reply.kind
  for (;;) {
    const bytes = await reply.answer.read()
    if (bytes === undefined) break
    reply.watcher.take(bytes)
  }
  reply.watcher.close()
  expect(reply.watcher.outcome).toBeDefined()
  expect(reply.watcher.countOutputTokens()).toBeGreaterThanOrEqual(0)
  return reply.kind
}

describe.each(styles)('in the %s style', (style) => {
  test.each([false, true])('any answer has an outcome (stream: %p)', async (stream) => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(given, fc.constantFrom('own', 'up-model'), async (answer, model) => {
        const { upstream } = upstreamWith(answer)
        const call = callOf({ model, stream }, { model })
        const reply = await providers.get(style)!.text!.send(call, upstream, new Cancellation())
        seen.add(await readOut(reply))
      }),
      { numRuns: 1_000 },
    )
    expect(seen).toContain('failed')
  })
})

describe('an answer of any style', () => {
  const send = (style: Protocol, answer: Given, stream = false) => {
    const { upstream } = upstreamWith(answer)
    const call = callOf({ model: 'own', stream })
    return providers.get(style)!.text!.send(call, upstream, new Cancellation())
  }
  const good: Record<string, string> = {
    chat: '"choices":[]',
    responses: '"output":[]',
    messages: '"content":[]',
    embeddings: '"data":[{"embedding":[1]}]',
  }
  const depth = 100_000
  const deep = '['.repeat(depth) + ']'.repeat(depth)

  test.each(styles)('%s of any depth passes, with its usage', async (style) => {
    const usage = '"usage":{"prompt_tokens":5,"completion_tokens":7}'
    const body = (model: string) => `{${good[style]},"x":${deep},${usage},"model":"${model}"}`
    const reply = await send(style, { body: body('up-model') })
    expect(reply).toMatchObject({ kind: 'json', body: body('own') })
    expect(reply).toMatchObject({ reported: { usage: { inputTokens: 5 } } })
  })

  test.each(styles)(
    '%s without a model gets the caller’s, and nested names stay',
    async (style) => {
      const reply = await send(style, { body: `{${good[style]},"x":{"model":"inner"}}` })
      expect(reply).toMatchObject({
        body: `{"model":"own",${good[style]},"x":{"model":"inner"}}`,
      })
    },
  )

  test.each(['text/event-stream', 'Text/Event-Stream; charset=UTF-8', 'TEXT/EVENT-STREAM'])(
    'is a stream when its type is %s',
    async (type) => {
      const answer = { body: 'data: [DONE]\n\n', headers: { 'content-type': type } }
      expect(await send('chat', answer, true)).toMatchObject({ kind: 'stream' })
    },
  )
})
