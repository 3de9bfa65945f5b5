// The admin API as an operator's script uses it: every call, its refusals, and what it never says.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { adminToken, apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import {
  accountOf,
  type ErrorFields,
  errorOf,
  ledgerOf,
  listAll,
  type RequestRow,
  requestIdOf,
  rowOf,
  until,
} from '../support/read.ts'

const sandboxKey = 'upk-admin-0123456789abcdef'
const canary = 'upk-CANARY-c0ffee11decade22-tail7788'
const fileCanary = 'upk-FILE-CANARY-5eed5eed5eed-tail9900'

let sandbox: Sandbox
let gateway: TestGateway
/** Everything the admin API has said in this file. */
let said = ''

beforeAll(async () => {
  sandbox = startSandbox({ key: sandboxKey })
  gateway = await startGateway({
    env: { GATEWAY_LOG: 'debug' },
    config: `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: simulated
    keys: [${sandboxKey}, ${sandboxKey}]
    protocols: { chat: "${sandbox.protocols.chat}" }
    models: { txta-plus: "*", txta-turbo: turbo-upstream, filed: "*" }
  - name: wrong-key
    keys: [${fileCanary}]
    protocols: { chat: "${sandbox.protocols.chat}" }
    models: { misplaced: "*" }
models:
  - { name: filed, kind: text, interfaces: [chat] }
  - { name: misplaced, kind: text, interfaces: [chat] }
prices:
  - { model: filed, unit: token, per_million: { input: "1.00", output: "1.00" } }
  - { model: misplaced, unit: token, per_million: { input: "1.00", output: "1.00" } }
`,
  })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await sandbox.stop()
})

type Fields = Record<string, unknown>

