// Budgets over HTTP, on a gateway that is killed and started again: refusals in every style before
// anything goes upstream, what answers show, who may set them, and what a restart keeps.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { formatNanos } from '../../src/lib/text/decimal.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { nanos, requestIdOf, until } from '../support/read.ts'

const fileToken = 'sk-file-0123456789abcdefghijklmnop'
const configFor = (secret = fileToken) => `
accounts:
  - { name: acme, balance: "100.00" }
  - { name: filed, balance: "100.00", budget: { amount: "7.00", per: week, zone: Europe/Berlin } }
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: filed, name: filed, token: ${secret}, budget: { amount: "0.50", per: total } }
prices:
  - { model: imga-plus, unit: image, per_image: "0.20" }
`

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway({ config: configFor() })
})
afterAll(async () => {
  await gateway.stop()
})

interface Made {
  id: string
  token: string
}

async function newToken(name: string, budget?: object, account = 'acme'): Promise<Made> {
  const body = { account, name, ...(budget && { budget }) }
  const made = await gateway.admin('POST', '/tokens', body)
  expect(made.status).toBe(201)
  return made.body
}

const as = (token: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
  gateway.post(path, body, { authorization: `Bearer ${token}`, ...headers })

const image = { model: 'imga-plus', prompt: 'a lake', size: '1024x1024' }
const chat = { model: 'txta-plus', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }
const sentTimes = async (token: string) => {
  const { body } = await gateway.admin('GET', `/requests?token=${token}`)
  return body.items.filter(({ attempts }: { attempts: unknown[] }) => attempts.length > 0).length
}

test('every style refuses in its own words, with the time of the reset, and sends nothing', async () => {
  const { id, token } = await newToken('styles', { amount: '0', per: 'day', zone: 'Asia/Kolkata' })
  const text = [{ role: 'user', content: 'hi' }]
  const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
  const asked = [
    as(token, '/v1/chat/completions', chat),
    as(token, '/v1/chat/completions', { ...chat, stream: true }),
    as(token, '/v1/responses', { model: 'txta-plus', input: 'hi' }),
    as(token, '/v1/messages', { ...chat, messages: text }),
    as(token, '/vendorg/v1beta/models/txta-plus:generateContent', { contents }),
    as(token, '/v1/embeddings', { model: 'txta-embed', input: 'hi' }),
    as(token, '/v1/images/generations', image),
    as(token, '/v1/videos', { model: 'vfa-2.7-t2v', prompt: 'a lake' }),
  ]
  for (const answer of await Promise.all(asked)) {
    const body = (await answer.json()) as { error: { type: string } }
    expect([answer.url, answer.status, JSON.stringify(body)]).toEqual([
      answer.url,
      402,
      expect.stringContaining('budget_exhausted'),
    ])
    const isMessages = answer.url.endsWith('/messages')
    const isSdk = answer.url.includes('generateContent')
    if (!isSdk) expect(body.error.type).toBe(isMessages ? 'billing_error' : 'insufficient_quota')
    const seconds = Number(answer.headers.get('retry-after'))
    expect(seconds > 0 && seconds <= 86_400).toBe(true)
  }
  expect(await sentTimes(id)).toBe(0)
  const total = await newToken('never', { amount: '0.00', per: 'total' })
  const never = await as(total.token, '/v1/chat/completions', chat)
  expect([never.status, never.headers.get('retry-after')]).toEqual([402, null])
})

test('a refusal says what the hold is for, and which field lowers it', async () => {
  const { token } = await newToken('small', { amount: '0.000001', per: 'month' })
  const messageOf = async (path: string, body: object) => {
    const { error } = (await (await as(token, path, body)).json()) as { error: { message: string } }
    return error.message
  }
  const { max_tokens: _, ...open } = chat
  const bounded = await messageOf('/v1/chat/completions', chat)
  expect(bounded).toMatch(/may cost [\d.]+ \(up to \d+ input and 5 output tokens\); it resets at /)
  expect(await messageOf('/v1/chat/completions', open)).toMatch(
    /\(up to \d+ input and \d+ output tokens\); set 'max_tokens' to need less; it resets at /,
  )
  expect(await messageOf('/v1/responses', { model: 'txta-plus', input: 'hi' })).toContain(
    "set 'max_output_tokens' to need less",
  )
  expect(await messageOf('/v1/images/generations', image)).not.toContain('tokens')
})

test('a budget for ten images serves ten of forty at once, and shows where it went', async () => {
  const made = await newToken('ten', { amount: '2.00', per: 'month', zone: 'Asia/Shanghai' })
  const asked = Array.from({ length: 40 }, () => as(made.token, '/v1/images/generations', image))
  const answers = await Promise.all(asked)
  const served = answers.filter(({ status }) => status === 200)
  expect(served).toHaveLength(10)
  expect(answers.filter(({ status }) => status === 402)).toHaveLength(30)
  const { body } = await gateway.admin('GET', `/tokens/${made.id}`)
  const shown = { amount: '2.00', per: 'month', zone: 'Asia/Shanghai', spent: '2.00' }
  expect(body.budget).toMatchObject({ ...shown, held: '0.00', left: '0.00' })
  // Midnight in Shanghai.
  expect(body.budget.resets_at).toEndWith('T16:00:00.000Z')
  const usage = await fetch(`${gateway.url}/gateway/v1/usage`, {
    headers: { authorization: `Bearer ${made.token}` },
  })
  const own = (await usage.json()) as { budgets: object[] }
  expect(own.budgets).toMatchObject([{ scope: 'token', name: 'ten', ...shown }])
  const { body: explained } = await gateway.admin('GET', `/explain/${requestIdOf(served[0]!)}`)
  expect(explained.budgets).toMatchObject([{ scope: 'token', name: 'ten', ...shown }])
  // A raised budget holds at once, also for another size of call.
  await gateway.admin('PATCH', `/tokens/${made.id}`, { budget: { amount: '2.30', per: 'month' } })
  const [one, two] = [
    await as(made.token, '/v1/images/generations', image),
    await as(made.token, '/v1/images/generations', image),
  ]
  expect([one.status, two.status]).toEqual([200, 402])
  const { body: none } = await gateway.admin('PATCH', `/tokens/${made.id}`, { budget: null })
  expect(none.budget).toBeNull()
  expect((await as(made.token, '/v1/images/generations', image)).status).toBe(200)
})

test('what calls and tasks hold counts until they end', async () => {
  const made = await newToken('held', { amount: '0.45', per: 'week' })
  const slow = [{ role: 'user', content: '[[sim:delay=30s]]' }]
  const stop = new AbortController()
  const waiting = fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${made.token}`, 'content-type': 'application/json' },
    // A JSON call would be read on for a while.
    body: JSON.stringify({ ...chat, messages: slow, max_tokens: 100_000, stream: true }),
    signal: stop.signal,
  }).catch(() => undefined)
  const budget = async () => (await gateway.admin('GET', `/tokens/${made.id}`)).body.budget
  await until('the hold', async () => (await budget()).held !== '0.00' || undefined)
  const { held, left, spent } = await budget()
  expect([nanos(held) + nanos(left), spent]).toEqual([nanos('0.45'), '0.00'])
  const two = () => as(made.token, '/v1/images/generations', { ...image, n: 2 })
  const less = { amount: formatNanos(nanos(held) + nanos('0.39')), per: 'week' }
  await gateway.admin('PATCH', `/tokens/${made.id}`, { budget: less })
  expect((await two()).status).toBe(402)
  stop.abort()
  await waiting
  await until('the end', async () => (await budget()).held === '0.00' || undefined)
  const amount = { amount: '50.00', per: 'week' }
  await gateway.admin('PATCH', `/tokens/${made.id}`, { budget: amount })
  const video = { model: 'vfa-2.7-t2v', prompt: '[[sim:delay=30s]]' }
  const created = (await (await as(made.token, '/v1/videos', video)).json()) as { id: string }
  const of = await budget()
  expect(nanos(of.held) > 0n).toBe(true)
  const tight = formatNanos(nanos(of.held) + nanos(of.spent) + nanos('0.39'))
  const budgetNow = { amount: tight, per: 'week' }
  await gateway.admin('PATCH', `/tokens/${made.id}`, { budget: budgetNow })
  expect((await two()).status).toBe(402)
  expect((await as(made.token, '/v1/videos', video)).status).toBe(402)
  await gateway.admin('POST', `/tasks/${created.id}/cancel`)
  await until('the task', async () => (await budget()).held === '0.00' || undefined)
})

test('the balance’s refusal comes first, and a member cannot set budgets', async () => {
  await gateway.admin('POST', '/accounts', { name: 'poor', budget: { amount: '0', per: 'day' } })
  const { token } = await newToken('poor', undefined, 'poor')
  const answer = await as(token, '/v1/chat/completions', chat)
  expect([answer.status, ((await answer.json()) as { error: object }).error]).toMatchObject([
    402,
    { code: 'insufficient_quota' },
  ])
  const rich = await gateway.admin('POST', '/accounts/poor/credits', { amount: '5.00', note: 'x' })
  expect(rich.body.budget).toMatchObject({ amount: '0.00', left: '0.00' })
  const later = await as(token, '/v1/chat/completions', chat)
  expect(await later.json()).toMatchObject({ error: { code: 'budget_exhausted' } })
  const password = 'a long enough password 123'
  const person = { name: 'mia', password, role: 'member', account: 'poor' }
  expect((await gateway.admin('POST', '/people', person)).status).toBe(201)
  const signed = await fetch(`${gateway.url}/admin/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: gateway.url },
    body: JSON.stringify({ name: 'mia', password }),
  })
  const cookie = signed.headers.get('set-cookie')!.split(';')[0]!
  const member = async (method: string, path: string, body?: object) => {
    const sent = await fetch(`${gateway.url}/admin/v1${path}`, {
      method,
      headers: { cookie, 'content-type': 'application/json', origin: gateway.url },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: sent.status, body: (await sent.json()) as Record<string, unknown> }
  }
  const budget = { amount: '9.00', per: 'day' }
  expect((await member('POST', '/tokens', { account: 'poor', name: 'm', budget })).status).toBe(403)
  const own = await member('POST', '/tokens', { account: 'poor', name: 'm' })
  expect((await member('PATCH', `/tokens/${own.body['id']}`, { budget: null })).status).toBe(403)
  expect((await member('PATCH', '/accounts/poor', { budget })).status).toBe(403)
  expect((await member('GET', '/accounts/poor')).body['budget']).toMatchObject({ per: 'day' })
})

