// What an upstream says of the operator's costs stays with the operator: no caller and no member gets it,
// in any style, own or translated, as JSON or as a stream.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { soundOf } from '../../sandbox/audio/encode.ts'
import { adminToken, apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { modelOver, type Wire, wires } from '../support/one-wire.ts'
import { requestIdOf } from '../support/read.ts'
import { newPerson, type SignedIn } from '../support/sign-in.ts'
import { type Captured, jsonReply, startUpstream, streamReply } from '../support/upstream.ts'

/** Each holds the word that must not be seen. */
const costs = {
  cost: 0.7777777,
  cost_details: { upstream_inference_cost: 0.7777777, upstream_inference_prompt_cost: 0.7777777 },
  estimated_cost: 0.7777777,
  total_cost: 0.7777777,
  market_cost: '0.7777777',
  marketCost: '0.7777777',
  cost_in_usd_ticks: 7_777_777,
  is_byok: 'secret-7777777',
  native_tokens_prompt: 7777777,
  native_tokens_completion: 7777777,
  provider: 'secret-7777777',
}
const nested = { ...costs, iterations_cost: 7777777, details: [{ cost: 7777777, kept: 1 }] }
const facts = { provider: 'secret-7777777', cost: 0.7777777, is_byok: 'secret-7777777' }
const gatewayFacts = {
  provider_metadata: { gateway: { cost: '0.7777777', routing: 'secret-7777777' } },
}

const chatUsage = {
  prompt_tokens: 5,
  completion_tokens: 2,
  ...nested,
  prompt_tokens_details: nested,
}
const itemUsage = { input_tokens: 5, output_tokens: 2, ...nested, input_tokens_details: nested }
const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 2, ...nested }

const answers: Readonly<Record<Wire | 'embeddings', object>> = {
  chat: {
    id: 'c',
    object: 'chat.completion',
    ...facts,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'a "cost" of 3', ...gatewayFacts },
        finish_reason: 'stop',
      },
    ],
    usage: chatUsage,
    x_groq: { usage: nested },
  },
  responses: {
    id: 'r',
    object: 'response',
    status: 'completed',
    ...facts,
    output: [
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'a "cost" of 3' }],
      },
    ],
    usage: itemUsage,
  },
  messages: {
    id: 'm',
    type: 'message',
    role: 'assistant',
    ...facts,
    content: [{ type: 'text', text: 'a "cost" of 3' }],
    stop_reason: 'end_turn',
    usage: itemUsage,
  },
  generate: {
    ...facts,
    candidates: [
      { content: { role: 'model', parts: [{ text: 'a "cost" of 3' }] }, finishReason: 'STOP' },
    ],
    usageMetadata,
  },
  embeddings: {
    object: 'list',
    ...facts,
    data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
    usage: chatUsage,
  },
}

const event = (data: object, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`
const named = (data: { type: string }): string => event(data, data.type)

function eventsOf(wire: Wire): string[] {
  const answer = answers[wire] as Record<string, unknown>
  const { choices: _, usage: __, ...head } = answer
  if (wire === 'chat') {
    const chunk = (delta: object, finish_reason: string | null, more: object = {}) =>
      event({ ...head, choices: [{ index: 0, delta, finish_reason }], ...more })
    return [
      chunk({ role: 'assistant', content: 'a "cost" ' }, null),
      chunk({ content: 'of 3', ...gatewayFacts }, null),
      event({ id: 'c', choices: [{ index: 0, delta: { content: '!' } }], cost: 0.7777777 }),
      chunk({}, 'stop'),
      event({ ...head, choices: [], usage: chatUsage }),
      'data: [DONE]\n\n',
    ]
  }
  if (wire === 'generate') {
    const candidate = (text: string, finish?: string) => ({
      content: { role: 'model', parts: [{ text }] },
      ...(finish !== undefined && { finishReason: finish }),
    })
    return [
      event({ ...facts, candidates: [candidate('a "cost" ')], usageMetadata }),
      event({ ...facts, candidates: [candidate('of 3', 'STOP')], usageMetadata }),
    ]
  }
  if (wire === 'messages') {
    return [
      named({ type: 'message_start', message: { ...answer, content: [] } } as { type: string }),
      named({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'text', text: '' },
      } as never),
      named({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: 'a "cost" of 3' },
      } as never),
      named({ type: 'content_block_stop', index: 0 } as never),
      named({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: itemUsage,
      } as never),
      named({ type: 'message_stop' }),
    ]
  }
  const item = { type: 'message', id: 'i', role: 'assistant', content: [] }
  return [
    named({ type: 'response.created', response: { ...answer, status: 'in_progress' } } as never),
    named({ type: 'response.output_item.added', output_index: 0, item } as never),
    named({
      type: 'response.content_part.added',
      item_id: 'i',
      output_index: 0,
      content_index: 0,
      part: { type: 'output_text', text: '' },
    } as never),
    named({
      type: 'response.output_text.delta',
      item_id: 'i',
      output_index: 0,
      content_index: 0,
      delta: 'a "cost" of 3',
    } as never),
    named({ type: 'response.completed', response: answer } as never),
  ]
}

/** Events of calls that are no conversation, with a cost in each. */
const soundEvents: Readonly<Record<string, object[]>> = {
  speech: [
    { type: 'speech.audio.delta', audio: 'AAAA', cost: 0.7777777 },
    { type: 'speech.audio.done', usage: itemUsage, ...facts },
  ],
  transcriptions: [
    { type: 'transcript.text.delta', delta: 'a "cost" of 3', cost: 0.7777777 },
    { type: 'transcript.text.done', text: 'a "cost" of 3', usage: itemUsage, ...facts },
  ],
}

function reply({ path, body }: Captured): Response {
  const sound = soundEvents[path.split('/').at(-1)!]
  if (sound !== undefined) return streamReply(sound.map((data) => event(data)))
  if (path.endsWith('/embeddings')) return jsonReply(answers.embeddings)
  const wire = wires.find((each) => path.includes(`/up-${each}/`))!
  const isStream = path.includes('stream') || JSON.parse(body).stream === true
  return isStream ? streamReply(eventsOf(wire)) : jsonReply(answers[wire])
}

const upstream = startUpstream(reply)
const price = { unit: 'token', per_million: { input: '1', output: '1' } }
let gateway: TestGateway
let member: SignedIn
beforeAll(async () => {
  const base = (wire: string) => `${upstream.url}/up-${wire}`
  const config = {
    accounts: [{ name: 'acme', balance: '100.00' }],
    tokens: [{ account: 'acme', name: 'test', token: apiToken }],
    models: [
      ...wires.map((wire) => ({ name: modelOver(wire), kind: 'text', interfaces: [wire] })),
      { name: 'vectors', kind: 'embedding', interfaces: ['embeddings'] },
      { name: 'speech', kind: 'speech', interfaces: ['speech'] },
      { name: 'hearing', kind: 'transcription', interfaces: ['transcriptions'] },
    ],
    prices: [...wires.map(modelOver), 'vectors', 'speech', 'hearing'].map((model) => ({
      model,
      ...price,
    })),
    channels: [
      ...wires.map((wire) => ({
        name: `only-${wire}`,
        keys: ['upk-0123456789'],
        protocols: { [wire]: base(wire) },
        models: { [modelOver(wire)]: modelOver(wire) },
      })),
      {
        name: 'vectors',
        keys: ['upk-0123456789'],
        protocols: { embeddings: base('embeddings') },
        models: { vectors: '*' },
      },
      {
        name: 'sound',
        keys: ['upk-0123456789'],
        protocols: { speech: base('sound'), transcriptions: base('sound') },
        models: { speech: '*', hearing: '*' },
      },
    ],
  }
  gateway = await startGateway({ config: JSON.stringify(config) })
  member = await newPerson(gateway, { name: 'mia', role: 'member', account: 'acme' })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const said = [{ role: 'user', content: 'hi' }]
const pathOf = (style: Wire, model: string, stream: boolean): string =>
  ({
    chat: '/v1/chat/completions',
    responses: '/v1/responses',
    messages: '/v1/messages',
    generate: `/vendorg/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  })[style]
