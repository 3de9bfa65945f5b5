// Links to bills, asked of the whole admin API: what a link shows, for how long, and that it cannot be
// changed to show anything else; and public price files turned into lists that the import takes.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { refresh } from '../../engine/catalog/refresh.ts'
import { newTestEngine, type TestEngine } from '../../engine/test-engine.ts'
import { newRequestContext } from '../../http/request-context.ts'
import type { Mailer } from '../../lib/net/mailer.ts'
import { monthAt, monthPlus } from '../../lib/text/month.ts'
import { storeKinds } from '../../store/test-stores.ts'
import type { AdminApp } from '../route.ts'
import { admin } from '../test-admin.ts'

const limits = { bodyBytes: 100_000, bodyMs: 5_000, jsonDepth: 20, listPage: 500 }
const dayMs = 24 * 3_600_000
const month = monthPlus(monthAt(Date.now()), -1)

let it: TestEngine
let app: AdminApp
beforeAll(async () => {
  it = await newTestEngine('sqlite')
  const isAdmin = (secret: string) => secret === 'boss'
  app = admin({ engine: it.engine, limits, isAdmin, consoleUrl: 'https://console.example' })
  await refresh(it.engine)
  for (const name of ['acme', 'rival']) await asBoss('POST', '/accounts', { name })
})
afterAll(() => it.close())

