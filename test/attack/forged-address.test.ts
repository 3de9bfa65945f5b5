// Callers who claim to be at another address: only trusted proxies are believed, and of their chain
// only the part that they wrote.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { adminToken, apiToken, startGateway, type TestGateway } from '../support/gateway.ts'

const config = `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: office, token: ${apiToken}, allowed_ips: ["198.51.100.4"] }]
`
let plain: TestGateway
let behindProxy: TestGateway

beforeAll(async () => {
  plain = await startGateway({ config })
  behindProxy = await startGateway({ config, env: { GATEWAY_TRUSTED_PROXIES: '127.0.0.1, ::1' } })
})

afterAll(async () => {
  await plain?.stop()
  await behindProxy?.stop()
})

const statusFrom = async ({ url }: TestGateway, forwardedFor?: string) => {
  const headers = {
    authorization: `Bearer ${apiToken}`,
    ...(forwardedFor !== undefined && { 'x-forwarded-for': forwardedFor }),
  }
  return (await fetch(`${url}/v1/models`, { headers })).status
}

test('a caller cannot claim an allowed address where no proxy is trusted', async () => {
  expect(await statusFrom(plain, '198.51.100.4')).toBe(403)
})

test('the address that a trusted proxy reports is the one that allowed_ips looks at', async () => {
  expect(await statusFrom(behindProxy, '198.51.100.4')).toBe(200)
  expect(await statusFrom(behindProxy, '198.51.100.5')).toBe(403)
  expect(await statusFrom(behindProxy)).toBe(403)
})

test('what a caller sends ahead of the proxy changes nothing', async () => {
  expect(await statusFrom(behindProxy, '198.51.100.4, 203.0.113.9')).toBe(403)
  expect(await statusFrom(behindProxy, '198.51.100.4, garbage')).toBe(403)
})

test('the audit log shows the caller, not the proxy', async () => {
  const made = await fetch(`${behindProxy.url}/admin/v1/accounts`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminToken}`,
      'content-type': 'application/json',
      'x-forwarded-for': '203.0.113.9',
    },
    body: '{"name":"seen"}',
  })
  expect(made.status).toBe(201)
  const { body } = await behindProxy.admin('GET', '/audit-log')
  expect(body.items[0]).toMatchObject({ address: '203.0.113.9' })
})

test('the metrics are for this machine and the admin token, whatever a request claims', async () => {
  const status = async ({ url }: TestGateway, headers: Record<string, string> = {}) =>
    (await fetch(`${url}/metrics`, { headers })).status
  const admin = { authorization: `Bearer ${adminToken}` }
  for (const gateway of [plain, behindProxy]) {
    expect(await status(gateway)).toBe(200)
    for (const claim of [
      { 'x-forwarded-for': '203.0.113.9' },
      { 'x-forwarded-for': '127.0.0.1' },
      { 'x-real-ip': '127.0.0.1' },
      { forwarded: 'for=127.0.0.1' },
      { via: '1.1 proxy.example' },
      { host: 'gateway.example' },
    ]) {
      expect([claim, await status(gateway, claim)]).toEqual([claim, 401])
      const told = { ...claim, ...admin }
      expect([claim, await status(gateway, told)]).toEqual([claim, 200])
    }
    const caller = { authorization: `Bearer ${apiToken}`, 'x-forwarded-for': '203.0.113.9' }
    expect(await status(gateway, caller)).toBe(401)
  }
})
