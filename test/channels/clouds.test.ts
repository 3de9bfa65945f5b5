// Channels of cloud accounts over real HTTP, against fakes that verify what is signed with the vendors' own
// libraries and frame answers with them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync, verify } from 'node:crypto'
import { Sha256 } from '@aws-crypto/sha256-js'
import { EventStreamCodec } from '@smithy/eventstream-codec'
import { SignatureV4 } from '@smithy/signature-v4'
import { fromUtf8, toUtf8 } from '@smithy/util-utf8'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type RequestRow, requestIdOf, rowOf } from '../support/read.ts'
import {
  type Captured,
  completion,
  jsonReply,
  startUpstream,
  type TestUpstream,
} from '../support/upstream.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

const aws = {
  access_key: 'AKIDEXAMPLE12345',
  secret_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  session_token: 'session-token-0123456789==',
  region: 'eu-central-1',
}
const azure = {
  tenant: 'tenant-0123',
  client_id: 'client-4567',
  client_secret: 'entra~secret-89ab',
}
const google = {
  type: 'service_account',
  client_email: 'gateway@project-secret-77.iam.example',
  private_key: privateKey,
  private_key_id: 'kid-0123456789',
  project_id: 'project-secret-77',
}
const account = '123456789012'
const arn = `arn:aws:bedrock:eu-central-1:${account}:application-inference-profile/abc`
const secrets = [
  ...[aws.access_key, aws.secret_key, aws.session_token, azure.tenant, azure.client_id],
  ...[azure.client_secret, google.client_email, google.project_id, google.private_key_id, account],
  ...['token-of-google', 'token-of-azure', 'token-of-machine'],
]

const codec = new EventStreamCodec(toUtf8, fromUtf8)
const frame = (type: string, payload: object, kind = 'event'): Uint8Array =>
  codec.encode({
    headers: {
      ':message-type': { type: 'string', value: kind },
      [kind === 'event' ? ':event-type' : ':exception-type']: { type: 'string', value: type },
      ':content-type': { type: 'string', value: 'application/json' },
      ':odd': { type: 'integer', value: 7 },
    },
    body: fromUtf8(JSON.stringify(payload)),
  })
const chunk = (event: object) =>
  frame('chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abcdef' })

/** In pieces that cross the frames. */
function framesReply(frames: readonly Uint8Array[], size = 7): Response {
  const bytes = Buffer.concat(frames)
  const stream = new ReadableStream({
    async start(controller) {
      for (let at = 0; at < bytes.length; at += size * 13) {
        controller.enqueue(bytes.subarray(at, at + size * 13))
        await Bun.sleep(0)
      }
      controller.close()
    },
  })
  return new Response(stream, { headers: { 'content-type': 'application/vnd.amazon.eventstream' } })
}

