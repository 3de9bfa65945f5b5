// What an operator has set on a token, a member of the account can narrow but never widen or undo, by
// whichever call.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { newPerson, type SignedIn } from '../support/sign-in.ts'

let gateway: TestGateway
let operator: SignedIn
let member: SignedIn

beforeAll(async () => {
  gateway = await startGateway()
  operator = await newPerson(gateway, { name: 'olga', role: 'operator' })
  member = await newPerson(gateway, { name: 'mia', role: 'member', account: 'acme' })
})
afterAll(() => gateway.stop())

const year = (n: number) => `20${n}-01-01T00:00:00.000Z`
const rules = {
  models: ['txta-turbo', 'vfa-*'],
  limits: { rpm: 10, concurrency: 2 },
  allowed_ips: ['10.0.0.0/8', '2001:db8::/32'],
  expires_at: year(40),
}
let made = 0
const newToken = async (by: SignedIn, more: object = {}) => {
  const body = { account: 'acme', name: `t-${++made}`, ...more }
  const answer = await by.ask('POST', '/tokens', body)
  expect(answer.status).toBe(201)
  return answer.body as { id: string; token: string }
}
const chat = async (token: string, model = 'txta-plus') =>
  (
    await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'x' }] }),
    })
  ).status

const widenings: readonly [object, string][] = [
  [{ models: ['*'] }, 'models'],
  [{ models: ['txta-plus'] }, 'models'],
  [{ models: ['txta-turbo', 'vf*'] }, 'models'],
  [{ models: ['txta-turbo*'] }, 'models'],
  [{ limits: { rpm: null } }, 'limits.rpm'],
  [{ limits: { rpm: 11 } }, 'limits.rpm'],
  [{ limits: { concurrency: 3, rpm: 1 } }, 'limits.concurrency'],
  [{ allowed_ips: [] }, 'allowed_ips'],
  [{ allowed_ips: ['0.0.0.0/0'] }, 'allowed_ips'],
  [{ allowed_ips: ['10.0.0.0/7'] }, 'allowed_ips'],
  [{ allowed_ips: ['10.1.0.0/16', '11.0.0.1'] }, 'allowed_ips'],
  [{ allowed_ips: ['::/0'] }, 'allowed_ips'],
  [{ expires_at: null }, 'expires_at'],
  [{ expires_at: year(41) }, 'expires_at'],
]

test('a member cannot widen what an operator made', async () => {
  const { id } = await newToken(operator, rules)
  for (const [change, param] of widenings) {
    const refused = await member.ask('PATCH', `/tokens/${id}`, change)
    expect([change, refused.status, refused.body.error?.param]).toEqual([change, 403, param])
    // Nor hidden behind something harmless.
    const mixed = await member.ask('PATCH', `/tokens/${id}`, { name: 'renamed', ...change })
    expect([change, mixed.status]).toEqual([change, 403])
  }
  expect((await operator.ask('GET', `/tokens/${id}`)).body).toMatchObject(rules)
})

test('a member narrows, and goes back as far as the operator allows', async () => {
  const { id } = await newToken(operator, rules)
  for (const change of [
    { models: ['vfa-2.7-t2v'], limits: { rpm: 5 }, allowed_ips: ['10.1.2.3'], disabled: true },
    { expires_at: year(30), limits: { tpm: 100 } },
    { ...rules, disabled: false, models: ['txta-turbo', 'vfa-2*'] },
    { limits: { tpm: null }, allowed_ips: ['10.0.0.0/8', '2001:db8:1::/48'] },
  ]) {
    expect([change, (await member.ask('PATCH', `/tokens/${id}`, change)).status]).toEqual([
      change,
      200,
    ])
  }
})

test('what an operator disabled stays disabled, also under another secret', async () => {
  for (const by of [operator, member]) {
    const { id, token } = await newToken(by)
    expect(await chat(token)).toBe(200)
    await operator.ask('PATCH', `/tokens/${id}`, { disabled: true })
    const enabled = await member.ask('PATCH', `/tokens/${id}`, { disabled: false })
    expect([enabled.status, enabled.body.error?.param]).toEqual([403, 'disabled'])
    const previous_valid_until = new Date(Date.now() + 3_600_000).toISOString()
    const rotated = await member.ask('POST', `/tokens/${id}/rotate`, { previous_valid_until })
    const oldId = rotated.body.previous?.id as string
    expect((await member.ask('PATCH', `/tokens/${oldId}`, { disabled: false })).status).toBe(403)
    for (const secret of [token, rotated.body.token as string]) expect(await chat(secret)).toBe(401)
    await operator.ask('PATCH', `/tokens/${id}`, { disabled: false })
    expect(await chat(rotated.body.token)).toBe(200)
    expect((await member.ask('PATCH', `/tokens/${id}`, { disabled: true })).status).toBe(200)
    expect((await member.ask('PATCH', `/tokens/${id}`, { disabled: false })).status).toBe(200)
  }
})

