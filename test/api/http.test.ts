// What holds for every answer whatever is asked: ids, error bodies, credentials, limits, routes, CORS.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Refusal } from '../../src/contract/errors.ts'
import { credentialOf } from '../../src/http/credentials.ts'
import type { RequestContext } from '../../src/http/request-context.ts'
import { dialects } from '../../src/surfaces/index.ts'
import { adminToken, apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { rawRequest } from '../support/raw.ts'
import { errorIn, errorOf, requestIdOf, requestIdShape } from '../support/read.ts'

const tokens = {
  expired: 'sk-expired-0123456789abcdefghijklmn',
  elsewhere: 'sk-elsewhere-0123456789abcdefghijkl',
  here: 'sk-here-0123456789abcdefghijklmnopqr',
  other: 'sk-other-0123456789abcdefghijklmnopq',
}
const config = `
accounts: [{ name: acme, balance: "100.00" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: acme, name: other, token: ${tokens.other} }
  - { account: acme, name: expired, token: ${tokens.expired}, expires_at: 2020-01-01T00:00:00Z }
  - { account: acme, name: elsewhere, token: ${tokens.elsewhere}, allowed_ips: ["203.0.113.0/24"] }
  - { account: acme, name: here, token: ${tokens.here}, allowed_ips: ["127.0.0.0/8", "::1"] }
`
const mebibyte = 1024 * 1024

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({ config })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

const bearer = { authorization: `Bearer ${apiToken}` }
const json = { 'content-type': 'application/json' }
const hello = JSON.stringify({
  model: 'txta-plus',
  messages: [{ role: 'user', content: 'hello [[sim:tokens=3]]' }],
})
const ask = (path: string, init: RequestInit = {}) => fetch(`${gateway.url}${path}`, init)
const askChat = (
  body: NonNullable<RequestInit['body']>,
  headers: Record<string, string> = { ...bearer, ...json },
) => ask('/v1/chat/completions', { method: 'POST', headers, body })

async function stillAlive(): Promise<void> {
  expect((await ask('/healthz')).status).toBe(200)
  const answer = await askChat(hello)
  expect(answer.status).toBe(200)
  await answer.text()
}

describe('the request id', () => {
  const deep = `{"model":"txta-plus","messages":${'['.repeat(70)}${']'.repeat(70)}}`
  const streamed = JSON.stringify({ ...JSON.parse(hello), stream: true })
  const chat = '/v1/chat/completions'
  const post = (body: string, headers: Record<string, string> = { ...bearer, ...json }) => ({
    method: 'POST',
    headers,
    body,
  })
  const cases: [name: string, status: number, path: string, init: RequestInit][] = [
    ['a JSON answer', 200, chat, post(hello)],
    ['a stream', 200, chat, post(streamed)],
    ['a list of models', 200, '/v1/models', { headers: bearer }],
    ['one model', 200, '/v1/models/txta-plus', { headers: bearer }],
    ['an unknown model', 404, '/v1/models/nope', { headers: bearer }],
    ['a broken body', 400, chat, post('{')],
    ['a body too deep', 400, chat, post(deep)],
    ['a missing field', 400, chat, post('{}')],
    ['no token', 401, chat, post(hello, json)],
    ['an unknown token', 401, '/v1/models', { headers: { 'x-api-key': 'sk-unknown-00000000000' } }],
    ['a token from elsewhere', 403, '/v1/models', { headers: { 'x-api-key': tokens.elsewhere } }],
    ['an unknown path', 404, '/v1/nothing', {}],
    ['a wrong method', 405, chat, { headers: bearer }],
    ['a body too large', 413, chat, post('x'.repeat(33 * mebibyte))],
    ['a wrong content type', 415, chat, post('a=1', { ...bearer, 'content-type': 'text/plain' })],
    ['HEAD', 200, '/v1/models', { method: 'HEAD', headers: bearer }],
    ['HEAD without a token', 401, '/v1/models', { method: 'HEAD' }],
    ['a preflight', 204, chat, { method: 'OPTIONS', headers: { origin: 'https://app.example' } }],
    ['/healthz', 200, '/healthz', {}],
    ['/readyz', 200, '/readyz', {}],
    ['/', 200, '/', {}],
    ['an upstream failure', 502, chat, post(hello.replace('tokens=3', 'status=500'))],
    ['an admin list', 200, '/admin/v1/accounts', { headers: { 'x-api-key': adminToken } }],
    ['an admin call without a token', 401, '/admin/v1/accounts', {}],
    [
      'an admin call for something unknown',
      404,
      '/admin/v1/accounts/nobody',
      { headers: { 'x-api-key': adminToken } },
    ],
  ]
  test.each(cases)('is on %s', async (_, status, path, init) => {
    const answer = await ask(path, init)
    const text = await answer.text()
    expect(answer.status).toBe(status)
    const id = requestIdOf(answer)
    expect(id).toMatch(requestIdShape)
    expect(answer.headers.get('x-request-id')).toBe(id)
    expect(answer.headers.get('request-id')).toBe(id)
    if (status < 400 || init.method === 'HEAD') return
    const error = errorIn(text)
    expect(Object.keys(JSON.parse(text))).toEqual(['error'])
    expect(Object.keys(error).sort()).toEqual(
      ['code', 'message', 'param', 'request_id', 'type', 'upstream_request_id'].sort(),
    )
    expect(error.request_id).toBe(id)
    expect(error.message).toEndWith(` (${id})`)
    expect(typeof error.upstream_request_id).toBe('string')
    expect(answer.headers.get('content-type')).toStartWith('application/json')
  })

  test('is new for every request and ordered by time', async () => {
    const ids: string[] = []
    for (let i = 0; i < 5; i++) {
      ids.push(requestIdOf(await ask('/healthz')))
      await Bun.sleep(2)
    }
    expect(new Set(ids).size).toBe(5)
    expect(ids.toSorted()).toEqual(ids)
  })

  test("is the gateway's own even if the caller brings one", async () => {
    const mine = `req_${'a'.repeat(32)}`
    const answer = await ask('/healthz', { headers: { 'x-request-id': mine } })
    expect(requestIdOf(answer)).not.toBe(mine)
  })
})

describe('credentials', () => {
  const styles: [string, Record<string, string>][] = [
    ['Authorization: Bearer', { authorization: `Bearer ${apiToken}` }],
    ['a lower-case scheme', { authorization: `bearer ${apiToken}` }],
    ['x-api-key', { 'x-api-key': apiToken }],
    ['x-vendorg-api-key', { 'x-vendorg-api-key': apiToken }],
    ['x-goog-api-key', { 'x-goog-api-key': apiToken }],
    ['the same token in two styles', { ...bearer, 'x-api-key': apiToken }],
    ['a token allowed from here', { 'x-api-key': tokens.here }],
  ]
  test.each(styles)('work as %s', async (_, headers) => {
    expect((await ask('/v1/models', { headers })).status).toBe(200)
    const answer = await askChat(hello, { ...headers, ...json })
    expect(answer.status).toBe(200)
    await answer.text()
  })

  const refused: [string, number, string, Record<string, string>][] = [
    ['missing', 401, 'invalid_api_key', {}],
    ['of another scheme', 401, 'invalid_api_key', { authorization: 'Basic c2stYWJjOnh5eg==' }],
    ['a bearer without a token', 401, 'invalid_api_key', { authorization: 'Bearer ' }],
    ['a token without a scheme', 401, 'invalid_api_key', { authorization: apiToken }],
    ['unknown', 401, 'invalid_api_key', { 'x-api-key': `${apiToken}x` }],
    ['cut short', 401, 'invalid_api_key', { 'x-api-key': apiToken.slice(0, -1) }],
    ['in other letters', 401, 'invalid_api_key', { 'x-api-key': apiToken.toUpperCase() }],
    ['the admin token', 401, 'invalid_api_key', { authorization: `Bearer ${adminToken}` }],
    ['expired', 401, 'invalid_api_key', { 'x-api-key': tokens.expired }],
    ['used from elsewhere', 403, 'ip_not_allowed', { 'x-api-key': tokens.elsewhere }],
    ['two different ones', 400, 'invalid_request', { ...bearer, 'x-api-key': tokens.other }],
    [
      'two different keys',
      400,
      'invalid_request',
      { 'x-goog-api-key': apiToken, 'x-vendorg-api-key': tokens.other },
    ],
  ]
  const types: Record<number, string> = {
    400: 'invalid_request_error',
    401: 'authentication_error',
    403: 'permission_error',
  }
  test.each(refused)('that are %s are refused with %d', async (_, status, code, headers) => {
    for (const answer of [
      await ask('/v1/models', { headers }),
      await askChat(hello, { ...headers, ...json }),
    ]) {
      const error = await errorOf(answer)
      expect([answer.status, error.type, error.code]).toEqual([status, types[status]!, code])
      expect(answer.headers.get('x-should-retry')).toBe('false')
      expect(error.message).not.toContain(apiToken)
    }
  })

  test('of a disabled token are refused until it is enabled again', async () => {
    const made = await gateway.admin('POST', '/tokens', { account: 'acme', name: 'switch' })
    const headers = { 'x-api-key': made.body.token as string }
    const status = async () => (await ask('/v1/models', { headers })).status
    expect(await status()).toBe(200)
    await gateway.admin('PATCH', `/tokens/${made.body.id}`, { disabled: true })
    expect(await status()).toBe(401)
    await gateway.admin('PATCH', `/tokens/${made.body.id}`, { disabled: false })
    expect(await status()).toBe(200)
  })

  test.each([
    ['Authorization', `Bearer ${apiToken}`],
    ['x-api-key', apiToken],
  ])('in a header %s that is sent twice are refused, alike or not', async (name, value) => {
    for (const second of [value, value.replace(apiToken, tokens.other)]) {
      const answer = await rawRequest(
        gateway.url,
        `GET /v1/models HTTP/1.1\r\nhost: x\r\n${name}: ${value}\r\n${name}: ${second}\r\n\r\n`,
      )
      expect(answer.status).toBe(400)
      expect(errorIn(answer.body).code).toBe('invalid_request')
    }
  })

  test('in the query do not count outside the long-running interface', async () => {
    expect((await ask(`/v1/models?key=${apiToken}`)).status).toBe(401)
    const other = await ask(`/v1/models?key=${tokens.other}`, { headers: bearer })
    expect(other.status).toBe(200)
    expect((await ask(`/admin/v1/accounts?key=${adminToken}`)).status).toBe(401)
  })

  test('in the query count on the long-running interface', () => {
    const read = (path: string, headers: Record<string, string> = {}) =>
      credentialOf({
        request: new Request(`http://gw${path}`, { headers }),
        dialect: dialects.at(path.split('?', 1)[0]!),
      } as RequestContext)
    const path = '/vendorg/v1beta/operations/1'
    expect(read(`${path}?key=${apiToken}`)).toBe(apiToken)
    expect(read(`${path}?key=${apiToken}`, bearer)).toBe(apiToken)
    for (const wrong of [
      read(`${path}?key=${tokens.other}`, bearer),
      read(`${path}?key=${apiToken}&key=${apiToken}`),
    ]) {
      expect((wrong as Refusal).code).toBe('invalid_request')
    }
    expect(read(`/vendorgx?key=${apiToken}`)).toBeUndefined()
  })

  test('are judged before a byte of the body is waited for', async () => {
    const head = (more: string) =>
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${more}\r\n`
    const gibibyte = 'content-length: 1073741824\r\n'
    expect((await rawRequest(gateway.url, head(gibibyte))).status).toBe(401)
    const chunked = 'transfer-encoding: chunked\r\n'
    expect((await rawRequest(gateway.url, head(chunked))).status).toBe(401)
    const known = `authorization: Bearer ${apiToken}\r\n`
    const tooLarge = await rawRequest(gateway.url, head(known + gibibyte))
    expect([tooLarge.status, errorIn(tooLarge.body).code]).toEqual([413, 'request_too_large'])
    await stillAlive()
  })
})

describe('a body', () => {
  const refusedWith = async (answer: Response, status: number, code: string) => {
    const error = await errorOf(answer)
    expect([answer.status, error.code, error.type]).toEqual([status, code, 'invalid_request_error'])
    return error
  }

  test('over 32 MiB is refused, declared or chunked, and one just below is read', async () => {
    await refusedWith(await askChat('x'.repeat(32 * mebibyte + 1)), 413, 'request_too_large')
    let left = 40
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (left-- === 0) controller.close()
        else controller.enqueue(new Uint8Array(mebibyte).fill(0x20))
      },
    })
    await refusedWith(await askChat(endless), 413, 'request_too_large')
    await refusedWith(await askChat(' '.repeat(32 * mebibyte)), 400, 'invalid_json')
    await stillAlive()
  })

  test('that comes in chunks is read', async () => {
    const parts = [hello.slice(0, 20), hello.slice(20)]
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const part = parts.shift()
        if (part === undefined) controller.close()
        else controller.enqueue(new TextEncoder().encode(part))
      },
    })
    const answer = await askChat(body)
    expect(answer.status).toBe(200)
    await answer.text()
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'of type %s is not taken',
    async (type) => {
      const answer = await askChat(hello, { ...bearer, 'content-type': type })
      await refusedWith(answer, 415, 'unsupported_media_type')
    },
  )

  test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/vnd.x+json'])(
    'of type %s is taken',
    async (type) => {
      const answer = await askChat(hello, { ...bearer, 'content-type': type })
      expect(answer.status).toBe(200)
      await answer.text()
    },
  )

  test('that is compressed is not taken', async () => {
    const zipped = Bun.gzipSync(Buffer.from(hello))
    const answer = await askChat(zipped, { ...bearer, ...json, 'content-encoding': 'gzip' })
    await refusedWith(answer, 415, 'unsupported_media_type')
  })

  const nested = (depth: number) =>
    `{"model":"txta-plus","x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)},` +
    '"messages":[{"role":"user","content":"[[sim:tokens=1]]"}]}'
  const notJson: [string, string][] = [
    ['empty', ''],
    ['a bare word', 'hello'],
    ['cut off', hello.slice(0, -1)],
    ['two values', `${hello}${hello}`],
    ['an array', '[]'],
    ['a string', '"hello"'],
    ['null', 'null'],
    ['with a trailing comma', '{"model":"txta-plus",}'],
    ['with NaN', '{"model":NaN}'],
    ['nested 65 deep', nested(65)],
    ['nested 5000 deep', nested(5000)],
    ['with a __proto__ key', hello.replace('{', '{"__proto__":{"polluted":true},')],
    ['with a hidden __proto__ key', hello.replace('{', '{"\\u005f_proto__":{"a":1},')],
    ['with a deep __proto__ key', hello.replace('{', '{"a":[{"b":{"__proto__":1}}],')],
    ['with constructor.prototype', hello.replace('{', '{"constructor":{"prototype":{"a":1}},')],
  ]
  test.each(notJson)('that is %s is refused and the process lives', async (_, body) => {
    await refusedWith(await askChat(body), 400, 'invalid_json')
    await stillAlive()
  })

  test('nested exactly 64 deep is taken', async () => {
    const answer = await askChat(nested(64))
    expect(answer.status).toBe(200)
    await answer.text()
  })

  test('counts null as absent', async () => {
    const nulls = { stream: null, n: null, max_tokens: null, tools: null, stream_options: null }
    const answer = await gateway.chat('hello [[sim:tokens=3]]', nulls)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toStartWith('application/json')
    await answer.text()
    const streamed = await gateway.chat('[[sim:tokens=3]]', { stream: true, stream_options: null })
    expect(streamed.headers.get('content-type')).toStartWith('text/event-stream')
    expect(await streamed.text()).toEndWith('data: [DONE]\n\n')
    const missing = await errorOf(await gateway.chat('hello', { model: null }))
    expect([missing.code, missing.param]).toEqual(['invalid_request', 'model'])
  })

  const wrongFields: [string, Record<string, unknown>][] = [
    ['model', { model: 5 }],
    ['model', { model: '' }],
    ['messages', { messages: [] }],
    ['messages', { messages: 'hello' }],
    ['messages', { messages: ['hello'] }],
    ['messages', { messages: [{ content: 'x' }] }],
    ['stream', { stream: 'yes' }],
    ['stream_options', { stream_options: [] }],
    ['n', { n: 0 }],
    ['n', { n: 1.5 }],
    ['n', { n: 129 }],
    ['max_tokens', { max_tokens: -1 }],
    ['max_tokens', { max_tokens: '5' }],
    ['max_completion_tokens', { max_completion_tokens: 2 ** 60 }],
  ]
  test.each(wrongFields)('with a wrong %s is refused and names it: %j', async (param, fields) => {
    const error = await refusedWith(await gateway.chat('hello', fields), 400, 'invalid_request')
    expect(error.param).toBe(param)
  })

  test('of 10 MB is answered while others are served', async () => {
    const large = gateway.chat(`${'many words '.repeat(900_000)}[[sim:tokens=3]]`)
    const small = await Promise.all(
      Array.from({ length: 5 }, async () => (await ask('/healthz')).status),
    )
    expect(small).toEqual([200, 200, 200, 200, 200])
    const answer = await large
    expect(answer.status).toBe(200)
    await answer.text()
  })

  test('with an endless model name is refused in few words', async () => {
    const answer = await gateway.chat('hello', { model: 'm'.repeat(mebibyte) })
    expect(answer.status).toBe(404)
    expect((await answer.text()).length).toBeLessThan(10_000)
  })
})

describe('routes', () => {
  test('that are unknown say so, and help with the usual slips', async () => {
    for (const [path, hint] of [
      ['/nothing', ''],
      ['/v1/nothing', ''],
      ['/v1/v1/models', 'ends in /v1 already'],
      ['/chat/completions', '/v1/chat/completions'],
      ['/v1//models', 'doubled slash'],
    ] as const) {
      const answer = await ask(path, { headers: bearer })
      const error = await errorOf(answer)
      expect([path, answer.status, error.code]).toEqual([path, 404, 'not_found'])
      expect(error.message).toContain(hint)
    }
  })

  test('answer a wrong method with 405 and what is allowed', async () => {
    for (const [method, path, allow] of [
      ['GET', '/v1/chat/completions', 'POST'],
      ['PUT', '/v1/chat/completions', 'POST'],
      ['HEAD', '/v1/chat/completions', 'POST'],
      ['POST', '/v1/models', 'GET'],
      ['DELETE', '/v1/models/txta-plus', 'GET'],
      ['POST', '/healthz', 'GET'],
    ] as const) {
      const answer = await ask(path, { method, headers: bearer })
      expect([method, path, answer.status]).toEqual([method, path, 405])
      const allowed = (answer.headers.get('allow') ?? '').split(', ')
      expect(allowed).toContain(allow)
      if (method === 'HEAD') continue
      const error = await errorOf(answer)
      expect(error.code).toBe('method_not_allowed')
      expect(error.param).toBeNull()
    }
  })

  test('of the admin API that are unknown are 404, wrong methods 405', async () => {
    const headers = { authorization: `Bearer ${adminToken}` }
    const unknown = await ask('/admin/v1/nothing', { headers })
    expect([unknown.status, (await errorOf(unknown)).code]).toEqual([404, 'not_found'])
    const wrong = await ask('/admin/v1/accounts', { method: 'DELETE', headers })
    expect([wrong.status, (await errorOf(wrong)).code]).toEqual([405, 'method_not_allowed'])
    expect((wrong.headers.get('allow') ?? '').split(', ').sort()).toEqual(
      expect.arrayContaining(['GET', 'POST']),
    )
    expect(wrong.headers.get('allow')).not.toContain('DELETE')
  })

  test('with GET also answer HEAD, without a body', async () => {
    for (const path of ['/v1/models', '/v1/models/txta-plus', '/healthz', '/readyz']) {
      const answer = await ask(path, { method: 'HEAD', headers: bearer })
      expect([path, answer.status, await answer.text()]).toEqual([path, 200, ''])
    }
  })

  test('are found by targets in absolute form', async () => {
    const answer = await rawRequest(
      gateway.url,
      `GET http://anything.example/v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${apiToken}\r\n\r\n`,
    )
    expect(answer.status).toBe(200)
    expect(answer.headers['x-gateway-request-id']).toMatch(requestIdShape)
  })

  test('are found by callers of HTTP/1.0, which name no host', async () => {
    const answer = await rawRequest(gateway.url, 'GET /healthz HTTP/1.0\r\n\r\n')
    expect([answer.status, answer.body]).toEqual([200, '{"status":"ok"}'])
  })

  const odd: [string, string][] = [
    ['a star', 'OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['a broken escape', 'GET /v1/models/%zz HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['a zero byte escape', 'GET /v1/models/%00 HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['a half character', 'GET /v1/models/%e4%b8 HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['dots', 'GET /v1/../../etc/passwd HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['escaped dots', 'GET /v1/%2e%2e/admin/v1/accounts HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['a question mark only', 'GET ? HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['a long path', `GET /${'a'.repeat(8000)} HTTP/1.1\r\nhost: x\r\n\r\n`],
    ['an odd host', 'GET /v1/models HTTP/1.1\r\nhost: a b:c\r\n\r\n'],
    ['no host', 'GET /v1/models HTTP/1.1\r\n\r\n'],
    ['an authority', 'CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['an unknown method', 'BREW /v1/models HTTP/1.1\r\nhost: x\r\n\r\n'],
    [
      'two lengths',
      'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ncontent-length: 5\r\n\r\n{}',
    ],
    ['nonsense', 'hello\r\n\r\n'],
  ]
  test.each(odd)('survive %s', async (_, text) => {
    const answer = await rawRequest(gateway.url, text).catch(() => undefined)
    // What is not HTTP may be hung up on; what gets an answer is never let in.
    if (answer !== undefined && answer.status !== 0) {
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.status).toBeLessThan(500)
    }
    await stillAlive()
  })

  test('of names that are no names are not found', async () => {
    for (const name of ['%zz', '%00', '%e4%b8', 'a%20b', '__proto__', 'constructor']) {
      const answer = await rawRequest(
        gateway.url,
        `GET /v1/models/${name} HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiToken}\r\n\r\n`,
      )
      expect([name, answer.status, errorIn(answer.body).code]).toEqual([
        name,
        404,
        'model_not_found',
      ])
    }
  })
})

describe('CORS', () => {
  const origin = 'https://app.example'

  test('lets any origin call the data plane, without cookies', async () => {
    const preflight = await ask('/v1/chat/completions', {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
      },
    })
    expect(preflight.status).toBe(204)
    const { headers } = preflight
    expect([origin, '*']).toContain(headers.get('access-control-allow-origin') ?? '')
    expect(headers.get('access-control-allow-methods')).toContain('POST')
    expect(headers.get('access-control-allow-headers')).toContain('x-stainless-lang')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
    for (const answer of [
      await askChat(hello, { ...bearer, ...json, origin }),
      await askChat(hello, { ...json, origin }),
      await ask('/v1/models', { headers: { ...bearer, origin } }),
      await ask('/v1/nothing', { headers: { ...bearer, origin } }),
    ]) {
      expect([origin, '*']).toContain(answer.headers.get('access-control-allow-origin') ?? '')
      expect(answer.headers.get('access-control-expose-headers')).toContain('x-gateway-request-id')
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
      await answer.text()
    }
  })

  test('says nothing when no origin asks', async () => {
    const answer = await ask('/v1/models', { headers: bearer })
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('does not exist on the admin API', async () => {
    for (const init of [
      { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } },
      { headers: { origin, authorization: `Bearer ${adminToken}` } },
    ]) {
      const { headers } = await ask('/admin/v1/accounts', init)
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })
})
