// Data policies and every other kind of call: batches, responses in the background, tasks of images and videos,
// reranking, moderation, speech and transcription. Each call has a word of its own, by which it is found upstream.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { answersIn, BatchClient } from '../batches/client.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/read.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

interface Terms {
  training?: string
  retention_days?: number
  region?: string
}

const offers: Record<string, Terms | undefined> = {
  silent: undefined,
  trains: { training: 'yes', retention_days: 0, region: 'eu' },
  eu0: { training: 'no', retention_days: 0, region: 'eu' },
  eu30: { training: 'no', retention_days: 30, region: 'eu' },
  us0: { training: 'no', retention_days: 0, region: 'us' },
}

let upstream: TestUpstream
let gateway: TestGateway
/** Channels that answer with this status. */
let failing: Record<string, number> = {}

const channelOf = ({ path }: { path: string }) => path.split('/')[1]!

const answers: [RegExp, () => Response][] = [
  [/\/rerank$/, () => jsonReply({ results: [{ index: 0, relevance_score: 0.5 }] })],
  [
    /\/moderations$/,
    () =>
      jsonReply({
        ...{ id: 'm', model: 'm' },
        results: [{ flagged: false, categories: {}, category_scores: {} }],
      }),
  ],
  [/\/audio\/speech$/, () => new Response('sound', { headers: { 'content-type': 'audio/mpeg' } })],
  [/\/audio\/transcriptions$/, () => jsonReply({ text: 'hi', duration: 1 })],
  [
    /\/v1\/images\/generations$/,
    () => jsonReply({ code: 0, message: 'ok', data: { task_id: `t${Math.random()}` } }),
  ],
  [/\/contents\/generations\/tasks/, () => jsonReply({ id: `cgt-${Math.random()}` })],
  [/predictLongRunning/, () => jsonReply({ name: `operations/${Math.random()}` })],
  [
    /video-synthesis/,
    () => jsonReply({ output: { task_id: `t${Math.random()}`, task_status: 'PENDING' } }),
  ],
  [/./, () => jsonReply(completion({ prompt_tokens: 3, completion_tokens: 2 }))],
]

const callModels = {
  rnk: 'rerank',
  mdr: 'moderation',
  tts: 'speech',
  asr: 'transcription',
  plain: 'text',
} as const
const interfaces = {
  rerank: ['rerank'],
  moderation: ['moderations'],
  speech: ['speech'],
  transcription: ['transcriptions'],
  text: ['chat', 'responses'],
} as const
const prices = [
  { model: 'rnk', unit: 'search', per_search: '0.01' },
  { model: 'mdr', unit: 'free' },
  { model: 'tts', unit: 'character', per_million: '1.00' },
  { model: 'asr', unit: 'audio_second', per_minute: '1.00' },
  { model: 'plain', unit: 'token', per_million: { input: '1.00', output: '1.00' } },
]
const taskModels = ['imgvendor-v2', 'vidmodel-1-0-pro', 'vendorg-video-1', 'vfb-1.1-t2v'] as const

const config = () =>
  JSON.stringify({
    accounts: [{ name: 'acme', balance: '10000.00' }],
    channels: Object.entries(offers).map(([name, data]) => {
      const base = `${upstream.url}/${name}`
      const spoken = ['chat', 'rerank', 'moderations', 'speech', 'transcriptions', 'imgvendor']
      return {
        ...{ name, keys: [`key-${name}-0123456789|secret-0123456789`], ...(data && { data }) },
        protocols: Object.fromEntries(
          [...spoken, 'arkvendor', 'vendorg', 'vf'].map((each) => [each, base]),
        ),
        models: Object.fromEntries(
          [...Object.keys(callModels), ...taskModels].map((each) => [each, '*']),
        ),
      }
    }),
    models: Object.entries(callModels).map(([name, kind]) => ({
      ...{ name, kind, interfaces: interfaces[kind] },
    })),
    prices,
  })

