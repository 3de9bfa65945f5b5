// The text styles through the whole gateway: what reaches the upstream in each, what comes back, what
// it costs, and how errors read.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { withoutMarks } from '../faults/fault.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { rawRequest } from '../support/raw.ts'
import {
  accountOf,
  chargeOf,
  dataLines,
  errorIn,
  errorOf,
  nanos,
  requestIdOf,
  requestIdShape,
  rowOf,
} from '../support/read.ts'
import {
  type Captured,
  jsonReply,
  type ScriptedUpstream,
  startScripted,
  startUpstream,
  streamReply,
  type TestUpstream,
} from '../support/upstream.ts'

type Json = Record<string, unknown>

const key = 'upk-styles-0123456789abcdef'
const fewToken = 'sk-few-0123456789abcdefghijklmnop'

let sandbox: Sandbox
let own: ScriptedUpstream
/** An upstream of the messages style that does not know how to count. */
let counting: TestUpstream
let gateway: TestGateway

const styles = ['chat', 'responses', 'messages', 'embeddings'] as const
type Style = (typeof styles)[number]
const textStyles = ['chat', 'responses', 'messages'] as const
type TextStyle = (typeof textStyles)[number]

const pathOf: Record<Style, string> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  embeddings: '/v1/embeddings',
}

const basesAt = (url: string) =>
  `{ chat: "${url}/v1", responses: "${url}/v1", messages: "${url}", embeddings: "${url}/v1" }`

const rates = '{ input: "1.00", output: "2.00", cache_read: "0.10", cache_write: "1.25" }'
const priced = (model: string) => `  - { model: ${model}, unit: token, per_million: ${rates} }`
const textModel = (name: string) =>
  `  - { name: ${name}, kind: text, interfaces: [chat, responses, messages] }`
const speaking = (name: string, settings: string) => `
  - name: ${name}
    keys: [${key}]
    protocols: { messages: "${own.url}" }
    models: { ${name}: "*" }
    messages: ${settings}`

const configFor = () => `
accounts: [{ name: acme, balance: "1000.00" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: acme, name: few, token: ${fewToken}, models: [plain, txta-e*] }
channels:
  - name: simulated
    keys: [${key}]
    protocols: ${JSON.stringify(sandbox.protocols)}
    models: { txta-plus: up-plus, txta-embed: "*" }
  - name: own
    keys: [${key}]
    protocols: ${basesAt(own.url)}
    models: { mapped: upstream-name, plain: "*", tiered: "*", txta-vl-long: "*", vectors: "*" }
  - name: chatting
    keys: [${key}]
    protocols: { chat: "${own.url}/v1" }
    models: { narrow: "*" }
  - name: faulty
    keys: [${key}]
    protocols: ${basesAt(own.url)}
    models: { faulty: hidden-name }
  - name: odd
    keys: [${key}]
    protocols: { embeddings: "${own.url}/v1" }
    models: { odd-vectors: "*" }
  - name: guessing
    keys: [${key}]
    protocols: { messages: "${counting.url}" }
    models: { guessed: "*" }
${speaking('first-names', '{ headers: msgapi, auth: x-api-key }')}
${speaking('second-names', '{ headers: anthropic, auth: bearer }')}
${speaking('fixed-version', '{ headers: both, auth: both, version: "2099-01-01" }')}
models:
${['mapped', 'plain', 'tiered', 'faulty', 'guessed'].map(textModel).join('\n')}
  - { name: narrow, kind: text, interfaces: [chat, responses, messages], translate: false }
${['first-names', 'second-names', 'fixed-version'].map(textModel).join('\n')}
  - { name: vectors, kind: embedding, interfaces: [embeddings] }
  - { name: odd-vectors, kind: embedding, interfaces: [embeddings] }
  - { name: unserved, kind: text, interfaces: [chat] }
prices:
${['mapped', 'plain', 'narrow', 'faulty', 'guessed', 'vectors', 'odd-vectors', 'unserved'].map(priced).join('\n')}
${['first-names', 'second-names', 'fixed-version'].map(priced).join('\n')}
  - model: tiered
    unit: token
    tiers:
      - { up_to: 1510, per_million: ${rates} }
      - { per_million: { input: "10.00", output: "20.00" } }
`

beforeAll(async () => {
  sandbox = startSandbox({ key })
  own = startScripted()
  counting = startUpstream(({ path }) =>
    path === '/v1/messages'
      ? jsonReply(answerIn('messages', { input: 5, output: 5 }, 'guessed'))
      : jsonReply({ type: 'error', error: { message: 'no such path' } }, { status: 404 }),
  )
  gateway = await startGateway({ config: configFor() })
})
afterAll(async () => {
  expect((await gateway.admin('POST', '/audit')).body).toMatchObject({ ok: true, problems: [] })
  expect((await accountOf(gateway)).held).toBe('0.00')
  expect(await gateway.stop()).toBe(0)
  await Promise.all([sandbox.stop(), own.stop(), counting.stop()])
})

/** Usage in plain words; `input` is the whole input. */
interface Counts {
  input: number
  output: number
  read?: number
  written?: number
}

