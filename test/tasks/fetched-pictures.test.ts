// Pictures given by address, for an upstream that takes bytes only: fetched under guard before
// anything is made, or refused in words that name them.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readAccount } from '../support/books.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

const png = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1')
const operations = '/vendorg/v1beta/models/vendorg-video-1:predictLongRunning'

let upstream: TestUpstream
let pictures: ReturnType<typeof Bun.serve>
let gateway: TestGateway
beforeAll(async () => {
  upstream = startUpstream(() => jsonReply({ name: 'models/m/operations/op-1' }))
  pictures = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) =>
      url.endsWith('.png') ? new Response(png) : new Response('no', { status: 404 }),
  })
  gateway = await startGateway({
    env: { GATEWAY_EGRESS_ALLOW: '127.0.0.1' },
    config: `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: upstream
    keys: [upk-0123456789abcdef]
    models: { vendorg-video-1: "*" }
    protocols: { vendorg: ${upstream.url} }
`,
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
  await pictures.stop(true)
})

const creates = () => upstream.calls.filter(({ path }) => path.endsWith(':predictLongRunning'))
const ask = (image: object, parameters: object = {}) =>
  gateway.post(operations, { instances: [{ prompt: 'a fox', image }], parameters })

test('go up as bytes, and the other wishes go with them', async () => {
  const uri = `http://127.0.0.1:${pictures.port}/a.png`
  const inputs = {
    negativePrompt: 'rain',
    personGeneration: 'allow_adult',
    enhancePrompt: false,
  }
  expect((await ask({ uri }, { ...inputs, seed: 7 })).status).toBe(200)
  const sent = JSON.parse(creates().at(-1)!.body)
  expect(sent.instances).toEqual([
    {
      prompt: 'a fox',
      image: { bytesBase64Encoded: png.toString('base64'), mimeType: 'image/png' },
    },
  ])
  expect(sent.parameters).toMatchObject({ ...inputs, seed: 7 })
})

test.each([
  ['gone', () => `http://127.0.0.1:${pictures.port}/gone`, 'answered with 404'],
  ['private', () => 'http://10.0.0.1/a.png', 'may not be asked'],
])('that are %s are refused, named, and cost nothing', async (_name, uriOf, why) => {
  const before = creates().length
  const { balance, held } = await readAccount(gateway)
  const answer = await ask({ uri: uriOf() })
  expect(answer.status).toBe(400)
  const { error } = (await answer.json()) as { error: { message: string } }
  expect(error.message).toContain(`the first frame ${uriOf()} could not be fetched`)
  expect(error.message).toContain(why)
  expect(creates()).toHaveLength(before)
  expect(await readAccount(gateway)).toMatchObject({ balance, held })
})

test.each([
  ['negativePrompt', 7],
  ['personGeneration', ['x']],
  ['enhancePrompt', 'yes'],
])('a wish of the wrong type is refused by its name (%s)', async (name, value) => {
  const answer = await ask({ bytesBase64Encoded: 'aGk=', mimeType: 'image/png' }, { [name]: value })
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ error: { param: `parameters.${name}` } })
})
