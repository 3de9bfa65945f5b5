// Request targets that a proxy and the gateway could read differently: none is routed, whatever
// stands in front. Sent over a socket, because every client would put them right first.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { adminToken, apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { type RawAnswer, rawRequest } from '../support/raw.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(async () => {
  await gateway?.stop()
})

const ask = (target: string, { host = 'localhost', method = 'GET', more = '' } = {}) =>
  rawRequest(
    gateway.url,
    `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${adminToken}\r\n${more}\r\n`,
  )

function expectRefused(target: string, { status, body, headers }: RawAnswer): void {
  expect([target, status]).toEqual([target, 400])
  const { error } = JSON.parse(body)
  expect(error).toMatchObject({ type: 'invalid_request_error', code: 'invalid_request' })
  expect(error.request_id).toBe(headers['x-gateway-request-id'])
  expect(error.message).toEndWith(`(${error.request_id})`)
}

const hidden = [
  '/admin\\v1\\setup',
  '/admin\\v1\\accounts',
  '\\admin/v1/setup',
  '/admin/v1\\setup',
  '/v1/..\\metrics',
  '/x/..\\console/',
  '/v1/..\\admin/v1/setup',
  '/files/..\\admin/v1/accounts',
  '/v1/../metrics',
  '/v1/../admin/v1/setup',
  '/./metrics',
  '/metrics/.',
  '/metrics/x/..',
  '/v1/%2e%2e/metrics',
  '/v1/%2E./metrics',
  '/v1/.%2e/admin/v1/setup',
  '/%2e/metrics',
  '/v1/%2e%2e%2fmetrics',
  '/admin%2fv1%2fsetup',
  '/admin%2Fv1/setup',
  '/admin%5cv1%5csetup',
  '/v1/..%5Cmetrics',
  '//admin/v1/setup',
  '//localhost/admin/v1/setup',
  '///metrics',
  `${'/a'.repeat(20)}${'/..'.repeat(20)}/metrics`,
  '/..//../metrics',
  '/v1/chat\\completions',
  '/v1/./chat/completions',
  '/v1/chat/completions/..',
  '/v1/models/a%2fb',
]

test.each(hidden)('%s is refused before any routing', async (target) => {
  const answer = await ask(target)
  // Without a slash in front it is no target at all, and the server ends the connection.
  if (!target.startsWith('/')) expect(answer.status).toBe(400)
  else expectRefused(target, answer)
})

test('a path with a doubled slash, or with encoded letters, leads nowhere', async () => {
  for (const target of ['/admin//v1/setup', '/x//..//metrics', '/%6detrics', '/%61dmin/v1/setup']) {
    const { status } = await ask(target)
    expect([target, status]).toEqual([target, 404])
  }
})

test('a query may hold what a path may not', async () => {
  const { status } = await ask('/admin/v1/accounts?search=..\\..//%2f%5c/../')
  expect(status).toBe(200)
})

test('the same holds for HTTP/1.0 without a host', async () => {
  for (const target of ['/admin\\v1\\setup', '/v1/../metrics']) {
    expectRefused(target, await rawRequest(gateway.url, `GET ${target} HTTP/1.0\r\n\r\n`))
  }
  const plain = await rawRequest(gateway.url, 'GET /healthz HTTP/1.0\r\n\r\n')
  expect(plain.status).toBe(200)
})

describe('Host', () => {
  test('given twice is refused, the same or not', async () => {
    for (const second of ['localhost', 'other.example']) {
      expectRefused(second, await ask('/healthz', { more: `Host: ${second}\r\n` }))
      expectRefused(
        second,
        await ask('/v1/chat/completions', { method: 'POST', more: `hOST: ${second}\r\n` }),
      )
    }
  })

  test('that is no host is refused', async () => {
    for (const host of ['a b', 'a/b', 'a\\b', 'a@b', 'a.example, b.example']) {
      expectRefused(host, await ask('/healthz', { host }))
    }
  })

  test('may be any name with a port', async () => {
    for (const host of ['gateway.example', 'gateway.example:8443', '[::1]:80', '10.0.0.1']) {
      expect([host, (await ask('/healthz', { host })).status]).toEqual([host, 200])
    }
  })
})

describe('a slash at the end', () => {
  const get = (path: string, token: string) =>
    fetch(gateway.url + path, { headers: { authorization: `Bearer ${token}` } })

  test('is the same as none, for calls, lists, documents and administration', async () => {
    const body = { model: 'txta-plus', messages: [{ role: 'user', content: 'hi' }] }
    expect((await gateway.post('/v1/chat/completions/', body)).status).toBe(200)
    for (const path of ['/v1/models/', '/v1/models/txta-plus/', '/v1/videos/?limit=1']) {
      expect([path, (await get(path, apiToken)).status]).toEqual([path, 200])
    }
    for (const path of ['/admin/v1/accounts/', '/admin/v1/accounts/acme/', '/admin/v1/setup/']) {
      expect([path, (await get(path, adminToken)).status]).toEqual([path, 200])
    }
    for (const path of ['/healthz/', '/readyz/', '/metrics/', '/openapi.json/', '/docs/']) {
      expect([path, (await fetch(gateway.url + path)).status]).toEqual([path, 200])
    }
  })

  test('does not open what is not there, and leaves the console where it is', async () => {
    expect((await get('/v1/nothing/', apiToken)).status).toBe(404)
    expect((await fetch(`${gateway.url}/console/`)).status).toBe(200)
    const moved = await fetch(`${gateway.url}/console`, { redirect: 'manual' })
    expect([moved.status, moved.headers.get('location')]).toEqual([308, '/console/'])
  })
})

test('four hundred ids in one list are read, and more than the limit is a 431', async () => {
  const ids = Array.from({ length: 400 }, (_, at) => `filter.task_ids=cgt-${at}-${'x'.repeat(40)}`)
  const path = `/arkvendor/api/v3/contents/generations/tasks?${ids.join('&')}`
  expect(path.length).toBeGreaterThan(16_384)
  const headers = { authorization: `Bearer ${apiToken}` }
  expect([200, 400]).toContain((await fetch(gateway.url + path, { headers })).status)
  const tooLong = await rawRequest(
    gateway.url,
    `GET /v1/models?${'x'.repeat(70_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  )
  expect(tooLong.status).toBe(431)
})