async function admin(method: string, path: string, body?: unknown) {
  const response = await fetch(`${gateway.url}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  said += `\n${text}`
  return { status: response.status, body: JSON.parse(text) as Fields }
}

/** A call that must be refused; gives its error. */
async function refused(status: number, code: string, method: string, path: string, body?: unknown) {
  const answer = await admin(method, path, body)
  const error = answer.body['error'] as ErrorFields | undefined
  expect([method, path, answer.status, error?.code]).toEqual([method, path, status, code])
  return error!
}

const items = (answer: { body: Fields }) => answer.body['items'] as Fields[]
const statusAs = async (secret: string) =>
  (await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': secret } })).status
const askAs = (secret: string, model: string, content = 'x [[sim:tokens=2]]') =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': secret, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
  })

async function newToken(fields: Fields = {}): Promise<{ id: string; secret: string }> {
  const name = `t-${crypto.randomUUID()}`
  const made = await gateway.admin('POST', '/tokens', { account: 'acme', name, ...fields })
  expect(made.status).toBe(201)
  return { id: made.body.id, secret: made.body.token }
}

const channelFields = (name: string, more: Fields = {}): Fields => ({
  name,
  keys: [sandboxKey],
  protocols: { chat: sandbox.protocols.chat },
  models: { 'txta-vl-plus': '*' },
  ...more,
})

describe('every route', () => {
  const routes: [string, string][] = [
    ['POST', '/accounts'],
    ['GET', '/accounts'],
    ['GET', '/accounts/acme'],
    ['POST', '/accounts/acme/credits'],
    ['GET', '/accounts/acme/ledger'],
    ['POST', '/tokens'],
    ['GET', '/tokens'],
    ['GET', '/tokens/x'],
    ['PATCH', '/tokens/x'],
    ['DELETE', '/tokens/x'],
    ['POST', '/channels'],
    ['GET', '/channels'],
    ['GET', '/channels/simulated'],
    ['PATCH', '/channels/simulated'],
    ['DELETE', '/channels/simulated'],
    ['POST', '/channels/simulated/test'],
    ['GET', '/models'],
    ['PUT', '/models/txta-plus'],
    ['GET', '/prices'],
    ['POST', '/prices'],
    ['POST', '/prices/preview'],
    ['GET', '/prices/export'],
    ['POST', '/prices/import'],
    ['GET', '/requests'],
    ['GET', '/requests/x'],
    ['GET', '/explain/x'],
    ['POST', '/audit'],
    ['GET', '/audit-log'],
    ['GET', '/nothing'],
  ]
  const wrong: [string, Record<string, string>][] = [
    ['no token', {}],
    ['an API token', { authorization: `Bearer ${apiToken}` }],
    ['a token cut short', { authorization: `Bearer ${adminToken.slice(0, -1)}` }],
    ['a token too long', { authorization: `Bearer ${adminToken}0` }],
    ['another scheme', { authorization: `Basic ${btoa(`admin:${adminToken}`)}` }],
    ['a cookie', { cookie: `token=${adminToken}` }],
  ]
  test.each(wrong)('refuses %s', async (_, headers) => {
    for (const [method, path] of routes) {
      const body = method === 'GET' ? {} : { body: '{"balance":"1' }
      const url = `${gateway.url}/admin/v1${path}`
      const answer = await fetch(url, { method, headers, ...body })
      const error = await errorOf(answer)
      expect([method, path, answer.status, error.code]).toEqual([
        method,
        path,
        401,
        'invalid_api_key',
      ])
    }
  })
})

describe('accounts', () => {
  test('are created, listed and found by id and name', async () => {
    const made = await admin('POST', '/accounts', { name: 'beta', balance: '12.5' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      name: 'beta',
      balance: '12.50',
      held: '0.00',
      available: '12.50',
      currency: 'CNY',
      source: 'api',
    })
    expect(Date.parse(String(made.body['created_at']))).toBeGreaterThan(0)
    for (const id of ['beta', String(made.body['id'])]) {
      expect((await admin('GET', `/accounts/${id}`)).body).toEqual(made.body)
    }
    expect((await listAll<Fields>(gateway, '/accounts')).map((each) => each['name'])).toContain(
      'beta',
    )
    const [opening] = await ledgerOf(gateway, 'beta')
    expect([opening?.kind, opening?.amount]).toEqual(['credit', '12.50'])
  })

  test('of a name that is taken, wrong or missing are refused', async () => {
    await refused(409, 'conflict', 'POST', '/accounts', { name: 'acme' })
    for (const [param, body] of [
      ['name', {}],
      ['name', { name: '' }],
      ['name', { name: 'a b' }],
      ['name', { name: 'x'.repeat(65) }],
      ['balance', { name: 'gamma', balance: 5 }],
      ['balance', { name: 'gamma', balance: '-5' }],
      ['balance', { name: 'gamma', balance: '1e3' }],
      ['blance', { name: 'gamma', blance: '5' }],
    ] as const) {
      const error = await refused(400, 'invalid_request', 'POST', '/accounts', body)
      expect([body, error.param]).toEqual([body, param])
    }
    await refused(404, 'not_found', 'GET', '/accounts/gamma')
    await refused(404, 'not_found', 'GET', '/accounts/gamma/ledger')
    await refused(404, 'not_found', 'POST', '/accounts/gamma/credits', { amount: '1.00' })
  })

  test('of one name asked for at once are made once', async () => {
    const same = () => admin('POST', '/accounts', { name: 'twins', balance: '1.00' })
    const statuses = (await Promise.all([same(), same(), same()])).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([201, 409, 409])
    expect((await accountOf(gateway, 'twins')).balance).toBe('1.00')
  })
})

describe('tokens', () => {
  test('show their secret once and never again', async () => {
    const fields = {
      account: 'acme',
      name: 'full',
      models: ['txta-*'],
      limits: { rpm: 600, tpm: 1000, concurrency: 5 },
      allowed_ips: ['127.0.0.0/8', '::1'],
      expires_at: '2100-01-01T00:00:00Z',
    }
    const made = await gateway.admin('POST', '/tokens', fields)
    expect(made.status).toBe(201)
    const { token: secret, id, prefix, created_at, ...shown } = made.body
    expect(secret).toMatch(/^sk-[\w-]{24,}$/)
    expect(secret.startsWith(prefix)).toBe(true)
    expect(prefix.length).toBeLessThan(12)
    expect(shown).toEqual({
      ...fields,
      require: null,
      translation: 'on',
      fallback: 'allowed',
      budget: null,
      tags: {},
      expires_at: '2100-01-01T00:00:00.000Z',
      disabled: false,
      source: 'api',
    })
    expect(await statusAs(secret)).toBe(200)
    const again = await admin('GET', `/tokens/${id}`)
    expect(again.body).toEqual({ ...shown, id, prefix, created_at })
    await admin('GET', '/tokens?limit=500')
    await admin('PATCH', `/tokens/${id}`, { name: 'fuller' })
    await admin('GET', '/audit-log?limit=500')
    expect(said).not.toContain(secret)
    expect(gateway.output()).not.toContain(secret)
  })

  test('stop working at once when disabled, expired, moved or deleted', async () => {
    const { id, secret } = await newToken()
    expect(await statusAs(secret)).toBe(200)
    const steps: [Fields, number][] = [
      [{ disabled: true }, 401],
      [{ disabled: false }, 200],
      [{ expires_at: '2020-01-01T00:00:00Z' }, 401],
      [{ expires_at: null }, 200],
      [{ allowed_ips: ['203.0.113.7'] }, 403],
      [{ allowed_ips: [] }, 200],
    ]
    for (const [change, status] of steps) {
      expect((await admin('PATCH', `/tokens/${id}`, change)).status).toBe(200)
      expect([change, await statusAs(secret)]).toEqual([change, status])
    }
    expect(await admin('DELETE', `/tokens/${id}`)).toEqual({
      status: 200,
      body: { id, revoked: true },
    })
    expect(await statusAs(secret)).toBe(401)
    await refused(404, 'not_found', 'GET', `/tokens/${id}`)
    await refused(404, 'not_found', 'DELETE', `/tokens/${id}`)
    const left = await listAll<{ id: string }>(gateway, '/tokens')
    expect(left.map((token) => token.id)).not.toContain(id)
  })

  test('see and use the models they may', async () => {
    const { id, secret } = await newToken({ models: ['txta-plus', 'fil*'] })
    const visible = async () => {
      const answer = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': secret } })
      return ((await answer.json()) as { data: { id: string }[] }).data.map((model) => model.id)
    }
    expect(await visible()).toEqual(['filed', 'txta-plus'])
    expect((await askAs(secret, 'filed')).status).toBe(200)
    const hidden = await askAs(secret, 'txta-turbo')
    expect([hidden.status, (await errorOf(hidden)).code]).toEqual([404, 'model_not_found'])
    await admin('PATCH', `/tokens/${id}`, { models: ['txta-turbo'] })
    expect(await visible()).toEqual(['txta-turbo'])
    expect((await askAs(secret, 'txta-turbo')).status).toBe(200)
  })

  test('are changed field by field', async () => {
    const { id } = await newToken({ limits: { rpm: 5, tpm: 6 } })
    const patched = await admin('PATCH', `/tokens/${id}`, { limits: { rpm: null, concurrency: 2 } })
    expect(patched.body['limits']).toEqual({ tpm: 6, concurrency: 2 })
    for (const change of [
      { disabled: 'yes' },
      { token: 'sk-0123456789012345678901234567' },
      { account: 'beta' },
      { models: [] },
      { limits: { rpm: 0 } },
      { allowed_ips: ['nowhere'] },
      { expires_at: 'tomorrow' },
      { unknown: 1 },
    ]) {
      await refused(400, 'invalid_request', 'PATCH', `/tokens/${id}`, change)
    }
  })

  test('can be brought along, in any length the rules allow, and then they work', async () => {
    for (const length of [24, 100, 200, 201, 253]) {
      const token = `sk-${`${length}-`.padEnd(length, 'abcdefgh')}`
      const { secret } = await newToken({ token })
      expect([length, await statusAs(secret)]).toEqual([length, 200])
    }
    const taken = { account: 'acme', name: 'again', token: apiToken }
    await refused(409, 'conflict', 'POST', '/tokens', taken)
    for (const token of ['sk-short', 'no-prefix-0123456789012345678901', `sk-${'k'.repeat(254)}`]) {
      await refused(400, 'invalid_request', 'POST', '/tokens', {
        account: 'acme',
        name: 'x',
        token,
      })
    }
  })

  test('have a name that is theirs alone within their account', async () => {
    const fields = { account: 'acme', name: 'unique-name' }
    expect((await gateway.admin('POST', '/tokens', fields)).status).toBe(201)
    await refused(409, 'conflict', 'POST', '/tokens', fields)
  })

  test('of unknown accounts are refused, and lists go by account', async () => {
    await refused(404, 'not_found', 'POST', '/tokens', { account: 'nobody', name: 'x' })
    await refused(404, 'not_found', 'GET', '/tokens?account=nobody')
    await gateway.admin('POST', '/accounts', { name: 'lonely' })
    const { id } = await newToken({ account: 'lonely' })
    expect(items(await admin('GET', '/tokens?account=lonely')).map((token) => token['id'])).toEqual(
      [id],
    )
  })

  test('made and revoked at once all end as they should', async () => {
    const all = await Promise.all(
      Array.from({ length: 30 }, async (_, i) => {
        const token = await newToken()
        if (i % 2 === 0) await gateway.admin('DELETE', `/tokens/${token.id}`)
        return { ...token, revoked: i % 2 === 0 }
      }),
    )
    for (const { secret, revoked } of all) expect(await statusAs(secret)).toBe(revoked ? 401 : 200)
  })
})

describe('channels', () => {
  test('are created, used at once, changed, disabled and deleted', async () => {
    const works = async () => (await askAs(apiToken, 'txta-vl-plus')).status
    expect(await works()).toBe(404)
    const made = await admin('POST', '/channels', channelFields('api-made', { keys: [canary] }))
    expect(made.status).toBe(201)
    const id = String(made.body['id'])
    expect(made.body).toMatchObject({
      name: 'api-made',
      region: 'cn',
      source: 'api',
      disabled: false,
    })
    expect(await works()).toBe(502)
    const keyed = await admin('PATCH', `/channels/${id}`, { keys: [sandboxKey] })
    expect(keyed.status).toBe(200)
    expect(await works()).toBe(200)
    await admin('PATCH', `/channels/${id}`, { disabled: true })
    expect(await works()).toBe(404)
    await admin('PATCH', '/channels/api-made', { disabled: false })
    expect(await works()).toBe(200)
    const patched = await admin('PATCH', `/channels/${id}`, {
      priority: 3,
      timeouts: { idle: '5s' },
      models: { 'txta-vl-*': '*' },
    })
    expect(patched.body).toMatchObject({
      priority: 3,
      models: { 'txta-vl-*': '*' },
      timeouts: { connect: '10000ms', idle: '5000ms' },
    })
    expect(await works()).toBe(200)
    expect((await admin('GET', `/channels/${id}`)).body).toEqual(patched.body)
    expect((await admin('DELETE', `/channels/${id}`)).status).toBe(200)
    expect(await works()).toBe(404)
    await refused(404, 'not_found', 'GET', `/channels/${id}`)
    await refused(404, 'not_found', 'PATCH', `/channels/${id}`, {})
    await refused(404, 'not_found', 'DELETE', `/channels/${id}`)
  })

  test('keep their keys to themselves, in answers, logs and on disk', async () => {
    const made = await admin('POST', '/channels', channelFields('secretive', { keys: [canary] }))
    const id = String(made.body['id'])
    await admin('PATCH', `/channels/${id}`, { keys: [canary, `${canary}-2`] })
    await admin('GET', '/channels')
    await admin('POST', `/channels/${id}/test`, { model: 'txta-vl-plus' })
    await admin('POST', '/channels/wrong-key/test', {})
    await askAs(apiToken, 'txta-vl-plus')
    await askAs(apiToken, 'misplaced')
    await admin('GET', '/requests?limit=500')
    await admin('GET', '/audit-log?limit=500')
    await admin('DELETE', `/channels/${id}`)
    for (const secret of [canary, canary.slice(0, 16), canary.slice(-8), fileCanary, sandboxKey]) {
      expect([secret, said.includes(secret)]).toEqual([secret, false])
      expect([secret, gateway.output().includes(secret)]).toEqual([secret, false])
    }
    const names = readdirSync(gateway.dataDir, { recursive: true }).map(String)
    const files = names
      .map((name) => join(gateway.dataDir, name))
      .filter((f) => statSync(f).isFile())
    expect(files.some((file) => statSync(file).size > 10_000)).toBe(true)
    for (const file of files) {
      const bytes = readFileSync(file)
      for (const secret of [canary, fileCanary, sandboxKey, apiToken, adminToken]) {
        for (const form of [secret, Buffer.from(secret).toString('base64').slice(0, -4)]) {
          expect([file, form, bytes.includes(form)]).toEqual([file, form, false])
        }
      }
    }
  })

  test('never show more than the ends of a key that the upstream echoes', async () => {
    const answer = await askAs(apiToken, 'misplaced')
    const error = await errorOf(answer)
    expect([answer.status, error.code]).toEqual([502, 'upstream_permission_denied'])
    // An id may have any four digits.
    const message = error.message.replaceAll(/req_[0-9a-f]+/g, '')
    expect(message).not.toContain(fileCanary.slice(-4))
  })

  test('are tested with one cheap call', async () => {
    const good = await admin('POST', '/channels/simulated/test')
    expect(good.status).toBe(200)
    expect(good.body).toMatchObject({ ok: true, latency_ms: expect.any(Number) })
    expect(
      (await admin('POST', '/channels/simulated/test', { model: 'txta-turbo' })).body,
    ).toMatchObject({ ok: true, model: 'txta-turbo' })
    const before = await accountOf(gateway)
    const bad = await admin('POST', '/channels/wrong-key/test', {})
    expect(bad.body).toMatchObject({ ok: false, error: expect.any(String) })
    const unserved = await admin('POST', '/channels/simulated/test', { model: 'imga-plus' })
    expect(unserved.body).toMatchObject({ ok: false, error: expect.any(String) })
    await refused(404, 'not_found', 'POST', '/channels/nobody/test', {})
    await refused(400, 'invalid_request', 'POST', '/channels/simulated/test', { modle: 'x' })
    expect((await accountOf(gateway)).balance).toBe(before.balance)
  })

  test('that are disabled can still be tested', async () => {
    await admin('POST', '/channels', channelFields('resting'))
    await admin('PATCH', '/channels/resting', { disabled: true })
    expect((await admin('POST', '/channels/resting/test', {})).body).toMatchObject({ ok: true })
    await admin('DELETE', '/channels/resting')
  })

  test('of another region are refused, when made and when changed', async () => {
    const error = await refused(
      400,
      'invalid_request',
      'POST',
      '/channels',
      channelFields('abroad', { region: 'us' }),
    )
    expect(error.param).toBe('region')
    await admin('POST', '/channels', channelFields('at-home', { region: 'cn' }))
    await refused(400, 'invalid_request', 'PATCH', '/channels/at-home', { region: 'us' })
    expect((await admin('DELETE', '/channels/at-home')).status).toBe(200)
  })

  const wrong: [string, Fields][] = [
    ['without keys', { keys: [] }],
    ['with an empty key', { keys: [''] }],
    ['with a key of two lines', { keys: ['a\nb'] }],
    ['without protocols', { protocols: {} }],
    ['with an unknown protocol', { protocols: { gopher: 'http://x' } }],
    ['with an address that is none', { protocols: { chat: 'up.example' } }],
    ['with credentials in the address', { protocols: { chat: 'http://a:b@up.example/v1' } }],
    ['with a file address', { protocols: { chat: 'file:///etc/passwd' } }],
    ['without models', { models: {} }],
    ['with a negative weight', { weight: -1 }],
    ['with a time-out without unit', { timeouts: { idle: '5' } }],
    ['with an unknown field', { prority: 5 }],
  ]
  test.each(wrong)('%s are refused', async (_, more) => {
    await refused(400, 'invalid_request', 'POST', '/channels', channelFields('wrong', more))
    await refused(404, 'not_found', 'GET', '/channels/wrong')
  })

  test('of one name are refused, also when they come at once', async () => {
    await refused(409, 'conflict', 'POST', '/channels', channelFields('simulated'))
    const same = () => admin('POST', '/channels', channelFields('racing'))
    const statuses = (await Promise.all([same(), same(), same()])).map(({ status }) => status)
    await admin('DELETE', '/channels/racing')
    expect(statuses.toSorted()).toEqual([201, 409, 409])
  })

  test('changed at once keep every change', async () => {
    await admin('POST', '/channels', channelFields('busy'))
    await Promise.all([
      admin('PATCH', '/channels/busy', { priority: 7 }),
      admin('PATCH', '/channels/busy', { weight: 9 }),
      admin('PATCH', '/channels/busy', { max_concurrency: 11 }),
    ])
    const { body } = await admin('GET', '/channels/busy')
    await admin('DELETE', '/channels/busy')
    expect(body).toMatchObject({ priority: 7, weight: 9, max_concurrency: 11 })
  })
})

describe('what the file declares', () => {
  test('is marked as its own and cannot be changed here', async () => {
    const tokens = await listAll<{ id: string; name: string; source: string }>(gateway, '/tokens')
    const declared = tokens.find(({ name }) => name === 'test')!
    expect(declared.source).toBe('file')
    expect((await admin('GET', '/accounts/acme')).body['source']).toBe('file')
    expect((await admin('GET', '/channels/simulated')).body['source']).toBe('file')
    await refused(409, 'conflict', 'PATCH', `/tokens/${declared.id}`, { disabled: true })
    await refused(409, 'conflict', 'DELETE', `/tokens/${declared.id}`)
    await refused(409, 'conflict', 'PATCH', '/channels/simulated', { priority: 5 })
    await refused(409, 'conflict', 'DELETE', '/channels/simulated')
    const model = { kind: 'text', interfaces: ['chat'] }
    await refused(409, 'conflict', 'PUT', '/models/filed', model)
    expect(await statusAs(apiToken)).toBe(200)
  })

  test('includes prices: a new one here would have no effect and is refused', async () => {
    const rates = { input: '9.00', output: '9.00' }
    const price = { model: 'filed', unit: 'token', per_million: rates }
    await refused(409, 'conflict', 'POST', '/prices', price)
  })
})

describe('models and prices', () => {
  const model = { kind: 'text', interfaces: ['chat'], display_name: 'House', max_output_tokens: 64 }
  const rates = { input: '1.00', output: '2.00' }

  test('make a new model callable once it has a price and a channel', async () => {
    const find = async () =>
      items(await admin('GET', '/models')).find(({ name }) => name === 'house')
    expect(await find()).toBeUndefined()
    const put = await admin('PUT', '/models/house', model)
    expect(put.status).toBe(200)
    expect(put.body).toMatchObject({ name: 'house', ...model, callable: false, price_id: null })
    expect((await askAs(apiToken, 'house')).status).toBe(404)
    await admin('POST', '/channels', channelFields('house', { models: { house: 'up' } }))
    expect((await askAs(apiToken, 'house')).status).toBe(404)
    const price = await admin('POST', '/prices', {
      model: 'house',
      unit: 'token',
      per_million: rates,
    })
    expect(price.status).toBe(201)
    expect(price.body).toMatchObject({ model: 'house', current: true, source: 'api' })
    expect((await askAs(apiToken, 'house')).status).toBe(200)
    expect(await find()).toMatchObject({ callable: true, price_id: price.body['id'] })
    await admin('DELETE', '/channels/house')
  })

  test('whose only price begins later become callable then', async () => {
    await admin('PUT', '/models/later', model)
    await admin('POST', '/channels', channelFields('later', { models: { later: '*' } }))
    const effective_from = new Date(Date.now() + 300).toISOString()
    const price = { model: 'later', unit: 'token', per_million: rates, effective_from }
    expect((await admin('POST', '/prices', price)).body['current']).toBe(false)
    expect((await askAs(apiToken, 'later')).status).toBe(404)
    await until('the price to begin', async () =>
      (await askAs(apiToken, 'later')).status === 200 ? true : undefined,
    )
    await admin('DELETE', '/channels/later')
  })

  test('that ship can be replaced', async () => {
    const put = await admin('PUT', '/models/txta-plus', { ...model, display_name: 'Plus' })
    expect(put.body).toMatchObject({ display_name: 'Plus', source: 'api', callable: true })
    expect((await askAs(apiToken, 'txta-plus')).status).toBe(200)
  })

  test('that make no sense are refused', async () => {
    for (const [path, body] of [
      ['/models/UPPER', model],
      ['/models/odd', { ...model, kind: 'smell' }],
      ['/models/odd', { ...model, interfaces: [] }],
      ['/models/odd', { kind: 'video', interfaces: ['videos'] }],
      ['/models/odd', { ...model, colour: 'red' }],
    ] as const) {
      await refused(400, 'invalid_request', 'PUT', path, body)
    }
    const price = { model: 'txta-plus', unit: 'token', per_million: rates }
    for (const body of [
      { ...price, model: 'nope' },
      { ...price, per_million: { input: '-1', output: '1' } },
      { ...price, per_million: { input: 1, output: 1 } },
      { ...price, per_million: undefined },
      { ...price, unit: 'image' },
      { ...price, tiers: [{ per_million: rates }] },
      { ...price, per_million: undefined, tiers: [] },
      {
        ...price,
        per_million: undefined,
        tiers: [
          { up_to: 5, per_million: rates },
          { up_to: 5, per_million: rates },
        ],
      },
      { ...price, effective_from: 'soon' },
      {},
    ]) {
      await refused(400, 'invalid_request', 'POST', '/prices', body)
    }
  })

  test('have prices in versions that are never edited', async () => {
    const at = (input: string, more: Fields = {}) =>
      admin('POST', '/prices', {
        model: 'txta-turbo',
        unit: 'token',
        per_million: { input, output: '1' },
        ...more,
      })
    const first = await at('3.00')
    const second = await at('4.00')
    const future = await at('5.00', { effective_from: '2100-01-01T00:00:00Z' })
    expect(future.body).toMatchObject({
      current: false,
      effective_from: '2100-01-01T00:00:00.000Z',
    })
    const versions = await listAll<Fields>(gateway, '/prices?model=txta-turbo')
    expect(new Set(versions.map((price) => price['model']))).toEqual(new Set(['txta-turbo']))
    const found = (made: { body: Fields }) => versions.find(({ id }) => id === made.body['id'])
    expect(found(first)).toMatchObject({ current: false, per_million: { input: '3.00' } })
    expect(found(second)).toMatchObject({ current: true, per_million: { input: '4.00' } })
    expect(found(future)).toMatchObject({ current: false })
    expect(versions.filter((price) => price['current'])).toHaveLength(1)
  })

  test('show a price in the words it can be declared with', async () => {
    for (const price of await listAll<Fields>(gateway, '/prices')) {
      expect(typeof price['id']).toBe('string')
      const units = ['per_image', 'per_second', 'per_search', 'per_minute']
      const shown = ['per_million', 'tiers', ...units].filter((k) => k in price)
      expect([price['model'], shown.length]).toEqual([
        price['model'],
        price['unit'] === 'free' ? 0 : 1,
      ])
    }
  })
})

describe('the request log', () => {
  test('is found by each of its fields and by any id', async () => {
    await gateway.admin('POST', '/accounts', { name: 'beta-log', balance: '5.00' })
    const { id: tokenId, secret } = await newToken({ account: 'beta-log' })
    const good = await askAs(secret, 'filed')
    const bad = await askAs(secret, 'txta-turbo', '[[sim:status=429]]')
    const missing = await askAs(secret, 'nope')
    const ids = [good, bad, missing].map(requestIdOf)
    const rows = await Promise.all(ids.map((id) => rowOf(gateway, id)))
    const [goodRow, badRow] = rows as [RequestRow, RequestRow]
    const found = async (query: string) =>
      (await listAll<RequestRow>(gateway, `/requests?${query}`)).map((row) => row.request_id)
    const inOrder = ids.toReversed()
    expect(await found('account=beta-log')).toEqual(inOrder)
    expect(await found(`account=${goodRow.account_id}`)).toEqual(inOrder)
    expect(await found(`token=${tokenId}`)).toEqual(inOrder)
    expect(await found(`token=${tokenId}&model=filed`)).toEqual([ids[0]!])
    expect(await found(`token=${tokenId}&channel=simulated`)).toEqual([ids[1]!, ids[0]!])
    expect(await found(`token=${tokenId}&status=429`)).toEqual([ids[1]!])
    expect(await found(`token=${tokenId}&error_code=model_not_found`)).toEqual([ids[2]!])
    const from = encodeURIComponent(badRow.at)
    expect(await found(`token=${tokenId}&from=${from}`)).toContain(ids[1]!)
    expect(await found(`token=${tokenId}&to=${from}`)).not.toContain(ids[1]!)
    expect(await found(`token=${tokenId}&to=2000-01-01T00:00:00Z`)).toEqual([])
    for (const id of [ids[1]!, badRow.upstream_request_id]) {
      expect(id).not.toBe('')
      expect(await found(`id=${id}`)).toEqual([ids[1]!])
      expect((await admin('GET', `/requests/${id}`)).body['request_id']).toBe(ids[1]!)
      expect((await admin('GET', `/explain/${id}`)).body['request_id']).toBe(ids[1]!)
    }
    expect(await found(`request_id=${ids[0]}`)).toEqual([ids[0]!])
    expect(await found(`upstream_request_id=${goodRow.upstream_request_id}`)).toEqual([ids[0]!])
  })

  test('refuses filters that make no sense', async () => {
    for (const [param, query] of [
      ['status', 'status=good'],
      ['from', 'from=yesterday'],
      ['to', 'to=%20'],
    ] as const) {
      const error = await refused(400, 'invalid_request', 'GET', `/requests?${query}`)
      expect(error.param).toBe(param)
    }
    await refused(404, 'not_found', 'GET', '/requests?account=nobody')
    await refused(404, 'not_found', 'GET', '/requests/req_nothing')
    await refused(404, 'not_found', 'GET', '/explain/req_nothing')
  })
})

describe('lists', () => {
  const paged = [
    '/accounts',
    '/tokens',
    '/requests',
    '/prices',
    '/audit-log',
    '/accounts/acme/ledger',
  ]
  const whole = ['/models', '/channels']
  test.each([...paged, ...whole])(
    'of %s refuse a wrong limit and a foreign cursor',
    async (path) => {
      for (const query of [
        'limit=0',
        'limit=-1',
        'limit=1.5',
        'limit=many',
        'limit=501',
        'limit=',
      ]) {
        const error = await refused(400, 'invalid_request', 'GET', `${path}?${query}`)
        expect(error.param).toBe('limit')
      }
      for (const cursor of ['x', '%00', 'OjE=', 'A'.repeat(4000)]) {
        const error = await refused(400, 'invalid_request', 'GET', `${path}?cursor=${cursor}`)
        expect(error.param).toBe('cursor')
      }
    },
  )

  test.each(whole)('of %s go by pages too', async (path) => {
    const { body } = await admin('GET', `${path}?limit=1`)
    expect(body['items']).toHaveLength(1)
    expect(typeof body['next_cursor']).toBe('string')
  })

  test('of 250 things come in pages, each thing once', async () => {
    await gateway.admin('POST', '/accounts', { name: 'many' })
    const amounts = Array.from({ length: 250 }, (_, i) => `${i + 1}.00`)
    await Promise.all(
      amounts.map((amount) => gateway.admin('POST', '/accounts/many/credits', { amount })),
    )
    const first = await admin('GET', '/accounts/many/ledger')
    expect(items(first)).toHaveLength(100)
    for (const limit of [7, 100, 125, 250, 500]) {
      const all = await listAll<{ id: string; amount: string }>(
        gateway,
        `/accounts/many/ledger?limit=${limit}`,
      )
      expect([limit, all.length, new Set(all.map(({ id }) => id)).size]).toEqual([limit, 250, 250])
      expect(new Set(all.map(({ amount }) => amount))).toEqual(new Set(amounts))
    }
    const exact = await admin('GET', '/accounts/many/ledger?limit=250')
    expect([items(exact).length, exact.body['next_cursor']]).toEqual([250, null])
  })

  test('of accounts and of the audit log page the same way, and bear additions meanwhile', async () => {
    await Promise.all(
      Array.from({ length: 250 }, (_, i) => gateway.admin('POST', '/accounts', { name: `p-${i}` })),
    )
    for (const path of ['/accounts', '/audit-log']) {
      const ids: unknown[] = []
      let cursor = ''
      for (let page = 0; page < 20; page++) {
        const { body } = await admin('GET', `${path}?limit=60${cursor}`)
        ids.push(...(body['items'] as Fields[]).map((item) => item['id']))
        if (body['next_cursor'] === null) break
        cursor = `&cursor=${body['next_cursor']}`
        await gateway.admin('POST', '/accounts', { name: `late-${path.slice(1)}-${page}` })
      }
      expect(new Set(ids).size).toBe(ids.length)
      expect(ids.length).toBeGreaterThanOrEqual(250)
    }
  })
})

describe('audits', () => {
  test('prove the books', async () => {
    const { status, body } = await admin('POST', '/audit')
    expect(status).toBe(200)
    expect(body).toMatchObject({ ok: true, problems: [] })
    expect(body['accounts']).toBeGreaterThan(1)
    expect(body['entries']).toBeGreaterThan(250)
  })

  test('tell who changed what, before and after', async () => {
    const log = async () => items(await admin('GET', '/audit-log?limit=1'))[0]!
    await gateway.admin('POST', '/accounts', { name: 'watched' })
    expect(await log()).toMatchObject({ action: 'account.create', actor: 'admin', before: null })
    await gateway.admin('POST', '/accounts/watched/credits', { amount: '3.00', note: 'gift' })
    expect(await log()).toMatchObject({
      action: 'account.credit',
      after: { amount: '3.00', note: 'gift' },
    })
    const { id } = await newToken({ account: 'watched' })
    expect(await log()).toMatchObject({ action: 'token.create', subject: id })
    await gateway.admin('PATCH', `/tokens/${id}`, { disabled: true })
    expect(await log()).toMatchObject({
      action: 'token.update',
      subject: id,
      before: { disabled: false },
      after: { disabled: true },
    })
    await gateway.admin('DELETE', `/tokens/${id}`)
    expect(await log()).toMatchObject({ action: 'token.revoke', subject: id })
    await admin('POST', '/channels', channelFields('watched'))
    expect(await log()).toMatchObject({ action: 'channel.create', after: { name: 'watched' } })
    await admin('PATCH', '/channels/watched', { priority: 2 })
    expect(await log()).toMatchObject({
      action: 'channel.update',
      before: { priority: 0 },
      after: { priority: 2 },
    })
    await admin('DELETE', '/channels/watched')
    expect(await log()).toMatchObject({ action: 'channel.delete', before: { name: 'watched' } })
  })

  test('do not note what was refused', async () => {
    const count = async () => (await listAll(gateway, '/audit-log?limit=500')).length
    const before = await count()
    await refused(409, 'conflict', 'POST', '/accounts', { name: 'acme' })
    await refused(409, 'conflict', 'POST', '/accounts/acme/credits', { amount: '-100000.00' })
    await refused(409, 'conflict', 'DELETE', '/channels/simulated')
    expect(await count()).toBe(before)
  })
})