const claude = [
  {
    type: 'message_start',
    message: {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [] },
      usage: { input_tokens: 11, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüß Gott' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
  { type: 'message_stop', 'amazon-bedrock-invocationMetrics': { inputTokenCount: 11 } },
]

const converseUsage = {
  ...{ inputTokens: 10, outputTokens: 4, totalTokens: 20 },
  ...{ cacheReadInputTokens: 6, cacheWriteInputTokens: 0 },
}
const nova = [
  frame('messageStart', { role: 'assistant' }),
  frame('contentBlockDelta', { delta: { text: 'Hello ' }, contentBlockIndex: 0, p: 'abc' }),
  frame('contentBlockDelta', { delta: { text: 'there' }, contentBlockIndex: 0 }),
  frame('contentBlockStop', { contentBlockIndex: 0 }),
  frame('contentBlockStart', {
    ...{ contentBlockIndex: 1, start: { toolUse: { toolUseId: 'tooluse_1', name: 'look' } } },
  }),
  frame('contentBlockDelta', { delta: { toolUse: { input: '{"a":' } }, contentBlockIndex: 1 }),
  frame('contentBlockDelta', { delta: { toolUse: { input: '1}' } }, contentBlockIndex: 1 }),
  frame('contentBlockStop', { contentBlockIndex: 1 }),
  frame('messageStop', { stopReason: 'tool_use' }),
  frame('metadata', { usage: converseUsage, metrics: { latencyMs: 1 } }),
]

let upstream: TestUpstream
let gateway: TestGateway
/** What the fake does instead, by the path's end; once. */
const instead: ((call: Captured) => Response | undefined)[] = []
let tokenFailure: Response | undefined
let tokenSeconds = 3599
let tokens = 0

function reply(call: Captured): Response {
  const { path, body } = call
  if (path === '/google/token') return googleToken(body)
  if (path.startsWith('/computeMetadata/')) return metadataToken(call)
  if (path.endsWith('/oauth2/v2.0/token')) return azureToken(body)
  const other = instead.shift()?.(call)
  if (other !== undefined) return other
  if (path.endsWith('/invoke')) {
    const content = [{ type: 'text', text: 'Hi' }]
    const usage = { input_tokens: 3, output_tokens: 2 }
    const message = { id: 'msg_2', type: 'message', role: 'assistant', content, usage }
    return jsonReply({ ...message, model: 'claude', stop_reason: 'end_turn' })
  }
  if (path.endsWith('/invoke-with-response-stream')) return framesReply(claude.map(chunk))
  if (path.endsWith('/converse-stream')) return framesReply(nova)
  if (path.endsWith('/converse')) {
    const content = [
      { reasoningContent: { reasoningText: { text: 'hm', signature: 'c2ln' } } },
      { text: 'Hi' },
      { toolUse: { toolUseId: 'tooluse_2', name: 'look', input: { a: 1 } } },
    ]
    const output = { message: { role: 'assistant', content } }
    return jsonReply({ output, stopReason: 'tool_use', usage: converseUsage })
  }
  if (path.endsWith(':generateContent')) {
    const content = { role: 'model', parts: [{ text: 'Hello.' }] }
    const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2 }
    return jsonReply({ candidates: [{ content, finishReason: 'STOP' }], usageMetadata })
  }
  if (path.endsWith(':rawPredict')) {
    if (path.includes('count-tokens')) return jsonReply({ input_tokens: 42 })
    const content = [{ type: 'text', text: 'Hi' }]
    const usage = { input_tokens: 3, output_tokens: 2 }
    return jsonReply({
      id: 'msg_3',
      type: 'message',
      role: 'assistant',
      content,
      usage,
      stop_reason: 'end_turn',
    })
  }
  if (path.endsWith(':streamRawPredict')) {
    const events = claude.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`)
    return new Response(events.join(''), { headers: { 'content-type': 'text/event-stream' } })
  }
  if (path.endsWith('/chat/completions')) {
    return jsonReply(completion({ prompt_tokens: 3, completion_tokens: 2 }))
  }
  return jsonReply({ message: `nothing at ${path}` }, { status: 404 })
}

function metadataToken({ path, headers }: Captured): Response {
  const isRight =
    path === '/computeMetadata/v1/instance/service-accounts/default/token' &&
    headers.get('metadata-flavor') === 'Google'
  if (!isRight) return new Response('no', { status: 403 })
  if (tokenFailure !== undefined) return tokenFailure.clone() as unknown as Response
  return jsonReply({ access_token: 'token-of-machine', expires_in: 3599, token_type: 'Bearer' })
}

function googleToken(body: string): Response {
  if (tokenFailure !== undefined) return tokenFailure.clone() as unknown as Response
  const assertion = new URLSearchParams(body).get('assertion') ?? ''
  const [head = '', claims = '', signature = ''] = assertion.split('.')
  const isValid = verify(
    'RSA-SHA256',
    Buffer.from(`${head}.${claims}`),
    publicKey,
    Buffer.from(signature, 'base64url'),
  )
  const said = JSON.parse(Buffer.from(claims, 'base64url').toString())
  const isRight =
    isValid &&
    said.iss === google.client_email &&
    said.aud === `${upstream.url}/google/token` &&
    said.exp - said.iat === 3600 &&
    Math.abs(said.iat - Date.now() / 1000) < 60 &&
    said.scope === 'https://www.googleapis.com/auth/cloud-platform'
  if (!isRight) return jsonReply({ error: 'invalid_grant' }, { status: 400 })
  tokens++
  return jsonReply({ access_token: `token-of-google-${tokens}`, expires_in: tokenSeconds })
}

function azureToken(body: string): Response {
  if (tokenFailure !== undefined) return tokenFailure.clone() as unknown as Response
  const form = Object.fromEntries(new URLSearchParams(body))
  expect(form).toEqual({
    grant_type: 'client_credentials',
    client_id: azure.client_id,
    client_secret: azure.client_secret,
    scope: 'https://cognitiveservices.azure.com/.default',
  })
  tokens++
  return jsonReply({ access_token: `token-of-azure-${tokens}`, expires_in: tokenSeconds })
}

const models = {
  claude: 'eu.anthropic.claude-x-v1:0',
  nova: 'amazon.nova-pro-v1:0',
  profile: arn,
}
const texts = [...Object.keys(models), 'gemini', 'vclaude', 'gpt', 'bearer', 'bad', 'machine']

beforeAll(async () => {
  upstream = startUpstream(reply)
  const service_account = { ...google, token_uri: `${upstream.url}/google/token` }
  const vertex = { location: 'europe-west1' }
  const config = {
    accounts: [{ name: 'acme', balance: '100.00' }],
    tokens: [{ account: 'acme', name: 'test', token: 'sk-test-0123456789abcdefghijklmnop' }],
    models: texts.map((name) => ({ name, kind: 'text', interfaces: ['chat'] })),
    prices: texts.map((model) => ({
      ...{ model, unit: 'token' },
      per_million: { input: '1.00', output: '2.00', cache_read: '0.10' },
      service_tiers: {
        priority: { factor: '2' },
        flex: { factor: '0.5' },
        turbo: { factor: '0.1' },
      },
    })),
    channels: [
      { name: 'aws', auth: { aws }, protocols: { bedrock: upstream.url }, models },
      {
        ...{ name: 'key', keys: ['bedrock-key-0123456789'] },
        ...{ protocols: { bedrock: upstream.url }, models: { bearer: 'meta.llama-v1' } },
      },
      {
        ...{ name: 'gcp', auth: { google: { service_account } }, vertex },
        ...{ protocols: { generate: upstream.url }, models: { gemini: 'gemini-x' } },
      },
      {
        ...{ name: 'gcp-claude', vertex },
        // As from a variable: its line ends are two characters.
        auth: {
          google: { service_account: JSON.stringify(service_account).replaceAll('\\n', '\\\\n') },
        },
        ...{ protocols: { messages: upstream.url }, models: { vclaude: 'claude-x@20260101' } },
      },
      {
        ...{ name: 'entra', auth: { azure: { ...azure, authority: `${upstream.url}/login` } } },
        ...{ protocols: { chat: `${upstream.url}/openai/v1` }, models: { gpt: 'deployment' } },
      },
    ],
  }
  gateway = await startGateway({ config: JSON.stringify(config) })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  const said = gateway.output()
  for (const secret of secrets) expect(said).not.toContain(secret)
  await upstream.stop()
})

const last = () => upstream.calls.findLast(({ path }) => !path.endsWith('/token'))!
const sent = () => JSON.parse(last().body)

const signer = () =>
  new SignatureV4({
    credentials: {
      accessKeyId: aws.access_key,
      secretAccessKey: aws.secret_key,
      sessionToken: aws.session_token,
    },
    ...{ region: aws.region, service: 'bedrock', sha256: Sha256, applyChecksum: false },
  })

/** With the official library, from what arrived. */
async function verifySignature({ path, body, headers }: Captured): Promise<void> {
  const at = headers.get('x-amz-date')!
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(at)!
  const host = new URL(upstream.url).host
  const request = {
    ...{ method: 'POST', protocol: 'http:', hostname: host, path, query: {}, body },
    headers: { host },
  }
  const made = await signer().sign(request, {
    signingDate: new Date(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`),
    signableHeaders: new Set(['host', 'x-amz-date', 'x-amz-security-token']),
  })
  expect(headers.get('authorization')).toBe(made.headers['authorization']!)
  expect(headers.get('x-amz-security-token')).toBe(aws.session_token)
}

