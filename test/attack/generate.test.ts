// The generate style against callers that try to pay less or to reach what is not theirs, and against
// upstreams that report what cannot be. Nothing that is refused here reaches an upstream.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { listAll, nanos, type RequestRow, until } from '../support/read.ts'
import { jsonReply, startUpstream, streamReply, type TestUpstream } from '../support/upstream.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any

let gateway: TestGateway
let upstream: TestUpstream
/** What the upstream reports. */
let usageMetadata: object = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }

const answer = () => ({
  candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }],
  usageMetadata,
  modelVersion: 'up',
})

beforeAll(async () => {
  upstream = startUpstream(({ path }) =>
    path.includes(':stream')
      ? streamReply([`data: ${JSON.stringify(answer())}\r\n\r\n`])
      : jsonReply(answer()),
  )
  gateway = await startGateway({
    config: `
models:
  - { name: dear, kind: text, interfaces: [generate], context_window: 10000, max_output_tokens: 1000 }
  - { name: cheap, kind: text, interfaces: [generate] }
prices:
  - { model: dear, unit: token, per_million: { input: "100.00", output: "100.00" } }
  - { model: cheap, unit: token, per_million: { input: "0.01", output: "0.01" } }
channels:
  - name: up
    keys: [upstream-key-0123456789]
    protocols: { generate: "${upstream.url}" }
    models: { "*": "*" }
`,
  })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

let made = 0
async function newAccount(balance: string) {
  const name = `account-${++made}`
  await gateway.admin('POST', '/accounts', { name, balance })
  const { body } = await gateway.admin('POST', '/tokens', { account: name, name: 'x' })
  const post = (call: string, fields: object) =>
    fetch(`${gateway.url}/vendorg/v1beta/models/${call}`, {
      method: 'POST',
      headers: { 'x-goog-api-key': body.token as string, 'content-type': 'application/json' },
      body: JSON.stringify(fields),
    })
  const row = () =>
    until('a row in the log', async () => {
      const rows = await listAll<RequestRow>(gateway, `/requests?account=${name}`)
      return rows[0]
    })
  return {
    name,
    post,
    row,
    now: async () => (await gateway.admin('GET', `/accounts/${name}`)).body,
  }
}

const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
const part = (fields: object) => ({ contents: [{ role: 'user', parts: [fields] }] })
const bounded = { generationConfig: { maxOutputTokens: 10 } }

describe('nothing reaches an upstream', () => {
  test.each<[string, object]>([
    ['of a search', { contents, tools: [{ googleSearch: {} }] }],
    ['of a search with underscores', { contents, tools: [{ google_search_retrieval: {} }] }],
    [
      'of a search beside functions',
      { contents, tools: [{ functionDeclarations: [], urlContext: {} }] },
    ],
    ['of a tool of tomorrow', { contents, tools: [{ deepResearch: {} }] }],
    ['of code that it runs', { contents, tools: [{ codeExecution: {} }] }],
    [
      'of a search in files',
      { contents, tools: [{ fileSearch: { fileSearchStoreNames: ['a'] } }] },
    ],
    ['of the cache of another account', { contents, cachedContent: 'cachedContents/other' }],
    ['of a file of another account', part({ fileData: { fileUri: 'files/other' } })],
    ['of a bucket', part({ file_data: { file_uri: 'gs://secrets/a.txt' } })],
    ['of another tier', { contents, serviceTier: 'PRIORITY' }],
    ['of pictures', { contents, generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } }],
    ['of speech', { contents, generationConfig: { speechConfig: { voiceConfig: {} } } }],
    ['of another model', { contents, model: 'models/dear' }],
    [
      'of a limit given twice',
      { contents, generationConfig: { maxOutputTokens: 1, max_output_tokens: 999 } },
    ],
  ])('%s', async (_, fields) => {
    const account = await newAccount('1.00')
    const before = upstream.calls.length
    for (const call of ['generateContent', 'streamGenerateContent?alt=sse', 'countTokens']) {
      const response = await account.post(`cheap:${call}`, fields)
      if (call === 'countTokens' && 'generationConfig' in fields) continue
      expect([call, [400, 404].includes(response.status)]).toEqual([call, true])
      expect(((await response.json()) as Any).error.message).toBeString()
    }
    expect(
      upstream.calls.slice(before).filter(({ path }) => !path.endsWith('countTokens')),
    ).toEqual([])
    expect((await account.now()).balance).toBe('1.00')
  })
})

describe('a charge', () => {
  test.each([
    [
      'more output than was asked for',
      { promptTokenCount: 1, candidatesTokenCount: 900, totalTokenCount: 901 },
      11,
    ],
    [
      'more thoughts than were asked for',
      {
        promptTokenCount: 1,
        candidatesTokenCount: 1,
        thoughtsTokenCount: 900,
        totalTokenCount: 902,
      },
      902,
    ],
    [
      'a total beyond all bounds',
      { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 1e12 },
      11,
    ],
    ['more input than the window', { promptTokenCount: 5e9, candidatesTokenCount: 1 }, 10_001],
    [
      'more cached than read',
      { promptTokenCount: 5, cachedContentTokenCount: 500, candidatesTokenCount: 1 },
      6,
    ],
  ])('for %s is what the request allows, and what was reasoned', async (_, reported, tokens) => {
    usageMetadata = reported
    const account = await newAccount('10.00')
    for (const call of ['generateContent', 'streamGenerateContent?alt=sse']) {
      const before = nanos((await account.now()).balance)
      const response = await account.post(`dear:${call}`, { contents, ...bounded })
      expect(response.status).toBe(200)
      await response.text()
      const charged = before - nanos((await account.now()).balance)
      expect([call, charged]).toEqual([call, BigInt(tokens) * 100_000n])
    }
  })

  test('is never beyond the hold of calls at once, whatever comes along', async () => {
    usageMetadata = { promptTokenCount: 9_000, candidatesTokenCount: 1, totalTokenCount: 9_001 }
    const account = await newAccount('1.50')
    const file = { fileData: { fileUri: 'https://media.example/v.mp4', mimeType: 'video/mp4' } }
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        account.post('dear:generateContent', { ...part(file), ...bounded }),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 402)).toHaveLength(19)
    const { body } = await gateway.admin('GET', `/losses?account=${account.name}`)
    expect(body.items).toEqual([])
  })
})
