// The generate style through the whole gateway: what reaches the upstream, what comes back in which
// form, what it costs, and how errors read.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { accountOf, chargeOf, dataLines, nanos, requestIdOf, rowOf } from '../support/read.ts'
import {
  type Captured,
  jsonReply,
  startUpstream,
  streamReply,
  type TestUpstream,
} from '../support/upstream.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any

const key = 'upk-generate-0123456789abcdef'
const poorToken = 'sk-poor-0123456789abcdefghijklmnop'
let sandbox: Sandbox
let own: TestUpstream
/** What the own upstream answers. */
let reply: (call: Captured) => Response
let gateway: TestGateway

const rates = '{ input: "1.00", output: "2.00", cache_read: "0.10" }'

beforeAll(async () => {
  sandbox = startSandbox({ key })
  own = startUpstream((call) => reply(call))
  gateway = await startGateway({
    config: `
accounts: [{ name: acme, balance: "100.00" }, { name: poor, balance: "0.01" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: poor, name: test, token: ${poorToken} }
channels:
  - name: simulated
    keys: [${key}]
    protocols: { generate: "${sandbox.protocols['generate']}" }
    models: { txta-plus: "*", txta-embed: "*", spoken: up-name }
  - name: own
    keys: [${key}]
    protocols: { generate: "${own.url}" }
    models: { mine: up-mine, vectors: up-vectors }
  - name: chatting
    keys: [${key}]
    protocols: { chat: "${sandbox.protocols['chat']}" }
    models: { talk: "*" }
models:
  - { name: spoken, kind: text, interfaces: [generate], context_window: 5000, max_output_tokens: 700 }
  - { name: mine, kind: text, interfaces: [generate], max_output_tokens: 100000 }
  - { name: talk, kind: text, interfaces: [chat], translate: false }
  - { name: vectors, kind: embedding, interfaces: [generate] }
prices:
  - { model: spoken, unit: token, per_million: ${rates} }
  - { model: mine, unit: token, per_million: ${rates} }
  - { model: talk, unit: token, per_million: ${rates} }
  - { model: vectors, unit: token, per_million: ${rates} }
`,
  })
})
afterAll(async () => {
  expect((await gateway.admin('POST', '/audit')).body).toMatchObject({ ok: true, problems: [] })
  expect((await accountOf(gateway)).held).toBe('0.00')
  expect(await gateway.stop()).toBe(0)
  await Promise.all([sandbox.stop(), own.stop()])
})

const says = (text: string, more: object = {}) => ({
  contents: [{ role: 'user', parts: [{ text }] }],
  ...more,
})