test('a rotated token has one budget, whichever secret is used', async () => {
  const made = await newToken('turns', { amount: '0.40', per: 'day' })
  expect((await as(made.token, '/v1/images/generations', image)).status).toBe(200)
  const until24h = new Date(Date.now() + 86_400_000).toISOString()
  const { body: rotated } = await gateway.admin('POST', `/tokens/${made.id}/rotate`, {
    previous_valid_until: until24h,
  })
  expect(rotated.budget).toMatchObject({ spent: '0.20', left: '0.20' })
  expect((await as(made.token, '/v1/images/generations', image)).status).toBe(200)
  expect((await as(rotated.token, '/v1/images/generations', image)).status).toBe(402)
  const { body: old } = await gateway.admin('GET', `/tokens/${rotated.previous.id}`)
  expect(old.budget).toMatchObject({ spent: '0.40', left: '0.00' })
  await gateway.admin('DELETE', `/tokens/${made.id}`)
  expect((await as(made.token, '/v1/images/generations', image)).status).toBe(402)
})

test('budgets that mean nothing are refused', async () => {
  const bad = [
    { amount: '-1', per: 'day' },
    { amount: 5, per: 'day' },
    { amount: '1.00' },
    { amount: '1.00', per: 'year' },
    { amount: '1.00', per: 'day', zone: 'Mars/Base' },
    { amount: '1.00', per: 'day', zone: '+08:00' },
    { amount: '1.00', per: 'day', spent: '0' },
  ]
  for (const [i, budget] of bad.entries()) {
    const body = { account: 'acme', name: `bad-${i}`, budget }
    expect([budget, (await gateway.admin('POST', '/tokens', body)).status]).toEqual([budget, 400])
    const { status } = await gateway.admin('PATCH', '/accounts/acme', { budget })
    expect([budget, status]).toEqual([budget, 400])
  }
  const filed = await gateway.admin('PATCH', '/accounts/filed', { budget: null })
  expect([filed.status, filed.body.error.param]).toEqual([409, 'budget'])
})