const tools = [
  { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } },
]
const ask = (model: string, more: object = {}) =>
  gateway.chat('hi', { model, max_tokens: 9, ...more })

async function callRow(response: Response): Promise<RequestRow> {
  return rowOf(gateway, requestIdOf(response))
}

describe('Bedrock by InvokeModel', () => {
  test('a messages call is its own style: signed, without model and stream, with version and betas', async () => {
    const response = await gateway.post(
      '/v1/messages',
      { model: 'claude', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] },
      { 'anthropic-beta': 'one-2025, two-2025' },
    )
    expect(response.status).toBe(200)
    expect(response.headers.get('x-gateway-translation')).toBeNull()
    expect(await response.json()).toMatchObject({ model: 'claude', content: [{ text: 'Hi' }] })
    expect(last().path).toBe('/model/eu.anthropic.claude-x-v1%3A0/invoke')
    await verifySignature(last())
    expect(sent()).toEqual({
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['one-2025', 'two-2025'],
    })
  })

  test('its frames become the stream of the messages style, and are charged', async () => {
    const response = await gateway.post('/v1/messages', {
      ...{ model: 'claude', max_tokens: 9, stream: true },
      messages: [{ role: 'user', content: 'hi' }],
    })
    const text = await response.text()
    expect(last().path).toEndWith('/invoke-with-response-stream')
    await verifySignature(last())
    expect(text).toContain('event: content_block_delta')
    expect(text).toContain('Grüß Gott')
    expect(text).toContain('event: message_stop')
    expect(text).not.toContain('amazon')
    expect(await callRow(response)).toMatchObject({ charge: '0.000021', channel: 'aws' })
  })

  test('other styles are translated', async () => {
    const response = await ask('claude')
    expect(response.headers.get('x-gateway-translation')).toBe('chat>messages')
    expect(await response.json()).toMatchObject({
      model: 'claude',
      choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }],
    })
    expect(sent()).not.toHaveProperty('model')
    const streamed = await (await ask('claude', { stream: true })).text()
    expect(streamed).toContain('Grüß Gott')
    expect(streamed).toContain('[DONE]')
  })
})

