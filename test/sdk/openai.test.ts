// The gateway through the official OpenAI SDK, as its users have it: shapes, error classes, retries.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from 'openai'
import type { LoggedCall } from '../sandbox/call-log.ts'
import { type Sandbox, startSandbox } from '../sandbox/server.ts'
import { apiToken, startGateway, type TestGateway } from './support/gateway.ts'
import { listAll, type RequestRow, requestIdShape, rowOf } from './support/read.ts'

const key = 'upk-sdk-0123456789abcdef'
const elsewhere = 'sk-elsewhere-0123456789abcdefghijkl'
let sandbox: Sandbox
let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  sandbox = startSandbox({ key })
  gateway = await startGateway({
    config: `
accounts: [{ name: acme, balance: "1.00" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: acme, name: away, token: ${elsewhere}, allowed_ips: ["203.0.113.0/24"] }
channels:
  - name: simulated
    keys: [${key}]
    protocols: { chat: "${sandbox.protocols.chat}" }
    models: { "txta-*": "*" }
    timeouts: { first_byte: 1s }
`,
  })
  client = new OpenAI({ apiKey: apiToken, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await sandbox.stop()
})

const model = 'txta-plus'
const says = (content: string) => [{ role: 'user' as const, content }]

async function callsOf(user: string): Promise<LoggedCall[]> {
  const answer = await fetch(`${sandbox.url}/_sandbox/calls`)
  const { calls } = (await answer.json()) as { calls: LoggedCall[] }
  return calls.filter((call) => call.user === user)
}

/** The error a call ends with. */
async function failure(work: () => Promise<unknown>): Promise<APIError> {
  try {
    await work()
  } catch (error) {
    expect(error).toBeInstanceOf(APIError)
    return error as APIError
  }
  throw new Error('it did not fail')
}

describe('models', () => {
  test('are listed and looked up', async () => {
    const ids: string[] = []
    for await (const listed of client.models.list()) ids.push(listed.id)
    expect(ids).toEqual(['txta-plus', 'txta-turbo', 'txta-vl-long', 'txta-vl-plus'])
    const one = await client.models.retrieve('txta-turbo')
    expect([one.id, one.object, typeof one.created, typeof one.owned_by]).toEqual([
      'txta-turbo',
      'model',
      'number',
      'string',
    ])
  })

  test('that are unknown are a NotFoundError', async () => {
    const error = await failure(() => client.models.retrieve('nope'))
    expect(error).toBeInstanceOf(NotFoundError)
    expect([error.status, error.code, error.param]).toEqual([404, 'model_not_found', 'model'])
  })
})

describe('chat', () => {
  test('gives a completion with usage and the request id', async () => {
    const answer = await client.chat.completions.create({
      model,
      messages: says('[[sim:tokens=5]]'),
    })
    expect(answer.model).toBe(model)
    expect(answer.choices[0]?.finish_reason).toBe('stop')
    expect(answer.choices[0]?.message.content).toBeTruthy()
    expect(answer.usage?.completion_tokens).toBe(5)
    expect(answer._request_id).toMatch(requestIdShape)
  })

  test('gives several choices', async () => {
    const answer = await client.chat.completions.create({
      model,
      n: 3,
      messages: says('[[sim:tokens=5]]'),
    })
    expect(answer.choices.map(({ index }) => index)).toEqual([0, 1, 2])
    expect(answer.usage?.completion_tokens).toBe(15)
  })

  test.each([true, false])('streams the same text, with usage if asked: %p', async (asked) => {
    const messages = says('tell me [[sim:tokens=12]]')
    const whole = await client.chat.completions.create({ model, messages })
    const stream = await client.chat.completions.create({
      model,
      messages,
      stream: true,
      ...(asked && { stream_options: { include_usage: true } }),
    })
    let text = ''
    const usages: (number | undefined)[] = []
    const finishes: string[] = []
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      const finish = chunk.choices[0]?.finish_reason
      if (finish != null) finishes.push(finish)
      if (chunk.usage != null) usages.push(chunk.usage.completion_tokens)
      if (!asked) expect(chunk.choices).toHaveLength(1)
    }
    expect(text).toBe(whole.choices[0]!.message.content!)
    expect(finishes).toEqual(['stop'])
    expect(usages).toEqual(asked ? [12] : [])
  })

  const tools = [
    {
      type: 'function' as const,
      function: { name: 'weather', parameters: { type: 'object', properties: {} } },
    },
  ]
  test('calls a tool, whole and streamed', async () => {
    const request = { model, messages: says('weather?'), tools, tool_choice: 'required' as const }
    const answer = await client.chat.completions.create(request)
    const [call] = answer.choices[0]?.message.tool_calls ?? []
    expect(answer.choices[0]?.finish_reason).toBe('tool_calls')
    expect(call?.type === 'function' && call.function.name).toBe('weather')
    const whole = await client.chat.completions.stream(request).finalChatCompletion()
    const [streamed] = whole.choices[0]?.message.tool_calls ?? []
    expect(streamed?.type === 'function' && streamed.function.name).toBe('weather')
    expect(streamed?.type === 'function' && streamed.function.arguments).toBe('{}')
  })

  test('reads an answer as an object of a schema', async () => {
    const answer = await client.chat.completions.create({
      model,
      messages: says('json please'),
      response_format: { type: 'json_object' },
    })
    expect(typeof JSON.parse(answer.choices[0]!.message.content!)).toBe('object')
  })

  test('can be left half-way', async () => {
    const stream = await client.chat.completions.create({
      model,
      messages: says('[[sim:tokens=50]] [[sim:chunk=10ms]]'),
      stream: true,
    })
    let seen = 0
    for await (const _ of stream) if (++seen === 3) break
    expect(seen).toBe(3)
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  })
})