test('a killed gateway keeps what was spent and forgets what died with it; the file declares anew', async () => {
  const spend = () => as(fileToken, '/v1/images/generations', image)
  expect((await spend()).status).toBe(200)
  const slow = { ...chat, messages: [{ role: 'user', content: '[[sim:delay=30s]]' }] }
  const waiting = as(fileToken, '/v1/chat/completions', slow).catch(() => undefined)
  const read = async () => (await gateway.admin('GET', '/tokens?account=filed')).body.items[0]
  await until('the hold', async () => (await read()).budget.held !== '0.00' || undefined)
  const { dataDir } = gateway
  await gateway.stop('SIGKILL')
  await waiting
  // With another secret, which takes the place of the first.
  const secret = 'sk-next-0123456789abcdefghijklmnop'
  gateway = await startGateway({ config: configFor(secret), dataDir })
  expect((await read()).budget).toMatchObject({ amount: '0.50', spent: '0.20', held: '0.00' })
  expect((await as(secret, '/v1/images/generations', image)).status).toBe(200)
  expect((await as(secret, '/v1/images/generations', image)).status).toBe(402)
  const { body: account } = await gateway.admin('GET', '/accounts/filed')
  expect(account.budget).toMatchObject({ amount: '7.00', per: 'week', spent: '0.40' })
})