describe('Bedrock by Converse', () => {
  const calls: [style: string, path: string, body: object][] = [
    [
      'chat',
      '/v1/chat/completions',
      { messages: [{ role: 'user', content: 'hi' }], tools, max_tokens: 9 },
    ],
    ['messages', '/v1/messages', { messages: [{ role: 'user', content: 'hi' }], max_tokens: 9 }],
    ['responses', '/v1/responses', { input: 'hi', max_output_tokens: 16 }],
    [
      'generate',
      '/vendorg/v1beta/models/nova:generateContent',
      {
        contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
        generationConfig: { maxOutputTokens: 9 },
      },
    ],
  ]

  test.each(calls)('%s calls, whole', async (style, path, body) => {
    const response = await gateway.post(path, { model: 'nova', ...body })
    const answer = await response.text()
    expect([response.status, answer]).toEqual([200, expect.stringContaining('look')])
    expect(response.headers.get('x-gateway-translation')).toBe(`${style}>converse`)
    expect(last().path).toBe('/model/amazon.nova-pro-v1%3A0/converse')
    await verifySignature(last())
    expect(sent().messages).toEqual([{ role: 'user', content: [{ text: 'hi' }] }])
    // 10 fresh and 6 read of input, 4 of output.
    expect(await callRow(response)).toMatchObject({ charge: '0.0000186' })
  })

  test.each(calls)('%s calls, streamed', async (style, path, body) => {
    const to = path.replace(':generateContent', ':streamGenerateContent?alt=sse')
    const streams = style === 'generate' ? {} : { stream: true }
    const response = await gateway.post(to, { model: 'nova', ...body, ...streams })
    const answer = await response.text()
    expect(response.headers.get('x-gateway-translation')).toBe(`${style}>converse`)
    expect(last().path).toBe('/model/amazon.nova-pro-v1%3A0/converse-stream')
    expect(answer).toContain('Hello ')
    expect(answer).toContain('there')
    expect(answer).toContain('look')
    expect(await callRow(response)).toMatchObject({ charge: '0.0000186' })
  })

  test('a conversation with tools, media and settings is written as Converse has it', async () => {
    const png = 'iVBORw0KGgo='
    const response = await ask('nova', {
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'what' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
          ],
        },
        {
          role: 'assistant',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'seen' },
      ],
      ...{ tools, tool_choice: 'required', temperature: 0.5, top_p: 0.9, stop: ['END'], seed: 7 },
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-gateway-translation-loss')).toBe('seed')
    expect(sent()).toEqual({
      system: [{ text: 'Be brief.' }],
      messages: [
        {
          role: 'user',
          content: [{ text: 'what' }, { image: { format: 'png', source: { bytes: png } } }],
        },
        {
          role: 'assistant',
          content: [{ toolUse: { toolUseId: 'c1', name: 'look', input: { a: 1 } } }],
        },
        {
          role: 'user',
          content: [{ toolResult: { toolUseId: 'c1', content: [{ text: 'seen' }] } }],
        },
      ],
      inferenceConfig: { maxTokens: 9, temperature: 0.5, topP: 0.9, stopSequences: ['END'] },
      toolConfig: {
        tools: [
          { toolSpec: { name: 'look', inputSchema: { json: { type: 'object', properties: {} } } } },
        ],
        toolChoice: { any: {} },
      },
    })
  })

  test('an ARN is one segment of the path, and a key of Bedrock is a bearer token', async () => {
    expect((await ask('profile')).status).toBe(200)
    expect(last().path).toBe(`/model/${encodeURIComponent(arn)}/converse`)
    await verifySignature(last())
    expect((await ask('bearer')).status).toBe(200)
    expect(last().headers.get('authorization')).toBe('Bearer bedrock-key-0123456789')
  })

  test('the channel test makes a small call', async () => {
    const { body } = await gateway.admin('POST', '/channels/key/test', {})
    expect(body).toMatchObject({ ok: true, model: 'bearer' })
    expect(sent()).toEqual({
      messages: [{ role: 'user', content: [{ text: 'hi' }] }],
      inferenceConfig: { maxTokens: 1 },
    })
  })
})

const refusal =
  (type: string, status: number, message: string, headers = {}) =>
  () =>
    jsonReply(
      { message },
      { status, headers: { 'x-amzn-errortype': `${type}:http://x/`, ...headers } },
    )