function wireUsage(style: Style, { input, output, read = 0, written = 0 }: Counts): Json {
  const cached = { cached_tokens: read }
  switch (style) {
    case 'chat':
      return {
        prompt_tokens: input,
        completion_tokens: output,
        prompt_tokens_details: { ...cached, cache_creation_input_tokens: written },
      }
    case 'responses':
      return {
        input_tokens: input,
        output_tokens: output,
        input_tokens_details: { ...cached, cache_write_tokens: written },
      }
    case 'messages':
      return {
        input_tokens: input - read - written,
        output_tokens: output,
        cache_read_input_tokens: read,
        cache_creation_input_tokens: written,
      }
    case 'embeddings':
      return { prompt_tokens: input, total_tokens: input }
  }
}

/** A whole answer of an upstream. Usage as counts, as anything else, or left out. */
function answerIn(style: Style, usage?: Counts | { raw: unknown }, model = 'plain'): Json {
  const told =
    usage === undefined ? {} : { usage: 'raw' in usage ? usage.raw : wireUsage(style, usage) }
  const shared = { id: 'up-1', model, ...told }
  switch (style) {
    case 'chat': {
      const message = { role: 'assistant', content: 'Hello there.' }
      return { ...shared, choices: [{ index: 0, message, finish_reason: 'stop' }] }
    }
    case 'responses': {
      const content = [{ type: 'output_text', text: 'Hello there.', annotations: [] }]
      const output = [{ type: 'message', id: 'm', role: 'assistant', content }]
      return { ...shared, object: 'response', status: 'completed', error: null, output }
    }
    case 'messages': {
      const content = [{ type: 'text', text: 'Hello there.' }]
      return { ...shared, type: 'message', role: 'assistant', content, stop_reason: 'end_turn' }
    }
    case 'embeddings':
      return { ...shared, object: 'list', data: [{ index: 0, embedding: [1, -2] }] }
  }
}

const event = (data: Json) => `event: ${data['type']}\ndata: ${JSON.stringify(data)}\n\n`

/** The same as a stream; what it says last is kept apart. */
function streamIn(style: TextStyle, usage?: Counts | { raw: unknown }, model = 'plain'): string {
  const answer = answerIn(style, usage, model)
  if (style === 'chat') {
    const chunk = (fields: Json) => `data: ${JSON.stringify({ id: 'x', model, ...fields })}\n\n`
    const choice = (delta: Json, finish_reason: string | null) =>
      chunk({ choices: [{ index: 0, delta, finish_reason }] })
    const told = answer['usage'] === undefined ? '' : chunk({ choices: [], usage: answer['usage'] })
    const begun = choice({ role: 'assistant', content: 'Hello there.' }, null)
    return `${begun}${choice({}, 'stop')}${told}data: [DONE]\n\n`
  }
  if (style === 'responses') {
    return (
      event({ type: 'response.created', response: { ...answer, usage: null, output: [] } }) +
      event({ type: 'response.output_text.delta', delta: 'Hello there.' }) +
      event({ type: 'response.completed', response: answer })
    )
  }
  const { usage: told, ...message } = answer
  const [first, last] = splitUsage(told)
  return (
    event({ type: 'message_start', message: { ...message, content: [], ...first } }) +
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }) +
    event({ type: 'content_block_delta', index: 0, delta: { text: 'Hello there.' } }) +
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, ...last }) +
    event({ type: 'message_stop' })
  )
}

/** The messages style tells the input first and the output last. */
function splitUsage(told: unknown): [Json, Json] {
  if (told === undefined) return [{}, {}]
  if (typeof told !== 'object' || told === null) return [{ usage: told }, { usage: told }]
  const { output_tokens, ...input } = told as Json
  return [{ usage: { ...input, output_tokens: 1 } }, { usage: { output_tokens } }]
}

function requestIn(style: Style, model: string, more: Json = {}): Json {
  switch (style) {
    case 'chat':
      return { model, messages: [{ role: 'user', content: 'hello' }], ...more }
    case 'responses':
      return { model, input: 'hello', ...more }
    case 'messages':
      return { model, max_tokens: 50, messages: [{ role: 'user', content: 'hello' }], ...more }
    case 'embeddings':
      return { model, input: ['hello'], ...more }
  }
}

let made = 0
/** One call that the scripted upstream answers so. */
async function callOwn(
  style: Style,
  reply: Json | string | ((call: Captured) => Response),
  more: Json = {},
  model = 'plain',
) {
  const user = `case-${++made}`
  own.on(user, (call) => {
    if (typeof reply === 'function') return reply(call)
    return typeof reply === 'string' ? streamReply([reply]) : jsonReply(reply)
  })
  const response = await gateway.post(pathOf[style], requestIn(style, model, { user, ...more }))
  return { response, text: await response.text(), id: requestIdOf(response), user }
}

async function paidFor(id: string) {
  const charge = await chargeOf(gateway, id)
  const row = await rowOf(gateway, id)
  return { row, charge, nanos: charge === undefined ? 0n : -nanos(charge.amount) }
}

