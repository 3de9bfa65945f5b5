// GATEWAY_ADMIN_PORT: administration on a port of its own, and nothing of it where callers are. And
// who may read the metrics on the port that everybody uses.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { adminToken, apiToken, root, startGateway, type TestGateway } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import { rawRequest } from '../support/raw.ts'
import { requestIdOf, until } from '../support/read.ts'

const asAdmin = { headers: { authorization: `Bearer ${adminToken}` } }

/** What is not for callers; every route of it. */
const administration = [
  '/admin/v1/accounts',
  '/admin/v1/setup',
  '/admin/v1',
  '/admin',
  '/console/',
  '/console',
  '/console/theme.js',
  '/metrics',
  '/docs/admin',
  '/openapi.admin.json',
]

describe('with a port of its own, administration', () => {
  let gateway: TestGateway
  let adminUrl: string

  beforeAll(async () => {
    gateway = await startGateway({ env: { GATEWAY_ADMIN_PORT: '0' } })
    adminUrl = /Admin API\s+(\S+)\/admin\/v1/.exec(gateway.output())![1]!
  })
  afterAll(async () => {
    expect(await gateway?.stop()).toBe(0)
  })

  test('is not where callers are, in whatever spelling and with whatever token', async () => {
    expect(adminUrl).not.toBe(gateway.url)
    for (const path of administration) {
      for (const spelling of [path, `${path}/`]) {
        const { status } = await fetch(gateway.url + spelling, { ...asAdmin, redirect: 'manual' })
        expect([spelling, status]).toEqual([spelling, 404])
      }
      const raw = `GET ${path.replaceAll('/', '\\').replace('\\', '/')} HTTP/1.1\r\nHost: x\r\n\r\n`
      expect([400, 404]).toContain((await rawRequest(gateway.url, raw)).status)
    }
  })

  test('is there, with everything that callers have, so that the console can try a call', async () => {
    for (const path of ['/admin/v1/accounts', '/console/', '/metrics', '/docs/admin']) {
      expect([path, (await fetch(adminUrl + path, asAdmin)).status]).toEqual([path, 200])
    }
    expect((await fetch(`${adminUrl}/metrics`)).status).toBe(200)
    for (const url of [adminUrl, gateway.url]) {
      expect((await fetch(`${url}/healthz`)).status).toBe(200)
      expect((await fetch(`${url}/readyz`)).status).toBe(200)
      const call = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
        body: '{"model":"txta-plus","messages":[{"role":"user","content":"hi"}]}',
      })
      expect(call.status).toBe(200)
    }
  })

  test('is found by the command line, which shows what an image cost', async () => {
    const made = await gateway.post('/v1/images/generations', {
      ...{ model: 'imga-plus', prompt: 'a boat', size: '64x64' },
    })
    expect(made.status).toBe(200)
    const id = requestIdOf(made)
    const env = { ...ownEnv, GATEWAY_DATA_DIR: gateway.dataDir, GATEWAY_ADMIN_TOKEN: adminToken }
    const cli = async (...words: string[]) => {
      const child = Bun.spawn([join(root, 'bin/gateway'), ...words], { env, stderr: 'pipe' })
      return (await child.stdout.text()) + (await child.stderr.text())
    }
    // The request is logged a moment after its answer.
    const shown = await until('the charge', async () => {
      const text = await cli('request', 'show', id)
      return /^charge +0\.20/m.test(text) ? text : undefined
    })
    expect(shown).toContain('imga-plus')
    const { items } = JSON.parse(await cli('request', 'list', '--model', 'imga-plus', '--json'))
    expect(items).toMatchObject([{ request_id: id, charge: '0.20' }])
  })

  test('is announced at the start with its own address', () => {
    expect(gateway.output()).toContain(`Console      ${adminUrl}/console/`)
    expect(gateway.output()).toContain(`${adminUrl}/console/set-up#`)
    expect(gateway.output()).toContain(`API          ${gateway.url}/v1`)
  })
})

describe('metrics on the port of callers', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway({ env: { GATEWAY_TRUSTED_PROXIES: '127.0.0.1,::1' } })
  })
  afterAll(async () => {
    await gateway?.stop()
  })
  const read = async (headers: Record<string, string> = {}) =>
    (await fetch(`${gateway.url}/metrics`, { headers })).status

  test('are for this machine', async () => {
    expect(await read()).toBe(200)
  })

  test.each([
    ['X-Forwarded-For', '203.0.113.9'],
    ['X-Forwarded-For', '127.0.0.1'],
    ['X-Forwarded-Proto', 'https'],
    ['X-Forwarded-Host', 'gateway.example'],
    ['X-Real-IP', '203.0.113.9'],
    ['Forwarded', 'for=203.0.113.9'],
    ['Via', '1.1 proxy.example'],
    ['Host', 'gateway.example'],
  ])('are not for those who come through a proxy on it, as %s: %s shows', async (name, value) => {
    const host = name === 'Host' ? value : 'localhost'
    const more = name === 'Host' ? '' : `${name}: ${value}\r\n`
    const raw = `GET /metrics HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`
    const { status, body } = await rawRequest(gateway.url, raw)
    expect(status).toBe(401)
    expect(JSON.parse(body).error).toMatchObject({ code: 'invalid_api_key' })
    expect(body).not.toContain('gateway_calls')
  })

  test('are for the admin token from anywhere, and for no other', async () => {
    const far = { 'x-forwarded-for': '203.0.113.9' }
    expect(await read({ ...far, authorization: `Bearer ${adminToken}` })).toBe(200)
    expect(await read({ ...far, authorization: `Bearer ${apiToken}` })).toBe(401)
    expect(await read({ ...far, authorization: 'Bearer ' })).toBe(401)
  })
})
