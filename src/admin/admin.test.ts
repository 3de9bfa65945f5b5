// What the admin API promises about changes at once, pages, names and its own record, on every
// engine there is. The wire as a whole is tried in test/.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { HttpPort } from '../contract/http.ts'
import { refresh } from '../engine/catalog/refresh.ts'
import type { Engine } from '../engine/engine.ts'
import { newTestEngine, type TestEngine } from '../engine/test-engine.ts'
import { newRequestContext } from '../http/request-context.ts'
import { findAccount } from '../store/catalog/accounts.ts'
import { aRequest, storeKinds } from '../store/test-stores.ts'
import type { AdminApp } from './route.ts'
import { adminRoutes } from './routes.ts'
import { admin } from './test-admin.ts'

/** Any answer: the fields these tests look into, and whatever else there is. */
interface Fields {
  [name: string]: unknown
  id: string
  name: string
  items: Fields[]
  next_cursor: string | null
  error: { param: string | null }
  per_million: { input: string }
  token: string
  request_id: string
}

const key = 'upk-CANARY-0123456789abcdef'
const limits = { bodyBytes: 100_000, bodyMs: 5_000, jsonDepth: 20, listPage: 500 }
const connection = { ip: () => '127.0.0.1', keepOpen: () => {} }
const rates = { input: '1.00', output: '2.00' }