describe('what reaches the upstream', () => {
  const odd =
    '"seed":12345678901234567890,"z":1.0,"tools":[{"model":{"type":"string"}}],' +
    '"note":"say \\"model\\" \\u00fc 你好","empty":{}, "deep":{"model":"x"}'
  const least: Record<Style, string> = {
    chat: '"messages":[{"role":"user","content":"hi"}]',
    responses: '"input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]}]',
    messages: '"max_tokens":9,"messages":[{"role":"user","content":"hi"}]',
    embeddings: '"input":["hi"]',
  }
  const modelFor = (style: Style, mapped: boolean) =>
    style === 'embeddings' ? 'vectors' : mapped ? 'mapped' : 'plain'

  test.each(styles)('in the %s style is the very text that was sent', async (style) => {
    const user = `exact-${style}`
    const model = modelFor(style, false)
    own.on(user, () => jsonReply(answerIn(style, { input: 1, output: 1 }, model)))
    const sent = `{ ${least[style]} ,\n${odd}, "user":"${user}","model" : "${model}" }`
    const response = await gateway.post(pathOf[style], sent)
    expect(response.status).toBe(200)
    expect(own.seen(user).body).toBe(sent)
    expect(own.seen(user).path).toBe(pathOf[style])
  })

  test.each(textStyles)('in the %s style differs in the mapped name only', async (style) => {
    const user = `mapped-${style}`
    const answer = answerIn(style, { input: 1, output: 1 }, 'upstream-name')
    own.on(user, () => jsonReply({ ...answer, note: { model: 'upstream-name' } }))
    const sent = `{"model":"mapped",${least[style]},${odd},"user":"${user}"}`
    const response = await gateway.post(pathOf[style], sent)
    expect(own.seen(user).body).toBe(sent.replace('"mapped"', '"upstream-name"'))
    expect(JSON.parse(withoutMarks(await response.text()))).toEqual({
      ...answer,
      model: 'mapped',
      note: { model: 'upstream-name' },
    })
    const row = await rowOf(gateway, requestIdOf(response))
    expect([row.interface, row.model, row.upstream_model]).toEqual([
      style,
      'mapped',
      'upstream-name',
    ])
  })

  const callers = {
    cookie: 'session=caller',
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-host': 'caller.example',
    'user-agent': 'caller-agent/1',
    'x-custom': 'caller',
    'openai-organization': 'caller-org',
    referer: 'https://caller.example/',
    'msgapi-version': 'caller-version',
  }
  const always = ['accept', 'accept-encoding', 'content-length', 'content-type', 'host']

  test.each(styles)(
    'in the %s style has the channel’s key and none of the caller’s headers',
    async (style) => {
      const user = `headers-${style}`
      const model = style === 'embeddings' ? 'vectors' : 'plain'
      own.on(user, () => jsonReply(answerIn(style, { input: 1, output: 1 }, model)))
      await gateway.post(pathOf[style], requestIn(style, model, { user }), callers)
      const { headers } = own.seen(user)
      const extra = style === 'messages' ? ['anthropic-version', 'msgapi-version', 'x-api-key'] : []
      const names = [...headers.keys()].filter((name) => name !== 'connection').sort()
      expect(names).toEqual([...always, 'authorization', 'user-agent', ...extra].sort())
      expect(headers.get('authorization')).toBe(`Bearer ${key}`)
      expect(headers.get('user-agent')).toBe('model-gateway')
      const all = JSON.stringify([...headers])
      expect(all).not.toContain(apiToken)
      if (style !== 'messages') expect(all).not.toContain('caller')
    },
  )
})