describe('failures of Bedrock', () => {
  const free = async (response: Response) => {
    expect(await callRow(response)).toMatchObject({ charge: '0.00' })
  }

  const refused: [type: string, given: number, status: number, code: string][] = [
    ['ValidationException', 400, 400, 'upstream_invalid_request'],
    ['ServiceQuotaExceededException', 400, 429, 'upstream_rate_limited'],
    ['ThrottlingException', 429, 429, 'upstream_rate_limited'],
    ['ModelTimeoutException', 408, 504, 'upstream_timeout'],
    ['ModelErrorException', 424, 502, 'upstream_error'],
    ['InternalServerException', 500, 502, 'upstream_error'],
    ['ServiceUnavailableException', 503, 503, 'overloaded'],
    ['AccessDeniedException', 403, 502, 'upstream_permission_denied'],
    ['ExpiredTokenException', 403, 502, 'upstream_permission_denied'],
    ['UnrecognizedClientException', 403, 502, 'upstream_permission_denied'],
  ]
  test.each(refused)('%s (%d) is %d %s', async (type, given, status, code) => {
    const said = `User arn:aws:iam::${account}:user/${aws.access_key} of ${account} failed`
    instead.push(refusal(type, given, said))
    const response = await ask('nova')
    const text = await response.text()
    instead.length = 0
    expect([response.status, JSON.parse(text).error.code]).toEqual([status, code])
    for (const secret of secrets) expect(text).not.toContain(secret)
    await free(response)
    await gateway.admin('POST', '/channels/aws/test', {})
  })

  test('an exception as the first frame is a failure before the first byte', async () => {
    const thrown = frame('throttlingException', { message: 'slow down' }, 'exception')
    for (const model of ['nova', 'claude']) {
      instead.push(() => framesReply([thrown]))
      const response = await ask(model, { stream: true })
      expect(response.status).toBe(429)
      expect(await response.json()).toMatchObject({ error: { code: 'upstream_rate_limited' } })
      await gateway.admin('POST', '/channels/aws/test', {})
    }
  })

  test('inside a stream it ends the stream with an error, and costs nothing', async () => {
    const thrown = frame('modelStreamErrorException', { message: 'broke' }, 'exception')
    instead.push(() => framesReply([...nova.slice(0, 3), thrown]))
    const response = await ask('nova', { stream: true })
    const text = await response.text()
    expect(text).toContain('Hello ')
    expect(text).toContain('"error"')
    expect(text).not.toContain('[DONE]')
    const row = await callRow(response)
    expect(row).toMatchObject({ charge: '0.00', ending: 'failed' })
  })

  test('spoiled and cut frames are a broken answer', async () => {
    const spoiled = Buffer.from(Buffer.concat(nova))
    spoiled[spoiled.length - 30]! ^= 1
    for (const bytes of [spoiled, Buffer.concat(nova).subarray(0, -5)]) {
      instead.push(() => framesReply([bytes]))
      const text = await (await ask('nova', { stream: true })).text()
      expect(text).toContain('"error"')
      expect(text).not.toContain('[DONE]')
    }
    await gateway.admin('POST', '/channels/aws/test', {})
  })

  test('a clock that is wrong is corrected by that of AWS', async () => {
    const date = new Date(Date.now() + 20 * 60_000).toUTCString()
    const before = upstream.calls.length
    instead.push(refusal('InvalidSignatureException', 403, 'Signature expired', { date }))
    expect((await ask('nova')).status).toBe(200)
    expect(upstream.calls).toHaveLength(before + 2)
    const [first, second] = upstream.calls
      .slice(-2)
      .map(({ headers }) => headers.get('x-amz-date')!)
    expect(second! > first!).toBeTrue()
    await verifySignature(last())
  })
})

describe('Vertex', () => {
  test('generate and messages go to the publisher, with one token for all calls', async () => {
    tokens = 0
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask('gemini')))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
    expect(last().path).toBe(
      '/v1/projects/project-secret-77/locations/europe-west1/publishers/google/models/gemini-x:generateContent',
    )
    expect(last().headers.get('authorization')).toBe('Bearer token-of-google-1')
    expect(last().headers.has('x-goog-api-key')).toBeFalse()
    const messages = [{ role: 'user', content: 'hi' }]
    const native = await gateway.post('/v1/messages', { model: 'vclaude', max_tokens: 9, messages })
    expect(await native.json()).toMatchObject({ model: 'vclaude', content: [{ text: 'Hi' }] })
    expect(native.headers.get('x-gateway-translation')).toBeNull()
    expect(last().path).toBe(
      '/v1/projects/project-secret-77/locations/europe-west1/publishers/anthropic/models/claude-x%4020260101:rawPredict',
    )
    expect(sent()).toEqual({ max_tokens: 9, messages, anthropic_version: 'vertex-2023-10-16' })
    expect(last().headers.get('authorization')).toBe('Bearer token-of-google-1')
    expect(tokens).toBe(1)
    const streamed = await gateway.post('/v1/messages', {
      ...{ model: 'vclaude', max_tokens: 9, messages, stream: true },
    })
    expect(await streamed.text()).toContain('Grüß Gott')
    expect(last().path).toEndWith(':streamRawPredict')
    expect(sent()).toMatchObject({ stream: true })
    const counted = await gateway.post('/v1/messages/count_tokens', { model: 'vclaude', messages })
    expect(await counted.json()).toMatchObject({ input_tokens: 42 })
    expect(sent()).toMatchObject({ model: 'claude-x@20260101' })
  })

  test('a token that is revoked before its end is replaced within the call', async () => {
    const before = upstream.calls.length
    instead.push(() =>
      jsonReply({ error: { message: 'expired', status: 'UNAUTHENTICATED' } }, { status: 401 }),
    )
    expect((await ask('gemini')).status).toBe(200)
    const sentBy = upstream.calls.slice(before).map(({ path, headers }) => {
      return path.endsWith('/token') ? 'token' : headers.get('authorization')
    })
    expect(sentBy).toEqual(['Bearer token-of-google-1', 'token', 'Bearer token-of-google-2'])
    expect((await ask('gemini')).status).toBe(200)
    expect(last().headers.get('authorization')).toBe('Bearer token-of-google-2')
  })
})

