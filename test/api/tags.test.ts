// Tags and end users over HTTP: on calls of every surface, in every list and in the bill.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parseNanos } from '../../src/lib/text/decimal.ts'
import { askedDuring } from '../support/asked.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { errorOf, requestIdOf, until } from '../support/read.ts'

const plainToken = 'sk-plain-0123456789abcdefghijklmnop'
const offToken = 'sk-off-0123456789abcdefghijklmnopqr'
let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({
    config: `
accounts:
  - { name: acme, balance: "1000.00", tag_names: [team, job, a, b, c, d] }
  - { name: plain, balance: "10.00", tag_names: [team], end_users: plain }
  - { name: off, balance: "10.00", end_users: off }
tokens:
  - { account: acme, name: test, token: ${apiToken}, tags: { team: red, job: "1" } }
  - { account: plain, name: test, token: ${plainToken} }
  - { account: off, name: test, token: ${offToken} }
`,
    env: { GATEWAY_SANDBOX_TASK_SECONDS: '0.2' },
  })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
})

const input = [{ role: 'user', content: 'hello' }]

/** One call of each surface. */
const calls: Record<string, [path: string, body: Record<string, unknown>]> = {
  chat: ['/v1/chat/completions', { model: 'txta-plus', messages: input }],
  responses: ['/v1/responses', { model: 'txta-plus', input: 'hello' }],
  messages: ['/v1/messages', { model: 'txta-plus', max_tokens: 20, messages: input }],
  embeddings: ['/v1/embeddings', { model: 'txta-embed', input: 'hello' }],
  generate: [
    '/vendorg/v1beta/models/txta-plus:generateContent',
    { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] },
  ],
  images: ['/v1/images/generations', { model: 'imga-plus', prompt: 'a tree' }],
  videos: ['/v1/videos', { model: 'vfa-2.7-t2v', prompt: 'a tree', seconds: '5' }],
  arkvendor: [
    '/arkvendor/api/v3/contents/generations/tasks',
    { model: 'vidmodel-1-0-pro', content: [{ type: 'text', text: 'a tree' }] },
  ],
  vendorg: [
    '/vendorg/v1beta/models/vendorg-video-1:predictLongRunning',
    { instances: [{ prompt: 'a tree' }], parameters: { durationSeconds: 4 } },
  ],
  imgvendor: ['/imgvendor/v1/images/generations', { model_name: 'imgvendor-v2', prompt: 'a tree' }],
}
const surfaces = Object.keys(calls)
const tasks = ['images', 'videos', 'arkvendor', 'vendorg', 'imgvendor']

const ask = (surface: string, tags?: string, more: object = {}, token = apiToken) => {
  const [path, body] = calls[surface]!
  const headers: Record<string, string> = { authorization: `Bearer ${token}` }
  if (tags !== undefined) headers['x-gateway-tags'] = tags
  return gateway.post(path, { ...body, ...more }, headers)
}

const admin = async (path: string) => {
  const { status, body } = await gateway.admin('GET', path)
  expect([path, status]).toEqual([path, 200])
  return body
}

/** Its row, once it is there. */
const rowOf = (answer: Response) => {
  const id = requestIdOf(answer)
  return until(`the row of ${id}`, async () => {
    const { items } = await admin(`/requests?id=${id}`)
    return items[0]
  })
}

describe.each(surfaces)('%s', (surface) => {
  test('has its tags in the log, in the ledger and in the list by tag', async () => {
    const answer = await ask(surface, ` job = ${surface} `)
    expect([surface, answer.status, answer.ok ? '' : await answer.text()]).toEqual([
      surface,
      200,
      '',
    ])
    await answer.text()
    const row = await rowOf(answer)
    const tags = { team: 'red', job: surface }
    expect([row.tags, row.end_user]).toEqual([tags, null])
    const found = await admin(`/requests?tag=job%3D${surface}&account=acme`)
    expect(found.items.map((each: { request_id: string }) => each.request_id)).toEqual([
      row.request_id,
    ])
    const ref = row.task_id ?? row.request_id
    const charged = await until(`the charge of ${ref}`, async () => {
      const { entries } = await admin(`/explain/${ref}`)
      return entries.some(({ kind }: { kind: string }) => kind === 'charge') ? entries : undefined
    })
    for (const entry of charged) expect([entry.kind, entry.tags]).toEqual([entry.kind, tags])
    if (!tasks.includes(surface)) return
    const { items } = await admin(`/tasks?tag=job%3D${surface}`)
    expect(items.map(({ id, tags }: { id: string; tags: object }) => [id, tags])).toEqual([
      [row.task_id, tags],
    ])
  })

  test('is refused with a tag that its account does not declare', async () => {
    const answer = await ask(surface, 'unknown=1')
    expect(answer.status).toBe(400)
    const body = await answer.text()
    expect(body).toContain("the tag 'unknown'")
    const row = await rowOf(answer)
    expect([row.status, row.error_code, row.charge]).toEqual([400, 'invalid_request', '0.00'])
  })
})