describe('the headers of the messages style', () => {
  async function seenBy(model: string, headers: Record<string, string>, query = '') {
    const user = `dialect-${++made}`
    own.on(user, () => jsonReply(answerIn('messages', { input: 1, output: 1 }, model)))
    const body = requestIn('messages', model, { user })
    const response = await gateway.post(`/v1/messages${query}`, body, headers)
    expect(response.status).toBe(200)
    const seen = own.seen(user).headers
    const names = ['msgapi-version', 'msgapi-beta', 'anthropic-version', 'anthropic-beta']
    const found = [...names, 'x-api-key', 'authorization'].map((name) => [name, seen.get(name)])
    return Object.fromEntries(found.filter(([, value]) => value !== null))
  }

  test.each<[string, Record<string, string>, Json]>([
    [
      'first-names',
      { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'made-up-1,other-2' },
      {
        'msgapi-version': '2023-06-01',
        'msgapi-beta': 'made-up-1,other-2',
        'x-api-key': key,
      },
    ],
    [
      'second-names',
      { 'msgapi-version': 'never heard of', 'msgapi-beta': 'x' },
      {
        'anthropic-version': 'never heard of',
        'anthropic-beta': 'x',
        authorization: `Bearer ${key}`,
      },
    ],
    [
      'fixed-version',
      { 'msgapi-version': '2023-06-01' },
      {
        'msgapi-version': '2099-01-01',
        'anthropic-version': '2099-01-01',
        'x-api-key': key,
        authorization: `Bearer ${key}`,
      },
    ],
    ['first-names', {}, { 'msgapi-version': '2023-06-01', 'x-api-key': key }],
  ])('arrive at %s as it wants them, given %j', async (model, given, wanted) => {
    expect(await seenBy(model, given)).toEqual(wanted)
  })

  test('may come with ?beta=true, which stays here', async () => {
    const seen = await seenBy('first-names', { 'anthropic-beta': 'b' }, '?beta=true')
    expect(seen['msgapi-beta']).toBe('b')
  })

  test.each([
    ['a control character', 'msgapi-beta', 'anthropic-beta: a\tb'],
    ['letters beyond ASCII', 'msgapi-version', 'msgapi-version: 2023\xfc'],
    ['more than anybody needs', 'msgapi-beta', `msgapi-beta: ${'x'.repeat(2049)}`],
  ])('with %s are refused, naming %s', async (_, param, header) => {
    const answer = await rawPost(header)
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.body)).toMatchObject({
      type: 'error',
      error: { code: 'invalid_request', param },
    })
  })

  test.each(['anthropic-beta: a\x01b', 'anthropic-beta: a\x00b'])(
    'with bytes that HTTP forbids (%j) are refused before anybody looks',
    async (header) => {
      expect((await rawPost(header)).status).toBe(400)
    },
  )

  const rawPost = (header: string) => {
    const body = JSON.stringify(requestIn('messages', 'plain'))
    const head = [
      'POST /v1/messages HTTP/1.1',
      'host: x',
      `authorization: Bearer ${apiToken}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
      header,
    ]
    return rawRequest(gateway.url, `${head.join('\r\n')}\r\n\r\n${body}`)
  }
})

describe('the size of a messages call', () => {
  const path = '/v1/messages/count_tokens'
  const { max_tokens: _, ...question } = requestIn('messages', 'txta-plus', {
    system: 'Answer in one word.',
  })

  test('is the upstream’s own count, costs nothing and is logged', async () => {
    const before = await accountOf(gateway)
    const response = await gateway.post(`${path}?beta=true`, question)
    const direct = await fetch(`${sandbox.protocols.messages}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: JSON.stringify(question),
    })
    expect([response.status, await response.json()]).toEqual([
      200,
      (await direct.json()) as { input_tokens: number },
    ])
    expect(response.headers.get('x-gateway-estimated')).toBeNull()
    const row = await rowOf(gateway, requestIdOf(response))
    expect(row).toMatchObject({
      operation: 'count_tokens',
      interface: 'messages',
      charge: '0.00',
      status: 200,
      estimated: false,
    })
    expect(await chargeOf(gateway, requestIdOf(response))).toBeUndefined()
    expect(await accountOf(gateway)).toEqual(before)
  })

  test('is estimated and marked where the upstream cannot tell, which is asked once', async () => {
    const asked = () => counting.calls.filter((call) => call.path === path).length
    const ask = () => gateway.post(path, { ...question, model: 'guessed' })
    const first = await ask()
    expect(first.status).toBe(200)
    expect(first.headers.get('x-gateway-estimated')).toBe('true')
    const { input_tokens } = (await first.json()) as { input_tokens: number }
    expect(input_tokens).toBe(8 + 2 + 5)
    expect(asked()).toBe(1)
    const second = await ask()
    expect(second.headers.get('x-gateway-estimated')).toBe('true')
    expect(await second.json()).toEqual({ input_tokens })
    expect(asked()).toBe(1)
    const row = await rowOf(gateway, requestIdOf(second))
    expect(row).toMatchObject({ operation: 'count_tokens', charge: '0.00', estimated: true })
    // Not knowing how to count says nothing about messages themselves.
    const message = await gateway.post('/v1/messages', requestIn('messages', 'guessed'))
    expect(message.status).toBe(200)
  })

  test.each<[number, string, Json]>([
    [404, 'model_not_found', { ...question, model: 'nobody-knows' }],
    [400, 'model_not_supported', { ...question, model: 'narrow' }],
    [400, 'invalid_request', { ...question, messages: [] }],
  ])('is refused with %d %s', async (status, code, body) => {
    const response = await gateway.post(path, body)
    expect(response.status).toBe(status)
    const answer = (await response.json()) as { type: string; error: { code: string } }
    expect([answer.type, answer.error.code]).toEqual(['error', code])
  })

  test('is not told to strangers', async () => {
    const headers = { authorization: 'Bearer sk-wrong' }
    expect((await gateway.post(path, question, headers)).status).toBe(401)
  })
})

