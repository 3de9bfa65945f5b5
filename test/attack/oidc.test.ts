// Sign-in through an identity provider, as a browser does it and as an attacker would: a real issuer
// signs, and what it says is made wrong in one point at a time.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { OidcProvider } from '../../src/admin/oidc/provider.ts'
import type { AdminApp } from '../../src/admin/route.ts'
import { admin } from '../../src/admin/test-admin.ts'
import type { OidcSettings } from '../../src/contract/people.ts'
import { refresh } from '../../src/engine/catalog/refresh.ts'
import { newTestEngine, type TestEngine } from '../../src/engine/test-engine.ts'
import { newRequestContext } from '../../src/http/request-context.ts'
import { storeKinds } from '../../src/store/test-stores.ts'
import { type Issuer, type IssuerPerson, type Lies, startIssuer } from '../support/issuer.ts'

const limits = { bodyBytes: 100_000, bodyMs: 5_000, jsonDepth: 20, listPage: 500 }
const password = 'a long enough password'
const consoleUrl = 'https://console.example'
const client = { id: 'gateway', secret: 'client-secret-of-the-gateway' }
const groups: OidcSettings['groups'] = [
  { group: 'admins', role: 'administrator' },
  { group: 'books', role: 'finance' },
  { group: 'acme-dev', role: 'member', account: 'acme' },
  { group: 'other-dev', role: 'member', account: 'other' },
  { group: 'lost-dev', role: 'member', account: 'nowhere' },
]

let issuer: Issuer
beforeAll(async () => {
  issuer = await startIssuer(client)
})
afterAll(() => issuer.stop())

/** Cookies as a browser keeps them, and the address bar. */
class Visitor {
  readonly cookies = new Map<string, string>()
  readonly app: AdminApp

  constructor(app: AdminApp) {
    this.app = app
  }