test('every bad header is refused before anything is sent', async () => {
  const bad = [
    'team',
    'team=',
    '=red',
    'team=r ed',
    'team=red;x',
    `team=${'x'.repeat(65)}`,
    'Team=red',
    'other=1',
    'team=red,team=blue',
    'a=1,b=2,c=3,d=4,team=5,job=6',
  ]
  const sent = await askedDuring(gateway, async () => {
    for (const header of bad) {
      const answer = await ask('chat', header)
      const { code, param } = await errorOf(answer)
      expect([header, answer.status, code, param]).toEqual([
        header,
        400,
        'invalid_request',
        'x-gateway-tags',
      ])
    }
  })
  expect(sent).toEqual([])
})

test('the header does not go upstream, and the end user goes as the caller sent it', async () => {
  const asked = await askedDuring(gateway, async () => {
    for (const surface of ['chat', 'responses', 'messages', 'embeddings']) {
      await (await ask(surface, 'team=blue', { user: 'alice' })).text()
    }
  })
  expect(asked).toHaveLength(4)
  expect(JSON.stringify(asked.map(({ headers }) => headers))).not.toContain('gateway-tags')
  expect(asked[0]!.json.user).toBe('alice')
})

test('an end user is hashed, plain or not kept, as its account says', async () => {
  const rows = async (more: object, token = apiToken) => {
    const answer = await ask('chat', undefined, more, token)
    await answer.text()
    return rowOf(answer)
  }
  const first = await rows({ user: 'erin' })
  const again = await rows({ user: 'bob', safety_identifier: 'erin' })
  const other = await rows({ metadata: { user_id: 'bob' } })
  expect(first.end_user).toMatch(/^eu_[\w-]{22}$/)
  expect(again.end_user).toBe(first.end_user)
  expect(other.end_user).not.toBe(first.end_user)
  const shown = await rows({ user: 'alice, "a"=b' }, plainToken)
  expect(shown.end_user).toBe('alice, "a"=b')
  for (const user of ['x'.repeat(300), '字'.repeat(200)]) {
    expect((await rows({ user }, plainToken)).end_user).toMatch(/^eu_/)
  }
  expect((await rows({ user: 'alice' }, offToken)).end_user).toBeNull()
  const ids = async (query: string) =>
    (await admin(`/requests?${query}`)).items.map((row: { request_id: string }) => row.request_id)
  const both = [again.request_id, first.request_id]
  expect(await ids(`end_user=${first.end_user}`)).toEqual(both)
  expect(await ids('end_user=erin&account=acme')).toEqual(both)
  expect(await ids(`end_user=${encodeURIComponent('alice, "a"=b')}`)).toEqual([shown.request_id])
})

test('a task has the end user of its body', async () => {
  const answer = await ask('images', 'job=eu', { user: 'carol' })
  expect(answer.status).toBe(200)
  const { items } = await admin('/tasks?tag=job%3Deu')
  expect(items[0].end_user).toMatch(/^eu_/)
  const { items: same } = await admin('/tasks?end_user=carol&account=acme')
  expect(same.map(({ id }: { id: string }) => id)).toEqual([items[0].id])
})

const month = new Date().toISOString().slice(0, 7)
const nanos = (amount: string) => parseNanos(amount)!