describe.each([...storeKinds])('the admin API on %s', (on) => {
  let it: TestEngine
  let engine: Engine
  let app: AdminApp

  beforeAll(async () => {
    it = await newTestEngine(on)
    engine = it.engine
    app = admin({ engine, limits, isAdmin: (secret) => secret === 'boss' })
    await refresh(engine)
    await ask('POST', '/accounts', { name: 'acme', balance: '10.00' })
  })
  afterAll(() => it.close())

  async function ask(method: string, path: string, body?: object) {
    it.clock.ms = Date.now()
    const headers = { authorization: 'Bearer boss', 'content-type': 'application/json' }
    const request = new Request(`http://localhost${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answer = await app.fetch(request, { context: newRequestContext(request, connection) })
    return { status: answer.status, body: (await answer.json()) as Fields }
  }

  async function all(path: string, limit: number): Promise<Fields[]> {
    const found: Fields[] = []
    for (let cursor = ''; ; ) {
      const joint = path.includes('?') ? '&' : '?'
      const { body } = await ask('GET', `${path}${joint}limit=${limit}${cursor}`)
      expect(body.items.length).toBeLessThanOrEqual(limit)
      found.push(...body.items)
      if (body.next_cursor === null) return found
      cursor = `&cursor=${body.next_cursor}`
    }
  }

  const statuses = async (asked: Promise<{ status: number }>[]) =>
    (await Promise.all(asked)).map(({ status }) => status).toSorted()
  const channel = (name: string, more: object = {}) => ({
    name,
    keys: [key],
    protocols: { chat: 'http://up.example/v1' },
    models: { 'txta-*': '*' },
    ...more,
  })
  const newToken = async (name: string, more: object = {}) =>
    (await ask('POST', '/tokens', { account: 'acme', name, ...more })).body

  test('makes one channel of a name, however many ask at once', async () => {
    const asked = Array.from({ length: 5 }, () => ask('POST', '/channels', channel('twin')))
    expect(await statuses(asked)).toEqual([201, 409, 409, 409, 409])
    await ask('POST', '/channels', channel('other'))
    const renamed = await ask('PATCH', '/channels/other', { name: 'twin' })
    expect([renamed.status, renamed.body.error.param]).toEqual([409, 'name'])
    const both = ['twin', 'other'].map((name) => ask('PATCH', `/channels/${name}`, { name: 'new' }))
    expect(await statuses(both)).toEqual([200, 409])
  })

  test.each(adminRoutes.filter(({ permission }) => permission.crossSite !== true))(
    'refuses parameters that $method $path does not have, by their names',
    async ({ method, path, query }) => {
      const { body, status } = await ask(method.toUpperCase(), `${path.replace(':id', 'x')}?knid=1`)
      expect([status, body.error.param]).toEqual([400, 'knid'])
      for (const name of Object.keys(query?.shape ?? {})) {
        expect((body.error as { message?: string }).message).toInclude(`'${name}'`)
      }
    },
  )

  test('takes the parameters of pages for every list, also for one that has a single page', async () => {
    for (const path of ['/people', '/presets', '/accounts']) {
      expect((await ask('GET', `${path}?limit=100`)).status).toBe(200)
    }
  })

  test('keeps every one of the changes that come at once, and the keys', async () => {
    const { body } = await ask('POST', '/channels', channel('busy'))
    const changes = [
      { priority: 7 },
      { weight: 9 },
      { max_concurrency: 11 },
      { timeouts: { idle: '5s' } },
      { timeouts: { total: '50s' } },
      { disabled: true },
    ]
    const answers = await Promise.all(changes.map((c) => ask('PATCH', '/channels/busy', c)))
    expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200))
    expect((await ask('GET', `/channels/${body.id}`)).body).toMatchObject({
      priority: 7,
      weight: 9,
      max_concurrency: 11,
      timeouts: { connect: '10000ms', idle: '5000ms', total: '50000ms' },
      disabled: true,
    })
    expect(engine.catalog.channels.find(({ name }) => name === 'busy')?.keys).toEqual([key])
    const gone = [1, 2, 3].map(() => ask('DELETE', '/channels/busy'))
    expect(await statuses(gone)).toEqual([200, 404, 404])
  })

  test('changes limits one by one, and null takes one away', async () => {
    const { id } = await newToken('limited', { limits: { rpm: 5, tpm: 6 } })
    await Promise.all([
      ask('PATCH', `/tokens/${id}`, { limits: { rpm: null } }),
      ask('PATCH', `/tokens/${id}`, { limits: { concurrency: 2 } }),
      ask('PATCH', `/tokens/${id}`, { limits: { tpm: 60 } }),
    ])
    expect((await ask('GET', `/tokens/${id}`)).body['limits']).toEqual({ tpm: 60, concurrency: 2 })
  })

  test('gives a name once within an account, until its token is revoked', async () => {
    const same = () => ask('POST', '/tokens', { account: 'acme', name: 'ci' })
    expect(await statuses([same(), same(), same()])).toEqual([201, 409, 409])
    const other = await newToken('other')
    const patched = await ask('PATCH', `/tokens/${other.id}`, { name: 'ci' })
    expect([patched.status, patched.body.error.param]).toEqual([409, 'name'])
    expect((await ask('PATCH', `/tokens/${other.id}`, { name: 'other' })).status).toBe(200)
    await ask('POST', '/accounts', { name: 'beta' })
    expect((await ask('POST', '/tokens', { account: 'beta', name: 'ci' })).status).toBe(201)
    const { body } = await ask('GET', '/tokens?account=acme')
    const id = body.items.find((token) => token.name === 'ci')?.id
    expect(await statuses([1, 2].map(() => ask('DELETE', `/tokens/${id}`)))).toEqual([200, 404])
    expect((await same()).status).toBe(201)
  })

  test('knows a name in use from a secret in use', async () => {
    const token = 'sk-7Qm2xV9rT4kLw8Zs1Hd6Yb3Nf5Gc0Pj'
    await newToken('secretive', { token })
    const taken = await ask('POST', '/tokens', { account: 'acme', name: 'another', token })
    expect([taken.status, taken.body.error.param]).toEqual([409, 'token'])
    const named = await ask('POST', '/tokens', { account: 'acme', name: 'secretive' })
    expect([named.status, named.body.error.param]).toEqual([409, 'name'])
  })

  test.each(['/models', '/channels', '/tokens'])('pages through %s, each once', async (path) => {
    const whole = await all(path, 500)
    expect(whole.length).toBeGreaterThan(1)
    for (const limit of [1, 3]) expect(await all(path, limit)).toEqual(whole)
  })

  test('pages through the prices of one model', async () => {
    for (const input of ['1', '2', '3', '4', '5']) {
      const price = { model: 'txta-turbo', unit: 'token', per_million: { input, output: '1' } }
      expect((await ask('POST', '/prices', price)).status).toBe(201)
    }
    const other = { model: 'txta-plus', unit: 'token', per_million: rates }
    await ask('POST', '/prices', other)
    const pages = await all('/prices?model=txta-turbo', 2)
    expect(pages.map((price) => price.per_million.input).toSorted()).toEqual([
      '1.00',
      '2.00',
      '3.00',
      '4.00',
      '5.00',
    ])
    expect((await ask('GET', '/prices?model=txta-turbo&cursor=zzz')).status).toBe(400)
  })

  test('calls a model callable from the moment its price begins', async () => {
    await ask('PUT', '/models/later', { kind: 'text', interfaces: ['chat'] })
    await ask('POST', '/channels', channel('later', { models: { later: '*' } }))
    const startMs = Date.now() + 3_600_000
    const effective_from = new Date(startMs).toISOString()
    const price = { model: 'later', unit: 'token', per_million: rates, effective_from }
    expect((await ask('POST', '/prices', price)).body['current']).toBe(false)
    expect(engine.catalog.offers('later')).toBe(false)
    it.clock.ms = startMs
    expect(engine.catalog.offers('later')).toBe(true)
  })

  test('tests a disabled channel, and a model without a price', async () => {
    const asked: string[] = []
    const { http } = engine
    const fake: HttpPort = {
      post(url, _, body) {
        asked.push(`${url} ${JSON.parse(String(body)).model}`)
        const text = async () => '{"choices":[{"message":{"content":"pong"}}]}'
        const read = async () => undefined
        const answer = {
          status: 200,
          header: () => undefined,
          text,
          read,
          pipe() {},
          resume() {},
          cancel() {},
          release() {},
          expectTrickle() {},
        }
        return { answer: Promise.resolve(answer), cancel() {} }
      },
      get: () => ({ answer: new Promise(() => {}), cancel() {} }),
      delete: () => ({ answer: new Promise(() => {}), cancel() {} }),
    }
    Object.assign(engine, { http: fake })
    await ask('PUT', '/models/free', { kind: 'text', interfaces: ['chat'] })
    await ask('POST', '/channels', channel('resting', { models: { free: 'up-free' } }))
    await ask('PATCH', '/channels/resting', { disabled: true })
    expect((await ask('POST', '/channels/resting/test', {})).body).toMatchObject({
      ok: true,
      model: 'free',
    })
    expect(asked).toEqual(['http://up.example/v1/chat/completions up-free'])
    const unserved = await ask('POST', '/channels/resting/test', { model: 'txta-plus' })
    expect(unserved.body).toMatchObject({ ok: false, error: expect.any(String) })
    Object.assign(engine, { http })
  })

  test('shows requests under the names of their account and token, and the newest first', async () => {
    const { id: tokenId } = await newToken('caller')
    const accountId = (await findAccount(engine.store.read, 'acme'))!.id
    const shared = { accountId, tokenId, upstreamRequestId: 'up-shared' }
    const atMs = Date.now()
    const rows = [1, 2, 3].map((i) => aRequest({ ...shared, atMs: atMs + i }))
    for (const row of rows) await engine.store.record(row)
    await engine.store.record(aRequest({ accountId, tokenId: 'tok_unknown', atMs: atMs + 4 }))
    await ask('DELETE', `/tokens/${tokenId}`)
    const newest = rows[2]!.requestId
    for (const path of ['/requests', '/explain']) {
      expect((await ask('GET', `${path}/up-shared`)).body.request_id).toBe(newest)
    }
    const found = (await ask('GET', '/requests?id=up-shared')).body.items
    expect(found.map((row) => row.request_id)).toEqual(
      rows.map(({ requestId }) => requestId).toReversed(),
    )
    const mine = (await ask('GET', `/requests?token=${tokenId}`)).body.items
    expect(mine).toEqual(found)
    const names = { account: 'acme', account_id: accountId, token: 'caller', token_id: tokenId }
    for (const row of mine) expect(row).toMatchObject(names)
    const [unknown] = (await ask('GET', '/requests?limit=1')).body.items
    expect(unknown).toMatchObject({ account_id: accountId, token: null })
  })

  test('notes every change with what was and what is, and no secret', async () => {
    const last = async () => (await ask('GET', '/audit-log?limit=1')).body.items[0]!
    const noted = async (action: string, before: unknown, after: unknown) =>
      expect(await last()).toMatchObject({ action, actor: 'admin', before, after })
    const account = (await ask('POST', '/accounts', { name: 'seen', balance: '1.00' })).body
    await noted('account.create', null, { name: 'seen', balance: '1.00' })
    await ask('POST', '/accounts/seen/credits', { amount: '2.00', note: 'gift' })
    await noted('account.credit', null, { amount: '2.00', note: 'gift', balance: '3.00' })
    await ask('POST', '/accounts/seen/credits', { amount: '-0.50' })
    await noted('account.credit', null, { amount: '-0.50', balance: '2.50' })
    expect((await last())['subject']).toBe(account.id)
    const token = await newToken('seen', { limits: { rpm: 1 } })
    await noted('token.create', null, { name: 'seen', limits: { rpm: 1 } })
    await ask('PATCH', `/tokens/${token.id}`, { limits: { tpm: 2 } })
    await noted('token.update', { limits: { rpm: 1 } }, { limits: { rpm: 1, tpm: 2 } })
    await ask('DELETE', `/tokens/${token.id}`)
    await noted('token.revoke', { name: 'seen', limits: { rpm: 1, tpm: 2 } }, null)
    await ask('POST', '/channels', channel('seen'))
    await noted('channel.create', null, { name: 'seen', keys: 1 })
    await ask('PATCH', '/channels/seen', { keys: [`${key}-2`], priority: 4 })
    await noted(
      'channel.update',
      { priority: 0, keys: 1 },
      { priority: 4, keys: 1, keys_replaced: true },
    )
    await ask('PATCH', '/channels/seen', { add_keys: [`${key}-3`] })
    await noted('channel.update', { keys: 1 }, { keys: 2, keys_added: 1 })
    const keysOf = () => engine.catalog.channels.find(({ name }) => name === 'seen')?.keys
    expect(keysOf()).toEqual([`${key}-2`, `${key}-3`])
    const both = await ask('PATCH', '/channels/seen', { keys: [key], add_keys: [key] })
    expect(both.status).toBe(400)
    await ask('PATCH', '/channels/seen', { keep_keys: 1 })
    expect(keysOf()).toEqual([`${key}-3`])
    await ask('DELETE', '/channels/seen')
    await noted('channel.delete', { name: 'seen', priority: 4 }, null)
    const model = { kind: 'text', interfaces: ['chat'] }
    await ask('PUT', '/models/seen', model)
    await noted('model.put', null, { name: 'seen', max_output_tokens: null })
    await ask('PUT', '/models/seen', { ...model, max_output_tokens: 5 })
    await noted('model.put', { max_output_tokens: null }, { max_output_tokens: 5 })
    await ask('POST', '/prices', { model: 'seen', unit: 'token', per_million: rates })
    await noted('price.create', null, { model: 'seen', effective_from: expect.any(String) })
    const log = JSON.stringify(await all('/audit-log', 500))
    expect(log).not.toContain(key)
    expect(log).not.toContain(token.token)
    expect(log).not.toContain('ciphertext')
  })
})