test('a tag has a budget over all tokens of its account', async () => {
  const red = { tag: 'team=red', amount: '0.40', per: 'day' }
  const made = await gateway.admin('POST', '/accounts', {
    ...{ name: 'tagged', balance: '10.00', tag_names: ['team', 'job'] },
    tag_budgets: [{ ...red, amount: '9' }],
  })
  expect([made.status, made.body.tag_budgets]).toMatchObject([201, [{ ...red, amount: '9.00' }]])
  const [one, two] = [
    await newToken('one', undefined, 'tagged'),
    await newToken('two', undefined, 'tagged'),
  ]
  await gateway.admin('PATCH', `/tokens/${two.id}`, { tags: { team: 'red' } })
  const blue = { tag: 'team=re', amount: '0.20', per: 'total' }
  const changed = await gateway.admin('PATCH', '/accounts/tagged', { tag_budgets: [blue, red] })
  expect(changed.body.tag_budgets).toMatchObject([blue, red])
  const tagged = (token: string, tags: string) =>
    as(token, '/v1/images/generations', image, { 'x-gateway-tags': tags })
  expect((await tagged(one.token, 'job=7,team=red')).status).toBe(200)
  expect((await as(two.token, '/v1/images/generations', image)).status).toBe(200)
  const refused = await tagged(one.token, 'team=red')
  expect([refused.status, await refused.text()]).toMatchObject([
    402,
    expect.stringMatching(/budget_exhausted.*|team=red/),
  ])
  const text = await as(two.token, '/v1/chat/completions', chat)
  expect(text.status).toBe(402)
  expect((await tagged(one.token, 'team=blue')).status).toBe(200)
  const usage = await fetch(`${gateway.url}/gateway/v1/usage`, {
    headers: { authorization: `Bearer ${two.token}` },
  })
  expect(((await usage.json()) as { budgets: object[] }).budgets).toMatchObject([
    { scope: 'tag', name: 'team=red', spent: '0.40', left: '0.00' },
  ])
  const { body } = await gateway.admin('GET', '/accounts/tagged')
  expect(body.tag_budgets).toMatchObject([{ spent: '0.00' }, { spent: '0.40', held: '0.00' }])
  const twice = await gateway.admin('PATCH', '/accounts/tagged', { tag_budgets: [red, red] })
  expect(twice.status).toBe(400)
  const none = await gateway.admin('PATCH', '/accounts/tagged', { tag_budgets: null })
  expect(none.body.tag_budgets).toEqual([])
})

test('a rerun has the tags and the end user of its task, and takes from the same budgets', async () => {
  await gateway.admin('POST', '/accounts', {
    ...{ name: 'reruns', balance: '100.00', tag_names: ['team', 'job'], end_users: 'plain' },
  })
  const made = await newToken('reruns', undefined, 'reruns')
  const body = { model_name: 'imgvendor-v2', prompt: 'a lake', user: 'alice' }
  const create = async (tags: string): Promise<string> => {
    const headers = { 'x-gateway-tags': tags }
    const answer = await as(made.token, '/imgvendor/v1/images/generations', body, headers)
    return ((await answer.json()) as { data: { task_id: string } }).data.task_id
  }
  const rerun = (id: string) => gateway.admin('POST', `/tasks/${id}/rerun`)
  const tagged = await create('team=red,job=7')
  const again = await rerun(tagged)
  const same = { tags: { job: '7', team: 'red' }, end_user: 'alice' }
  expect([again.status, again.body]).toMatchObject([201, same])
  // As for a new task: a default that its token has by now is added, its own tags stay.
  const plain = await create('team=red')
  await gateway.admin('PATCH', `/tokens/${made.id}`, { tags: { job: '9', team: 'blue' } })
  expect((await rerun(tagged)).body).toMatchObject(same)
  expect((await rerun(plain)).body.tags).toEqual({ job: '9', team: 'red' })
  const none = { amount: '0', per: 'day' }
  const budgets: [string, object, object][] = [
    ['/accounts/reruns', { tag_budgets: [{ tag: 'team=red', ...none }] }, { tag_budgets: null }],
    ['/accounts/reruns', { tag_budgets: [{ tag: 'job=7', ...none }] }, { tag_budgets: null }],
    ['/accounts/reruns', { budget: none }, { budget: null }],
    [`/tokens/${made.id}`, { budget: none }, { budget: null }],
  ]
  for (const [path, set, unset] of budgets) {
    await gateway.admin('PATCH', path, set)
    const { status, body } = await rerun(tagged)
    expect([set, status, body.error?.code]).toEqual([set, 402, 'budget_exhausted'])
    await gateway.admin('PATCH', path, unset)
  }
  expect((await rerun(tagged)).status).toBe(201)
})