  async ask(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const request = new Request(new URL(path, 'http://localhost').href, {
      method,
      headers: {
        'sec-fetch-site': 'same-origin',
        ...(cookie !== '' && { cookie }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const context = newRequestContext(request, { ip: () => '10.0.0.1', keepOpen: () => {} })
    const answer = await this.app.fetch(request, { context })
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set)!
      if (value === '') this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    const text = await answer.text()
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
    const parsed: any = text.startsWith('{') ? JSON.parse(text) : text
    return { status: answer.status, body: parsed, location: answer.headers.get('location'), answer }
  }

  /** To the issuer and back; where it sends the browser. */
  async toIssuer(returnTo?: string): Promise<string> {
    const query = returnTo === undefined ? '' : `?return_to=${encodeURIComponent(returnTo)}`
    const { status, location } = await this.ask('GET', `/oidc/start${query}`)
    expect(status).toBe(302)
    const answer = await fetch(location!, { redirect: 'manual' })
    return answer.headers.get('location') ?? ''
  }

  /** As the browser follows the redirect of another site. */
  async callback(address: string): Promise<string> {
    const { pathname, search, origin } = new URL(address)
    expect([origin, pathname]).toEqual([consoleUrl, '/admin/v1/oidc/callback'])
    const site = { 'sec-fetch-site': 'cross-site' }
    const { status, location } = await this.ask('GET', `/oidc/callback${search}`, undefined, site)
    expect(status).toBe(302)
    return location!
  }

  signIn = async (returnTo?: string) => this.callback(await this.toIssuer(returnTo))

  session = async () => {
    const { status, body } = await this.ask('GET', '/session')
    return status === 200 ? { role: body.role, account: body.account, name: body.name } : undefined
  }
}

describe.each([...storeKinds])('sign-in through an identity provider on %s', (on) => {
  let it: TestEngine
  let app: AdminApp
  let boss: (method: string, path: string, body?: object) => ReturnType<Visitor['ask']>
  const appWith = (more: Partial<OidcSettings> = {}) => {
    const settings = { issuer: issuer.url, clientId: client.id, clientSecret: client.secret }
    const oidc = new OidcProvider({ ...settings, groups, only: false, egressAllow: [], ...more })
    const isAdmin = (secret: string) => secret === 'boss'
    return admin({ engine: it.engine, limits, isAdmin, consoleUrl, oidc })
  }
  beforeAll(async () => {
    it = await newTestEngine(on)
    app = appWith()
    await refresh(it.engine)
    boss = (method, path, body) =>
      new Visitor(app).ask(method, path, body, { authorization: 'Bearer boss' })
    for (const name of ['acme', 'other']) await boss('POST', '/accounts', { name })
  })
  afterAll(() => it.close())
  beforeEach(() => {
    issuer.lies = {}
  })

  let subjects = 0
  const someone = (...of: string[]): IssuerPerson => ({
    sub: `${on}-${++subjects}`,
    preferred_username: `sso-${on}-${subjects}`,
    groups: of,
  })
  const people = async (): Promise<{ id: string; name: string; role: string; sign_in: string }[]> =>
    (await boss('GET', '/people')).body.items
  const visitAs = async (person: IssuerPerson, at = app) => {
    issuer.person = person
    const visitor = new Visitor(at)
    return { visitor, to: await visitor.signIn() }
  }

  test.each([
    ['admins', 'administrator', null],
    ['books', 'finance', null],
    ['acme-dev', 'member', 'acme'],
  ])('the group %s gives the role %s', async (group, role, account) => {
    const person = someone('everyone', group)
    const { visitor, to } = await visitAs(person)
    expect(to).toBe('/console/')
    expect(await visitor.session()).toEqual({ role, account, name: person.preferred_username })
    expect([...visitor.cookies.keys()]).toEqual([
      '__Host-gateway-session',
      '__Secure-gateway-oidc-hint',
    ])
    const [found] = (await people()).filter(({ name }) => name === person.preferred_username)
    expect(found).toMatchObject({ role, sign_in: 'oidc' })
  })

  test('the first group of the setting counts, and groups may come as user info', async () => {
    const first = await visitAs(someone('acme-dev', 'books'))
    expect(await first.visitor.session()).toMatchObject({ role: 'finance' })
    const basic = { token_endpoint_auth_methods_supported: ['client_secret_basic'] }
    issuer.lies = { groupsInUserInfo: true, metadata: basic }
    const second = await visitAs(someone('books'), appWith())
    expect(await second.visitor.session()).toMatchObject({ role: 'finance' })
  })

  test('roles follow groups at each sign-in, and sessions of before end', async () => {
    const person = someone('admins')
    const { visitor: first } = await visitAs(person)
    const { visitor: second } = await visitAs({ ...person, groups: ['other-dev'] })
    expect(await second.session()).toMatchObject({ role: 'member', account: 'other' })
    expect(await first.session()).toBeUndefined()
    const { visitor: third } = await visitAs({ ...person, groups: ['books'] })
    expect(await third.session()).toMatchObject({ role: 'finance', account: null })
    const { visitor: same } = await visitAs({ ...person, groups: ['books'] })
    expect(await third.session()).toBeDefined()
    const { visitor: last, to } = await visitAs({ ...person, groups: ['everyone'] })
    expect(to).toBe('/console/?problem=no_group')
    for (const each of [second, third, same, last]) expect(await each.session()).toBeUndefined()
    expect((await people()).filter(({ name }) => name === person.preferred_username)).toHaveLength(
      1,
    )
  })

  test.each([
    ['is in no group', [], 'no_group'],
    ['is in a group of an account that is not there', ['lost-dev'], 'no_account'],
  ])('who %s is refused, and not created', async (_, of, problem) => {
    const before = (await people()).length
    const { visitor, to } = await visitAs(someone(...of))
    expect(to).toBe(`/console/?problem=${problem}`)
    expect(await visitor.session()).toBeUndefined()
    expect(await people()).toHaveLength(before)
  })

  test('keys are rotated at any time', async () => {
    for (let i = 0; i < 3; i++) {
      const { visitor } = await visitAs(someone('books'))
      expect(await visitor.session()).toBeDefined()
      await issuer.rotate()
    }
  })

  const hourAgo = () => Math.floor(Date.now() / 1000) - 3_600
  const lies: [string, Lies][] = [
    ['another issuer in the token', { claims: (all) => ({ ...all, iss: 'https://evil.example' }) }],
    ['another audience', { claims: (all) => ({ ...all, aud: 'another-client' }) }],
    ['another party', { claims: (all) => ({ ...all, aud: ['gateway', 'b'], azp: 'b' }) }],
    ['another nonce', { claims: (all) => ({ ...all, nonce: 'of-another-sign-in' }) }],
    ['no nonce', { claims: ({ nonce: _, ...all }) => all }],
    ['no subject', { claims: ({ sub: _, ...all }) => all }],
    ['a token that has expired', { claims: (all) => ({ ...all, exp: hourAgo() }) }],
    ['a token of the future', { claims: (all) => ({ ...all, nbf: hourAgo() + 7_200 }) }],
    ['no signature', { signature: 'none' }],
    [
      'no signature, which the issuer says it uses',
      { signature: 'none', metadata: { id_token_signing_alg_values_supported: ['none', 'RS256'] } },
    ],
    ['the signature of another key', { signature: 'other key' }],
    ['a signature with the client secret', { signature: 'client secret' }],
    ['a signature that is cut off', { signature: 'cut off' }],
    [
      'a redirect of another issuer',
      { redirect: (query) => query.set('iss', 'https://b.example') },
    ],
    ['a redirect without its issuer', { redirect: (query) => query.delete('iss') }],
    ['another state', { redirect: (query) => query.set('state', 'of-another-sign-in') }],
    ['no state', { redirect: (query) => query.delete('state') }],
    ['two states', { redirect: (query) => query.append('state', 'another') }],
    ['no code', { redirect: (query) => query.delete('code') }],
    ['a made-up code', { redirect: (query) => query.set('code', 'made-up') }],
    ['an error', { redirect: (query) => query.set('error', 'access_denied') }],
  ]
  test.each(lies)('%s is refused', async (_, lie) => {
    const before = (await people()).length
    issuer.lies = lie
    // Metadata are kept for a while: a gateway that has not asked yet.
    const { visitor, to } = await visitAs(someone('admins'), appWith())
    expect(to).toMatch(/^\/console\/\?problem=(failed|expired|denied)$/)
    expect(visitor.cookies.size).toBe(0)
    expect(await people()).toHaveLength(before)
  })

  test.each([
    ['of another issuer', { issuer: 'https://evil.example' }],
    ['that lead to an address without TLS', { authorization_endpoint: 'http://up.example/a' }],
    ['without an authorization endpoint', { authorization_endpoint: undefined }],
  ])('metadata %s are refused', async (_, metadata) => {
    issuer.lies = { metadata }
    const { status, location } = await new Visitor(appWith()).ask('GET', '/oidc/start')
    expect([status, location]).toEqual([302, '/console/?problem=unavailable'])
  })

  test('tokens are not sent to an address without TLS', async () => {
    issuer.lies = { metadata: { token_endpoint: 'http://up.example/token' } }
    const { to } = await visitAs(someone('admins'), appWith())
    expect(to).toBe('/console/?problem=failed')
  })

  test('a code works once, whatever the issuer thinks of it', async () => {
    issuer.lies = { keepsCodes: true }
    issuer.person = someone('books')
    const visitor = new Visitor(app)
    const back = await visitor.toIssuer()
    const flow = new Map(visitor.cookies)
    const copies = [visitor, new Visitor(app), new Visitor(appWith())]
    for (const copy of copies) for (const [name, value] of flow) copy.cookies.set(name, value)
    const all = await Promise.all(copies.map((copy) => copy.callback(back)))
    expect(all.toSorted()).toEqual([
      '/console/',
      '/console/?problem=expired',
      '/console/?problem=expired',
    ])
    const late = new Visitor(app)
    for (const [name, value] of flow) late.cookies.set(name, value)
    expect(await late.callback(back)).toBe('/console/?problem=expired')
    expect(await late.session()).toBeUndefined()
  })

  test('a code counts in the browser that asked for it', async () => {
    issuer.person = someone('admins')
    const attacker = new Visitor(app)
    const back = await attacker.toIssuer()
    const victim = new Visitor(app)
    expect(await victim.callback(back)).toBe('/console/?problem=expired')
    await victim.toIssuer()
    expect(await victim.callback(back)).toBe('/console/?problem=expired')
    // The code of one sign-in within another: PKCE refuses it.
    const own = new Visitor(app)
    const mine = new URL(await own.toIssuer())
    mine.searchParams.set('code', new URL(back).searchParams.get('code')!)
    expect(await own.callback(mine.href)).toBe('/console/?problem=failed')
    expect(await own.session()).toBeUndefined()
  })

  test('the cookie of a sign-in is sealed, for this host, and good for ten minutes', async () => {
    issuer.person = someone('books')
    const visitor = new Visitor(app)
    const { answer, location } = await visitor.ask('GET', '/oidc/start')
    const set = answer.headers.get('set-cookie')!
    expect(set).toMatch(
      /^__Host-gateway-oidc=v1\.[\w-]+; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=600$/,
    )
    const asked = new URL(location!).searchParams
    expect(asked.get('redirect_uri')).toBe(`${consoleUrl}/admin/v1/oidc/callback`)
    expect(asked.get('code_challenge_method')).toBe('S256')
    for (const name of ['state', 'nonce']) expect(set).not.toContain(asked.get(name)!)
    const cut = new Visitor(app)
    const back = await cut.toIssuer()
    const [[name, value] = ['', '']] = cut.cookies
    cut.cookies.set(name, `${value.slice(0, -2)}AA`)
    expect(await cut.callback(back)).toBe('/console/?problem=expired')
    const late = new Visitor(app)
    const toLate = await late.toIssuer()
    it.clock.ms += 10 * 60_000
    expect(await late.callback(toLate)).toBe('/console/?problem=expired')
  })

  test('signing out leads to the provider, which is told whose session it is', async () => {
    const metadata = { end_session_endpoint: `${issuer.url}/end` }
    issuer.lies = { metadata }
    const { visitor } = await visitAs(someone('books'), appWith())
    const hint = visitor.cookies.get('__Secure-gateway-oidc-hint')
    expect(hint).toMatch(/^v1\./)
    const { body, answer } = await visitor.ask('DELETE', '/session')
    const to = new URL(body.sign_out_url)
    expect([body.ended, to.origin + to.pathname]).toEqual([true, `${issuer.url}/end`])
    expect(to.searchParams.get('client_id')).toBe(client.id)
    expect(to.searchParams.get('post_logout_redirect_uri')).toBe(`${consoleUrl}/console/`)
    expect(to.searchParams.get('id_token_hint')?.split('.')).toHaveLength(3)
    expect(answer.headers.getSetCookie().join()).toContain('Path=/admin/v1/session')
    expect([visitor.cookies.size, await visitor.session()]).toEqual([0, undefined])
    const { body: without } = await (await visitAs(someone('books'))).visitor.ask(
      'DELETE',
      '/session',
    )
    expect(without).toEqual({ ended: true, sign_out_url: null })
    // Over and no page without TLS, whatever the metadata say.
    issuer.lies = { metadata: { end_session_endpoint: 'http://up.example/end' } }
    const { visitor: last } = await visitAs(someone('books'), appWith())
    expect((await last.ask('DELETE', '/session')).body.sign_out_url).toBeNull()
    expect(await last.session()).toBeUndefined()
  })

  test('another gateway finishes what one has begun', async () => {
    issuer.person = someone('books')
    const begun = new Visitor(appWith())
    const back = await begun.toIssuer()
    const other = new Visitor(appWith())
    for (const [name, value] of begun.cookies) other.cookies.set(name, value)
    expect(await other.callback(back)).toBe('/console/')
    expect(await other.session()).toMatchObject({ role: 'finance' })
  })

  test('a page of another site begins no sign-in', async () => {
    const site = { 'sec-fetch-site': 'cross-site' }
    const { status } = await new Visitor(app).ask('GET', '/oidc/start', undefined, site)
    expect(status).toBe(403)
  })

  test.each([
    ['/console/tasks?state=failed', '/console/tasks?state=failed'],
    ['https://evil.example/console/', '/console/'],
    ['//evil.example/console/', '/console/'],
    ['/console/..//evil.example', '/console/'],
    ['/console/%2e%2e//evil.example', '/console/'],
    ['/console/../../admin/v1/session', '/console/'],
    ['/\\evil.example/console/', '/console/'],
    ['/console/\r\nset-cookie: a=b', '/console/'],
    ['javascript:alert(1)', '/console/'],
    ['/elsewhere', '/console/'],
  ])('%j is answered by %s', async (asked, to) => {
    issuer.person = someone('books')
    expect(await new Visitor(app).signIn(asked)).toBe(to)
  })

  test('a name or an address of another person takes nothing over', async () => {
    const name = `ada-${on}`
    const made = await boss('POST', '/people', { name, password, role: 'administrator' })
    const { visitor } = await visitAs({
      ...someone('books'),
      preferred_username: name,
      email: name,
    })
    const session = await visitor.session()
    expect(session).toMatchObject({ role: 'finance' })
    expect(session!.name).not.toBe(name)
    const ada = (await people()).find(({ id }) => id === made.body.id)
    expect(ada).toMatchObject({ role: 'administrator', sign_in: 'password' })
    const body = { name, password }
    expect((await new Visitor(app).ask('POST', '/session', body)).status).toBe(200)
  })

  test.each(['admin', 'Gateway', 'system\u200b', '[admin]'])(
    '%s is no name for a person',
    async (name) => {
      const person = { ...someone('books'), preferred_username: name }
      const { visitor } = await visitAs(person)
      expect(await visitor.session()).toMatchObject({ name: person.sub })
      const alone = { ...someone('books'), preferred_username: name, sub: name }
      const { visitor: other } = await visitAs(alone)
      expect((await other.session())!.name).toMatch(/^person\+[0-9a-f]{8}$/)
    },
  )

  test('made-up codes reach the provider thirty times in ten minutes, and leave no row', async () => {
    it.clock.ms += 11 * 60_000
    issuer.asked.length = 0
    issuer.person = someone('books')
    const before = await it.engine.store.read.selectFrom('used_sign_ins').selectAll().execute()
    const ends: string[] = []
    for (let i = 0; i < 40; i++) {
      const visitor = new Visitor(app)
      const back = new URL(await visitor.toIssuer())
      back.searchParams.set('code', `made-up-${i}`)
      ends.push(await visitor.callback(back.href))
    }
    expect(ends.filter((to) => to === '/console/?problem=failed')).toHaveLength(30)
    expect(ends.slice(30)).toEqual(ends.slice(30).map(() => '/console/?problem=too_many'))
    expect(issuer.asked.filter((path) => path.startsWith('/token'))).toHaveLength(30)
    const rows = await it.engine.store.read.selectFrom('used_sign_ins').selectAll().execute()
    expect(rows).toEqual(before)
    // Nor does a callback that nobody began, or one without a code.
    const bare = new Visitor(app)
    expect(await bare.callback(`${consoleUrl}/admin/v1/oidc/callback?state=x&code=y`)).toBe(
      '/console/?problem=expired',
    )
    expect(issuer.asked.filter((path) => path.startsWith('/token'))).toHaveLength(30)
    it.clock.ms += 11 * 60_000
    expect((await visitAs(someone('books'))).to).toBe('/console/')
  })

  test('who comes by the provider has no password, and can be disabled here', async () => {
    const person = someone('admins')
    const { visitor } = await visitAs(person)
    const { id, name } = (await people()).find((each) => each.name === person.preferred_username)!
    for (const secret of ['', password]) {
      const body = { name, password: secret }
      expect((await new Visitor(app).ask('POST', '/session', body)).status).toBe(401)
    }
    const own = { old: '', password }
    expect((await visitor.ask('POST', '/session/password', own)).status).toBe(409)
    expect((await boss('POST', `/people/${id}/password-link`)).status).toBe(409)
    for (const change of [{ role: 'finance' }, { password }]) {
      expect((await boss('PATCH', `/people/${id}`, change)).status).toBe(409)
    }
    expect((await boss('PATCH', `/people/${id}`, { disabled: true })).status).toBe(200)
    expect(await visitor.session()).toBeUndefined()
    expect((await visitAs(person)).to).toBe('/console/?problem=disabled')
  })

  describe('with GATEWAY_OIDC_ONLY=on', () => {
    const names = { glass: `glass-${on}`, second: `second-${on}`, operator: `operator-${on}` }
    let closed: AdminApp
    let before: Map<string, Visitor>
    const signIn = async (at: AdminApp, name: string, secret = password) => {
      const visitor = new Visitor(at)
      const { status } = await visitor.ask('POST', '/session', { name, password: secret })
      return { visitor, status }
    }
    beforeAll(async () => {
      for (const { id } of await people()) await boss('DELETE', `/people/${id}`)
      for (const each of await people()) await boss('DELETE', `/people/${each.id}`)
      closed = appWith({ only: true })
      before = new Map()
      for (const [key, name] of Object.entries(names)) {
        it.clock.ms += 1_000
        const role = key === 'operator' ? 'operator' : 'administrator'
        await boss('POST', '/people', { name, password, role })
        before.set(name, (await signIn(app, name)).visitor)
      }
      const left = (await people()).filter(({ name }) => !Object.values(names).includes(name))
      for (const { id } of left) await boss('DELETE', `/people/${id}`)
    })

    test('the oldest administrator with a password is the only one who signs in with it', async () => {
      const options = (await new Visitor(closed).ask('GET', '/session/options')).body
      expect(options).toEqual({ oidc: true, passwords: false })
      const told = new Set<string>()
      for (const [name, secret] of [
        [names.second, password],
        [names.operator, password],
        [names.glass, 'not the password'],
        ['nobody-at-all', password],
      ] as const) {
        const answer = await new Visitor(closed).ask('POST', '/session', { name, password: secret })
        expect([name, answer.status]).toEqual([name, 401])
        told.add(answer.body.error.message.replace(/\(req_\w+\)/, ''))
      }
      expect(told.size).toBe(1)
      expect((await signIn(closed, names.glass)).status).toBe(200)
    })

    test('sessions that were opened with other passwords are over', async () => {
      const holds = async (name: string) => {
        const visitor = new Visitor(closed)
        for (const [key, value] of before.get(name)!.cookies) visitor.cookies.set(key, value)
        return (await visitor.session()) !== undefined
      }
      expect(await holds(names.glass)).toBe(true)
      expect(await holds(names.second)).toBe(false)
      expect(await holds(names.operator)).toBe(false)
    })

    test('nobody is invited, and the next administrator takes the place of a disabled one', async () => {
      const asBoss = (method: string, path: string, body?: object) =>
        new Visitor(closed).ask(method, path, body, { authorization: 'Bearer boss' })
      expect((await asBoss('POST', '/invitations', { role: 'operator' })).status).toBe(409)
      const all = await people()
      const idOf = (name: string) => all.find((each) => each.name === name)!.id
      const link = (name: string) => asBoss('POST', `/people/${idOf(name)}/password-link`)
      expect((await link(names.operator)).status).toBe(409)
      expect((await link(names.glass)).status).toBe(201)
      await boss('PATCH', `/people/${idOf(names.glass)}`, { disabled: true })
      expect((await signIn(closed, names.glass)).status).toBe(401)
      expect((await signIn(closed, names.second)).status).toBe(200)
    })

    test('the provider still leads in', async () => {
      const { visitor } = await visitAs(someone('books'), closed)
      expect(await visitor.session()).toMatchObject({ role: 'finance' })
    })
  })
})