describe('Vertex with the account of the machine', () => {
  const channel = (auth: object, vertex = { project: 'prj-78', location: 'global' } as object) => ({
    ...{ name: 'machine', protocols: { generate: upstream.url }, models: { machine: 'gemini-x' } },
    ...{ auth, vertex },
  })

  test('its metadata server gives the tokens, one for all calls, and only when a channel asks', async () => {
    const asked = () => upstream.calls.filter(({ path }) => path.startsWith('/computeMetadata/'))
    expect(asked()).toHaveLength(0)
    const metadata = channel({ google: { metadata: upstream.url } })
    const made = await gateway.admin('POST', '/channels', metadata)
    expect([made.status, made.body.auth]).toEqual([201, { google: {} }])
    expect(asked()).toHaveLength(0)
    tokenFailure = new Response('not yet', { status: 503 })
    const failed = await ask('machine')
    expect([failed.status, await failed.text()]).toEqual([
      502,
      expect.stringContaining('no access token for this channel: 503'),
    ])
    tokenFailure = undefined
    await gateway.admin('POST', '/channels/machine/test', {})
    const before = asked().length
    const answers = await Promise.all([ask('machine'), ask('machine'), ask('machine')])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(asked()).toHaveLength(before)
    expect(last().headers.get('authorization')).toBe('Bearer token-of-machine')
    expect(last().path).toStartWith('/v1/projects/prj-78/locations/global/publishers/google/')
    await gateway.admin('DELETE', '/channels/machine')
  })

  test('its tokens go to hosts of Google alone', async () => {
    const refused = async (body: object) => {
      const { status, body: answer } = await gateway.admin('POST', '/channels/preview', body)
      return [status, answer.error?.param]
    }
    expect(await refused(channel({ google: {} }))).toEqual([400, 'auth'])
    const preset = {
      ...{ preset: 'vertex', auth: { google: {} }, models: { machine: '*' } },
      vertex: { project: 'prj-78', location: 'eu' },
    }
    expect(await refused(preset)).toEqual([200, undefined])
    for (const base_url of [
      'https://vertex.example',
      'http://x.googleapis.com',
      'https://googleapis.com.example',
      'https://evil-googleapis.com',
    ]) {
      expect(await refused({ ...preset, base_url })).toEqual([400, 'auth'])
    }
    for (const host of [
      'metadata.google.internal',
      '169.254.169.254',
      'METADATA',
      '[fd20:ce::254]',
    ]) {
      const metadata = `http://${host}`
      expect(await refused(channel({ google: { metadata } }))).toEqual([
        400,
        'auth.google.metadata',
      ])
    }
    const nowhere = channel({ google: { metadata: upstream.url } }, { location: 'global' })
    expect(await refused(nowhere)).toEqual([400, 'vertex'])
    const made = await gateway.admin(
      'POST',
      '/channels',
      channel({ google: { metadata: upstream.url } }),
    )
    expect(made.status).toBe(201)
    const taken = { auth: { google: {} }, vertex: { project: 'prj-78', location: 'global' } }
    expect((await gateway.admin('PATCH', '/channels/machine', taken)).status).toBe(400)
    await gateway.admin('DELETE', '/channels/machine')
  })
})

describe('Azure with Entra ID', () => {
  test('calls carry a token of the application, fetched once', async () => {
    tokens = 0
    await Promise.all([ask('gpt'), ask('gpt'), ask('gpt')])
    expect(tokens).toBe(1)
    expect(last().path).toBe('/openai/v1/chat/completions')
    expect(last().headers.get('authorization')).toBe('Bearer token-of-azure-1')
    expect(sent().model).toBe('deployment')
    const asked = upstream.calls.filter(({ path }) => path.startsWith('/login/'))
    expect(asked.map(({ path }) => path)).toEqual([`/login/${azure.tenant}/oauth2/v2.0/token`])
  })

  test('a refused token request is an error that names no id, and the channel is at fault', async () => {
    const create = (client_secret: string) =>
      gateway.admin('POST', '/channels', {
        ...{ name: 'failing', protocols: { chat: upstream.chat }, models: { bad: '*' } },
        auth: { azure: { ...azure, client_secret, authority: upstream.url } },
      })
    tokenFailure = jsonReply(
      {
        error: 'invalid_client',
        error_description: `AADSTS7000215 ${azure.client_id} ${azure.tenant}`,
      },
      { status: 401 },
    )
    expect((await create('other-secret-0123')).status).toBe(201)
    const response = await ask('bad')
    const text = await response.text()
    expect([response.status, JSON.parse(text).error.code]).toEqual([502, 'upstream_unreachable'])
    expect(text).toContain('no access token for this channel: 401 invalid_client')
    for (const secret of secrets) expect(text).not.toContain(secret)
    const { body } = await gateway.admin('GET', '/channels/failing')
    expect(body.health.failures_in_row).toBe(1)
    tokenFailure = undefined
    await gateway.admin('DELETE', '/channels/failing')
  })

  test('a token that ends is replaced without a failed call, by one request', async () => {
    tokenSeconds = 1
    await gateway.admin('POST', '/channels', {
      ...{ name: 'short', protocols: { chat: upstream.chat }, models: { bad: '*' } },
      auth: { azure: { ...azure, authority: `${upstream.url}/short` } },
    })
    tokens = 0
    expect((await ask('bad')).status).toBe(200)
    tokenSeconds = 3599
    // Renewals in the background take a moment; calls meanwhile have the old token or wait for the new one.
    while (tokens === 1) expect((await ask('bad')).status).toBe(200)
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask('bad')))
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200))
    expect(tokens).toBe(2)
    await gateway.admin('DELETE', '/channels/short')
  })
})

