// Large requests and answers of calls that are no conversation go through the thread, and are what they are without it.
import { afterAll, beforeEach, expect, spyOn, test } from 'bun:test'
import { Cancellation } from '../../src/lib/cancellation.ts'
import { WorkerThread } from '../../src/lib/worker-thread.ts'
import { callOf, upstreamWith } from '../../src/providers/common/test-client.ts'
import { providers } from '../../src/providers/index.ts'

const rerank = providers.get('rerank')!
const moderations = providers.get('moderations')!
const threads = spyOn(WorkerThread.prototype, 'run')
beforeEach(() => threads.mockClear())
afterAll(() => threads.mockRestore())

/** The kinds of work that the thread was given. */
const worked = () => threads.mock.calls.map(([, work]) => Object.keys(work as object)[0])
const stop = new Cancellation()
const edits = { bodyEdits: { user: '"u"', instruct: '' }, queueKey: 'acc_1' }

const ranking = (documents: number) => ({
  model: 'own',
  query: 'which',
  documents: Array.from({ length: documents }, (_, at) => ({ text: `text ${at}`, more: [{}] })),
  return_documents: true,
  instruct: 'x',
})
const ranked = (documents: number) => ({
  results: Array.from({ length: documents }, (_, index) => ({
    index,
    relevance_score: 1 / (index + 1),
  })),
})

test.each([
  [10, []],
  [10_000, ['callPlan', 'callAnswer']],
])(
  '%i documents are sent as texts and given back, by the thread where they are many',
  async (documents, work) => {
    const { upstream, sent } = upstreamWith({ body: JSON.stringify(ranked(documents)) }, edits)
    const reply = await rerank.text!.send(callOf(ranking(documents)), upstream, stop)
    expect(worked()).toEqual(work)
    const texts = Array.from({ length: documents }, (_, at) => `text ${at}`)
    expect(JSON.parse(sent[0]!.body)).toEqual({
      model: 'up-model',
      query: 'which',
      documents: texts,
      user: 'u',
    })
    const body = reply.kind === 'json' ? Buffer.from(reply.body as Uint8Array).toString() : ''
    const { results } = JSON.parse(body) as { results: { document: { text: string } }[] }
    expect(results.map(({ document }) => document.text)).toEqual(texts)
  },
)

test.each([
  [1, []],
  [4_000, ['callPlan']],
])('%i texts to judge are sent, by the thread where they are many', async (count, work) => {
  const results = [{ flagged: false }]
  const { upstream, sent } = upstreamWith({ body: JSON.stringify({ results }) }, edits)
  const input = Array.from({ length: count }, (_, at) => ({ type: 'text', text: `"text" ${at}` }))
  const reply = await moderations.text!.send(callOf({ model: 'own', input }), upstream, stop)
  expect(worked()).toEqual(work)
  expect(JSON.parse(sent[0]!.body)).toEqual({ model: 'up-model', input, user: 'u' })
  expect(reply.kind).toBe('json')
})

test('a thread that fails is a failure of the gateway, before anything is sent', async () => {
  threads.mockRejectedValueOnce(new Error('gone'))
  const { upstream, sent } = upstreamWith({ body: '{}' }, edits)
  const reply = await rerank.text!.send(callOf(ranking(10_000)), upstream, stop)
  expect(sent).toEqual([])
  expect(reply).toMatchObject({
    kind: 'failed',
    error: { code: 'overloaded', about: 'translation', retryAfterSeconds: 1 },
  })
})
