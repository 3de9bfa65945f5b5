// Every request id leads somewhere: refused reads, missing tokens and refused creates have a row with the
// model that was asked for, and what a request made is charged under its id in row, ledger, bill and CSV.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { adminToken, apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/read.ts'

const floodToken = 'sk-flood-0123456789abcdefghijklmno'
let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({
    config: `
accounts: [{ name: acme, balance: "1000.00" }, { name: flood, balance: "1.00" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: flood, name: test, token: ${floodToken} }
`,
    env: { GATEWAY_SANDBOX_TASK_SECONDS: '0.2' },
  })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

const admin = { authorization: `Bearer ${adminToken}` }

const idOf = (response: Response): string => response.headers.get('x-gateway-request-id')!

const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${apiToken}`, ...headers },
  })

const rowOf = (id: string) =>
  until(`the row of ${id}`, async () => {
    const { status, body } = await gateway.admin('GET', `/requests/${id}`)
    return status === 200 ? body : undefined
  })

test.each([
  ['GET', '/v1/videos/video_none', 404],
  ['DELETE', '/v1/videos/video_none', 404],
  ['GET', '/arkvendor/api/v3/contents/generations/tasks/none', 404],
  ['DELETE', '/arkvendor/api/v3/contents/generations/tasks/none', 404],
  ['GET', '/vendorg/v1beta/operations/none', 404],
  ['GET', '/imgvendor/v1/images/generations/none', 404],
])('%s %s that is refused is in the request log', async (method, path, status) => {
  const answer = await ask(method, path)
  expect(answer.status).toBe(status)
  const row = await rowOf(idOf(answer))
  expect([row.status, row.account, row.token, row.ending]).toEqual([
    status,
    'acme',
    'test',
    'refused',
  ])
})

test.each([
  ['without a token', {}],
  ['with one that nobody has', { authorization: 'Bearer sk-0123456789abcdefghijklmnopq' }],
])('a request %s is counted, and has a line of the log instead of a row', async (_, headers) => {
  for (const path of [
    '/v1/chat/completions',
    '/v1/videos/video_x',
    '/vendorg/v1beta/operations/x',
  ]) {
    const method = path.includes('chat') ? 'POST' : 'GET'
    const answer = await fetch(`${gateway.url}${path}`, { method, headers })
    expect(answer.status).toBe(401)
    await until('the line', () => gateway.output().includes(idOf(answer)) || undefined)
    expect((await gateway.admin('GET', `/requests/${idOf(answer)}`)).status).toBe(404)
  }
  const rows = await gateway.admin('GET', '/requests?status=401')
  expect(rows.body.items).toEqual([])
  const text = await (await fetch(`${gateway.url}/metrics`, { headers: admin })).text()
  expect(text).toMatch(/gateway_auth_failures_total\{[^}]*invalid_api_key[^}]*\} [1-9]/)
})

test('of requests that are refused again and again, 300 rows are written in a minute', async () => {
  const body = { model: 'txta-plus', messages: [] as object[] }
  const flood = { authorization: `Bearer ${floodToken}` }
  for (let at = 0; at < 400; at += 40) {
    await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const path = i % 2 === 0 ? '/v1/chat/completions' : '/v1/videos/video_none'
        const answer =
          i % 2 === 0
            ? await gateway.post(path, { ...body, at }, flood)
            : await ask('GET', path, flood)
        expect(answer.status).toBeGreaterThanOrEqual(400)
        await answer.text()
      }),
    )
  }
  const rows = async () => {
    const first = await gateway.admin('GET', '/requests?account=flood&limit=250')
    const cursor = encodeURIComponent(first.body.next_cursor ?? '')
    if (cursor === '') return undefined
    const rest = await gateway.admin('GET', `/requests?account=flood&limit=250&cursor=${cursor}`)
    const count = first.body.items.length + rest.body.items.length
    return count >= 300 ? count : undefined
  }
  // More than 300 only where a minute has ended meanwhile.
  expect(await until('the rows', rows)).toBeLessThan(400)
})

test('what is missing is named as the interface knows it', async () => {
  const messageAt = async (path: string) => {
    const { error } = (await (await fetch(`${gateway.url}${path}`)).json()) as {
      error: { message: string }
    }
    return error.message
  }
  expect(await messageAt('/vendorg/v1beta/operations/x')).toContain('x-vendorg-api-key')
  expect(await messageAt('/v1/videos')).toContain('Authorization: Bearer')
})

test('two different tokens are told by the headers they came in', async () => {
  const answer = await ask('GET', '/v1/models', { 'x-api-key': 'sk-another-0123456789abcdefghij' })
  expect(answer.status).toBe(400)
  const { error } = (await answer.json()) as { error: { message: string } }
  expect(error.message).toContain("'authorization'")
  expect(error.message).toContain("'x-api-key'")
})

test.each([
  ['/v1/chat/completions', { model: 'txta-plus', messages: [] }, 'txta-plus'],
  ['/v1/messages', { model: 'txta-plus', max_tokens: 0, messages: [] }, 'txta-plus'],
  ['/v1/videos', { model: 'vfa-2.7-t2v', prompt: 'a boat', seconds: 99 }, 'vfa-2.7-t2v'],
  ['/v1/videos', { model: 'no-such-model', prompt: 'a boat' }, 'no-such-model'],
  ['/imgvendor/v1/images/generations', { model_name: 'imgvendor-v2' }, 'imgvendor-v2'],
  ['/vendorg/v1beta/models/vendorg-video-1:predictLongRunning', {}, 'vendorg-video-1'],
])('%s that is refused is logged with its model', async (path, body, model) => {
  const answer = await gateway.post(path, body)
  expect(answer.status).toBeGreaterThanOrEqual(400)
  expect((await rowOf(idOf(answer))).model).toBe(model)
})

test.each([
  ['/v1/videos', { model: 'vfa-2.7-t2v', prompt: 'a boat', seconds: 5, resolution: '720p' }],
  ['/v1/images/generations', { model: 'imga-plus', prompt: 'a boat', n: 2 }],
  ['/imgvendor/v1/images/generations', { model_name: 'imgvendor-v2', prompt: 'a boat' }],
])('%s is charged under its request id', async (path, body) => {
  const answer = await gateway.post(path, body)
  expect(answer.status).toBe(200)
  const id = idOf(answer)
  const row = await until('its charge', async () => {
    const found = await rowOf(id)
    return found.charge === '0.00' ? undefined : found
  })
  expect(row.usage).not.toBeNull()
  const ledger = (await gateway.admin('GET', '/accounts/acme/ledger?limit=100')).body.items
  const charge = ledger.find((entry: { kind: string; request_id: string }) => {
    return entry.kind === 'charge' && entry.request_id === id
  })
  expect(charge.amount).toBe(`-${row.charge}`)
  const month = new Date().toISOString().slice(0, 7)
  const bill = await gateway.admin('GET', `/bills?account=acme&month=${month}&lines=true`)
  const lines = bill.body.lines.filter((line: { request_id: string }) => line.request_id === id)
  expect(lines).toHaveLength(1)
  const csv = await fetch(`${gateway.url}/admin/v1/bills?account=acme&month=${month}&format=csv`, {
    headers: { authorization: `Bearer ${adminToken}` },
  })
  const written = (await csv.text()).split('\n').filter((line) => line.includes(id))
  expect(written).toHaveLength(1)
})

test.each([
  [404, 'not_found_error', { model: 'no-such-model' }],
  [400, 'invalid_request_error', { messages: 'none' }],
])('messages style tells %d as %s', async (status, type, change) => {
  const messages = [{ role: 'user', content: 'Hello!' }]
  const answer = await gateway.post('/v1/messages', {
    model: 'txta-plus',
    max_tokens: 5,
    messages,
    ...change,
  })
  const body = (await answer.json()) as { type: string; error: { type: string } }
  expect([answer.status, body.type, body.error.type]).toEqual([status, 'error', type])
})

test('messages style tells an empty account by its own word', async () => {
  await gateway.admin('POST', '/accounts', { name: 'empty' })
  const made = await gateway.admin('POST', '/tokens', { account: 'empty', name: 'x' })
  const answer = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': made.body.token, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'txta-plus',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'Hello!' }],
    }),
  })
  const { error } = (await answer.json()) as { error: { type: string; code: string } }
  expect([answer.status, error.type, error.code]).toEqual([
    402,
    'billing_error',
    'insufficient_quota',
  ])
})
