// Embeddings of each style over upstreams of the other: the same vectors, exact money, every loss named.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { chargeOf, errorOf, requestIdOf } from '../support/read.ts'

const key = 'upk-embeddings-0123456789abcdef'
const strictToken = 'sk-strict-0123456789abcdefghijklmnop'
const protocols = ['embeddings', 'generate'] as const
type Protocol = (typeof protocols)[number]

let sandbox: Sandbox
let gateway: TestGateway

beforeAll(async () => {
  sandbox = startSandbox({ key })
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [{ name: 'acme', balance: '100.00' }],
      tokens: [
        { account: 'acme', name: 'test', token: apiToken },
        { account: 'acme', name: 'strict', token: strictToken, translation: 'strict' },
      ],
      channels: protocols.map((over) => ({
        name: `only-${over}`,
        keys: [key],
        protocols: { [over]: sandbox.protocols[over] },
        models: { [`over-${over}`]: 'txta-embed' },
      })),
      models: protocols.map((over) => ({
        name: `over-${over}`,
        kind: 'embedding',
        interfaces: [over],
      })),
      prices: protocols.map((over) => ({
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

const texts = ['first text', 'second, longer text']
const dimensions = 8

const asList = (over: Protocol, more: object = {}, headers: Record<string, string> = {}) =>
  gateway.post(
    '/v1/embeddings',
    { model: `over-${over}`, input: texts, dimensions, ...more },
    headers,
  )
const content = (text: string) => ({ content: { parts: [{ text }] } })
const asOne = (over: Protocol, more: object = {}, headers: Record<string, string> = {}) =>
  gateway.post(
    `/vendorg/v1beta/models/over-${over}:embedContent`,
    { ...content(texts[0]!), outputDimensionality: dimensions, ...more },
    headers,
  )
const asBatch = (over: Protocol, more: object = {}) =>
  gateway.post(`/vendorg/v1beta/models/over-${over}:batchEmbedContents`, {
    requests: texts.map((text) => ({
      model: `models/over-${over}`,
      ...content(text),
      outputDimensionality: dimensions,
      ...more,
    })),
  })

interface List {
  object: string
  model: string
  data: { index: number; embedding: number[] | string }[]
  usage: { prompt_tokens: number; total_tokens: number }
}
interface Batch {
  embeddings: { values: number[] }[]
  usageMetadata: { promptTokenCount: number }
}

const pathOf = (response: Response) => response.headers.get('x-gateway-translation')
const lossOf = (response: Response) => response.headers.get('x-gateway-translation-loss')

test('a list of texts gives the same vectors over both styles, in both encodings', async () => {
  const [own, other] = await Promise.all([asList('embeddings'), asList('generate')])
  expect([pathOf(own), pathOf(other), lossOf(other)]).toEqual([null, 'embeddings>generate', null])
  const [wanted, got] = [(await own.json()) as List, (await other.json()) as List]
  expect(got).toEqual({ ...wanted, model: 'over-generate' })
  const coded = (await (await asList('generate', { encoding_format: 'base64' })).json()) as List
  const bytes = Buffer.from(String(coded.data[1]!.embedding), 'base64')
  expect(bytes.length).toBe(4 * dimensions)
  expect(bytes.readFloatLE(0)).toBeCloseTo((got.data[1]!.embedding as number[])[0]!, 6)
  const [charge, otherCharge] = await Promise.all([
    chargeOf(gateway, requestIdOf(own)),
    chargeOf(gateway, requestIdOf(other)),
  ])
  expect(otherCharge?.amount).toBe(charge!.amount)
  expect(otherCharge).toMatchObject({ quantity: wanted.usage.prompt_tokens, estimated: false })
})

test('contents give the same vectors over both styles, alone and as a batch', async () => {
  const [own, other] = await Promise.all([asBatch('generate'), asBatch('embeddings')])
  expect([pathOf(own), pathOf(other), lossOf(other)]).toEqual([null, 'generate>embeddings', null])
  const [wanted, got] = [(await own.json()) as Batch, (await other.json()) as Batch]
  expect(got.embeddings).toEqual(wanted.embeddings)
  const one = (await (await asOne('embeddings')).json()) as { embedding: { values: number[] } }
  expect(one.embedding).toEqual(wanted.embeddings[0]!)
  expect(await chargeOf(gateway, requestIdOf(other))).toMatchObject({
    quantity: wanted.usageMetadata.promptTokenCount,
    estimated: false,
  })
})

test('what the upstream does not report is counted, and the charge says so', async () => {
  const answer = await asList('generate', { input: ['[[sim:no-usage]] one'] })
  expect(((await answer.json()) as List).usage.prompt_tokens).toBeGreaterThan(0)
  expect((await chargeOf(gateway, requestIdOf(answer)))?.estimated).toBe(true)
})

describe('a field without a counterpart', () => {
  test('is named as a loss', async () => {
    const more = { taskType: 'RETRIEVAL_QUERY', title: 'A title' }
    expect(lossOf(await asOne('embeddings', more))).toBe('taskType;title')
    expect(lossOf(await asList('generate', { user: 'x', text_type: 'query' }))).toBeNull()
    expect(lossOf(await asList('generate', { instruct: 'x' }))).toBe('instruct')
  })

  test('is refused for a strict token', async () => {
    const strict = { authorization: `Bearer ${strictToken}` }
    const answer = await asOne('embeddings', { taskType: 'RETRIEVAL_QUERY' }, strict)
    expect(answer.status).toBe(400)
    expect((await errorOf(answer)).param).toBe('taskType')
    expect((await asList('generate', {}, strict)).status).toBe(200)
  })

  test('is refused where the vectors would be others', async () => {
    const numbered = await asList('generate', { input: [[1, 2, 3]] })
    expect([numbered.status, (await errorOf(numbered)).param]).toEqual([400, 'input'])
    const image = { content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] } }
    const picture = await asOne('embeddings', image)
    expect([picture.status, (await errorOf(picture)).param]).toEqual([400, 'content.parts'])
  })
})

test('the list of models shows both interfaces', async () => {
  const { body } = { body: await (await models()).json() }
  const { data, models: others } = body as {
    data: { id: string; supported_endpoint_types: string[] }[]
    models: { baseModelId: string; supportedGenerationMethods: string[] }[]
  }
  for (const over of protocols) {
    const item = data.find(({ id }) => id === `over-${over}`)
    expect(item?.supported_endpoint_types.toSorted()).toEqual(['embeddings', 'gemini'])
    const other = others.find(({ baseModelId }) => baseModelId === `over-${over}`)
    expect(other?.supportedGenerationMethods).toContain('batchEmbedContents')
  }
})

const models = () =>
  fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${apiToken}` } })