describe('administration', () => {
  const made = {
    name: 'made',
    protocols: { bedrock: 'https://bedrock.example' },
    models: { bad: '*' },
  }

  test('credentials go in and never come out, and are kept sealed', async () => {
    const { status, body } = await gateway.admin('POST', '/channels', { ...made, auth: { aws } })
    expect([status, body.auth, body.keys]).toEqual([201, { aws: { region: aws.region } }, 1])
    const moved = { protocols: { bedrock: 'https://elsewhere.example' } }
    expect(await gateway.admin('PATCH', '/channels/made', moved)).toMatchObject({ status: 400 })
    const again = await gateway.admin('PATCH', '/channels/made', { ...moved, auth: { aws } })
    expect([again.status, again.body.auth]).toEqual([200, { aws: { region: aws.region } }])
    const kept = await gateway.admin('PATCH', '/channels/made', { priority: 3 })
    expect(kept.body.auth).toEqual({ aws: { region: aws.region } })
    const service_account = { ...google, token_uri: 'https://tokens.example/token' }
    const vertex = { project: 'other-project-1', location: 'global' }
    const shown = await gateway.admin('POST', '/channels/preview', {
      ...{ name: 'v', protocols: { generate: 'https://vertex.example' }, models: { bad: '*' } },
      ...{ auth: { google: { service_account } }, vertex },
    })
    expect([shown.body.auth, shown.body.vertex]).toEqual([{ google: {} }, { location: 'global' }])
    const lists = await gateway.admin('GET', '/channels')
    const log = await gateway.admin('GET', '/audit-log')
    const all = JSON.stringify([body, again.body, shown.body, lists.body, log.body])
    const ids = [...secrets.filter((each) => each !== account), 'other-project-1']
    for (const secret of ids) expect(all).not.toContain(secret)
    const { readdirSync, readFileSync } = await import('node:fs')
    for (const name of readdirSync(gateway.dataDir).filter((each) =>
      /\.(?:db|sqlite)/.test(each),
    )) {
      const bytes = readFileSync(`${gateway.dataDir}/${name}`).toString('latin1')
      for (const secret of [aws.access_key, aws.secret_key]) expect(bytes).not.toContain(secret)
    }
    await gateway.admin('DELETE', '/channels/made')
  })

  test('another account at Vertex stays at its location, and needs a project', async () => {
    const { project_id: _, ...nameless } = google
    const account = (service_account: object) => ({ auth: { google: { service_account } } })
    const place = { protocols: { generate: 'https://vertex.example' }, models: { bad: '*' } }
    const vertex = { location: 'europe-west1' }
    const created = await gateway.admin('POST', '/channels', {
      ...{ name: 'vtx', ...place, ...account(google), vertex },
    })
    expect([created.status, created.body.vertex]).toEqual([201, vertex])
    const change = async (body: object) => {
      const answer = await gateway.admin('PATCH', '/channels/vtx', body)
      return answer.status === 200 ? answer.body.vertex : answer.body.error.param
    }
    expect(await change(account(google))).toEqual(vertex)
    expect(await change(account(nameless))).toBe('vertex')
    expect(await change({ ...account(nameless), vertex })).toBe('vertex')
    expect(await change({ ...account(nameless), vertex: { ...vertex, project: 'p-1' } })).toEqual(
      vertex,
    )
    expect(await change({ vertex: { location: 'global' } })).toEqual({ location: 'global' })
    expect(await change({ vertex: { location: 'global', project: 'p-2' } })).toBe('auth')
    // Without its place it may have no project: that comes with the account again.
    expect(await change({ ...account(nameless), vertex: null })).toBeNull()
    expect(await change({ vertex })).toBe('auth')
    await gateway.admin('DELETE', '/channels/vtx')
  })

  test('presets make addresses from region and location', async () => {
    const preview = async (body: object) =>
      (await gateway.admin('POST', '/channels/preview', body)).body
    const bedrock = await preview({ preset: 'bedrock', auth: { aws }, models: { bad: '*' } })
    expect(bedrock.protocols).toEqual({
      bedrock: 'https://bedrock-runtime.eu-central-1.amazonaws.com',
    })
    const auth = { google: { service_account: google } }
    const hosts: [string, string][] = [
      ['global', 'https://aiplatform.googleapis.com'],
      ['eu', 'https://aiplatform.eu.rep.googleapis.com'],
      ['europe-west1', 'https://europe-west1-aiplatform.googleapis.com'],
    ]
    for (const [location, host] of hosts) {
      const vertex = await preview({
        preset: 'vertex',
        auth,
        vertex: { location },
        models: { bad: '*' },
      })
      expect(vertex.protocols).toEqual({ generate: host, messages: host })
    }
    const entra = await preview({
      ...{ preset: 'azure-entra', base_url: 'https://acme.openai.azure.com', auth: { azure } },
      models: { bad: '*' },
    })
    expect(entra.protocols.chat).toBe('https://acme.openai.azure.com/openai/v1')
  })

  const wrong: [body: object, param: string][] = [
    [{ auth: { aws: { ...aws, region: undefined } } }, 'auth.aws.region'],
    [{ auth: { aws, azure } }, 'auth'],
    [{ auth: {} }, 'auth'],
    [{ auth: { gcp: {} } }, 'auth.gcp'],
    [{ auth: { aws }, keys: ['k'] }, 'auth'],
    [{ auth: { azure } }, 'auth'],
    [{ auth: { aws }, protocols: { chat: 'https://x.example' } }, 'auth'],
    [{ auth: { aws }, vertex: { location: 'eu' } }, 'vertex'],
    [{ auth: { google: { service_account: 'not json' } } }, 'auth.google.service_account'],
    [
      { auth: { google: { service_account: { client_email: 'a' } } } },
      'auth.google.service_account',
    ],
    [{ preset: 'vertex', auth: { google: { service_account: google } } }, 'vertex'],
    [{ preset: 'bedrock' }, 'auth'],
    [{ preset: 'azure-entra', auth: { azure } }, 'base_url'],
  ]
  test.each(wrong)('%j is refused', async (body, param) => {
    const base = 'preset' in body ? { models: made.models } : made
    const { status, body: answer } = await gateway.admin('POST', '/channels', { ...base, ...body })
    expect([status, answer.error.param]).toEqual([400, param])
    for (const secret of secrets) expect(JSON.stringify(answer)).not.toContain(secret)
  })
})