test('what an operator restricts later binds as well, and only that', async () => {
  const { id } = await newToken(member, { models: ['txta-*'], limits: { rpm: 3 } })
  expect((await member.ask('PATCH', `/tokens/${id}`, { limits: { rpm: null } })).status).toBe(200)
  await operator.ask('PATCH', `/tokens/${id}`, { models: ['txta-turbo'] })
  expect((await member.ask('PATCH', `/tokens/${id}`, { models: ['txta-*'] })).status).toBe(403)
  expect((await member.ask('PATCH', `/tokens/${id}`, { limits: { rpm: 900 } })).status).toBe(200)
  await operator.ask('PATCH', `/tokens/${id}`, { models: ['*'] })
  expect((await member.ask('PATCH', `/tokens/${id}`, { models: ['txta-*'] })).status).toBe(200)
})

test('an old secret does not outlive the time that was agreed', async () => {
  const { id } = await newToken(operator)
  const previous_valid_until = new Date(Date.now() + 60_000).toISOString()
  const { body } = await operator.ask('POST', `/tokens/${id}/rotate`, { previous_valid_until })
  const later = await member.ask('PATCH', `/tokens/${body.previous.id}`, { expires_at: null })
  expect([later.status, later.body.error?.param]).toEqual([403, 'expires_at'])
})

test('a member does not choose a secret, and staff not one that is easily guessed', async () => {
  const strong = 'sk-0123456789abcdefghijklmnopqrs'
  const body = { account: 'acme', name: 'chosen', token: strong }
  const refused = await member.ask('POST', '/tokens', body)
  expect([refused.status, refused.body.error?.param]).toEqual([403, 'token'])
  for (const token of [`sk-${'z'.repeat(40)}`, `sk-${'ab'.repeat(20)}`, `sk-${'0-'.repeat(20)}1`]) {
    const weak = await operator.ask('POST', '/tokens', { ...body, token })
    expect([token, weak.status, weak.body.error?.param]).toEqual([token, 400, 'token'])
  }
  expect((await operator.ask('POST', '/tokens', body)).status).toBe(201)
})

test('a member has as many tokens as the account allows, also at once and by rotation', async () => {
  await gateway.admin('POST', '/accounts', { name: 'few' })
  const mo = await newPerson(gateway, { name: 'mo', role: 'member', account: 'few' })
  const { body: usual } = await gateway.admin('GET', '/accounts/few')
  expect(usual.token_limit).toBe(200)
  await gateway.admin('PATCH', '/accounts/few', { token_limit: 4 })
  const create = (name: string) => mo.ask('POST', '/tokens', { account: 'few', name })
  const made = await Promise.all(Array.from({ length: 12 }, (_, at) => create(`few-${at}`)))
  expect(made.map(({ status }) => status).toSorted()).toEqual([
    ...Array.from({ length: 4 }, () => 201),
    ...Array.from({ length: 8 }, () => 409),
  ])
  const { id } = made.find(({ status }) => status === 201)!.body
  const overlap = { previous_valid_until: new Date(Date.now() + 60_000).toISOString() }
  expect((await mo.ask('POST', `/tokens/${id}/rotate`, overlap)).status).toBe(409)
  expect((await mo.ask('POST', `/tokens/${id}/rotate`, {})).status).toBe(200)
  // A revoked one counts for a day, so that rows are not made without end.
  expect((await mo.ask('DELETE', `/tokens/${id}`)).status).toBe(200)
  expect((await create('another')).status).toBe(409)
  // Staff is not bound, and may raise the limit; the member may not.
  expect((await operator.ask('POST', '/tokens', { account: 'few', name: 'staff' })).status).toBe(
    201,
  )
  expect((await mo.ask('PATCH', '/accounts/few', { token_limit: 99 })).status).toBe(403)
  expect((await operator.ask('PATCH', '/accounts/few', { token_limit: 6 })).status).toBe(200)
  expect((await create('another')).status).toBe(201)
  const { body } = await gateway.admin('PATCH', '/accounts/few', { token_limit: null })
  expect(body.token_limit).toBe(200)
})

test('a token has at most 200 addresses and 1,000 models', async () => {
  const ips = Array.from({ length: 201 }, (_, at) => `10.0.${at}.0/24`)
  const models = Array.from({ length: 1_001 }, (_, at) => `m-${at}`)
  for (const [field, value] of Object.entries({ allowed_ips: ips, models })) {
    const body = { account: 'acme', name: `wide-${field}`, [field]: value }
    for (const by of [operator, member]) {
      const refused = await by.ask('POST', '/tokens', body)
      expect([refused.status, refused.body.error.param]).toEqual([400, field])
    }
    const fits = await operator.ask('POST', '/tokens', { ...body, [field]: value.slice(1) })
    expect(fits.status).toBe(201)
    const wider = await operator.ask('PATCH', `/tokens/${fits.body.id}`, { [field]: value })
    expect(wider.status).toBe(400)
    const narrow = { [field]: value.slice(101) }
    expect((await member.ask('PATCH', `/tokens/${fits.body.id}`, narrow)).status).toBe(200)
  }
})