describe('the price of a call', () => {
  const ways = textStyles.flatMap((style) => [
    [style, 'JSON'] as const,
    [style, 'a stream'] as const,
  ])
  const ask = (
    style: TextStyle,
    way: string,
    usage?: Counts | { raw: unknown },
    model = 'plain',
  ) =>
    way === 'JSON'
      ? callOwn(style, answerIn(style, usage, model), {}, model)
      : callOwn(style, streamIn(style, usage, model), { stream: true }, model)

  test.each(ways)('in the %s style as %s has its own rates for caches', async (style, way) => {
    const { id, response } = await ask(style, way, {
      input: 3000,
      output: 7,
      read: 1000,
      written: 500,
    })
    expect(response.status).toBe(200)
    const paid = await paidFor(id)
    expect(paid.nanos).toBe(1500n * 1000n + 1000n * 100n + 500n * 1250n + 7n * 2000n)
    expect(paid.row.usage).toEqual({
      input_tokens: 3000,
      output_tokens: 7,
      cache_read_tokens: 1000,
      cache_write_tokens: 500,
    })
    expect(paid.row.estimated).toBe(false)
  })

  test('of messages counts caches beside the input: 10, 500 and 1000 are 1510', async () => {
    const usage = { input: 1510, output: 7, read: 1000, written: 500 }
    expect(wireUsage('messages', usage)['input_tokens']).toBe(10)
    const { id } = await ask('messages', 'JSON', usage, 'tiered')
    expect((await paidFor(id)).nanos).toBe(10n * 1000n + 1000n * 100n + 500n * 1250n + 7n * 2000n)
    const above = await ask('messages', 'a stream', { ...usage, input: 1511 }, 'tiered')
    expect((await paidFor(above.id)).nanos).toBe(1511n * 10_000n + 7n * 20_000n)
  })

  const bounds: [number, bigint, bigint][] = [
    [32_000, 1000n, 10_000n],
    [32_001, 1500n, 15_000n],
    [128_000, 1500n, 15_000n],
    [128_001, 3000n, 30_000n],
    [256_001, 3000n, 30_000n],
  ]
  const tiers = bounds.flatMap((row) => ways.map(([style, way]) => [style, way, ...row] as const))
  test.each(tiers)(
    'in the %s style as %s, by %d tokens, moves by whole tiers',
    async (style, way, input, inputNanos, outputNanos) => {
      const { id } = await ask(style, way, { input, output: 3, read: 10 }, 'txta-vl-long')
      const cached = inputNanos
      const plain = BigInt(input - 10) * inputNanos
      expect((await paidFor(id)).nanos).toBe(plain + cached + 3n * outputNanos)
    },
  )

  const absurd: [string, { raw: unknown } | undefined][] = [
    ['missing', undefined],
    ['null', { raw: null }],
    [
      'negative',
      { raw: { prompt_tokens: -5, input_tokens: -5, completion_tokens: 3, output_tokens: 3 } },
    ],
    ['a word', { raw: 'much' }],
  ]
  test.each(ways.flatMap(([style, way]) => absurd.map((row) => [style, way, ...row] as const)))(
    'in the %s style as %s is estimated when usage is %s',
    async (style, way, _, usage) => {
      const { id, response } = await ask(style, way, usage)
      expect(response.status).toBe(200)
      const { charge, row, nanos: cost } = await paidFor(id)
      expect([charge?.estimated, row.estimated, row.ending]).toEqual([true, true, 'complete'])
      expect(row.usage).toMatchObject({ output_tokens: 3, cache_read_tokens: 0 })
      expect(cost).toBe(BigInt(row.usage!.input_tokens) * 1000n + 3n * 2000n)
    },
  )

  test('of embeddings is that of their input', async () => {
    const { id } = await callOwn(
      'embeddings',
      answerIn('embeddings', { input: 42, output: 0 }, 'vectors'),
      {},
      'vectors',
    )
    const { nanos: cost, row, charge } = await paidFor(id)
    expect([cost, charge?.quantity, row.usage?.output_tokens]).toEqual([42_000n, 42, 0])
    const bare = await callOwn(
      'embeddings',
      answerIn('embeddings', undefined, 'vectors'),
      {},
      'vectors',
    )
    expect((await paidFor(bare.id)).row).toMatchObject({
      estimated: true,
      usage: { input_tokens: 2, output_tokens: 0 },
    })
  })

  test.each(ways)(
    'at the sandbox, in the %s style as %s, is that of the usage it tells',
    async (style, way) => {
      const body = requestIn(style, 'txta-plus', { stream: way !== 'JSON' })
      const text = JSON.stringify(body).replace('"hello"', '"hello [[sim:tokens=12]]"')
      const response = await gateway.post(pathOf[style], text)
      const answer = await response.text()
      expect(response.status).toBe(200)
      expect(answer).not.toContain('up-plus')
      expect(answer).toContain('txta-plus')
      const { row, nanos: cost } = await paidFor(requestIdOf(response))
      expect(row.usage?.output_tokens).toBe(12)
      expect(cost).toBe(BigInt(row.usage!.input_tokens) * 800n + 12n * 2000n)
      expect(row.upstream_request_id).toMatch(/^sbx-/)
    },
  )
})