describe('service tiers', () => {
  const shared = 'x-vertex-ai-llm-shared-request-type'
  const converse = (tier?: string) => () => {
    const output = { message: { role: 'assistant', content: [{ text: 'Hi' }] } }
    const serviceTier = tier === undefined ? {} : { serviceTier: { type: tier } }
    return jsonReply({ output, stopReason: 'end_turn', usage: converseUsage, ...serviceTier })
  }
  const streamed = (tier: string) => () =>
    framesReply([
      ...nova.slice(0, -1),
      frame('metadata', { usage: converseUsage, serviceTier: { type: tier } }),
    ])

  // 10 x 1 + 6 x 0.1 + 4 x 2 millionths at the plain rates.
  test.each<[string, object, () => Response, object | undefined, string]>([
    ['asked', { service_tier: 'priority' }, converse(), { type: 'priority' }, '0.0000372'],
    ['fast', { service_tier: 'fast' }, converse(), { type: 'priority' }, '0.0000372'],
    ['asked and served', { service_tier: 'flex' }, converse('flex'), { type: 'flex' }, '0.0000093'],
    [
      'served otherwise',
      { service_tier: 'flex' },
      converse('default'),
      { type: 'flex' },
      '0.0000186',
    ],
    ['not asked', {}, converse('priority'), undefined, '0.0000372'],
    ['streamed', { stream: true }, streamed('priority'), undefined, '0.0000372'],
    [
      'streamed otherwise',
      { stream: true, service_tier: 'flex' },
      streamed('priority'),
      { type: 'flex' },
      '0.0000372',
    ],
  ])('of Converse: %s', async (_, more, answer, serviceTier, charge) => {
    instead.push(answer)
    const response = await ask('nova', more)
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
    expect(sent().serviceTier).toEqual(serviceTier)
    expect((await callRow(response)).charge).toBe(charge)
  })

  test('of Converse: one that it does not have is a named loss, and not charged', async () => {
    const response = await ask('bearer', { service_tier: 'turbo' })
    expect(response.headers.get('x-gateway-translation-loss')).toContain('service_tier')
    expect(sent().serviceTier).toBeUndefined()
    expect((await callRow(response)).charge).toBe('0.0000186')
  })

  const vertex = (trafficType?: string) => () => {
    const content = { role: 'model', parts: [{ text: 'Hello.' }] }
    const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2, trafficType }
    return jsonReply({ candidates: [{ content, finishReason: 'STOP' }], usageMetadata })
  }
  test.each<[string, string | null, object, string]>([
    ['ON_DEMAND_PRIORITY', 'priority', { service_tier: 'priority' }, '0.000014'],
    ['ON_DEMAND', 'flex', { service_tier: 'flex' }, '0.000007'],
    ['ON_DEMAND_FLEX', null, {}, '0.0000035'],
  ])('of Vertex are asked for by a header: %s', async (type, header, more, charge) => {
    instead.push(vertex(type))
    const response = await ask('gemini', more)
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
    expect(sent().serviceTier).toBeUndefined()
    expect(last().headers.get(shared)).toBe(header)
    expect((await callRow(response)).charge).toBe(charge)
  })

  test('of Vertex: the own field of the style becomes the header', async () => {
    for (const [name, tier] of [
      ['serviceTier', 'FLEX'],
      ['service_tier', 'SERVICE_TIER_FLEX'],
    ] as const) {
      instead.push(vertex('ON_DEMAND_FLEX'))
      const response = await gateway.post('/vendorg/v1beta/models/gemini:generateContent', {
        contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
        [name]: tier,
      })
      expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
      expect(Object.keys(sent())).toEqual(['contents'])
      expect(last().headers.get(shared)).toBe('flex')
      expect((await callRow(response)).charge).toBe('0.0000035')
    }
  })
})
