// A caller asks for addresses and its upstream hands over bytes: the gateway keeps them and gives an
// address of its own, which needs no token.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { drawImage } from '../../sandbox/media/image.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

const png = Buffer.from(drawImage({ width: 64, height: 64, seed: '0123456789', index: 0 }))

let upstream: TestUpstream
let gateway: TestGateway
beforeAll(async () => {
  upstream = startUpstream(() => {
    const base64 = png.toString('base64').replaceAll(/.{76}/g, '$&\n')
    return jsonReply({ created: 1, data: [{ b64_json: base64 }, { b64_json: base64 }] })
  })
  gateway = await startGateway({
    config: `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: bytes
    keys: [upk-bytes-0123456789]
    models: { imga-plus: "*" }
    protocols: { images: "${upstream.url}/v1" }
`,
  })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

const draw = async (more: object = {}, headers: Record<string, string> = {}) => {
  const body = { model: 'imga-plus', prompt: 'a boat', n: 2, ...more }
  const answer = await gateway.post('/v1/images/generations', body, headers)
  expect(answer.status).toBe(200)
  const { data } = (await answer.json()) as { data: { url?: string; b64_json?: string }[] }
  return { data, replayed: answer.headers.get('idempotent-replayed') }
}

test('an address is answered with one of the gateway’s own, and leads to the bytes', async () => {
  const { data } = await draw()
  expect(data).toHaveLength(2)
  for (const { url } of data) {
    expect(url).toStartWith(`${gateway.url}/files/image_`)
    const file = await fetch(url!, { headers: { origin: 'https://page.example' } })
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(file.headers.get('access-control-allow-origin')).toBe('https://page.example')
    expect(Buffer.from(await file.arrayBuffer()).equals(png)).toBe(true)
  }
  const forged = data[0]!.url!.replace(/sig=./, 'sig=x')
  expect((await fetch(forged)).status).toBe(404)
})

test('asked again under the same key, the same pictures are there', async () => {
  const key = { 'idempotency-key': 'k-1' }
  const first = await draw({}, key)
  const again = await draw({}, key)
  expect(again.replayed).toBe('true')
  expect(again.data).toEqual(first.data)
})

test('bytes are answered with bytes', async () => {
  const { data } = await draw({ response_format: 'b64_json', n: 1 })
  expect(data).toEqual([{ b64_json: png.toString('base64') }])
})
