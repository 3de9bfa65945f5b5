// A call that one protocol of a channel cannot carry goes by another one of it, or to another channel. It
// is refused only when none can carry it; a limit that is too low for an upstream is raised and held for.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { accountOf, errorOf, nanos, requestIdOf, rowOf } from '../support/read.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any

const response = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output: [{ type: 'message', id: 'm', content: [{ type: 'output_text', text: 'Hi.' }] }],
  usage: { input_tokens: 9, output_tokens: 12 },
}
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'Hi.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 9, output_tokens: 3 },
}
const strictToken = 'sk-strict-0123456789abcdefghijklmnop'
const poorToken = 'sk-poor-0123456789abcdefghijklmnop'

let upstream: TestUpstream
let gateway: TestGateway
let isWell = true

/** By the name of a model: the protocols of its channels, the first of the highest priority. */
const channels: Record<string, string[][]> = {
  both: [['chat', 'responses']],
  alone: [['responses']],
  beside: [['responses'], ['chat']],
  many: [...Array.from({ length: 7 }, () => ['responses']), ['chat']],
  warm: [['messages', 'chat']],
  first: [['responses']],
  second: [['chat']],
}
const names = Object.keys(channels)

beforeAll(async () => {
  upstream = startUpstream(({ path }) => {
    if (path.endsWith('/responses')) return jsonReply(response)
    if (!isWell) return jsonReply({ error: { message: 'no' } }, { status: 500 })
    if (path.endsWith('/messages')) return jsonReply(message)
    return jsonReply(completion({ prompt_tokens: 9, completion_tokens: 3 }))
  })
  const address = (protocol: string) => (protocol === 'messages' ? upstream.url : upstream.chat)
  const per_million = { input: '1.00', output: '1000.00' }
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [
        { name: 'acme', balance: '100.00' },
        // Between the prices of one and of 16 output tokens.
        { name: 'poor', balance: '0.010' },
      ],
      tokens: [
        { account: 'acme', name: 'test', token: apiToken },
        { account: 'acme', name: 'strict', token: strictToken, translation: 'strict' },
        { account: 'poor', name: 'poor', token: poorToken },
      ],
      channels: names.flatMap((model) =>
        channels[model]!.map((protocols, at) => ({
          name: `${model}-${at}`,
          priority: 10 - at,
          keys: ['upk-several-0123456789abcdef'],
          protocols: Object.fromEntries(protocols.map((each) => [each, address(each)])),
          models: { [model]: 'up' },
        })),
      ),
      models: [
        ...names.map((name) => ({ name, kind: 'text', interfaces: ['chat'] })),
        { name: 'virtual', kind: 'text', virtual: ['first', 'second'] },
      ],
      prices: names.map((model) => ({ model, unit: 'token', per_million })),
    }),
  })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

const user = [{ role: 'user', content: 'Hi' }]
const callers: Record<string, (model: string, fields: object) => [path: string, body: object]> = {
  chat: (model, fields) => ['/v1/chat/completions', { model, messages: user, ...fields }],
  responses: (model, fields) => ['/v1/responses', { model, input: 'Hi', ...fields }],
  messages: (model, fields) => [
    '/v1/messages',
    { model, max_tokens: 100, messages: user, ...fields },
  ],
  generate: (model, generationConfig) => [
    `/vendorg/v1beta/models/${model}:generateContent`,
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], generationConfig },
  ],
}

interface Asked {
  status: number
  answer: Response
  path: string | null
  losses: string | null
  /** What the upstream was asked, and where. */
  sent: [path: string, body: Any][]
}

async function ask(style: string, model: string, fields: object, token = apiToken): Promise<Asked> {
  const before = upstream.calls.length
  const [path, body] = callers[style]!(model, fields)
  const answer = await gateway.post(path, body, { authorization: `Bearer ${token}` })
  return {
    status: answer.status,
    answer,
    path: answer.headers.get('x-gateway-translation'),
    losses: answer.headers.get('x-gateway-translation-loss'),
    sent: upstream.calls.slice(before).map((call) => [call.path, JSON.parse(call.body)]),
  }
}