describe('a stream', () => {
  test.each(textStyles)('in the %s style comes byte for byte', async (style) => {
    const sent = streamIn(style, { input: 5, output: 3 })
    const extra = style === 'chat' ? { stream_options: { include_usage: true } } : {}
    const { text, response } = await callOwn(style, sent, { stream: true, ...extra })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(withoutMarks(text)).toBe(sent)
  })

  test.each(textStyles)('in the %s style has the caller’s name for the model', async (style) => {
    const sent = streamIn(style, { input: 5, output: 3 }, 'upstream-name')
    const extra = style === 'chat' ? { stream_options: { include_usage: true } } : {}
    const { text } = await callOwn(style, sent, { stream: true, ...extra }, 'mapped')
    const restored = sent.replaceAll('"model":"upstream-name"', '"model":"mapped"')
    expect(withoutMarks(text)).toBe(restored)
  })

  const withoutEnd = (style: TextStyle) => {
    const events = streamIn(style, { input: 5, output: 3 }).split(/(?<=\n\n)/)
    return events.slice(0, style === 'messages' ? 2 : 1).join('')
  }

  test.each(textStyles)(
    'in the %s style that ends too early costs nothing and says so',
    async (style) => {
      const { text, id } = await callOwn(style, withoutEnd(style), { stream: true })
      expect(withoutMarks(text)).toStartWith(withoutEnd(style))
      const last = JSON.parse(dataLines(text).at(-1)!) as Json
      expect(last['error']).toMatchObject({ code: 'upstream_error', request_id: id })
      if (style === 'messages') {
        expect(last).toMatchObject({ type: 'error', request_id: id })
        expect(text).toContain('\n\nevent: error\ndata: ')
      }
      if (style === 'responses') {
        expect(last).toMatchObject({ type: 'error', code: 'upstream_error', sequence_number: 1 })
        expect(text).toContain('\n\nevent: error\ndata: ')
      }
      const { charge, row } = await paidFor(id)
      expect([charge, row.charge, row.ending]).toEqual([undefined, '0.00', 'failed'])
    },
  )

  test.each<[TextStyle, Json]>([
    ['chat', { error: { message: 'the very words', type: 'server_error' } }],
    ['responses', { type: 'error', code: 'x', message: 'the very words', param: null }],
    ['responses', { type: 'response.failed', response: { error: { message: 'the very words' } } }],
    ['messages', { type: 'error', error: { type: 'api_error', message: 'the very words' } }],
  ])('in the %s style that fails with %j passes its words on', async (style, failure) => {
    const sent = withoutEnd(style) + event(failure)
    const { text, id } = await callOwn(style, sent, { stream: true })
    const last = JSON.parse(dataLines(text).at(-1)!) as { error: { message: string } }
    expect(last.error.message).toBe(`the very words (${id})`)
    expect((await paidFor(id)).charge).toBeUndefined()
  })

  test('of messages that lacks only its last event is whole', async () => {
    const sent = streamIn('messages', { input: 5, output: 3 })
    const stop = event({ type: 'message_stop' })
    const { text, id } = await callOwn('messages', sent.replace(stop, ''), { stream: true })
    expect(text).toBe(sent)
    expect((await paidFor(id)).nanos).toBe(5n * 1000n + 3n * 2000n)
  })

  test.each(textStyles)(
    'in the %s style is made of a whole answer, and the other way round',
    async (style) => {
      const usage = { input: 5, output: 3 }
      const played = await callOwn(style, answerIn(style, usage), { stream: true })
      expect(played.response.headers.get('content-type')).toContain('event-stream')
      expect(played.text).toContain('Hello there.')
      expect((await paidFor(played.id)).nanos).toBe(11_000n)
      const gathered = await callOwn(style, streamIn(style, usage))
      expect(gathered.response.headers.get('content-type')).toBe('application/json')
      expect(JSON.parse(gathered.text)).toMatchObject({ model: 'plain', usage: expect.any(Object) })
      expect(gathered.text).toContain('Hello there.')
      expect((await paidFor(gathered.id)).nanos).toBe(11_000n)
    },
  )
})

describe('embeddings', () => {
  const answer = (embedding: unknown) => ({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding }],
    model: 'vectors',
    usage: { prompt_tokens: 2, total_tokens: 2 },
  })

  test.each<[string | undefined, unknown, unknown]>([
    ['base64', [1, -2], 'AACAPwAAAMA='],
    ['base64', 'AACAPwAAAMA=', 'AACAPwAAAMA='],
    ['float', 'AACAPwAAAMA=', [1, -2]],
    [undefined, 'AACAPwAAAMA=', [1, -2]],
    ['float', [1, -2], [1, -2]],
  ])('asked for as %p and given as %j come as %j', async (encoding_format, given, wanted) => {
    const more = encoding_format === undefined ? {} : { encoding_format }
    const { text, user } = await callOwn('embeddings', answer(given), more, 'vectors')
    expect(JSON.parse(text)).toEqual(answer(wanted))
    // What the caller asked for is asked of the upstream too.
    expect(JSON.parse(own.seen(user).body)['encoding_format']).toBe(encoding_format)
  })

  test('already as asked for come byte for byte', async () => {
    const wire = `{ "model":"vectors",  "data":[{"embedding":[1.0, -2e0, 0.10000000149011612]}] }`
    const { text } = await callOwn('embeddings', () => jsonReply(wire), {}, 'vectors')
    expect(text).toBe(wire)
  })

  test('of the sandbox are the same numbers in both encodings', async () => {
    const ask = async (encoding_format: string) => {
      const body = requestIn('embeddings', 'txta-embed', { encoding_format, dimensions: 64 })
      const response = await gateway.post('/v1/embeddings', body)
      return ((await response.json()) as { data: { embedding: unknown }[] }).data[0]?.embedding
    }
    const floats = (await ask('float')) as number[]
    const bytes = Buffer.from((await ask('base64')) as string, 'base64')
    expect(floats).toHaveLength(64)
    expect(bytes).toEqual(Buffer.from(Float32Array.from(floats).buffer))
  })

  test.each<[string, unknown]>([
    ['no vectors', { ...answer([1]), data: [] }],
    ['a vector that is none', answer(null)],
    ['no list', { model: 'vectors' }],
  ])('with %s are no answer and cost nothing', async (_, body) => {
    const { response, text, id } = await callOwn('embeddings', body as Json, {}, 'odd-vectors')
    expect([response.status, errorIn(text).code]).toEqual([502, 'upstream_invalid_response'])
    expect((await paidFor(id)).charge).toBeUndefined()
  })
})