async function ask(method: string, path: string, body?: object, headers: object = {}) {
  const request = new Request(`http://localhost${path}`, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const context = newRequestContext(request, { ip: () => '10.0.0.1', keepOpen: () => {} })
  const answer = await app.fetch(request, { context })
  return { status: answer.status, text: await answer.text(), headers: answer.headers }
}
const asBoss = (method: string, path: string, body?: object) =>
  ask(method, path, body, { authorization: 'Bearer boss' })

const linkTo = async (query: string) => {
  const made = await asBoss('POST', `/bills/link?${query}`)
  expect(made.status).toBe(201)
  const { id, url, expires_at } = JSON.parse(made.text) as {
    id: string
    url: string
    expires_at: string
  }
  expect(url).toStartWith('https://console.example/admin/v1/bills/shared?code=link_')
  return { id, path: `/bills/shared?code=${url.split('code=')[1]}`, expires_at }
}

test('a link shows one bill without a sign-in, until it expires', async () => {
  const { id, path, expires_at } = await linkTo(`account=acme&month=${month}&days=7&lang=zh`)
  expect(Date.parse(expires_at)).toBe(it.clock.ms + 7 * dayMs)
  const page = await ask('GET', path)
  expect(page.status).toBe(200)
  expect(page.headers.get('content-security-policy')).toStartWith("default-src 'none';")
  expect(page.headers.get('cache-control')).toBe('private, no-store')
  expect(page.text).toContain('<html lang="zh-CN">')
  expect(page.text).toContain('acme')
  const log = JSON.parse((await asBoss('GET', '/audit-log?action=bill.link')).text)
  expect(log.items[0].after).toEqual({ id, month, expires_at })
  it.clock.ms += 7 * dayMs
  expect((await ask('GET', path)).status).toBe(404)
  it.clock.ms -= 7 * dayMs
})

test('a link that shows nothing is explained to people as a page, to programs as JSON', async () => {
  const path = '/bills/shared?code=link_1.0'
  expect(JSON.parse((await ask('GET', path)).text).error.code).toBe('not_found')
  const browser = (language: string) =>
    ask('GET', path, undefined, { accept: 'text/html,*/*;q=0.8', 'accept-language': language })
  const english = await browser('de, zh;q=0.5')
  expect([english.status, english.headers.get('content-type')]).toEqual([
    404,
    'text/html; charset=utf-8',
  ])
  expect(english.headers.get('content-security-policy')).toStartWith("default-src 'none';")
  expect(english.text).toContain('it has expired or was revoked')
  expect((await browser('zh-CN,zh;q=0.9')).text).toContain('此链接已过期')
})

test('a link is nothing but what was signed', async () => {
  const { path } = await linkTo(`account=acme&month=${month}`)
  const rival = await linkTo(`account=rival&month=${month}`)
  const parts = path.split('code=')[1]!.split('.')
  const changed = (at: number, value: string) =>
    `/bills/shared?code=${parts.map((part, i) => (i === at ? value : part)).join('.')}`
  const forged = [
    changed(0, rival.id),
    changed(0, `${parts[0]}0`),
    changed(1, '0'.repeat(32)),
    changed(1, ''),
    `/bills/shared?code=${parts[0]}`,
    '/bills/shared?code=',
    '/bills/shared',
  ]
  for (const each of forged) expect([each, (await ask('GET', each)).status]).toEqual([each, 404])
  expect((await ask('GET', path)).status).toBe(200)
})

test.each(storeKinds)(
  'on %s links are listed with who made them, and revoked at once',
  async (on) => {
    const before = app
    const mine = await newTestEngine(on)
    const gateway = () =>
      admin({
        engine: mine.engine,
        limits,
        isAdmin: (secret) => secret === 'boss',
        consoleUrl: 'https://console.example',
      })
    app = gateway()
    await refresh(mine.engine)
    for (const name of ['acme', 'rival']) await asBoss('POST', '/accounts', { name })
    const kept = await linkTo(`account=acme&month=${month}&days=1`)
    const revoked = await linkTo(`account=acme&month=${month}`)
    const listed = async (query: string) =>
      JSON.parse((await asBoss('GET', `/bills/links?${query}`)).text).items
    const items = await listed(`account=acme&month=${month}`)
    expect(items.map(({ id }: { id: string }) => id).toSorted()).toEqual(
      [kept.id, revoked.id].toSorted(),
    )
    expect(items[0]).toMatchObject({
      account: 'acme',
      month,
      lang: 'en',
      created_by: 'admin',
    })
    expect(JSON.stringify(items)).not.toContain(revoked.path.split('.').at(-1)!)
    expect(await listed('account=rival')).toEqual([])
    expect(await listed(`account=acme&month=${monthPlus(month, -1)}`)).toEqual([])
    expect((await asBoss('GET', '/bills/links?account=acme&month=soon')).status).toBe(400)

    expect((await ask('DELETE', `/bills/links/${revoked.id}`)).status).toBe(401)
    const [one, other] = await Promise.all(
      [1, 2].map(() => asBoss('DELETE', `/bills/links/${revoked.id}`)),
    )
    expect([one!.status, other!.status].toSorted()).toEqual([200, 404])
    app = gateway()
    expect((await ask('GET', revoked.path)).status).toBe(404)
    expect((await ask('GET', kept.path)).status).toBe(200)
    const log = JSON.parse((await asBoss('GET', '/audit-log?action=bill.link_revoke')).text)
    expect(log.items).toHaveLength(1)
    expect(log.items[0].before).toEqual({ id: revoked.id, month })

    mine.clock.ms += dayMs
    expect(await listed('account=acme')).toEqual([])
    expect((await asBoss('DELETE', `/bills/links/${kept.id}`)).status).toBe(404)
    app = before
    await mine.close()
  },
)

test('links last 90 days at most, and are for accounts and months that exist', async () => {
  const cases = [
    [`account=acme&month=${month}&days=91`, 400],
    [`account=acme&month=${month}&days=0`, 400],
    ['account=acme&month=2999-01', 400],
    [`account=nobody&month=${month}`, 404],
  ] as const
  for (const [query, status] of cases) {
    expect([query, (await asBoss('POST', `/bills/link?${query}`)).status]).toEqual([query, status])
  }
  expect((await ask('POST', `/bills/link?account=acme&month=${month}`)).status).toBe(401)
})

test('a link is also sent by e-mail where mail is set up, and a failure is told', async () => {
  const query = `account=acme&month=${month}&email=books%40acme.example`
  const without = await asBoss('POST', `/bills/link?${query}`)
  expect([without.status, JSON.parse(without.text).error.param]).toEqual([400, 'email'])
  const mails: { to: string; subject: string; text: string }[] = []
  const mailer: Mailer = {
    async send(mail) {
      mails.push(mail)
      return mail.to.startsWith('gone')
        ? { status: 550, problem: 'no such person' }
        : { status: 250 }
    },
  }
  const before = app
  const engine = { ...it.engine, mailer }
  app = admin({ engine, limits, isAdmin: (secret) => secret === 'boss' })
  await asBoss('PATCH', '/accounts/acme', { display_name: '北方科技' })
  const sent = await asBoss('POST', `/bills/link?${query}&lang=zh`)
  const { url, emailed_to } = JSON.parse(sent.text) as { url: string; emailed_to: string }
  expect([sent.status, emailed_to]).toEqual([201, 'books@acme.example'])
  expect(mails).toHaveLength(1)
  expect(mails[0]).toMatchObject({ to: 'books@acme.example', subject: `北方科技 ${month} 账单` })
  expect(mails[0]!.text).toContain(url)
  const failed = await asBoss('POST', `/bills/link?${query.replace('books', 'gone')}`)
  expect(failed.status).toBe(409)
  expect(JSON.parse(failed.text).error.message).toStartWith(
    'the e-mail was not sent: no such person',
  )
  // A link that did not arrive works nowhere.
  const left = JSON.parse((await asBoss('GET', '/bills/links?account=acme')).text)
  expect(JSON.stringify(left)).not.toContain('gone@')
  const odd = await asBoss(
    'POST',
    `/bills/link?account=acme&month=${month}&email=a%0Ab%40c.example`,
  )
  expect(odd.status).toBe(400)
  app = before
})

const file = JSON.stringify({
  'gpt-x': {
    litellm_provider: 'openai',
    mode: 'chat',
    max_input_tokens: 128_000,
    max_output_tokens: 4_096,
    input_cost_per_token: 1.5e-6,
    output_cost_per_token: 6e-6,
  },
  'claude-x': {
    litellm_provider: 'anthropic',
    mode: 'chat',
    input_cost_per_token: 3e-6,
    output_cost_per_token: 1.5e-5,
  },
})

test('a public price file becomes a list with margin, rate and filter, which the import takes', async () => {
  const body = {
    source: 'litellm',
    text: file,
    margin: '1.2',
    rate: '7.2',
    round: 2,
    only: 'gpt-*',
  }
  const made = await asBoss('POST', '/prices/convert', body)
  expect(made.status).toBe(200)
  const list = JSON.parse(made.text) as { models: number; prices: number; text: string }
  expect(list).toMatchObject({ models: 1, prices: 1, remarks: [] })
  const imported = (dryRun: boolean) =>
    asBoss('POST', '/prices/import', { format: 'yaml', text: list.text, dry_run: dryRun })
  expect(JSON.parse((await imported(true)).text)).toMatchObject({ added: 1, models_added: 1 })
  expect(JSON.parse((await asBoss('GET', '/prices?model=gpt-x')).text).items).toEqual([])
  await imported(false)
  // 1.5 and 6 dollars per million, times 8.64.
  const { items } = JSON.parse((await asBoss('GET', '/prices?model=gpt-x')).text)
  expect(items[0]).toMatchObject({
    current: true,
    per_million: { input: '12.96', output: '51.84' },
  })
})

test('what is no such file, or has nothing that fits, is refused with its field', async () => {
  const cases: [object, string][] = [
    [{ text: 'not JSON' }, 'text'],
    [{ text: '[1]' }, 'text'],
    [{ only: 'nothing-*' }, 'text'],
    [{ margin: '0' }, 'margin'],
    [{ margin: 'x' }, 'margin'],
    [{ rate: '-1' }, 'rate'],
    [{ round: 10 }, 'round'],
    [{ source: 'elsewhere' }, 'source'],
  ]
  for (const [change, param] of cases) {
    const { status, text } = await asBoss('POST', '/prices/convert', {
      ...{ source: 'litellm', text: file },
      ...change,
    })
    expect([change, status, JSON.parse(text).error.param]).toEqual([change, 400, param])
  }
})
