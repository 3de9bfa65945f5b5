// What the built-in sandbox was asked is for the operator only: on the sandbox's own port, with the
// admin token, and without the gateway's key for it.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { askedDuring, askedOf } from '../support/asked.ts'
import { adminToken, apiToken, startGateway, type TestGateway } from '../support/gateway.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

test('an operator reads the requests that the gateway sent', async () => {
  const asked = await askedDuring(gateway, () => gateway.chat('Who asks?'))
  expect(asked).toMatchObject([{ number: 1, protocol: 'chat', path: '/v1/chat/completions' }])
  expect(asked[0]?.json.messages).toEqual([{ role: 'user', content: 'Who asks?' }])
  const text = JSON.stringify(asked)
  expect(text).not.toContain(apiToken)
  expect(text).not.toContain('sandbox-')
})

test('they are neither under the public address nor open to callers', async () => {
  const [{ body }] = [await gateway.admin('GET', '/channels')]
  const { protocols } = body.items.find(({ id }: { id: string }) => id === 'sandbox')
  const own = `${new URL(protocols.chat).origin}/_sandbox/requests`
  const status = async (url: string, token: string) =>
    (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status
  expect([await status(own, ''), await status(own, apiToken)]).toEqual([401, 401])
  expect(await status(own, adminToken)).toBe(200)
  for (const path of ['/_sandbox/requests', '/sandbox/_sandbox/requests', '/sandbox/requests']) {
    expect(await status(gateway.url + path, adminToken)).toBe(404)
  }
  expect(await askedOf(gateway, 1_000_000)).toEqual([])
})