describe('responses', () => {
  test.each<[string, unknown]>([
    ['a text', 'hello'],
    ['a list of messages', [{ role: 'user', content: [{ type: 'input_text', text: 'hello' }] }]],
    ['a list with plain contents', [{ role: 'user', content: 'hello' }]],
  ])('take %s, with instructions', async (_, input) => {
    const body = { model: 'txta-plus', input, instructions: 'Be brief. [[sim:tokens=3]]' }
    const response = await gateway.post('/v1/responses', body)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'txta-plus',
      usage: { output_tokens: 3 },
    })
  })

  test('that failed are errors with their words and cost nothing', async () => {
    const error = { code: 'content_filter', message: 'the very words' }
    const failed = { ...answerIn('responses', { input: 5, output: 3 }), status: 'failed', error }
    const { response, text, id } = await callOwn('responses', failed)
    expect(response.status).toBe(400)
    expect(JSON.parse(text).error).toMatchObject({
      code: 'content_policy_violation',
      message: `the very words (${id})`,
    })
    expect((await paidFor(id)).charge).toBeUndefined()
  })

  test.each(['JSON', 'a stream'])('that are incomplete are paid for, as %s', async (way) => {
    const usage = { input: 5, output: 3 }
    const { response, text, id } =
      way === 'JSON'
        ? await callOwn('responses', { ...answerIn('responses', usage), status: 'incomplete' })
        : await callOwn(
            'responses',
            streamIn('responses', usage).replaceAll('response.completed', 'response.incomplete'),
            { stream: true },
          )
    expect(response.status).toBe(200)
    expect(text).toContain('incomplete')
    expect((await paidFor(id)).nanos).toBe(11_000n)
  })

  test.each(['JSON', 'a stream'])('keep unknown fields of their usage, as %s', async (way) => {
    const details = { cached_tokens: 40, cache_creation_input_tokens: 9, cache_type: 'ephemeral' }
    const raw = {
      input_tokens: 100,
      output_tokens: 3,
      x_details: [{ x_billing_type: 'response_api', prompt_tokens_details: details }],
    }
    const { text, id } =
      way === 'JSON'
        ? await callOwn('responses', answerIn('responses', { raw }))
        : await callOwn('responses', streamIn('responses', { raw }), { stream: true })
    expect(text).toContain(`"usage":${JSON.stringify(raw)}`)
    const { row, nanos: cost } = await paidFor(id)
    expect(row.usage_reported).toEqual(raw)
    expect(cost).toBe(51n * 1000n + 40n * 100n + 9n * 1250n + 3n * 2000n)
  })
})

describe('an error', () => {
  test('of the messages style has the fields its SDKs look for', async () => {
    const response = await gateway.post('/v1/messages', { model: 'plain' })
    const body = (await response.json()) as Json
    expect([response.status, body['type']]).toEqual([400, 'error'])
    expect(body['request_id']).toMatch(requestIdShape)
    expect(body['request_id']).toBe(response.headers.get('request-id'))
    expect(body['error']).toMatchObject({
      type: 'invalid_request_error',
      code: 'invalid_request',
      param: 'messages',
      request_id: body['request_id'],
      upstream_request_id: '',
    })
  })

  test.each(['chat', 'responses', 'embeddings'] as const)(
    'of the %s style has no more than the error',
    async (style) => {
      const response = await gateway.post(pathOf[style], { model: 'plain' })
      expect(Object.keys((await response.json()) as Json)).toEqual(['error'])
      expect(response.status).toBe(400)
    },
  )

  const refusals: [Style, unknown, Record<string, string>][] = [
    ['chat', { error: { message: 'the very words', type: 'x' } }, { 'x-request-id': 'up-42' }],
    ['responses', { error: { message: 'the very words', code: 'x' } }, { 'request-id': 'up-42' }],
    [
      'messages',
      { type: 'error', error: { type: 'invalid_request_error', message: 'the very words' } },
      { 'request-id': 'up-42' },
    ],
    ['messages', { type: 'error', error: { message: 'the very words' }, request_id: 'up-42' }, {}],
    ['embeddings', { message: 'the very words', request_id: 'up-42' }, {}],
  ]
  test.each(refusals)(
    'of an upstream in the %s style keeps its words (%j, %j)',
    async (style, body, headers) => {
      const model = style === 'embeddings' ? 'vectors' : 'plain'
      const { response, text, id } = await callOwn(
        style,
        () => jsonReply(body, { status: 400, headers }),
        {},
        model,
      )
      expect(response.status).toBe(400)
      expect(JSON.parse(text).error).toMatchObject({
        code: 'upstream_invalid_request',
        message: `the very words (${id})`,
        upstream_request_id: 'up-42',
      })
      const { row, charge } = await paidFor(id)
      expect([row.upstream_request_id, row.ending, charge]).toEqual(['up-42', 'failed', undefined])
    },
  )

  test('of an upstream calls the model by the caller’s name', async () => {
    const body = { type: 'error', error: { message: 'hidden-name is overloaded' } }
    const { response, text } = await callOwn(
      'messages',
      () => jsonReply(body, { status: 529 }),
      {},
      'faulty',
    )
    expect(response.status).toBe(529)
    expect(text).toContain('faulty is overloaded')
    expect(text).not.toContain('hidden-name')
  })

  test.each(styles)('in the %s style for an unknown model says so', async (style) => {
    const response = await gateway.post(pathOf[style], requestIn(style, 'nobody-knows'))
    expect(response.status).toBe(404)
    expect(await errorOf(response)).toMatchObject({ code: 'model_not_found', param: 'model' })
  })

  test.each<[Style, string]>([
    ['responses', 'narrow'],
    ['messages', 'narrow'],
    ['embeddings', 'plain'],
    ['chat', 'vectors'],
  ])('in the %s style for %s, which has other ways, names them', async (style, model) => {
    const response = await gateway.post(pathOf[style], requestIn(style, model))
    expect(response.status).toBe(400)
    const { code, message } = await errorOf(response)
    expect(code).toBe('model_not_supported')
    const ways = {
      narrow: 'chat',
      plain: 'chat, responses, messages, generate',
      vectors: 'embeddings, generate',
    }
    expect(message).toContain(`it is served by: ${ways[model as keyof typeof ways]} (`)
  })
})

