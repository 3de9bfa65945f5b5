// Rules of a channel over real HTTP: what its upstream gets, what is held for it, and what is refused.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import { listAll } from '../support/read.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

const secret = 'tenant-secret-0123456789'
const dir = mkdtempSync(join(tmpdir(), 'gateway-rules-'))
writeFileSync(join(dir, 'tenant'), `${secret}\n`)

const rules = {
  headers: {
    set: { 'X-Tenant': `\${file:tenant}`, 'user-agent': 'house/1' },
    remove: ['Accept', 'traceparent'],
  },
  body: { set: { safety: { level: 2 }, top_k: 5 }, remove: ['user', 'seed'] },
}

let upstream: TestUpstream
let gateway: TestGateway
let reply: () => Response | Promise<Response>
const good = () => jsonReply(completion({ prompt_tokens: 3, completion_tokens: 2 }))

const channel = (name: string, model: string, more: object) => ({
  name,
  keys: ['upstream-key-0123456789'],
  protocols: { chat: upstream.chat, images: upstream.chat },
  models: { [model]: 'up-name' },
  ...more,
})

const config = (channels: object[]) =>
  JSON.stringify({
    accounts: [{ name: 'acme', balance: '1.00' }],
    tokens: [{ account: 'acme', name: 'test', token: 'sk-test-0123456789abcdefghijklmnop' }],
    channels,
    models: ['ruled', 'unbound', 'plain', 'api-ruled'].map((name) => ({
      ...{ name, kind: 'text', interfaces: ['chat', 'messages'], max_output_tokens: 1000 },
    })),
    prices: ['ruled', 'unbound', 'plain', 'api-ruled'].map((model) => ({
      ...{ model, unit: 'token', per_million: { input: '1.00', output: '1000.00' } },
    })),
  })

beforeAll(async () => {
  reply = good
  upstream = startUpstream((call) =>
    call.path.endsWith('/images/generations') || call.path.endsWith('/images/edits')
      ? jsonReply({ created: 1, data: [{ url: 'http://127.0.0.1:9/a.png' }] })
      : reply(),
  )
  const path = join(dir, 'gateway.yaml')
  const images = { 'imga-plus': '*', 'imga-edit': '*' }
  const body = { set: { watermark: false, style: { a: 1 } }, remove: ['response_format'] }
  const text = config([
    channel('ruled', 'ruled', { request: rules, models: { ruled: 'up-name' } }),
    channel('unbound', 'unbound', { request: { body: { remove: ['max_tokens'] } } }),
    channel('plain', 'plain', {}),
    channel('images', 'x', { models: images, request: { body } }),
  ])
  writeFileSync(path, text)
  gateway = await startGateway({ env: { GATEWAY_CONFIG: path } })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
  rmSync(dir, { recursive: true })
})

const ask = (model: string, more: object = {}) =>
  gateway.chat('hi', { model, max_tokens: 10, ...more })
const last = () => upstream.calls.at(-1)!
const sent = () => JSON.parse(last().body)

