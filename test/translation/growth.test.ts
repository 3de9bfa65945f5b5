// Requests that grow in translation: refused with the name of the field before anything is sent, or held
// for as they are sent.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { errorOf } from '../support/read.ts'
import { startUpstream, type TestUpstream } from '../support/upstream.ts'

const tokens = {
  rich: apiToken,
  poor: 'sk-poor-0123456789abcdefghijklmnopqr',
  enough: 'sk-enough-0123456789abcdefghijklmnop',
} as const
const wires = ['chat', 'responses', 'messages', 'generate'] as const

let upstream: TestUpstream
let gateway: TestGateway

const generated = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1, totalTokenCount: 6 },
}

beforeAll(async () => {
  upstream = startUpstream(() => Response.json(generated))
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [
        { name: 'rich', balance: '100.00' },
        { name: 'poor', balance: '0.02' },
        { name: 'enough', balance: '0.065' },
      ],
      tokens: Object.entries(tokens).map(([account, token]) => ({ account, name: 't', token })),
      channels: wires.map((wire) => ({
        name: `only-${wire}`,
        keys: ['upk-growth-0123456789abcdef'],
        protocols: {
          [wire]: wire === 'chat' || wire === 'responses' ? upstream.chat : upstream.url,
        },
        models: { [`over-${wire}`]: 'up' },
      })),
      models: wires.map((wire) => ({ name: `over-${wire}`, kind: 'text', interfaces: [wire] })),
      prices: wires.map((wire) => ({
        model: `over-${wire}`,
        unit: 'token',
        per_million: { input: '1.00', output: '1.00' },
      })),
    }),
  })
})

afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

beforeEach(() => {
  upstream.calls.length = 0
})

const as = (who: keyof typeof tokens) => ({ authorization: `Bearer ${tokens[who]}` })
const ask = { role: 'user', content: 'Hi' }

/** A schema that has one text of so many bytes, and refers to it so many times. */
const referring = (bytes: number, times: number): object => ({
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: times }, (_, index) => [`p${index}`, { $ref: '#/$defs/a' }]),
  ),
  $defs: { a: { type: 'string', description: 'x'.repeat(bytes) } },
})

const tool = (parameters: object) => ({ type: 'function', function: { name: 'f', parameters } })
const nested = (depth: number): object =>
  depth === 0 ? { type: 'number', minimum: 1 } : { not: nested(depth - 1) }

interface Case {
  path: string
  body: object
  param: string
}

const chat = '/v1/chat/completions'
const large: Record<string, Case> = {
  'references in a tool': {
    path: chat,
    body: { model: 'over-generate', messages: [ask], tools: [tool(referring(20_000, 500))] },
    param: 'tools',
  },
  'references in many tools': {
    path: chat,
    body: {
      model: 'over-generate',
      messages: [ask],
      tools: Array.from({ length: 40 }, (_, index) => ({
        type: 'function',
        function: { name: `f${index}`, parameters: referring(500, 40) },
      })),
    },
    param: 'tools',
  },
  'references in the schema of the answer': {
    path: chat,
    body: {
      model: 'over-generate',
      messages: [ask],
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'a', schema: referring(20_000, 500) },
      },
    },
    param: 'response_format',
  },
  'references, by a messages caller': {
    path: '/v1/messages',
    body: {
      model: 'over-generate',
      max_tokens: 10,
      messages: [ask],
      tools: [{ name: 'f', input_schema: referring(20_000, 500) }],
    },
    param: 'tools',
  },
  'references, by a responses caller': {
    path: '/v1/responses',
    body: {
      model: 'over-generate',
      input: 'Hi',
      tools: [{ type: 'function', name: 'f', parameters: referring(20_000, 500) }],
    },
    param: 'tools',
  },
  'a long name of a namespace': {
    path: '/v1/responses',
    body: {
      model: 'over-chat',
      input: 'Hi',
      tools: [
        {
          type: 'namespace',
          name: 'n'.repeat(50_000),
          tools: Array.from({ length: 500 }, (_, index) => ({
            type: 'function',
            name: `t${index}`,
          })),
        },
      ],
    },
    param: 'tools[0].name',
  },
}

const call = (args: string) => ({
  id: 'c',
  type: 'function',
  function: { name: 'f', arguments: args },
})
for (const wire of ['messages', 'generate']) {
  large[`arguments of very many values for ${wire}`] = {
    path: chat,
    body: {
      model: `over-${wire}`,
      messages: [
        ask,
        { role: 'assistant', tool_calls: [call(`{"a":[${'[],'.repeat(600_000)}0]}`)] },
        { role: 'tool', tool_call_id: 'c', content: 'x' },
      ],
    },
    param: 'messages',
  }
}

describe.each(Object.entries(large))('a request with %s', (_, { path, body, param }) => {
  test('is refused by that name, and nothing is sent or charged', async () => {
    const answer = await gateway.post(path, body)
    const error = await errorOf(answer)
    expect([answer.status, error.code, error.param]).toEqual([400, 'invalid_request', param])
    expect(upstream.calls).toEqual([])
  })
})

test('a question about the size of such a request is not sent either', async () => {
  const { body } = large['references, by a messages caller']!
  const answer = await gateway.post('/v1/messages/count_tokens', body)
  expect([answer.status, answer.headers.get('x-gateway-estimated')]).toEqual([200, 'true'])
  expect(upstream.calls).toEqual([])
})

test('constraints inside of constraints are sent once', async () => {
  const schema = { type: 'object', properties: { a: nested(25) } }
  await gateway.post(chat, {
    model: 'over-messages',
    messages: [ask],
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
  })
  const [sent] = upstream.calls
  expect(sent!.body.length).toBeLessThan(2_000)
})

test('the name of a tool is not repeated with each of its files', async () => {
  const name = 'n'.repeat(20_000)
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
  const body = JSON.stringify({
    model: 'over-chat',
    max_tokens: 10,
    messages: [
      ask,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name, input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'c',
            content: Array.from({ length: 300 }, () => image),
          },
        ],
      },
    ],
  })
  await gateway.post('/v1/messages', body)
  expect(upstream.calls[0]!.body.length).toBeLessThan(3 * body.length)
})

describe('a request that grows from 3 to 50 KB', () => {
  const body = {
    model: 'over-generate',
    max_tokens: 1,
    messages: [ask],
    tools: [tool(referring(700, 70))],
  }

  test('is not sent for an account that can pay for what came only', async () => {
    const answer = await gateway.post(chat, body, as('poor'))
    const error = await errorOf(answer)
    expect([answer.status, error.code]).toEqual([402, 'insufficient_quota'])
    expect(upstream.calls).toEqual([])
    const plain = { ...body, tools: [tool({ type: 'object' })] }
    expect((await gateway.post(chat, plain, as('poor'))).status).toBe(200)
  })

  test('is sent for one that can pay for what goes upstream, and charged by usage', async () => {
    for (let call = 0; call < 3; call++) {
      expect((await gateway.post(chat, body, as('enough'))).status).toBe(200)
    }
    const { body: accounts } = await gateway.admin('GET', '/accounts')
    const { available } = accounts.items.find(({ name }: { name: string }) => name === 'enough')
    expect(available).toBe('0.064982')
    expect(upstream.calls.every((call) => call.body.length > 48_000)).toBe(true)
  })
})