test('a bill by tag adds up to the bill; usage by tag has the same rows', async () => {
  const bill = await admin(`/bills?account=acme&month=${month}&group_by=tag:job`)
  const sum = bill.items.reduce(
    (all: bigint, { amount }: { amount: string }) => all + nanos(amount),
    0n,
  )
  expect(sum).toBe(nanos(bill.charges))
  const jobs = bill.items.map(({ tag }: { tag: string | null }) => tag)
  expect(jobs).toEqual(expect.arrayContaining([...surfaces, '1']))
  const usage = await admin('/usage?by=tag:job&account=acme')
  const withoutMargin = ({
    cost: _,
    margin: __,
    cost_unknown: ___,
    ...row
  }: Record<string, unknown>) => row
  expect(usage.items.map(withoutMargin)).toEqual(bill.items)
  const byModel = await admin('/usage?by=model,tag:job&account=acme')
  const chat = byModel.items.find(({ tag }: { tag: string }) => tag === 'chat')
  expect(chat.model).toBe('txta-plus')
  const byUser = await admin(`/bills?account=plain&month=${month}&group_by=end_user`)
  const users = byUser.items.map(({ end_user }: { end_user: string | null }) => end_user)
  expect(users).toContain('alice, "a"=b')
  const { status, body } = await gateway.admin('GET', '/bills?account=acme&group_by=team')
  expect([status, body.error.param]).toEqual([400, 'group_by'])
  const own = await fetch(`${gateway.url}/gateway/v1/usage?by=tag:job`, {
    headers: { authorization: `Bearer ${apiToken}` },
  })
  const { items } = (await own.json()) as { items: object[] }
  expect(items).toEqual(usage.items.map(withoutMargin))
})

test('a call without tags is in the bill as null', async () => {
  await (await ask('chat', undefined, {}, plainToken)).text()
  const { items } = await admin(`/bills?account=plain&month=${month}&group_by=tag:team`)
  expect(items.map(({ tag }: { tag: string | null }) => tag)).toEqual([null])
})

const text = async (path: string) => {
  const answer = await fetch(`${gateway.url}/admin/v1${path}`, {
    headers: { authorization: 'Bearer admin-token-for-tests-0123456789' },
  })
  return answer.text()
}

test('files have a column for each declared name', async () => {
  const lines = (await text(`/bills?account=acme&month=${month}&format=csv`)).split('\r\n')
  const head = lines[0]!.split(',')
  expect(head.slice(-7)).toEqual([
    'end_user',
    ...['team', 'job', 'a', 'b', 'c', 'd'].map((n) => `tag:${n}`),
  ])
  expect(lines.some((line) => line.includes('red,chat,,,,'))).toBe(true)
  const list = await text('/requests?format=csv&account=acme')
  expect(list.split('\r\n')[0]).toContain('tag:team')
  const page = await text(`/bills/statement?account=acme&month=${month}&group_by=tag:job`)
  expect(page).toContain('Charges by job')
})

test('tags of tokens and names of accounts are changed at once, and checked', async () => {
  const made = await gateway.admin('POST', '/accounts', { name: 'new', balance: '5.00' })
  expect(made.body.tag_names).toEqual([])
  const refused = await gateway.admin('POST', '/tokens', {
    ...{ account: 'new', name: 'x', tags: { team: 'red' } },
  })
  expect([refused.status, refused.body.error.param]).toEqual([400, 'tags'])
  const set = await gateway.admin('PATCH', '/accounts/new', {
    ...{ tag_names: ['team'], end_users: 'plain' },
  })
  expect([set.body.tag_names, set.body.end_users]).toEqual([['team'], 'plain'])
  const { body: token } = await gateway.admin('POST', '/tokens', {
    ...{ account: 'new', name: 'x', tags: { team: 'red' } },
  })
  expect(token.tags).toEqual({ team: 'red' })
  const row = async (tags?: string) => {
    const answer = await ask('chat', tags, {}, token.token)
    await answer.text()
    return answer.ok ? (await rowOf(answer)).tags : answer.status
  }
  expect(await row()).toEqual({ team: 'red' })
  await gateway.admin('PATCH', `/tokens/${token.id}`, { tags: { team: 'blue' } })
  expect(await row()).toEqual({ team: 'blue' })
  await gateway.admin('PATCH', '/accounts/new', { tag_names: null })
  expect(await row()).toEqual({})
  expect(await row('team=red')).toBe(400)
  const owned = await gateway.admin('PATCH', '/accounts/acme', { tag_names: ['team'] })
  expect([owned.status, owned.body.error.param]).toEqual([409, 'tag_names'])
  const free = await gateway.admin('PATCH', '/accounts/acme', { end_users: 'plain' })
  expect([free.status, free.body.end_users]).toEqual([200, 'plain'])
  for (const body of [
    { tag_names: ['Team'] },
    { tag_names: ['team', 'team'] },
    { tag_names: Array.from({ length: 21 }, (_, i) => `t${i}`) },
    { end_users: 'some' },
    { other: 1 },
  ]) {
    expect([body, (await gateway.admin('PATCH', '/accounts/new', body)).status]).toEqual([
      body,
      400,
    ])
  }
})

test('the ledger is as the audit wants it', async () => {
  const { body } = await gateway.admin('POST', '/audit')
  expect(body.problems).toEqual([])
})
