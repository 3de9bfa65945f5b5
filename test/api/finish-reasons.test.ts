// Why each answer ended, as the request log tells it: callers of every text style over upstreams of every
// style, whole answers and streams.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { requestIdOf, rowOf } from '../support/read.ts'

const key = 'upk-finish-0123456789abcdef'
const styles = ['chat', 'responses', 'messages', 'generate'] as const
type Style = (typeof styles)[number]

let sandbox: Sandbox
let gateway: TestGateway

beforeAll(async () => {
  sandbox = startSandbox({ key })
  const protocols = sandbox.protocols as Record<Style, string>
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [{ name: 'acme', balance: '1000.00' }],
      tokens: [{ account: 'acme', name: 'test', token: apiToken }],
      channels: styles.map((over) => ({
        name: `only-${over}`,
        keys: [key],
        protocols: { [over]: protocols[over] },
        models: { [`over-${over}`]: 'txta-plus' },
      })),
      models: styles.map((over) => ({ name: `over-${over}`, kind: 'text', interfaces: [over] })),
      prices: styles.map((over) => ({
        model: `over-${over}`,
        unit: 'token',
        per_million: { input: '1.00', output: '2.00' },
      })),
    }),
  })
})

afterAll(async () => {
  await gateway.stop()
  await sandbox.stop()
})

const schema = { type: 'object', properties: { city: { type: 'string' } } }

interface Asked {
  text: string
  maxTokens?: number
  hasTool?: true
}

const requests: Record<Style, (model: string, asked: Asked, stream: boolean) => [string, object]> =
  {
    chat: (model, { text, maxTokens = 1000, hasTool }, stream) => [
      '/v1/chat/completions',
      {
        ...{ model, stream, max_tokens: maxTokens, messages: [{ role: 'user', content: text }] },
        ...(hasTool && {
          tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
        }),
      },
    ],
    responses: (model, { text, maxTokens = 1000, hasTool }, stream) => [
      '/v1/responses',
      {
        ...{ model, stream, max_output_tokens: maxTokens, input: text },
        ...(hasTool && {
          tools: [{ type: 'function', name: 'f', parameters: schema, strict: false }],
        }),
      },
    ],
    messages: (model, { text, maxTokens = 1000, hasTool }, stream) => [
      '/v1/messages',
      {
        ...{ model, stream, max_tokens: maxTokens, messages: [{ role: 'user', content: text }] },
        ...(hasTool && { tools: [{ name: 'f', input_schema: schema }] }),
      },
    ],
    generate: (model, { text, maxTokens = 1000, hasTool }, stream) => [
      `/vendorg/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      {
        contents: [{ role: 'user', parts: [{ text }] }],
        generationConfig: { maxOutputTokens: maxTokens },
        ...(hasTool && {
          tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: schema }] }],
        }),
      },
    ],
  }

const asked: [reason: string, asked: Asked][] = [
  ['stop', { text: 'hello' }],
  ['length', { text: 'Tell me a long story about rivers and the sea.', maxTokens: 16 }],
  ['tool_calls', { text: 'What is the weather in Paris? [[sim:tool=f]]', hasTool: true }],
]

async function reasonOf(style: Style, model: string, what: Asked, stream: boolean) {
  const [path, body] = requests[style](model, what, stream)
  const response = await gateway.post(path, body)
  await response.text()
  const id = requestIdOf(response)
  const row = (await rowOf(gateway, id)) as { status: number; finish_reason?: string }
  return { id, status: row.status, reason: row.finish_reason }
}

describe.each(styles)('a call of the %s style', (style) => {
  test.each(styles)('over %s has its finish reason in the log', async (over) => {
    for (const [reason, what] of asked) {
      for (const stream of [false, true]) {
        const got = await reasonOf(style, `over-${over}`, what, stream)
        expect({ stream, ...got }).toMatchObject({ stream, status: 200, reason })
      }
    }
  })
})

test('an explanation, a downloaded table and the log say the same', async () => {
  const { id } = await reasonOf('chat', 'over-chat', asked[1]![1], true)
  expect((await gateway.admin('GET', `/explain/${id}`)).body).toMatchObject({
    finish_reason: 'length',
  })
  const { body } = await gateway.admin('GET', '/requests?limit=1')
  expect(body).toMatchObject({ items: [{ request_id: id, finish_reason: 'length' }] })
})

test('a call that was refused has none', async () => {
  const response = await gateway.post('/v1/chat/completions', { model: 'no-such', messages: [] })
  await response.text()
  const row = await rowOf(gateway, requestIdOf(response))
  expect(row).not.toHaveProperty('finish_reason')
})