const ask = (call: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/vendorg/v1beta/models/${call}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': apiToken, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

const textIn = (answer: Any): string =>
  (answer.candidates?.[0]?.content?.parts ?? []).map((part: Any) => part.text ?? '').join('')

async function paid(response: Response) {
  const id = requestIdOf(response)
  const row = await rowOf(gateway, id)
  const charge = await chargeOf(gateway, id)
  expect(-nanos(charge?.amount ?? '0')).toBe(nanos(row.charge))
  return row
}

const costOf = (usage: Any): bigint =>
  BigInt(
    (usage.promptTokenCount - (usage.cachedContentTokenCount ?? 0)) * 1000 +
      (usage.cachedContentTokenCount ?? 0) * 100 +
      ((usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0)) * 2000,
  )

describe('an answer', () => {
  test('comes from the upstream under the name the caller used, and costs its usage', async () => {
    const response = await ask('spoken:generateContent', says('hello [[sim:tokens=9]]'))
    expect(response.status).toBe(200)
    const answer: Any = await response.json()
    expect(answer).toMatchObject({
      modelVersion: 'spoken',
      candidates: [{ finishReason: 'STOP', content: { role: 'model' } }],
      usageMetadata: { candidatesTokenCount: 9 },
    })
    const row = await paid(response)
    expect([row.interface, row.model, row.upstream_model]).toEqual([
      'generate',
      'spoken',
      'up-name',
    ])
    expect(nanos(row.charge)).toBe(costOf(answer.usageMetadata))
  })

  test('has thoughts beside the candidates, and both are paid for', async () => {
    const thinking = { generationConfig: { thinkingConfig: { includeThoughts: true } } }
    const response = await ask(
      'spoken:generateContent',
      says('hello [[sim:tokens=20]] [[sim:reasoning=15]]', thinking),
    )
    const answer: Any = await response.json()
    expect(answer.usageMetadata).toMatchObject({ candidatesTokenCount: 5, thoughtsTokenCount: 15 })
    expect(answer.candidates[0].content.parts[0].thought).toBe(true)
    const row = await paid(response)
    expect(row.usage?.output_tokens).toBe(20)
    expect(nanos(row.charge)).toBe(costOf(answer.usageMetadata))
  })

  test('counts cached tokens inside the input', async () => {
    const long = says(`${'word '.repeat(600)} [[sim:tokens=1]]`)
    await ask('spoken:generateContent', long)
    const response = await ask('spoken:generateContent', long)
    const { usageMetadata }: Any = await response.json()
    expect(usageMetadata.cachedContentTokenCount).toBeGreaterThan(0)
    expect(nanos((await paid(response)).charge)).toBe(costOf(usageMetadata))
  })

  test('calls the function it was told to', async () => {
    const parameters = {
      type: 'OBJECT',
      properties: { city: { type: 'STRING' } },
      required: ['city'],
    }
    const response = await ask(
      'spoken:generateContent',
      says('weather? [[sim:tool=weather]]', {
        tools: [{ functionDeclarations: [{ name: 'weather', parameters }] }],
      }),
    )
    const { candidates }: Any = await response.json()
    expect(candidates[0].content.parts).toEqual([
      { functionCall: { id: expect.any(String), name: 'weather', args: { city: 'sandbox' } } },
    ])
  })

  test('has several candidates on request', async () => {
    const body = says('hi', { generation_config: { candidate_count: 3, max_output_tokens: 5 } })
    const { candidates, usageMetadata }: Any = await (
      await ask('spoken:generateContent', body)
    ).json()
    expect(candidates.map(({ index }: Any) => index)).toEqual([0, 1, 2])
    expect(usageMetadata.candidatesTokenCount).toBe(15)
  })

  test.each(['v1', 'v1beta', 'v1alpha'])('is the same under %s', async (version) => {
    const response = await fetch(
      `${gateway.url}/vendorg/${version}/models/spoken:generateContent?key=${apiToken}`,
      { method: 'POST', body: JSON.stringify(says('hi')) },
    )
    expect(response.status).toBe(200)
  })
})

describe('a stream', () => {
  const prompt = says('hello [[sim:tokens=12]]')

  test('of events has the text of the whole answer, and its last event has the usage', async () => {
    const whole: Any = await (await ask('spoken:generateContent', prompt)).json()
    const response = await ask('spoken:streamGenerateContent?alt=sse', prompt)
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    const chunks: Any[] = dataLines(await response.text()).map((line) => JSON.parse(line))
    expect(chunks.map(textIn).join('')).toBe(textIn(whole))
    expect(new Set(chunks.map(({ modelVersion }) => modelVersion))).toEqual(new Set(['spoken']))
    expect(chunks.filter(({ candidates }) => candidates[0].finishReason)).toEqual([chunks.at(-1)])
    expect(chunks.at(-1).usageMetadata).toEqual(whole.usageMetadata)
    expect(nanos((await paid(response)).charge)).toBe(costOf(whole.usageMetadata))
  })

  test('without alt=sse is a JSON list', async () => {
    const response = await ask('spoken:streamGenerateContent', prompt)
    expect(response.headers.get('content-type')).toBe('application/json')
    const chunks = (await response.json()) as Any[]
    expect(chunks.length).toBe(13)
    expect(chunks.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }] })
    expect((await paid(response)).usage?.output_tokens).toBe(12)
  })

  test('that breaks off is free, and ends with an error in either form', async () => {
    for (const form of ['?alt=sse', '']) {
      const response = await ask(
        `spoken:streamGenerateContent${form}`,
        says('[[sim:tokens=9]] [[sim:cut=3]]'),
      )
      expect(response.status).toBe(200)
      const text = await response.text()
      const chunks: Any[] =
        form === '' ? JSON.parse(text) : dataLines(text).map((line) => JSON.parse(line))
      expect(chunks).toHaveLength(4)
      expect(chunks.at(-1).error).toMatchObject({
        code: 502,
        status: 'INTERNAL',
        reason: 'upstream_error',
      })
      const row = await paid(response)
      expect([row.ending, row.charge]).toEqual(['failed', '0.00'])
    }
  })

  test('whose upstream never says why it stopped is free', async () => {
    const chunk = { candidates: [{ content: { parts: [{ text: 'half' }] }, index: 0 }] }
    reply = () => streamReply([`data: ${JSON.stringify(chunk)}\n\n`])
    const response = await ask('mine:streamGenerateContent?alt=sse', says('hi'))
    const last: Any = JSON.parse(dataLines(await response.text()).at(-1)!)
    expect(last.error.reason).toBe('upstream_error')
    expect((await paid(response)).charge).toBe('0.00')
  })

  test('may come as a list from the upstream', async () => {
    const part = (text: string, more: object = {}) => ({
      candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0, ...more }],
    })
    const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 }
    reply = () => jsonReply([part('a'), { ...part('b', { finishReason: 'STOP' }), usageMetadata }])
    const response = await ask('mine:streamGenerateContent?alt=sse', says('hi'))
    const chunks: Any[] = dataLines(await response.text()).map((line) => JSON.parse(line))
    expect(chunks.map(textIn).join('')).toBe('ab')
    expect(nanos((await paid(response)).charge)).toBe(costOf(usageMetadata))
  })

  test('that is left half-way is paid for', async () => {
    const leaving = new AbortController()
    const response = await fetch(
      `${gateway.url}/vendorg/v1beta/models/spoken:streamGenerateContent`,
      {
        method: 'POST',
        headers: { 'x-goog-api-key': apiToken },
        body: JSON.stringify(says('[[sim:tokens=30]] [[sim:chunk=100ms]]')),
        signal: leaving.signal,
      },
    )
    await response.body!.getReader().read()
    leaving.abort()
    const row = await rowOf(gateway, requestIdOf(response))
    expect([row.ending, row.usage?.output_tokens]).toEqual(['caller_left', 30])
  })
})

