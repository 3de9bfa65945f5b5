// `routing: latency` over HTTP: of two equal channels the one that answers sooner gets most calls, also when the
// model is changed while the gateway runs.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

const usage = { prompt_tokens: 5, completion_tokens: 5 }

let slow: TestUpstream
let fast: TestUpstream
let gateway: TestGateway

const channel = (name: string, { chat }: TestUpstream) =>
  `  - { name: ${name}, keys: [k], protocols: { chat: "${chat}" }, models: { by-latency: m, by-load: m } }`
const model = (name: string, more = '') =>
  `  - { name: ${name}, kind: text, interfaces: [chat]${more} }`
const price = (name: string) =>
  `  - { model: ${name}, unit: token, per_million: { input: "1.00", output: "1.00" } }`

beforeAll(async () => {
  slow = startUpstream(async () => {
    await Bun.sleep(60)
    return jsonReply(completion(usage))
  })
  fast = startUpstream(() => jsonReply(completion(usage)))
  gateway = await startGateway({
    config: `accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
${channel('slow', slow)}
${channel('fast', fast)}
models:
${model('by-latency', ', routing: latency')}
${model('by-load')}
prices:
${price('by-latency')}
${price('by-load')}
`,
  })
})
afterAll(async () => {
  await gateway?.stop()
  await slow?.stop()
  await fast?.stop()
})

/** Chance alone would have to give one of two equal channels 30 of 100: once in 25,000 runs. */
const calls = 100

async function slowShare(name: string): Promise<number> {
  const before = slow.calls.length
  for (let i = 0; i < calls; i++) {
    expect((await gateway.chat('Hi', { model: name })).status).toBe(200)
  }
  return (slow.calls.length - before) / calls
}

test('the faster of two equal channels gets nearly all calls; by load, both get their share', async () => {
  expect(await slowShare('by-latency')).toBeLessThan(0.3)
  expect(await slowShare('by-load')).toBeGreaterThan(0.3)
})

test('a model says how it is routed, and other words are refused', async () => {
  const { body } = await gateway.admin('GET', '/models?limit=500')
  const routing = (name: string) =>
    body.items.find((each: { name: string }) => each.name === name).routing
  expect([routing('by-latency'), routing('by-load')]).toEqual(['latency', 'load'])
  const put = (more: object) =>
    gateway.admin('PUT', '/models/other', { kind: 'text', interfaces: ['chat'], ...more })
  expect((await put({ routing: 'latency' })).body.routing).toBe('latency')
  expect((await put({})).body.routing).toBe('load')
  const refused = await put({ routing: 'fastest' })
  expect([refused.status, refused.body.error.param]).toEqual([400, 'routing'])
})
