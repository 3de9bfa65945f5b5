// Lines of the results of a batch, short ones and long ones, which a thread reads.
import { afterAll, beforeEach, expect, spyOn, test } from 'bun:test'
import type { BatchReport, Upstream } from '../../../contract/provider.ts'
import { WorkerThread } from '../../../lib/worker-thread.ts'
import { answerOf, upstreamWith } from '../../common/test-client.ts'
import { providers } from '../../index.ts'

const threads = spyOn(WorkerThread.prototype, 'run')
beforeEach(() => threads.mockClear())
afterAll(() => threads.mockRestore())

const long = 'é'.repeat(400_000)
const ended: BatchReport = { state: 'ended', results: ['file_1'] }
const bodyOf = (content: string) => `{"n":1.0,"content":${JSON.stringify(content)}}`
const fileLine = (id: string, content: string) =>
  `{"custom_id":"${id}","response":{"status_code":200,"request_id":"up_1","body":${bodyOf(content)}},"error":null}`
const messagesLine = (id: string, content: string) =>
  `{"custom_id":"${id}","result":{"type":"succeeded","message":${bodyOf(content)}}}`

async function read(protocol: 'chat' | 'messages', lines: readonly string[]) {
  const get: Upstream['http']['get'] = () => ({
    answer: Promise.resolve(answerOf({ body: `${lines.join('\n')}\n` })),
    cancel() {},
  })
  const { upstream } = upstreamWith({ body: '' }, { queueKey: 'acc_1' })
  const { batches } = providers.get(protocol)!
  const timeouts = { ...upstream.timeouts, firstByteMs: 60_000, idleMs: 60_000 }
  const at = { ...upstream, timeouts, http: { ...upstream.http, get } }
  const found = []
  for await (const result of batches!.results(ended, at, { replyBy() {} })) found.push(result)
  return found
}

test.each([
  ['chat', fileLine, { upstreamRequestId: 'up_1' }],
  ['messages', messagesLine, {}],
] as const)(
  'of %s are read as they stand there, long ones in the thread',
  async (protocol, lineOf, more) => {
    const odd = `{"custom_id":"c","x":"${long}"`
    const found = await read(protocol, [lineOf('a', 'b'), lineOf('b', long), odd, lineOf('d', 'e')])
    const shown = found.map((each) =>
      'body' in each && typeof each.body !== 'string'
        ? { ...each, body: Buffer.from(each.body).toString() === bodyOf(long) }
        : each,
    )
    expect(shown).toEqual([
      { id: 'a', status: 200, body: bodyOf('b'), ...more },
      { id: 'b', status: 200, body: true, ...more },
      { id: 'd', status: 200, body: bodyOf('e'), ...more },
    ] as never)
    expect(threads.mock.calls.map(([key]) => key)).toEqual(['acc_1', 'acc_1'])
  },
)

test('a long one that was not run says why', async () => {
  const error = { code: 'batch_expired', message: long }
  const line = JSON.stringify({ custom_id: 'a', response: null, error })
  const [found] = await read('chat', [line])
  expect(found).toMatchObject({ id: 'a', unrun: 'expired' })
  expect(threads).toHaveBeenCalledTimes(1)
})