describe('errors', () => {
  const ask = (content: string, extra: object = {}, as = client) =>
    failure(() => as.chat.completions.create({ model, messages: says(content), ...extra }))
  const withKey = (apiKey: string) => client.withOptions({ apiKey })

  type Case = [string, new (...args: never[]) => unknown, number, string, () => Promise<APIError>]
  const cases: Case[] = [
    [
      'an unknown token',
      AuthenticationError,
      401,
      'invalid_api_key',
      () => ask('x', {}, withKey('sk-nobody-00000000000000000000')),
    ],
    [
      'a token used elsewhere',
      PermissionDeniedError,
      403,
      'ip_not_allowed',
      () => ask('x', {}, withKey(elsewhere)),
    ],
    ['an unknown model', NotFoundError, 404, 'model_not_found', () => ask('x', { model: 'nope' })],
    ['a wrong field', BadRequestError, 400, 'invalid_request', () => ask('x', { n: 0 })],
    [
      "the upstream's refusal",
      BadRequestError,
      400,
      'upstream_invalid_request',
      () => ask('[[sim:status=400]]'),
    ],
    [
      'refused content',
      BadRequestError,
      400,
      'content_policy_violation',
      () => ask('[[sim:fail=content_policy]]'),
    ],
    [
      "the upstream's rate limit",
      RateLimitError,
      429,
      'upstream_rate_limited',
      () => ask('[[sim:status=429]]'),
    ],
    [
      'an upstream that fails',
      InternalServerError,
      502,
      'upstream_error',
      () => ask('[[sim:fail]]'),
    ],
    [
      "the gateway's key refused",
      InternalServerError,
      502,
      'upstream_permission_denied',
      () => ask('[[sim:status=401]]'),
    ],
    ['a time-out', InternalServerError, 504, 'upstream_timeout', () => ask('[[sim:hang]]')],
    [
      'an empty account',
      APIError,
      402,
      'insufficient_quota',
      () => ask('x', { max_tokens: 10 ** 9 }),
    ],
  ]
  test.each(cases)('for %s have their class, code and id', async (_, kind, status, code, work) => {
    const error = await work()
    expect(error).toBeInstanceOf(kind)
    expect([error.status, error.code]).toEqual([status, code])
    expect(error.requestID).toMatch(requestIdShape)
    expect(error.message).toContain(error.requestID!)
  })

  test('inside a stream are an APIError after the text that came before', async () => {
    const stream = await client.chat.completions.create({
      model,
      messages: says('[[sim:tokens=20]] [[sim:cut=5]]'),
      stream: true,
    })
    let text = ''
    const error = await failure(async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    })
    expect(text).not.toBe('')
    expect(error.code).toBe('upstream_error')
    expect(error.type).toBe('upstream_error')
    expect(error.message).toMatch(/\(req_[0-9a-f]{32}\)$/)
    expect(error.requestID).toMatch(requestIdShape)
  })
})

describe('retries', () => {
  const retrying = () => client.withOptions({ maxRetries: 1 })
  const tries: [string, string, number][] = [
    ['a rate limit', 'status=429', 2],
    ['an upstream failure', 'status=500', 2],
    ['a refused key', 'status=401', 1],
    ['a refused request', 'status=400', 1],
    ['refused content', 'fail=content_policy', 1],
  ]
  test.each(tries)('after %s (%s) make %d calls upstream', async (_, directive, wanted) => {
    const user = `retry ${directive}`
    await failure(() =>
      retrying().chat.completions.create({ model, user, messages: says(`[[sim:${directive}]]`) }),
    )
    expect(await callsOf(user)).toHaveLength(wanted)
  })

  test('are not made when the account is empty', async () => {
    const error = await failure(() =>
      retrying().chat.completions.create({
        model: 'txta-turbo',
        max_tokens: 10 ** 9,
        messages: says('x'),
      }),
    )
    await rowOf(gateway, error.requestID!)
    const rows = await listAll<RequestRow>(gateway, '/requests?model=txta-turbo&status=402')
    expect(rows.map(({ request_id }) => request_id)).toEqual([error.requestID!])
  })
})