beforeAll(async () => {
  upstream = startUpstream((call) => {
    const status = failing[channelOf(call)]
    if (status === undefined) return answers.find(([path]) => path.test(call.path))![1]()
    return jsonReply({ error: { message: 'no', type: 'server_error' } }, { status })
  })
  gateway = await startGateway({ config: config() })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

/** What became of a call: its status, or that of its line, and its error. */
interface End {
  status: number
  text: string
}
type Kind = (token: string, word: string) => Promise<End>

const ask = async (path: string, token: string, body: object): Promise<End> => {
  const response = await gateway.post(path, body, { authorization: `Bearer ${token}` })
  return { status: response.status, text: await response.text() }
}
const chat = (content: string) => ({ model: 'plain', messages: [{ role: 'user', content }] })

const kinds: Record<string, Kind> = {
  rerank: (token, query) =>
    ask('/v1/rerank', token, { model: 'rnk', query, documents: ['a', 'b'] }),
  moderation: (token, input) => ask('/v1/moderations', token, { model: 'mdr', input }),
  speech: (token, input) => ask('/v1/audio/speech', token, { model: 'tts', input, voice: 'v' }),
  async transcription(token, word) {
    const form = new FormData()
    form.append('model', 'asr')
    form.append('file', new File([wav(word)], 'a.wav', { type: 'audio/wav' }))
    const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
      ...{ method: 'POST', body: form, headers: { authorization: `Bearer ${token}` } },
    })
    return { status: response.status, text: await response.text() }
  },
  'image task': (token, prompt) =>
    ask('/imgvendor/v1/images/generations', token, { model_name: 'imgvendor-v2', prompt }),
  'native video': (token, text) =>
    ask('/arkvendor/api/v3/contents/generations/tasks', token, {
      ...{ model: 'vidmodel-1-0-pro', content: [{ type: 'text', text }] },
    }),
  video: (token, prompt) =>
    ask('/v1/videos', token, { model: 'vfb-1.1-t2v', prompt, seconds: '5' }),
  operation: (token, prompt) =>
    ask('/vendorg/v1beta/models/vendorg-video-1:predictLongRunning', token, {
      instances: [{ prompt }],
    }),
  async background(token, word) {
    const body = { model: 'plain', input: word, background: true }
    const created = await ask('/v1/responses', token, body)
    if (created.status !== 200) return created
    const { id } = JSON.parse(created.text)
    const read = () =>
      fetch(`${gateway.url}/v1/responses/${id}`, { headers: { authorization: `Bearer ${token}` } })
    return until('the response', async () => {
      const text = await (await read()).text()
      return /"status":"(?:queued|in_progress)"/.test(text) ? undefined : { status: 200, text }
    })
  },
  async batch(token, word) {
    const client = new BatchClient(gateway.url, token)
    const lines = [1, 2].map((at) => ({
      ...{ custom_id: `${at}`, method: 'POST', url: '/v1/chat/completions', body: chat(word) },
    }))
    const { output_file_id: out, error_file_id: failed } = await client.run(lines)
    const [first] = answersIn(await client.content(out ?? failed))
    return { status: first.response.status_code, text: JSON.stringify(first.response.body) }
  },
}

/** A second of silence, with the word behind it. */
function wav(word: string): Uint8Array<ArrayBuffer> {
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + 16_000, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8_000, 24)
  head.writeUInt32LE(16_000, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(16_000, 40)
  return new Uint8Array(Buffer.concat([head, Buffer.alloc(16_000), Buffer.from(word)]))
}

async function newToken(require: Terms): Promise<string> {
  const name = `t${Math.random().toString(36).slice(2)}`
  return (await gateway.admin('POST', '/tokens', { account: 'acme', name, require })).body.token
}

const qualifies = (data: Terms | undefined, need: Terms): boolean =>
  (need.training === undefined || data?.training === 'no') &&
  (need.region === undefined || data?.region === need.region) &&
  (need.retention_days === undefined || (data?.retention_days ?? 99_999) <= need.retention_days)

const reached = (word: string) =>
  new Set(upstream.calls.filter(({ body }) => body.includes(word)).map(channelOf))

test('of no kind of call a byte reaches a channel that does not qualify, whatever fails', async () => {
  const need = fc.record(
    {
      training: fc.constant('no'),
      retention_days: fc.constantFrom(0, 7, 30),
      region: fc.constantFrom('eu', 'us', 'mars'),
    },
    { requiredKeys: [] },
  )
  const failures = fc.dictionary(
    fc.constantFrom(...Object.keys(offers)),
    fc.constantFrom(500, 429, 401),
    { maxKeys: 3 },
  )
  const names = fc.subarray(Object.keys(kinds), { minLength: 3, maxLength: 6 })
  let count = 0
  await fc.assert(
    fc.asyncProperty(need, failures, names, async (own, broken, chosen) => {
      const token = await newToken(own)
      failing = broken
      const able = Object.keys(offers).filter((name) => qualifies(offers[name], own))
      await Promise.all(
        chosen.map(async (kind) => {
          const word = `word-${count++}-of-${kind.replace(' ', '-')}-end`
          const { status, text } = await kinds[kind]!(token, word)
          const wrong = [...reached(word)].filter((name) => !able.includes(name))
          expect([kind, wrong]).toEqual([kind, []])
          const isRefused = text.includes('data_policy')
          expect([kind, isRefused, text]).toEqual([kind, able.length === 0, text])
          if (isRefused) expect([kind, status, reached(word).size]).toEqual([kind, 403, 0])
        }),
      )
    }),
    { numRuns: 25 },
  )
  failing = {}
})

test.each(Object.keys(kinds))(
  '%s: a call that may go on reaches its channel, one that may not says why',
  async (kind) => {
    const word = `only-${kind.replace(' ', '-')}-end`
    const token = await newToken({ training: 'no', retention_days: 0, region: 'us' })
    const { status, text } = await kinds[kind]!(token, word)
    expect([status, text.includes('data_policy')]).toEqual([200, false])
    expect([...reached(word)]).toEqual(['us0'])
    const none = await kinds[kind]!(await newToken({ region: 'mars' }), `no-${word}`)
    expect(none.status).toBe(403)
    expect(none.text).toContain('the token requires region: mars')
    expect([...reached(`no-${word}`)]).toEqual([])
  },
)