test.each<[string, string, object, object]>([
  ['messages', 'both', { max_tokens: 1 }, { max_tokens: 1 }],
  ['messages', 'both', { stop_sequences: ['END'] }, { stop: ['END'] }],
  ['messages', 'both', { max_tokens: 5, stop_sequences: ['END'] }, { max_tokens: 5 }],
  ['generate', 'both', { stopSequences: ['END'] }, { stop: ['END'] }],
  ['generate', 'both', { maxOutputTokens: 3 }, { max_tokens: 3 }],
  ['generate', 'both', { seed: 7 }, { seed: 7 }],
  ['generate', 'both', { presencePenalty: 0.5 }, { presence_penalty: 0.5 }],
  ['generate', 'warm', { temperature: 1.5 }, { temperature: 1.5 }],
  ['messages', 'many', { stop_sequences: ['END'] }, { stop: ['END'] }],
  ['messages', 'virtual', { stop_sequences: ['END'] }, { stop: ['END'] }],
])('%s at %s with %j is carried whole', async (style, model, fields, carried) => {
  const { status, path, losses, sent } = await ask(style, model, fields)
  expect([status, path, losses, sent.length]).toEqual([200, `${style}>chat`, null, 1])
  expect(sent[0]![1]).toMatchObject(carried)
})

test('the first protocol is used where it carries the request', async () => {
  for (const style of ['messages', 'generate']) {
    expect((await ask(style, 'both', {})).path).toBe(`${style}>responses`)
  }
  // What none of them has is lost either way.
  const { path, losses } = await ask('generate', 'both', { topK: 5, maxOutputTokens: 40 })
  expect([path, losses]).toEqual(['generate>responses', 'generationConfig.topK'])
  // A call in the style of one of them is not translated.
  const own = await ask('chat', 'both', { stop: ['END'], max_tokens: 1 })
  expect([own.status, own.path, own.sent[0]![0]]).toEqual([200, null, '/v1/chat/completions'])
})

test('what no protocol and no channel carries is refused once, in the words of the first', async () => {
  const { status, answer, sent } = await ask('generate', 'both', { candidateCount: 2 })
  expect([status, sent]).toEqual([400, []])
  expect((await errorOf(answer)).message).toContain('generationConfig.candidateCount')
  const stop = await ask('messages', 'alone', { stop_sequences: ['END'] })
  expect([stop.status, stop.sent]).toEqual([400, []])
  expect((await errorOf(stop.answer)).message).toContain("'stop_sequences'")
})

test('with strict translation a protocol that loses nothing is found, too', async () => {
  const { status, path } = await ask('generate', 'both', { seed: 7 }, strictToken)
  expect([status, path]).toEqual([200, 'generate>chat'])
  const { status: refused } = await ask('generate', 'both', { topK: 7 }, strictToken)
  expect(refused).toBe(400)
  const { status: low } = await ask('messages', 'alone', { max_tokens: 1 }, strictToken)
  expect(low).toBe(400)
})

test.each([
  ['chat', { max_tokens: 1 }, 'max_tokens'],
  ['messages', { max_tokens: 1 }, 'max_tokens'],
  ['generate', { maxOutputTokens: 1 }, 'generationConfig.maxOutputTokens'],
])(
  '%s: a limit that is too low is raised, named, held for and charged',
  async (style, fields, lost) => {
    const before = nanos((await accountOf(gateway, 'acme')).balance)
    const { status, losses, sent, answer } = await ask(style, 'alone', fields)
    expect([status, losses, sent[0]![1].max_output_tokens]).toEqual([200, lost, 16])
    await answer.text()
    const row = await rowOf(gateway, requestIdOf(answer))
    expect(row.usage).toMatchObject({ input_tokens: 9, output_tokens: 12 })
    const { body: told } = await gateway.admin('GET', `/explain/${requestIdOf(answer)}`)
    expect([told.translation, told.translation_losses]).toEqual([`${style}>responses`, [lost]])
    const after = nanos((await accountOf(gateway, 'acme')).balance)
    expect(before - after).toBe(9_000n + 12_000_000n)
  },
)

test('who cannot pay the raised limit is refused', async () => {
  const body = { max_tokens: 1 }
  const { status, sent } = await ask('messages', 'alone', body, poorToken)
  expect([status, sent]).toEqual([402, []])
  expect((await ask('messages', 'second', body, poorToken)).status).toBe(200)
})

test('channels that cannot carry a call are no failures, and a failure is told as one', async () => {
  const ok = await ask('messages', 'many', { stop_sequences: ['END'] })
  const row = await rowOf(gateway, requestIdOf(ok.answer))
  expect(row.attempts.map(({ channel, status }) => [channel, status ?? null])).toEqual([
    ...Array.from({ length: 7 }, (_, at) => [`many-${at}`, null]),
    ['many-7', 200],
  ])
  isWell = false
  // Until its circuit opens the failure is told, then that it cannot be called.
  const seen = new Set<number>()
  for (let i = 0; i < 12; i++) {
    seen.add((await ask('messages', 'beside', { stop_sequences: ['END'] })).status)
  }
  isWell = true
  expect(seen.has(400)).toBe(false)
  // What the first channel carries is not hindered.
  expect((await ask('messages', 'beside', {})).status).toBe(200)
})