const bodyOf = (style: Wire, model: string, stream: boolean): object =>
  ({
    chat: { model, messages: said, stream, stream_options: { include_usage: true } },
    responses: { model, input: 'hi', stream },
    messages: { model, messages: said, max_tokens: 64, stream },
    generate: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
  })[style]

const leak = /7777777|byok|native_tokens|"[a-z_]*cost[a-z_]*":|"provider":/

const pairs = wires.flatMap((style) => wires.map((wire) => [style, wire] as const))

describe.each(pairs)('%s over %s', (style, wire) => {
  test.each([false, true])('tells no caller what it costs, as a stream: %p', async (stream) => {
    const model = modelOver(wire)
    const body = bodyOf(style, model, stream)
    const answer = await gateway.post(pathOf(style, model, stream), body)
    const text = await answer.text()
    expect([answer.status, text]).toEqual([200, expect.stringContaining('cost')])
    expect(text).not.toMatch(leak)
    const seen = (await gateway.admin('GET', `/requests/${requestIdOf(answer)}`)).body
    expect(JSON.stringify(seen.usage_reported)).toContain('7777777')
  })
})

test('chat chunks without a usage event are clean, too', async () => {
  const body = { model: 'over-chat', messages: said, stream: true }
  const answer = await gateway.post('/v1/chat/completions', body)
  expect(await answer.text()).not.toMatch(leak)
})

test('embeddings are clean', async () => {
  const answer = await gateway.post('/v1/embeddings', { model: 'vectors', input: 'hi' })
  const text = await answer.text()
  expect(text).toContain('embedding')
  expect(text).not.toMatch(leak)
})

test('events of sound are clean', async () => {
  const spoken = { model: 'speech', input: 'hi', voice: 'v', stream_format: 'sse' }
  const form = new FormData()
  form.set('model', 'hearing')
  form.set('stream', 'true')
  form.set('file', new File([soundOf('wav', 1).bytes], 'a.wav'))
  const headers = { authorization: `Bearer ${apiToken}` }
  const url = `${gateway.url}/v1/audio/transcriptions`
  for (const answer of [
    await gateway.post('/v1/audio/speech', spoken),
    await fetch(url, { method: 'POST', headers, body: form }),
  ]) {
    const text = await answer.text()
    expect([answer.status, text]).toEqual([200, expect.stringContaining('.done')])
    expect(text).not.toMatch(leak)
  }
})

test('members see none of it in any list, file or explanation; operators do', async () => {
  const id = requestIdOf(
    await gateway.post('/v1/chat/completions', { model: 'over-chat', messages: said }),
  )
  for (const path of [
    `/requests/${id}`,
    `/explain/${id}`,
    '/requests',
    '/requests?format=csv',
    '/requests?format=jsonl',
  ]) {
    const own = (await member.ask('GET', path)).text
    expect([path, own.length > 100, leak.test(own)]).toEqual([path, true, false])
    expect(own).toContain('prompt_tokens')
    const headers = { authorization: `Bearer ${adminToken}` }
    const staff = await (await fetch(`${gateway.url}/admin/v1${path}`, { headers })).text()
    expect([path, staff.includes('7777777')]).toEqual([path, true])
  }
})
