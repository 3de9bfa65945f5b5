// Invitations and links for new passwords, asked of the whole admin API: who may make one, and that
// each works once, for seven days, for what it was made for.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { refresh } from '../../engine/catalog/refresh.ts'
import { newTestEngine, type TestEngine } from '../../engine/test-engine.ts'
import { newRequestContext } from '../../http/request-context.ts'
import { newId } from '../../lib/crypto/ids.ts'
import type { Mailer } from '../../lib/net/mailer.ts'
import { storeKinds } from '../../store/test-stores.ts'
import type { AdminApp } from '../route.ts'
import { admin } from '../test-admin.ts'

const limits = { bodyBytes: 100_000, bodyMs: 5_000, jsonDepth: 20, listPage: 500 }
const password = 'a long enough password'
const dayMs = 24 * 3_600_000

describe.each([...storeKinds])('invitations on %s', (on) => {
  let it: TestEngine
  let app: AdminApp
  beforeAll(async () => {
    it = await newTestEngine(on)
    const isAdmin = (secret: string) => secret === 'boss'
    app = admin({ engine: it.engine, limits, isAdmin, consoleUrl: 'https://console.example' })
    await refresh(it.engine)
    for (const name of ['acme', 'other']) await asBoss('POST', '/accounts', { name })
  })
  afterAll(() => it.close())
  // Wrong codes are counted by the minute.
  beforeEach(() => {
    it.clock.ms += 61_000
  })

  async function ask(method: string, path: string, body?: object, headers: object = {}) {
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: {
        'sec-fetch-site': 'same-origin',
        ...headers,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const context = newRequestContext(request, { ip: () => '10.0.0.1', keepOpen: () => {} })
    const answer = await app.fetch(request, { context })
    const cookie = answer.headers.get('set-cookie')?.split(';')[0]
    const text = await answer.text()
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
    return { status: answer.status, body: JSON.parse(text) as any, text, cookie }
  }
  const asBoss = (method: string, path: string, body?: object) =>
    ask(method, path, body, { authorization: 'Bearer boss' })
  const as = (cookie: string | undefined, method: string, path: string, body?: object) =>
    ask(method, path, body, { cookie })

  const newName = () => newId('p').slice(0, 30)
  const codeIn = (url: string) => url.split('#')[1]!
  const invite = async (body: object) => {
    const made = await asBoss('POST', '/invitations', body)
    expect(made.status).toBe(201)
    return { id: made.body.id as string, code: codeIn(made.body.url) }
  }
  const accept = (code: string, name?: string, secret = password) =>
    ask('POST', '/invitations/accept', {
      code,
      password: secret,
      ...(name !== undefined && { name }),
    })
  const join = async (role: string, more: object = {}) => {
    const { code } = await invite({ role, ...more })
    const name = newName()
    const { status, cookie } = await accept(code, name)
    expect(status).toBe(200)
    const all = (await asBoss('GET', '/people')).body.items as { id: string; name: string }[]
    return { name, cookie, id: all.find((each) => each.name === name)!.id }
  }

  test('a link leads to a person with the role and the account it was made for', async () => {
    const made = await asBoss('POST', '/invitations', { role: 'member', account: 'acme' })
    expect(made.status).toBe(201)
    expect(made.body.url).toMatch(/^https:\/\/console\.example\/console\/invitation#\w{40}$/)
    const at = it.clock.ms + 7 * dayMs
    expect(made.body.expires_at).toBe(new Date(at).toISOString())
    const code = codeIn(made.body.url)
    const opened = await ask('POST', '/invitations/open', { code })
    expect(opened.body).toMatchObject({ kind: 'invitation', role: 'member', account: 'acme' })
    const accepted = await accept(code, 'Mia')
    expect(accepted.body).toMatchObject({ name: 'mia', role: 'member', account: 'acme' })
    const seen = await as(accepted.cookie, 'GET', '/session')
    expect(seen.body).toMatchObject({ name: 'mia', role: 'member', account: 'acme' })
    expect((await ask('POST', '/session', { name: 'mia', password })).status).toBe(200)
    const [listed] = (await asBoss('GET', '/invitations')).body.items
    expect(listed).toMatchObject({ id: made.body.id, state: 'accepted', person: 'mia' })
  })

  test('the code is neither stored nor listed nor recorded', async () => {
    const { code, id } = await invite({ role: 'operator', email: 'ada@example.com' })
    const rows = await it.engine.store.read.selectFrom('invitations').selectAll().execute()
    expect(rows.some((row) => row.id === id)).toBe(true)
    expect(JSON.stringify(rows)).not.toContain(code)
    expect((await asBoss('GET', '/invitations')).text).not.toContain(code)
    expect((await asBoss('GET', '/audit-log?limit=20')).text).not.toContain(code)
  })

  test('the link is also sent by e-mail where mail is set up, and stays where it is not', async () => {
    const made = await asBoss('POST', '/invitations', { role: 'finance', email: 'fin@example.com' })
    expect(made.body).toMatchObject({ mailed: false, mail_problem: null })
    const mails: { to: string; text: string }[] = []
    const mailer: Mailer = {
      async send(mail) {
        mails.push(mail)
        return mail.to.startsWith('gone')
          ? { status: 550, problem: 'no such person' }
          : { status: 250 }
      },
    }
    const before = app
    app = admin({
      ...{ engine: { ...it.engine, mailer }, limits, consoleUrl: 'https://console.example' },
      isAdmin: (secret) => secret === 'boss',
    })
    const sent = await asBoss('POST', '/invitations', { role: 'finance', email: 'fin@example.com' })
    expect(sent.body).toMatchObject({ mailed: true, mail_problem: null })
    expect(mails).toMatchObject([{ to: 'fin@example.com' }])
    expect(mails[0]!.text).toContain(sent.body.url)
    const lost = await asBoss('POST', '/invitations', {
      role: 'finance',
      email: 'gone@example.com',
    })
    expect(lost.status).toBe(201)
    expect(lost.body).toMatchObject({ mailed: false, mail_problem: 'no such person' })
    expect(codeIn(lost.body.url)).not.toBe('')
    app = before
  })

  test('it works once, and of two who open it at once, one comes in', async () => {
    const { code } = await invite({ role: 'finance' })
    const before = (await asBoss('GET', '/people')).body.items.length
    const names = [newName(), newName(), newName()]
    const answers = await Promise.all(names.map((name) => accept(code, name)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409])
    expect(answers.filter(({ cookie }) => cookie !== undefined)).toHaveLength(1)
    expect((await accept(code, newName())).status).toBe(409)
    expect((await ask('POST', '/invitations/open', { code })).status).toBe(409)
    expect((await asBoss('GET', '/people')).body.items).toHaveLength(before + 1)
  })

  test('tampered, revoked and expired links look alike and create no one', async () => {
    const { code, id } = await invite({ role: 'finance' })
    const before = (await asBoss('GET', '/people')).body.items.length
    const flipped = code.startsWith('A') ? `B${code.slice(1)}` : `A${code.slice(1)}`
    const messages = new Set<string>()
    const refused = async (wrong: string) => {
      const answer = await accept(wrong, newName())
      expect(answer.status).toBe(409)
      messages.add(answer.body.error.message.replace(/\(req_\w+\)/, ''))
    }
    for (const wrong of [flipped, '', `${code}x`, id, it.engine.seal.hash(code)]) {
      await refused(wrong)
    }
    expect((await asBoss('DELETE', `/invitations/${id}`)).status).toBe(200)
    await refused(code)
    expect((await asBoss('DELETE', `/invitations/${id}`)).status).toBe(404)
    const late = await invite({ role: 'finance' })
    it.clock.ms += 7 * dayMs - 1
    expect((await ask('POST', '/invitations/open', { code: late.code })).status).toBe(200)
    it.clock.ms += 1
    await refused(late.code)
    expect(messages.size).toBe(1)
    expect((await asBoss('GET', '/people')).body.items).toHaveLength(before)
    const accepted = await invite({ role: 'finance' })
    await accept(accepted.code, newName())
    expect((await asBoss('DELETE', `/invitations/${accepted.id}`)).status).toBe(409)
  })

  test('a name that is taken or wrong leaves the link as it was', async () => {
    const { name } = await join('operator')
    const { code } = await invite({ role: 'operator' })
    expect((await accept(code, name)).body.error).toMatchObject({ code: 'conflict', param: 'name' })
    expect((await accept(code)).body.error.param).toBe('name')
    expect((await accept(code, 'a b')).body.error.param).toBe('name')
    expect((await accept(code, newName(), 'short')).body.error.param).toBe('password')
    expect((await accept(code, newName())).status).toBe(200)
  })

  test('members need an account, others have none', async () => {
    const wrong: [object, number][] = [
      [{ role: 'member' }, 400],
      [{ role: 'member', account: 'nowhere' }, 404],
      [{ role: 'operator', account: 'acme' }, 400],
      [{ role: 'emperor' }, 400],
      [{ role: 'operator', email: 'not an address' }, 400],
      [{ role: 'operator', days: 400 }, 400],
      [{}, 400],
    ]
    for (const [body, status] of wrong) {
      expect([body, (await asBoss('POST', '/invitations', body)).status]).toEqual([body, status])
    }
  })

  test('only administrators invite', async () => {
    for (const [role, more] of [
      ['operator', {}],
      ['finance', {}],
      ['member', { account: 'acme' }],
    ] as const) {
      const { cookie, id } = await join(role, more)
      for (const body of [{ role: 'administrator' }, { role: 'member', account: 'acme' }]) {
        expect((await as(cookie, 'POST', '/invitations', body)).status).toBe(403)
      }
      expect((await as(cookie, 'GET', '/invitations')).status).toBe(403)
      expect((await as(cookie, 'POST', `/people/${id}/password-link`)).status).toBe(403)
    }
    expect((await ask('POST', '/invitations', { role: 'operator' })).status).toBe(401)
  })

  test.each([
    ['removed', 'DELETE', undefined],
    ['disabled', 'PATCH', { disabled: true }],
    ['no administrator any more', 'PATCH', { role: 'operator' }],
  ] as const)('who is %s leaves no open link behind', async (_, method, change) => {
    await join('administrator')
    const { cookie, id } = await join('administrator')
    const made = await as(cookie, 'POST', '/invitations', { role: 'administrator' })
    expect(made.status).toBe(201)
    expect((await asBoss(method, `/people/${id}`, change)).status).toBe(200)
    expect((await accept(codeIn(made.body.url), newName())).status).toBe(409)
  })

  const passwordLink = async (id: string) =>
    codeIn((await asBoss('POST', `/people/${id}/password-link`)).body.url)
  const signIn = async (name: string, secret: string) =>
    (await ask('POST', '/session', { name, password: secret })).status

  test('a link for a new password sets it, and ends the sessions of before', async () => {
    const { name, cookie, id } = await join('operator')
    const code = await passwordLink(id)
    expect(await signIn(name, password)).toBe(200)
    const opened = await ask('POST', '/invitations/open', { code })
    expect(opened.body).toMatchObject({ kind: 'password', person: name, role: 'operator' })
    const accepted = await accept(code, undefined, 'another long password')
    expect(accepted.body.name).toBe(name)
    expect((await as(accepted.cookie, 'GET', '/session')).status).toBe(200)
    expect((await as(cookie, 'GET', '/session')).status).toBe(401)
    expect(await signIn(name, password)).toBe(401)
    expect(await signIn(name, 'another long password')).toBe(200)
    expect((await accept(code, undefined, 'a third long password')).status).toBe(409)
  })

  test('a newer link, a changed password, and a disabled or removed person end it', async () => {
    const { name, id, cookie } = await join('operator')
    const refused = async (code: string) =>
      expect((await accept(code, undefined, 'another long password')).status).toBe(409)
    const older = await passwordLink(id)
    const newer = await passwordLink(id)
    await refused(older)
    const own = { old: password, password: 'my own long password' }
    expect((await as(cookie, 'POST', '/session/password', own)).status).toBe(200)
    await refused(newer)
    const third = await passwordLink(id)
    await asBoss('PATCH', `/people/${id}`, { disabled: true })
    await refused(third)
    expect((await asBoss('POST', `/people/${id}/password-link`)).status).toBe(409)
    await asBoss('PATCH', `/people/${id}`, { disabled: false })
    await refused(third)
    const fourth = await passwordLink(id)
    await asBoss('DELETE', `/people/${id}`)
    await refused(fourth)
    expect(await signIn(name, own.password)).toBe(401)
  })

  test('guesses are slowed down, and a right code is not', async () => {
    const { code } = await invite({ role: 'finance' })
    const wrong = await Promise.all(
      Array.from({ length: 40 }, (_, i) => ask('POST', '/invitations/open', { code: `no-${i}` })),
    )
    expect([...new Set(wrong.map(({ status }) => status))].toSorted()).toEqual([409, 429])
    expect((await accept(code, newName())).status).toBe(200)
  })

  test('a page of another site accepts nothing', async () => {
    const { code } = await invite({ role: 'finance' })
    const body = { code, name: newName(), password }
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }]) {
      expect((await ask('POST', '/invitations/accept', body, headers)).status).toBe(403)
    }
  })
})