test('what goes upstream is the body as it came, with the key of the channel', async () => {
  reply = () =>
    jsonReply({
      candidates: [{ content: { parts: [{ text: 'ok' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    })
  const body = `{ "contents" : [{"parts":[{"text":"hi"},{"functionCall":{"name":"f","args":{"id":12345678901234567890}}}]}], "safetySettings": [] }`
  const response = await fetch(`${gateway.url}/vendorg/v1/models/mine:generateContent`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiToken}` },
    body,
  })
  expect(response.status).toBe(200)
  const { body: sent, headers, path } = own.calls.at(-1)!
  expect([sent, path]).toEqual([body, '/v1beta/models/up-mine:generateContent'])
  expect(headers.get('x-goog-api-key')).toBe(key)
  expect(headers.get('authorization')).toBeNull()
})

describe('tokens', () => {
  test('are counted beforehand as afterwards, for nothing', async () => {
    const body = says('how long is this?')
    const counted = await ask('spoken:countTokens', body)
    expect(counted.headers.get('x-gateway-estimated')).toBeNull()
    const { totalTokens }: Any = await counted.json()
    const answer: Any = await (await ask('spoken:generateContent', body)).json()
    expect(totalTokens).toBe(answer.usageMetadata.promptTokenCount)
    const inner = { generateContentRequest: { model: 'models/spoken', ...body } }
    expect(((await (await ask('spoken:countTokens', inner)).json()) as Any).totalTokens).toBe(
      totalTokens,
    )
    expect((await rowOf(gateway, requestIdOf(counted))).charge).toBe('0.00')
  })

  test('are estimated and marked where the upstream cannot tell', async () => {
    reply = () => jsonReply({ error: { code: 404, message: 'no' } }, { status: 404 })
    const counted = await ask('mine:countTokens', says('hello'))
    expect(counted.headers.get('x-gateway-estimated')).toBe('true')
    expect(await counted.json()).toEqual({ totalTokens: 10 })
  })
})

describe('an embedding', () => {
  const content = (text: string) => ({ content: { parts: [{ text }] }, outputDimensionality: 8 })

  test('is a vector, and costs its input', async () => {
    const response = await ask('txta-embed:embedContent', content('some words'))
    const { embedding, usageMetadata }: Any = await response.json()
    expect(embedding.values).toHaveLength(8)
    const row = await paid(response)
    expect(row.usage).toMatchObject({
      input_tokens: usageMetadata.promptTokenCount,
      output_tokens: 0,
    })
    expect(nanos(row.charge)).toBe(BigInt(usageMetadata.promptTokenCount) * 500n)
  })

  test('of a batch is one vector for each', async () => {
    const requests = ['a', 'b', 'c'].map((text) => ({
      model: 'models/txta-embed',
      ...content(text),
    }))
    const response = await ask('txta-embed:batchEmbedContents', { requests })
    const { embeddings }: Any = await response.json()
    expect(embeddings).toHaveLength(3)
    expect((await paid(response)).usage?.input_tokens).toBe(3)
  })

  test('without usage is counted and marked as estimated', async () => {
    const response = await ask('txta-embed:embedContent', content('x [[sim:no-usage]]'))
    expect(response.status).toBe(200)
    expect((await paid(response)).estimated).toBe(true)
  })
})

describe('an error', () => {
  test.each([
    ['nobody:generateContent', says('hi'), 404, 'NOT_FOUND', 'model_not_found'],
    ['talk:generateContent', says('hi'), 400, 'INVALID_ARGUMENT', 'model_not_supported'],
    ['txta-embed:generateContent', says('hi'), 400, 'INVALID_ARGUMENT', 'model_not_supported'],
    [
      'spoken:embedContent',
      { content: { parts: [] } },
      400,
      'INVALID_ARGUMENT',
      'model_not_supported',
    ],
    ['spoken:generateContent', {}, 400, 'INVALID_ARGUMENT', 'invalid_request'],
    [
      'spoken:generateContent',
      says('hi', { tools: [{ googleSearch: {} }] }),
      400,
      'INVALID_ARGUMENT',
      'invalid_request',
    ],
    [
      'spoken:generateContent',
      says('hi', { cachedContent: 'cachedContents/x' }),
      404,
      'NOT_FOUND',
      'not_found',
    ],
    ['spoken:somethingElse', says('hi'), 404, 'NOT_FOUND', 'not_found'],
    [
      'spoken:generateContent',
      says('[[sim:status=429]]'),
      429,
      'RESOURCE_EXHAUSTED',
      'upstream_rate_limited',
    ],
    ['spoken:generateContent', says('[[sim:status=500]]'), 502, 'INTERNAL', 'upstream_error'],
    [
      'spoken:generateContent',
      says('[[sim:fail=content_policy]]'),
      400,
      'INVALID_ARGUMENT',
      'content_policy_violation',
    ],
  ] as const)('of %s with %j is %d %s', async (call, body, status, word, reason) => {
    const response = await ask(call, body)
    const { error }: Any = await response.json()
    expect([response.status, error.code, error.status, error.reason]).toEqual([
      status,
      status,
      word,
      reason,
    ])
    expect(error.message).toEndWith(`(${requestIdOf(response)})`)
  })

  test('for a wrong token is one of this interface', async () => {
    const response = await ask('spoken:generateContent', says('hi'), {
      'x-goog-api-key': 'sk-nobody-0123456789abcdefghijklmno',
    })
    expect(response.status).toBe(401)
    const { error } = (await response.json()) as { error: { code: number; status: string } }
    expect([error.code, error.status]).toEqual([401, 'UNAUTHENTICATED'])
  })

  test('that is refused by its body names the model of the path in the log', async () => {
    const response = await ask('spoken:generateContent', { contents: 5 })
    const { interface: use, model } = await rowOf(gateway, requestIdOf(response))
    expect([use, model]).toEqual(['generate', 'spoken'])
  })
})

describe('a hold', () => {
  const poor = { 'x-goog-api-key': poorToken }
  const statusOf = async (config: object, parts: object[] = [{ text: 'hi' }]) => {
    const body = { contents: [{ role: 'user', parts }], generationConfig: config }
    return (await ask('mine:generateContent', body, poor)).status
  }

  // One hundredth buys 5,000 tokens of output.
  test('is for the most that the request may cost, in either spelling', async () => {
    reply = () =>
      jsonReply({
        candidates: [{ content: { parts: [{ text: 'ok' }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      })
    expect(await statusOf({ maxOutputTokens: 4_000 })).toBe(200)
    for (const config of [
      {},
      { maxOutputTokens: 5_001 },
      { max_output_tokens: 5_001 },
      { maxOutputTokens: 4_000, candidateCount: 2 },
      { maxOutputTokens: 4_000, candidate_count: 2 },
      { maxOutputTokens: 4_000, thinkingConfig: { thinkingBudget: 4_000 } },
      { maxOutputTokens: 4_000, thinking_config: { thinking_budget: 4_000 } },
      { maxOutputTokens: 4_000, thinkingConfig: { thinkingBudget: -1 } },
    ]) {
      expect([config, await statusOf(config)]).toEqual([config, 402])
    }
    const file = { fileData: { fileUri: 'https://example.com/a.pdf', mimeType: 'application/pdf' } }
    expect(await statusOf({ maxOutputTokens: 1 }, [file])).toBe(402)
    const refused = await ask('mine:generateContent', says('hi'), poor)
    expect(((await refused.json()) as Any).error.message).toContain(
      "set 'generationConfig.maxOutputTokens'",
    )
  })
})

test('models tell their limits and the calls that they can be asked by', async () => {
  const get = async (path: string): Promise<Any> =>
    (
      await fetch(`${gateway.url}/vendorg/v1beta/models${path}`, {
        headers: { 'x-goog-api-key': apiToken },
      })
    ).json()
  expect(await get('/spoken')).toMatchObject({
    name: 'models/spoken',
    inputTokenLimit: 5000,
    outputTokenLimit: 700,
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
  })
  const { models } = await get('')
  const methods = Object.fromEntries(
    models.map(({ name, supportedGenerationMethods }: Any) => [name, supportedGenerationMethods]),
  )
  expect(methods['models/txta-embed']).toEqual([
    'embedContent',
    'batchEmbedContents',
    'countTokens',
  ])
  expect(methods['models/talk']).toEqual([])
})

test('a channel of this style can be tested and asked for its models', async () => {
  const { body } = await gateway.admin('GET', '/channels')
  const idOf = (wanted: string) => body.items.find(({ name }: Any) => name === wanted).id
  const [id, ownId] = [idOf('simulated'), idOf('own')]
  reply = () => jsonReply({ embedding: { values: [0.5] } })
  const tested = await gateway.admin('POST', `/channels/${id}/test`, {})
  expect(tested.body).toMatchObject({ ok: true })
  const { body: vectors } = await gateway.admin('POST', `/channels/${ownId}/test`, {
    model: 'vectors',
  })
  expect(vectors).toMatchObject({ ok: true, model: 'vectors' })
  expect(own.calls.at(-1)!.path).toBe('/v1beta/models/up-vectors:embedContent')
  const found = await gateway.admin('POST', `/channels/${id}/discover`)
  expect(found.body.models.map(({ upstream_model: name }: Any) => name)).toContain('txta-vl-long')
})

describe('the paths of SDKs that have the root as their base URL', () => {
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
  const ask = (path: string, body?: object, headers: Record<string, string> = {}) =>
    fetch(gateway.url + path, {
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json', ...headers },
    })
  const goog = { 'x-goog-api-key': apiToken }

  test.each([
    ['/v1beta/models/txta-plus:generateContent', { contents }, 'candidates'],
    ['/v1beta/models/txta-plus:streamGenerateContent?alt=sse', { contents }, 'data: '],
    ['/v1beta/models/txta-plus:countTokens', { contents }, 'totalTokens'],
    ['/v1beta/models/txta-embed:embedContent', { content: contents[0]! }, 'embedding'],
    ['/v1alpha/models/txta-plus:generateContent', { contents }, 'candidates'],
    ['/v1/models/txta-plus:generateContent', { contents }, 'candidates'],
    ['/v1beta/models', undefined, 'txta-plus'],
    ['/v1beta/models/txta-plus', undefined, 'models/txta-plus'],
  ])('%s is served', async (path, body, expected) => {
    const answer = await ask(path, body, goog)
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining(expected)])
    const byQuery = await ask(`${path}${path.includes('?') ? '&' : '?'}key=${apiToken}`, body)
    expect(byQuery.status).toBe(200)
  })

  test('errors have the shape of the style', async () => {
    const none = await ask('/v1beta/models/none:generateContent', { contents }, goog)
    expect([none.status, ((await none.json()) as Any).error]).toMatchObject([
      404,
      { code: 404, status: 'NOT_FOUND', reason: 'model_not_found' },
    ])
    expect((await ask('/v1beta/models/txta-plus:generateContent', { contents })).status).toBe(401)
    expect((await ask('/v1beta/other', undefined, goog)).status).toBe(404)
    // The query is no place for a token on the paths of other styles.
    expect((await ask(`/v1/models?key=${apiToken}`)).status).toBe(401)
  })
})