describe('what is sent', () => {
  test('headers and top-level fields are set and left out, and all else is as it was', async () => {
    const response = await ask('ruled', {
      user: 'somebody',
      seed: 7,
      top_k: 1,
      big: 12_345_678_901_234_567_890n.toString(),
    })
    expect(response.status).toBe(200)
    const { headers } = last()
    expect(headers.get('x-tenant')).toBe(secret)
    expect(headers.get('user-agent')).toBe('house/1')
    expect(headers.get('authorization')).toBe('Bearer upstream-key-0123456789')
    expect(headers.has('accept')).toBeFalse()
    expect(sent()).toEqual({
      model: 'up-name',
      messages: [{ role: 'user', content: 'hi' }],
      max_tokens: 10,
      top_k: 5,
      big: '12345678901234567890',
      safety: { level: 2 },
    })
    await ask('plain', { user: 'somebody' })
    expect(sent()).toMatchObject({ user: 'somebody' })
    expect(last().headers.has('x-tenant')).toBeFalse()
  })

  test('a translated request, a stream and a long one too', async () => {
    const messages = [{ role: 'user', content: 'hi' }]
    await gateway.post('/v1/messages', { model: 'ruled', max_tokens: 5, messages, top_k: 3 })
    expect(sent()).toMatchObject({ model: 'up-name', safety: { level: 2 }, top_k: 5 })
    const streamed = await ask('ruled', { stream: true, user: 'u' })
    await streamed.text()
    expect(sent()).toMatchObject({ stream: true, safety: { level: 2 } })
    expect(sent()).not.toHaveProperty('user')
    const long = await gateway.post('/v1/chat/completions', {
      model: 'plain',
      messages: [{ role: 'user', content: 'a b '.repeat(900_000) }],
      max_tokens: 1,
      user: 'u',
    })
    expect(long.status).not.toBe(400)
  })

  test('images, as JSON and as a form', async () => {
    await gateway.post('/v1/images/generations', { model: 'imga-plus', prompt: 'a hat' })
    expect(sent()).toMatchObject({ watermark: false, style: { a: 1 }, prompt: 'a hat' })
    expect(sent()).not.toHaveProperty('response_format')
    const png =
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    await gateway.post('/v1/images/edits', { model: 'imga-edit', prompt: 'red', image: png })
    expect(last().path).toEndWith('/images/edits')
    expect(last().body).toContain('name="watermark"\r\n\r\nfalse')
    expect(last().body).toContain('name="style"\r\n\r\n{"a":1}')
    expect(last().body).not.toContain('response_format')
  })
})

describe('money', () => {
  test('a bound that a rule removes does not limit the hold', async () => {
    // 1000 tokens of output at 1000.00 a million are 1.00: more than the account has.
    expect((await ask('plain')).status).toBe(200)
    const before = upstream.calls.length
    const refused = await ask('unbound')
    expect(refused.status).toBe(402)
    expect(upstream.calls).toHaveLength(before)
    await gateway.admin('POST', '/accounts/acme/credits', { amount: '10.00', note: 'more' })
    reply = () => jsonReply(completion({ prompt_tokens: 3, completion_tokens: 900 }))
    const response = await ask('unbound')
    reply = good
    expect(sent()).not.toHaveProperty('max_tokens')
    // All of it was allowed, as the request was sent.
    expect(await response.json()).toMatchObject({ usage: { completion_tokens: 900 } })
    const [charge] = (
      await listAll<{ model: string; kind: string }>(gateway, '/accounts/acme/ledger')
    ).filter(({ model, kind }) => model === 'unbound' && kind === 'charge')
    expect(charge).toMatchObject({ amount: '-0.900003' })
  })
})

