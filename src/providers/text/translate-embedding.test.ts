// Embeddings of another style: an answer of many numbers is translated in the thread, to the same as a short one.
import { afterAll, beforeEach, expect, spyOn, test } from 'bun:test'
import type { TextReply } from '../../contract/provider.ts'
import { Cancellation } from '../../lib/cancellation.ts'
import { WorkerThread } from '../../lib/worker-thread.ts'
import { embeddingStyles } from '../../styles/index.ts'
import { callOf, upstreamWith } from '../common/test-client.ts'
import type { Given } from './translate.ts'
import { sendEmbedding } from './translate-embedding.ts'

const threads = spyOn(WorkerThread.prototype, 'run')
beforeEach(() => threads.mockClear())
afterAll(() => threads.mockRestore())

const { embeddings, generate } = embeddingStyles
const input = ['one', 'two']

function send(vectors: number, dimensions: number, more: object = {}): Promise<TextReply> {
  const all = Array.from({ length: vectors }, (_, at) => ({
    values: new Array<number>(dimensions).fill(at + 0.5),
  }))
  const reply: TextReply = {
    kind: 'json',
    body: JSON.stringify({ embeddings: all }),
    reported: { usage: undefined, raw: undefined },
    countOutputTokens: () => 0,
    upstreamRequestId: 'up-1',
  }
  const { upstream } = upstreamWith({ body: '' }, { queueKey: 'acc_1' })
  const call = callOf({ model: 'own', input, ...more }, { inputTokens: 3 })
  const given = { call, upstream } as Given
  return sendEmbedding(embeddings, generate, async () => reply, given, new Cancellation())
}

const bodyOf = (reply: TextReply) =>
  reply.kind === 'json' ? JSON.parse(Buffer.from(reply.body as Uint8Array).toString()) : reply

test.each([
  [4, 0],
  [20_000, 1],
])('vectors of %i numbers', async (dimensions, jobs) => {
  const vector = (at: number) => new Array<number>(dimensions).fill(at + 0.5)
  const usage = { prompt_tokens: 3, total_tokens: 3 }
  const answer = bodyOf(await send(2, dimensions))
  expect(answer).toMatchObject({ object: 'list', model: 'own', usage })
  expect(Bun.deepEquals(answer.data[1].embedding, vector(1))).toBe(true)
  expect(threads.mock.calls.map(([key]) => key)).toEqual(new Array(jobs).fill('acc_1'))
  const encoded = bodyOf(await send(2, dimensions, { encoding_format: 'base64' }))
  const bytes = Buffer.from(Float32Array.from(vector(1)).buffer).toString('base64')
  expect(encoded.data[1].embedding === bytes).toBe(true)
})

test.each([4, 20_000])(
  'fewer vectors than inputs, of %i numbers, are no answer',
  async (dimensions) => {
    expect(await send(1, dimensions)).toMatchObject({
      kind: 'failed',
      error: { code: 'upstream_invalid_response', about: 'answer', begun: true },
    })
  },
)
