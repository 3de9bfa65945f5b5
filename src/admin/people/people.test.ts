// Signing in and what each role may do, asked of the whole admin API as a browser or a program would.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { roles } from '../../contract/people.ts'
import { refresh } from '../../engine/catalog/refresh.ts'
import { newTestEngine, type TestEngine } from '../../engine/test-engine.ts'
import { newRequestContext } from '../../http/request-context.ts'
import { newId } from '../../lib/crypto/ids.ts'
import { aRequest, storeKinds } from '../../store/test-stores.ts'
import type { AdminApp, AdminRoute } from '../route.ts'
import { adminRoutes } from '../routes.ts'
import { admin } from '../test-admin.ts'
import { newSetupCode } from './set-up.ts'

const limits = { bodyBytes: 100_000, bodyMs: 5_000, jsonDepth: 20, listPage: 500 }
const password = 'a long enough password'

interface Administrator {
  id: string
  role: string
  disabled: boolean
}
const isAdministrator = ({ role, disabled }: Administrator): boolean =>
  role === 'administrator' && !disabled

interface Asked {
  cookie?: string | undefined
  body?: object
  headers?: Record<string, string>
  from?: string
}

describe.each([...storeKinds])('people on %s', (on) => {
  let it: TestEngine
  let app: AdminApp

  beforeAll(async () => {
    it = await newTestEngine(on)
    app = admin({ engine: it.engine, limits, isAdmin: (secret) => secret === 'boss' })
    await refresh(it.engine)
    for (const name of ['acme', 'other']) await asBoss('POST', '/accounts', { name })
  })
  afterAll(() => it.close())

  async function ask(method: string, path: string, asked: Asked = {}) {
    const { cookie, body, headers = { 'sec-fetch-site': 'same-origin' }, from = '10.0.0.1' } = asked
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: {
        ...headers,
        ...(cookie !== undefined && { cookie }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const context = newRequestContext(request, { ip: () => from, keepOpen: () => {} })
    const answer = await app.fetch(request, { context })
    const set = answer.headers.get('set-cookie')?.split(';')[0]
    const text = await answer.text()
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
    const parsed: any = text.startsWith('{') ? JSON.parse(text) : text
    return { status: answer.status, body: parsed, cookie: set, answer }
  }
  const asBoss = (method: string, path: string, body?: object) =>
    ask(method, path, {
      headers: { authorization: 'Bearer boss' },
      ...(body !== undefined && { body }),
    })
  const signIn = async (name: string, secret = password, from = '10.0.0.1') =>
    ask('POST', '/session', { body: { name, password: secret }, from })
  const add = async (role: string, more: object = {}) => {
    const name = newId('p').slice(0, 30)
    const made = await asBoss('POST', '/people', { name, password, role, ...more })
    expect(made.status).toBe(201)
    return { id: made.body.id as string, name }
  }

  test('where nobody is administrator, the admin token may change the others', async () => {
    const { id } = await add('finance')
    expect((await asBoss('PATCH', `/people/${id}`, { disabled: true })).status).toBe(200)
    expect((await asBoss('DELETE', `/people/${id}`)).status).toBe(200)
  })

  test('the first administrator comes by a link that works once', async () => {
    expect((await ask('GET', '/setup')).body).toEqual({ needed: true })
    const old = (await newSetupCode(it.engine))!
    const code = (await newSetupCode(it.engine))!
    const body = { name: 'Ada', password }
    for (const wrong of [`${code}x`, '']) {
      const refused = await ask('POST', '/setup', { body: { ...body, code: wrong } })
      expect(refused.status).toBe(409)
    }
    const short = await ask('POST', '/setup', { body: { code, name: 'ada', password: 'short' } })
    expect(short.body.error.param).toBe('password')
    const made = await ask('POST', '/setup', { body: { ...body, code } })
    expect(made.status).toBe(200)
    expect(made.body).toMatchObject({ name: 'ada', role: 'administrator', environment: 'sandbox' })
    expect((await ask('GET', '/session', { cookie: made.cookie })).body.name).toBe('ada')
    for (const used of [code, old]) {
      expect((await ask('POST', '/setup', { body: { ...body, code: used } })).status).toBe(409)
    }
    expect(await newSetupCode(it.engine)).toBeUndefined()
    expect((await ask('GET', '/setup')).body).toEqual({ needed: false })
  })

  test('the cookie is for this host alone, and no script reads it', async () => {
    const { name } = await add('operator')
    const { answer } = await signIn(name)
    expect(answer.headers.get('set-cookie')).toMatch(
      /^__Host-gateway-session=\w{40}; Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=\d+$/,
    )
  })

  test('a wrong name and a wrong password look alike', async () => {
    const { name } = await add('operator')
    const wrong = await signIn(name, 'something else', '10.0.0.2')
    const nobody = await signIn('nobody-here', password, '10.0.0.2')
    expect(wrong.status).toBe(401)
    const plain = (text: string) => text.replace(/\(req_\w+\)/, '')
    expect(plain(nobody.body.error.message)).toBe(plain(wrong.body.error.message))
  })

  test('who guesses at a name has to wait, and its owner elsewhere does not', async () => {
    const { name } = await add('operator')
    for (let i = 0; i < 5; i++) expect((await signIn(name, 'no', '10.1.0.1')).status).toBe(401)
    const locked = await signIn(name, password, '10.1.0.1')
    expect(locked.status).toBe(429)
    expect(Number(locked.answer.headers.get('retry-after'))).toBeGreaterThan(0)
    // All of a /64 is one caller.
    for (let i = 0; i < 5; i++) await signIn(name, 'no', `2001:db8::${i + 1}`)
    expect((await signIn(name, password, '2001:db8::ffff')).status).toBe(429)
    expect((await signIn(name, password, '10.1.1.1')).status).toBe(200)
    it.clock.ms += 10_000
    expect((await signIn(name, password, '10.1.0.1')).status).toBe(200)
  })

  test('made-up names do not lock out those who come from the same address', async () => {
    const { name } = await add('operator')
    for (let i = 0; i < 25; i++) {
      expect((await signIn(`guess-${i}`, 'no', '10.2.0.1')).status).toBe(401)
    }
    expect((await signIn(name, password, '10.2.0.1')).status).toBe(200)
  })

  test('a session that was stolen does not let its thief guess the password', async () => {
    const { name } = await add('operator')
    const { cookie } = await signIn(name)
    const guess = (old: string, from: string) =>
      ask('POST', '/session/password', { cookie, from, body: { old, password } })
    for (let i = 0; i < 5; i++) expect((await guess('no', `10.3.0.${i}`)).status).toBe(400)
    expect((await guess(password, '10.3.1.1')).status).toBe(429)
  })

  test('a session ends: by signing out, by idling, by age, by a new password, by being disabled', async () => {
    const { id, name } = await add('operator')
    const holds = async (cookie: string | undefined) =>
      (await ask('GET', '/session', { cookie })).status
    const first = await signIn(name)
    expect(await holds(first.cookie)).toBe(200)
    const ended = await ask('DELETE', '/session', { cookie: first.cookie })
    expect(ended.answer.headers.get('set-cookie')).toContain('Max-Age=0')
    expect(await holds(first.cookie)).toBe(401)

    const idle = await signIn(name)
    it.clock.ms += 61 * 60_000
    expect(await holds(idle.cookie)).toBe(401)

    const old = await signIn(name)
    for (let i = 0; i < 13; i++) {
      it.clock.ms += 55 * 60_000
      if (i < 12) expect(await holds(old.cookie)).toBe(200)
    }
    it.clock.ms += 20 * 60_000
    expect(await holds(old.cookie)).toBe(401)

    const [mine, other] = [await signIn(name), await signIn(name)]
    const body = { old: password, password: 'another long password' }
    const wrong = { ...body, old: 'no' }
    const refused = await ask('POST', '/session/password', { cookie: mine.cookie, body: wrong })
    expect(refused.status).toBe(400)
    expect((await ask('POST', '/session/password', { cookie: mine.cookie, body })).status).toBe(200)
    expect(await holds(mine.cookie)).toBe(200)
    expect(await holds(other.cookie)).toBe(401)
    await asBoss('PATCH', `/people/${id}`, { disabled: true })
    expect(await holds(mine.cookie)).toBe(401)
    expect((await signIn(name, body.password)).status).toBe(401)
  })

  test('a page of another site changes nothing', async () => {
    const { name } = await add('administrator')
    const { cookie } = await signIn(name)
    const body = { name: 'from-elsewhere' }
    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      {},
    ]
    for (const headers of foreign) {
      const refused = await ask('POST', '/accounts', { cookie, body, headers })
      expect(refused.status).toBe(403)
    }
    // Nor does it make the browser ask: cookies go to every port of a host.
    const poll = async (site: string) =>
      (await ask('GET', '/accounts', { cookie, headers: { 'sec-fetch-site': site } })).status
    expect(await poll('cross-site')).toBe(403)
    expect(await poll('same-site')).toBe(403)
    expect(await poll('same-origin')).toBe(200)
    expect(await poll('none')).toBe(200)
    const own = { origin: 'http://localhost', host: 'localhost' }
    expect((await ask('POST', '/accounts', { cookie, body, headers: own })).status).toBe(201)
    const login = { body: { name, password }, headers: { origin: 'https://evil.example' } }
    expect((await ask('POST', '/session', login)).status).toBe(403)
  })

  test('somebody stays administrator', async () => {
    const all = (await asBoss('GET', '/people')).body.items as { id: string; role: string }[]
    const administrators = all.filter(({ role }) => role === 'administrator')
    const answers = []
    for (const { id } of administrators) answers.push(await asBoss('DELETE', `/people/${id}`))
    expect(answers.map(({ status }) => status)).toEqual([
      ...administrators.slice(1).map(() => 200),
      409,
    ])
    const [last] = (await asBoss('GET', '/people')).body.items.filter(
      ({ role }: { role: string }) => role === 'administrator',
    )
    expect((await asBoss('PATCH', `/people/${last.id}`, { role: 'finance' })).status).toBe(409)
    expect((await asBoss('PATCH', `/people/${last.id}`, { disabled: true })).status).toBe(409)
    const people = (await asBoss('GET', '/people')).body.items
    expect(people.find(({ id }: { id: string }) => id === last.id)).toMatchObject({
      role: 'administrator',
      disabled: false,
    })
  })

  test('somebody stays administrator when all are changed at once', async () => {
    for (const change of [{ role: 'finance' }, { disabled: true }, undefined]) {
      for (let i = 0; i < 3; i++) await add('administrator')
      const all = (await asBoss('GET', '/people')).body.items as Administrator[]
      const before = all.filter(isAdministrator)
      expect(before.length).toBeGreaterThan(1)
      const answers = await Promise.all(
        before.map(({ id }) =>
          asBoss(change === undefined ? 'DELETE' : 'PATCH', `/people/${id}`, change),
        ),
      )
      const refused = answers.filter(({ status }) => status === 409)
      expect(refused).toHaveLength(1)
      const left = (await asBoss('GET', '/people')).body.items as Administrator[]
      expect(left.filter(isAdministrator)).toHaveLength(1)
    }
  })

  test('every call is for the roles that its route names, and for no other', async () => {
    const routed = app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path}`)
    const keyOf = ({ method, path }: AdminRoute) => `${method.toUpperCase()} ${path}`
    expect(adminRoutes.map(keyOf).toSorted()).toEqual(routed.toSorted())
    const cookies = new Map<string, string | undefined>()
    for (const role of roles) {
      const { name } = await add(role, role === 'member' ? { account: 'acme' } : {})
      cookies.set(role, (await signIn(name)).cookie)
    }
    for (const route of adminRoutes.filter(({ permission }) => permission.open !== true)) {
      const { method, path, permission } = { ...route, method: route.method.toUpperCase() }
      const key = keyOf(route)
      if (key === 'DELETE /session') continue
      const asked = path.replace(':id', 'does-not-exist')
      expect((await ask(method, asked)).status).toBe(401)
      for (const role of roles.slice(1)) {
        const { status } = await ask(method, asked, { cookie: cookies.get(role) })
        const may = permission.roles.includes(role)
        expect([key, role, status === 403]).toEqual([key, role, !may])
      }
    }
  })

  test('a member sees its own account and nothing else', async () => {
    const { name } = await add('member', { account: 'acme' })
    const { cookie } = await signIn(name)
    const see = (path: string) => ask('GET', path, { cookie })
    const accounts = (await asBoss('GET', '/accounts')).body.items as { id: string; name: string }[]
    const idOf = (name: string) => accounts.find((each) => each.name === name)!.id
    const tokens = new Map<string, string>()
    const requests = new Map<string, string>()
    for (const account of ['acme', 'other']) {
      const token = await asBoss('POST', '/tokens', { account, name: newId('t') })
      tokens.set(account, token.body.id)
      const request = aRequest({ accountId: idOf(account), tokenId: token.body.id })
      await it.engine.store.record(request)
      requests.set(account, request.requestId)
    }
    expect((await see('/accounts')).body.items.map((each: { name: string }) => each.name)).toEqual([
      'acme',
    ])
    expect((await see('/requests?account=other&limit=500')).status).toBe(404)
    const listed = (await see('/requests?account=acme&limit=500')).body.items
    expect(new Set(listed.map((each: { account: string }) => each.account))).toEqual(
      new Set(['acme']),
    )
    expect((await see(`/requests?id=${requests.get('other')}`)).body.items).toEqual([])
    expect((await see(`/requests?id=${requests.get('acme')}`)).body.items).toHaveLength(1)
    const foreign = [
      `/accounts/${idOf('other')}`,
      '/accounts/other',
      `/accounts/${idOf('other')}/ledger`,
      '/accounts/other/prices',
      `/tokens/${tokens.get('other')}`,
      `/requests/${requests.get('other')}`,
      `/explain/${requests.get('other')}`,
    ]
    const gone = await see('/accounts/no-such-thing')
    const plain = ({ body }: { body: { error: { message: string } } }, path: string) =>
      body.error.message.replace(/\(req_\w+\)/, '').replace(path, '')
    for (const path of foreign) {
      const answer = await see(path)
      expect(answer.status).toBe(404)
      expect(plain(answer, path)).toBe(plain(gone, '/accounts/no-such-thing'))
      expect((await see(path.replace('other', 'acme'))).status).toBeLessThan(405)
    }
    expect((await see('/tasks/%')).status).toBe(404)
    expect((await see(`/tokens/${tokens.get('acme')}`)).status).toBe(200)
    const change = { cookie, body: { disabled: true } }
    expect((await ask('PATCH', `/tokens/${tokens.get('other')}`, change)).status).toBe(404)
    expect((await ask('PATCH', `/tokens/${tokens.get('acme')}`, change)).status).toBe(200)
    const make = (account: string) =>
      ask('POST', '/tokens', { cookie, body: { account, name: newId('t') } })
    expect((await make('other')).status).toBe(404)
    expect((await make('acme')).status).toBe(201)
    expect((await see('/bills?account=other')).status).toBe(404)
    const bills = (await see('/bills')).body
    expect(bills.account).toBe('acme')
  })

  test('a search finds what the role may list, whatever the case, and takes signs as they are', async () => {
    await asBoss('POST', '/accounts', { name: 'Globex_1' })
    await asBoss('POST', '/tokens', { account: 'Globex_1', name: 'batch' })
    await asBoss('POST', '/tokens', { account: 'acme', name: 'for-globex_1' })
    const channel = { name: 'globex_1-east', keys: ['upk-0123456789'], models: { a: '*' } }
    const made = await asBoss('POST', '/channels', {
      ...channel,
      protocols: { chat: 'https://up.example/v1' },
    })
    expect(made.status).toBe(201)
    const { name: mia } = await add('member', { account: 'Globex_1' })
    const found = async (text: string, cookie?: string) => {
      const path = `/search?q=${encodeURIComponent(text)}`
      const { body } =
        cookie === undefined ? await asBoss('GET', path) : await ask('GET', path, { cookie })
      return body.items.map(
        ({ kind, name, account }: Record<string, string>) => `${kind} ${name} ${account}`,
      )
    }
    const [account, own, person] = [
      'account Globex_1 Globex_1',
      'token batch Globex_1',
      `person ${mia} Globex_1`,
    ]
    const [foreign, east] = ['token for-globex_1 acme', 'channel globex_1-east null']
    expect((await found('gLOBEX_')).toSorted()).toEqual(
      [account, own, foreign, person, east].toSorted(),
    )
    expect(await found('globex%')).toEqual([])
    expect(await found(' ')).toEqual([])
    expect(await found('TXTA-PLUS')).toContain('model txta-plus null')
    const as = async (role: string, more = {}) =>
      (await signIn((await add(role, more)).name)).cookie
    expect(await found('globex_1', await as('operator'))).toEqual([account, own, foreign, east])
    expect(await found('globex_1', await as('finance'))).toEqual([account])
    expect(await found('globex_1', (await signIn(mia)).cookie)).toEqual([own])
    expect(await found('globex_1', await as('member', { account: 'acme' }))).toEqual([foreign])
    const listed = await asBoss('GET', '/accounts?search=BEX')
    expect(listed.body.items.map(({ name }: { name: string }) => name)).toEqual(['Globex_1'])
  })

  test('the record of changes names who it was', async () => {
    const { name } = await add('operator')
    const { cookie } = await signIn(name)
    await ask('POST', '/tokens', { cookie, body: { account: 'acme', name: 'by-operator' } })
    const [last] = (await asBoss('GET', '/audit-log?limit=1')).body.items
    expect(last).toMatchObject({ actor: name, action: 'token.create' })
  })

  test('no answer is for a cache, or for a browser to make a page of', async () => {
    const { name } = await add('operator')
    const { cookie, answer } = await signIn(name)
    const refused = await ask('GET', '/people', { cookie })
    const missing = await asBoss('GET', '/tasks/nothing')
    for (const { headers } of [answer, refused.answer, missing.answer]) {
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    }
  })

  test('no answer holds a password or its hash', async () => {
    const { name, id } = await add('operator')
    const texts = [
      JSON.stringify((await asBoss('GET', '/people')).body),
      JSON.stringify((await asBoss('PATCH', `/people/${id}`, { password: `${password}2` })).body),
      JSON.stringify((await asBoss('GET', '/audit-log?limit=50')).body),
      JSON.stringify((await signIn(name, `${password}2`)).body),
    ]
    for (const text of texts) expect(text).not.toMatch(/argon2|long enough/)
  })
})