describe('the admin API', () => {
  const create = (request: unknown, more: object = {}) =>
    gateway.admin('POST', '/channels', {
      ...channel('made', 'api-ruled', { request, protocols: { chat: upstream.chat } }),
      ...more,
    })

  test('rules are made, shown, changed and cleared', async () => {
    const request = { headers: { set: { 'X-A': '1' } }, body: { set: { k: [1] } } }
    const made = await create(request)
    expect(made.status).toBe(201)
    const shown = {
      headers: { set: { 'x-a': '1' }, remove: [] },
      body: { set: { k: [1] }, remove: [] },
    }
    expect(made.body.request).toEqual(shown)
    await ask('api-ruled')
    expect([last().headers.get('x-a'), sent().k]).toEqual(['1', [1]])
    const changed = await gateway.admin('PATCH', '/channels/made', { priority: 1 })
    expect(changed.body.request).toEqual(shown)
    const other = { request: { headers: { remove: ['X-A'] } } }
    expect((await gateway.admin('PATCH', '/channels/made', other)).body.request).toEqual({
      headers: { set: {}, remove: ['x-a'] },
    })
    await ask('api-ruled')
    expect([last().headers.has('x-a'), sent().k]).toEqual([false, undefined])
    const cleared = await gateway.admin('PATCH', '/channels/made', { request: null })
    expect(cleared.body.request).toBeNull()
    const preview = await gateway.admin('POST', '/channels/preview', {
      ...channel('other', 'api-ruled', { request }),
    })
    expect(preview.body.request).toEqual(shown)
  })

  test('a value from a file of secrets is shown to no one', async () => {
    const { body } = await gateway.admin('GET', '/channels/ruled')
    expect(body.request.headers.set).toHaveProperty('x-tenant')
    expect(JSON.stringify(body)).not.toContain(secret)
    reply = () => jsonReply({ error: { message: `bad header ${secret}` } }, { status: 400 })
    const failed = await ask('ruled')
    reply = good
    expect(await failed.text()).not.toContain(secret)
    expect(gateway.output()).not.toContain(secret)
  })

  const refusals: [rule: object, param: string][] = [
    [{ headers: { set: { Authorization: 'Bearer x' } } }, 'request.headers.set'],
    [{ headers: { remove: ['x-api-key'] } }, 'request.headers.remove'],
    [{ headers: { set: { host: 'a' } } }, 'request.headers.set'],
    [{ headers: { set: { 'Content-Length': '1' } } }, 'request.headers.set'],
    [{ headers: { set: { 'a b': '1' } } }, 'request.headers.set'],
    [{ headers: { set: { a: 'x\r\ny: z' } } }, 'request.headers.set.a'],
    [{ headers: { set: { a: '1' }, remove: ['A'] } }, 'request.headers'],
    [{ body: { set: { model: 'm' } } }, 'request.body.set'],
    [{ body: { set: { stream: true } } }, 'request.body.set'],
    [{ body: { remove: ['Stream'] } }, 'request.body.remove'],
    [{ body: { set: { 'options.num_ctx': 1 } } }, 'request.body.set'],
    [{ body: { set: { a: 1 }, remove: ['a'] } }, 'request.body'],
    [{ body: { sett: {} } }, 'request.body.sett'],
    [{ query: {} }, 'request.query'],
  ]
  test.each(refusals)('%j is refused', async (rule, param) => {
    const { status, body } = await create(rule, { name: 'refused' })
    expect([status, body.error.code]).toEqual([400, 'invalid_request'])
    expect(body.error.param).toStartWith(param)
  })

  test('what decides on the price of an image is no matter of a rule', async () => {
    const rule = { body: { set: { size: '1x1' } } }
    const images = { protocols: { images: upstream.chat }, name: 'refused' }
    expect(await create(rule, images)).toMatchObject({ status: 400 })
    const { body } = await gateway.admin('GET', '/channels/images')
    expect(body.request.body.set).toEqual({ watermark: false, style: { a: 1 } })
    const made = await create({ body: { set: { k: 1 } } }, { ...images, name: 'pictures' })
    expect(made.status).toBe(201)
    const changed = await gateway.admin('PATCH', '/channels/pictures', { request: rule })
    expect(changed.status).toBe(400)
    expect(changed.body.error.param).toBe('request.body')
  })
})

test('a wrong rule stops the start with its line', async () => {
  const path = join(tempDir(), 'gateway.yaml')
  writeFileSync(
    path,
    `channels:
  - name: a
    keys: [k]
    protocols: { chat: "http://127.0.0.1:9" }
    models: { m: "*" }
    request:
      headers:
        set: { X-Api-Key: "other" }
`,
  )
  const started = Bun.spawn([join(root, 'bin/gateway'), 'start'], {
    env: { ...ownEnv, GATEWAY_CONFIG: path, GATEWAY_DATA_DIR: tempDir(), GATEWAY_PORT: '0' },
    stderr: 'pipe',
  })
  expect(await started.exited).toBe(78)
  const said = await new Response(started.stderr).text()
  expect(said).toContain(':8:')
  expect(said).toContain('channels[0].request.headers.set')
  expect(said).not.toContain('other')
})