describe('the list of models', () => {
  interface Item extends Json {
    id: string
    supported_endpoint_types: string[]
  }
  interface List {
    object: string
    data: Item[]
    models: Json[]
    has_more: boolean
    first_id: string
    last_id: string
  }
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}${path}`, {
      headers: { authorization: `Bearer ${apiToken}`, ...headers },
    })
  const few = { authorization: `Bearer ${fewToken}` }
  const listAt = async (path: string, headers?: Record<string, string>) =>
    (await (await get(path, headers)).json()) as List

  test('is one body that the SDKs of all styles read', async () => {
    const list = await listAt('/v1/models')
    const ids = list.data.map(({ id }) => id)
    expect(ids).toEqual([...ids].sort())
    expect(ids).toContain('plain')
    expect(ids).not.toContain('unserved')
    expect(ids).not.toContain('upstream-name')
    expect(list).toMatchObject({
      object: 'list',
      has_more: false,
      first_id: ids[0],
      last_id: ids.at(-1),
    })
    expect(list.models.map(({ name }) => name)).toEqual(ids.map((id) => `models/${id}`))
    expect(await listAt('/vendorg/v1beta/models')).toEqual(list)
  })

  test('tells by which ways a model can be asked, translated or not', async () => {
    const { data } = await listAt('/v1/models')
    const types = Object.fromEntries(data.map((each) => [each.id, each.supported_endpoint_types]))
    expect(types).toMatchObject({
      plain: ['openai', 'openai-response', 'anthropic', 'gemini'],
      narrow: ['openai'],
      guessed: ['openai', 'openai-response', 'anthropic', 'gemini'],
      vectors: ['embeddings', 'gemini'],
      'txta-plus': ['openai', 'openai-response', 'anthropic', 'gemini'],
    })
  })

  test('has each model by itself too', async () => {
    const { data, models } = await listAt('/v1/models')
    const item = data.find(({ id }) => id === 'plain')
    expect(item).toMatchObject({
      object: 'model',
      type: 'model',
      created: expect.any(Number),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      owned_by: expect.any(String),
      display_name: 'plain',
      modality: 'text',
    })
    expect(await (await get('/v1/models/plain')).json()).toEqual(item)
    expect(await (await get('/vendorg/v1beta/models/plain')).json()).toEqual(
      models.find(({ name }) => name === 'models/plain'),
    )
  })

  test('shows a token only what it may use', async () => {
    const list = await listAt('/v1/models', few)
    expect(list.data.map(({ id }) => id)).toEqual(['plain', 'txta-embed'])
    expect([list.first_id, list.last_id]).toEqual(['plain', 'txta-embed'])
    expect((await get('/v1/models/plain', few)).status).toBe(200)
    for (const path of [
      '/v1/models/mapped',
      '/vendorg/v1beta/models/mapped',
      '/v1/models/nobody',
    ]) {
      const hidden = await get(path, few)
      expect([hidden.status, (await errorOf(hidden)).code]).toEqual([404, 'model_not_found'])
    }
    const refused = await gateway.post(pathOf.chat, requestIn('chat', 'mapped'), few)
    expect([refused.status, (await errorOf(refused)).code]).toEqual([404, 'model_not_found'])
  })

  test('is for tokens only, by whichever header', async () => {
    expect((await fetch(`${gateway.url}/v1/models`)).status).toBe(401)
    for (const name of ['x-api-key', 'x-vendorg-api-key', 'x-goog-api-key']) {
      const response = await fetch(`${gateway.url}/v1/models`, { headers: { [name]: apiToken } })
      expect(response.status).toBe(200)
    }
    const asked = await fetch(`${gateway.url}/vendorg/v1beta/models?key=${apiToken}`)
    expect(asked.status).toBe(200)
  })
})

test.each([
  ['HEAD', '/'],
  ['GET', '/'],
  ['HEAD', '/api/hello'],
  ['GET', '/api/hello'],
])(
  '%s %s answers tools that look whether anybody is there, without a token',
  async (method, path) => {
    const response = await fetch(`${gateway.url}${path}`, { method })
    expect(response.status).toBe(200)
    expect(requestIdOf(response)).toMatch(requestIdShape)
    expect(await response.text()).toBe(method === 'HEAD' ? '' : '{"name":"model-gateway"}')
  },
)
