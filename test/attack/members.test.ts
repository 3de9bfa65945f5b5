// A member must find nothing of the operator's side in any answer of the admin API (channels, upstream
// names, ids and addresses, keys, costs and margins) and nothing of another account, whatever they ask for.
// Walks every route that members may use, and what callers may read of their account.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { adminRoutes } from '../../src/admin/routes.ts'
import { BatchClient, line } from '../batches/client.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { requestIdOf, until } from '../support/read.ts'
import { newPerson, type SignedIn } from '../support/sign-in.ts'
import { startUpstream, type TestUpstream } from '../support/upstream.ts'

const key = 'upk-hush-0123456789abcdef'
const ownToken = 'sk-own-0123456789abcdefghijklmnop'
const rivalToken = 'sk-rival-0123456789abcdefghijklmn'

let sandbox: Sandbox
let gateway: TestGateway
let member: SignedIn
/** What a path of a rule is asked with: things of the member's own account. */
const own: Record<string, string[]> = {}
const rival = { account: '', token: '', request: '', task: '', batch: '', 'bill link': '' }
/** Of the member's account: files of its batch, and a response made in the background. */
let files: string[] = []
let response = ''
/** What notices of its account are sent to. */
let notices: TestUpstream
/** Words that must be in no answer. */
let facts: string[] = []
let costFacts: string[] = []

const post = async (token: string, path: string, body: object) =>
  fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const chat = async (token: string, content: string, stream = false, model = 'txta-plus') => {
  const messages = [{ role: 'user', content }]
  const answer = await post(token, '/v1/chat/completions', { model, messages, stream })
  await answer.text()
  return requestIdOf(answer)
}
const video = async (token: string, prompt: string) => {
  const answer = await post(token, '/v1/videos', { model: 'vfa-2.7-t2v', prompt, seconds: 5 })
  return { status: answer.status, id: ((await answer.json()) as { id?: string }).id ?? '' }
}
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const asBoss = async (path: string): Promise<any> => (await gateway.admin('GET', path)).body
const ended = (id: string) =>
  until(`the end of ${id}`, async () => {
    const task = await asBoss(`/tasks/${id}`)
    return task.finished_at === null ? undefined : task
  })

beforeAll(async () => {
  sandbox = startSandbox({ key, taskSeconds: 0.2 })
  notices = startUpstream(() => new Response('ok'))
  gateway = await startGateway({
    env: { GATEWAY_EGRESS_ALLOW: '127.0.0.0/8' },
    config: `
accounts: [{ name: acme, balance: "100.00" }, { name: hush-rival, balance: "100.00" }]
tokens:
  - { account: acme, name: own, token: ${ownToken} }
  - { account: hush-rival, name: hush-token, token: ${rivalToken} }
channels:
  - name: hush-channel
    keys: [${key}]
    protocols: { chat: "${sandbox.protocols.chat}", vf: "${sandbox.protocols.vf}" }
    models: { txta-plus: hush-text-model, "vfa-*": hush-video-model }
    cost_factor: "0.123456789"
  - name: hush-broken
    keys: [${key}]
    protocols: { chat: "http://127.0.0.1:1/v1" }
    models: { txta-turbo: "*" }
costs:
  - { channel: hush-channel, model: txta-plus, unit: token, per_million: { input: "0.987654321", output: "0.987654321" } }
models:
  - { name: coder, kind: text, virtual: [txta-turbo, txta-plus] }
prices:
  - { model: txta-turbo, account: hush-rival, unit: token, per_million: { input: "1.00", output: "1.00" } }
`,
  })
  const events = ['price.changed', 'batch.completed', 'charge.settled']
  await gateway.admin('POST', '/webhooks', { url: notices.url, events })
  member = await newPerson(gateway, { name: 'mia', role: 'member', account: 'acme' })
  const requests = [
    await chat(ownToken, 'hello'),
    await chat(ownToken, 'hello', true),
    await chat(ownToken, 'x [[sim:status=500]]'),
    await chat(ownToken, 'x [[sim:cut=3]]', true),
    await chat(ownToken, 'x [[sim:malformed]]'),
    await chat(ownToken, 'hello', false, 'coder'),
  ]
  const tasks = [
    (await video(ownToken, 'a cat')).id,
    (await video(ownToken, 'a cat [[sim:fail]]')).id,
    (await video(ownToken, 'a cat [[sim:delay=30s]]')).id,
  ]
  const background = { model: 'txta-plus', input: 'hello', background: true }
  const made = await post(ownToken, '/v1/responses', background)
  response = ((await made.json()) as { id: string }).id
  rival.request = await chat(rivalToken, 'hello')
  rival.task = (await video(rivalToken, 'a dog')).id
  const batches = [ownToken, rivalToken].map((token) =>
    new BatchClient(gateway.url, token).run([line(1, 'hello', { model: 'txta-plus' })]),
  )
  const [ownBatch, rivalBatch] = await Promise.all(batches)
  rival.batch = rivalBatch.id
  const listed = await fetch(`${gateway.url}/v1/files`, {
    headers: { authorization: `Bearer ${ownToken}` },
  })
  files = ((await listed.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
  expect(files.length).toBe(2)
  for (const id of [...tasks.slice(0, 2), rival.task]) await ended(id)
  const tokens = (await asBoss('/tokens')).items as { id: string; name: string }[]
  rival.account = (await asBoss('/accounts/hush-rival')).id
  rival.token = tokens.find(({ name }) => name === 'hush-token')!.id
  Object.assign(own, {
    account: ['acme'],
    token: [tokens.find(({ name }) => name === 'own')!.id],
    request: requests,
    task: tasks,
    batch: [ownBatch.id],
    'request or task': [...requests, ...tasks],
  })
  const linked = await gateway.admin('POST', '/bills/link?account=hush-rival')
  rival['bill link'] = linked.body.id
  const upstreamIds = [
    ...((await asBoss('/tasks')).items as { upstream_id: string | null }[]).map(
      (task) => task.upstream_id,
    ),
    ...((await asBoss('/requests')).items as { upstream_request_id: string }[]).map(
      (row) => row.upstream_request_id,
    ),
  ].filter((id) => id)
  expect(upstreamIds.length).toBeGreaterThan(4)
  const costs = [
    ...(await asBoss('/tasks')).items,
    ...(await asBoss('/requests')).items,
    ...(await asBoss('/usage?by=model')).items,
  ].flatMap(({ cost, margin }) => [cost, margin])
  expect(costs.filter((cost) => cost?.length > 6).length).toBeGreaterThan(6)
  costFacts = [
    ...costs.filter((cost) => cost?.length > 6),
    ...['"cost"', '"margin"', 'cost_unknown', 'cost_factor', ',cost,', ',margin,', '987654321'],
  ]
  facts = [
    ...costFacts,
    ...[
      'hush-channel',
      'hush-broken',
      'hush-text-model',
      'hush-video-model',
      'hush-rival',
      'hush-token',
      key.slice(0, 8),
      key.slice(-8),
    ],
    new URL(sandbox.url).host,
    rival.account,
    rival.token,
    rival.request,
    rival.task,
    rival['bill link'],
    ...upstreamIds,
  ] as string[]
})
afterAll(async () => {
  await gateway.stop()
  await sandbox.stop()
  await notices.stop()
})

const forMembers = adminRoutes
  .filter(({ permission }) => permission.roles.includes('member'))
  .map(({ method, path, permission }) => [`${method.toUpperCase()} ${path}`, permission] as const)
const notForMembers = adminRoutes.filter(
  ({ permission }) => !permission.roles.includes('member') && permission.open !== true,
)
const reads = forMembers.filter(([name]) => name.startsWith('GET '))
const hiddenFields = ['channel', 'upstream_model', 'upstream_id', 'attempts', 'media', 'loss']

const clean = (where: string, text: string) => {
  for (const fact of facts) {
    const at = text.indexOf(fact)
    expect([where, fact, at === -1 ? '' : text.slice(Math.max(0, at - 200), at + 50)]).toEqual([
      where,
      fact,
      '',
    ])
  }
}

const queries = [
  '',
  '?account=acme',
  '?by=day,model&limit=200&spend=true',
  '?q=hush&search=hush',
  '?lines=true&group_by=end_user',
  '?format=csv',
  '?format=jsonl&limit=5',
]

/** Every spelling of a rule's path with the member's own things. */
const pathsOf = (name: string, kind: string | undefined): string[] => {
  const path = name.split(' ')[1]!
  if (!path.includes(':id')) return [path]
  return (own[kind ?? ''] ?? []).map((id) => path.replace(':id', id))
}

test.each(reads)('%s shows a member nothing of the operator or of others', async (name, rule) => {
  for (const path of pathsOf(name, rule.owned)) {
    for (const query of queries) {
      const { status, text, body } = await member.ask('GET', path + query)
      clean(path + query, text)
      if (status !== 200 || typeof body !== 'object') continue
      for (const row of [body, ...(Array.isArray(body.items) ? body.items : [])]) {
        expect([path, hiddenFields.filter((field) => Object.hasOwn(row, field))]).toEqual([
          path,
          [],
        ])
      }
    }
  }
})

test('a caller reads no cost of its account', async () => {
  const paths = [
    ...['/gateway/v1/usage', '/gateway/v1/usage?by=model,unit', '/gateway/v1/usage?by=tag:team'],
    ...['/gateway/v1/bills', `/gateway/v1/bills?month=${new Date().toISOString().slice(0, 7)}`],
    ...['/v1/models', '/v1/models/txta-plus', `/v1/videos/${own['task']![0]}`],
    ...['/v1/files', '/v1/batches', `/v1/batches/${own['batch']![0]}`],
    ...files.flatMap((id) => [`/v1/files/${id}`, `/v1/files/${id}/content`]),
    ...[`/v1/responses/${response}`, '/openapi.json', '/docs/guide'],
  ]
  for (const path of paths) {
    const answer = await fetch(gateway.url + path, {
      headers: { authorization: `Bearer ${ownToken}` },
    })
    expect([path, answer.status]).toEqual([path, 200])
    clean(path, JSON.stringify([...answer.headers]) + (await answer.text()))
  }
})

test('answers in every style name the charge, and neither cost nor margin', async () => {
  const messages = [{ role: 'user', content: 'hello' }]
  const model = 'txta-plus'
  const calls = [
    ['/v1/chat/completions', { model, messages }],
    ['/v1/responses', { model, input: 'hello' }],
    ['/v1/messages', { model, messages, max_tokens: 64 }],
    [
      `/vendorg/v1beta/models/${model}:generateContent`,
      { contents: [{ parts: [{ text: 'hi' }] }] },
    ],
    ['/v1/chat/completions', { model, messages, stream: true }],
    ['/v1/chat/completions', { model: 'coder', messages }],
  ] as const
  for (const [path, body] of calls) {
    const answer = await fetch(gateway.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ownToken}`,
        'content-type': 'application/json',
        'x-gateway-include': 'charge',
      },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    expect([path, answer.status, text.includes('"charge"')]).toEqual([path, 200, true])
    clean(path, JSON.stringify([...answer.headers]) + text)
  }
})

test('notices of charges, prices and batches say nothing of costs', async () => {
  const terms = { unit: 'token', per_million: { input: '3', output: '3' } }
  const made = await gateway.admin('POST', '/prices', {
    model: 'txta-plus',
    account: 'acme',
    ...terms,
  })
  expect(made.status).toBe(201)
  const types = ['price.changed', 'batch.completed', 'charge.settled']
  const sent = await until('the notices', async () => {
    const texts = notices.calls.map(({ headers, body }) => JSON.stringify([...headers]) + body)
    return types.every((type) => texts.some((text) => text.includes(`"${type}"`)))
      ? texts
      : undefined
  })
  for (const text of sent) {
    expect([text, costFacts.filter((fact) => text.includes(fact))]).toEqual([text, []])
  }
})

test('what is not for members tells them nothing but that', async () => {
  expect(notForMembers.length).toBeGreaterThan(50)
  for (const { method, path } of notForMembers) {
    const id = path.startsWith('/channels') ? 'hush-channel' : 'x'
    const { status, text } = await member.ask(method.toUpperCase(), path.replace(':id', id), {})
    expect([method, path, status]).toEqual([method, path, 403])
    clean(path, text)
  }
})

test('what a member makes and changes is answered without them, too', async () => {
  const made = await member.ask('POST', '/tokens', { account: 'acme', name: 'new' })
  expect(made.status).toBe(201)
  const link = await member.ask('POST', '/bills/link?account=acme')
  expect(link.status).toBe(201)
  const answers = [
    made,
    link,
    await member.ask('PATCH', `/tokens/${made.body.id}`, { name: 'newer' }),
    await member.ask('POST', `/tokens/${made.body.id}/rotate`, {}),
    await member.ask('GET', '/bills/links?account=acme'),
    await member.ask('DELETE', `/bills/links/${link.body.id}`),
    await member.ask('POST', '/bills/link?account=hush-rival'),
  ]
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 200, 200, 200, 200, 404])
  for (const { text } of answers) clean('made', text)
})

/** A new call is added here, too: who may use it is a decision. */
test('only these calls change something for operators, finance and members', () => {
  const writes = adminRoutes.filter(
    ({ method, permission }) => method !== 'get' && !permission.open,
  )
  const of = (role: 'operator' | 'finance' | 'member') =>
    [...new Set(writes.filter(({ permission }) => permission.roles.includes(role)))]
      .map(({ method, path }) => `${method} ${path}`)
      .filter((call) => !call.includes('/session'))
      .toSorted()
  const tokensAndTasks = [
    ...['delete /tokens/:id', 'patch /tokens/:id', 'post /accounts/:id/callback-secret/rotate'],
    ...['post /tasks/:id/callback', 'post /tasks/:id/cancel', 'post /tasks/:id/rerun'],
    ...['post /tokens', 'post /tokens/:id/rotate'],
  ]
  const links = ['delete /bills/links/:id', 'post /bills/link']
  expect(of('member')).toEqual([...tokensAndTasks, ...links, 'post /codes/redeem'].toSorted())
  expect(of('finance')).toEqual(
    [
      ...links,
      ...[
        'post /alerts/:id/acknowledge',
        'patch /accounts/:id',
        'post /accounts/:id/credits',
        'post /requests/:id/refunds',
        'post /tasks/:id/refunds',
        'post /codes',
        'delete /codes/:id',
        'put /issuer',
        'delete /prices/:id',
        'delete /costs/:id',
        'post /costs',
        'post /costs/import',
        'post /audit',
        'post /bills/close',
        'post /bills/close-all',
        'post /bills/send',
        'post /bills/send-all',
        'post /months/:id/close',
      ],
      ...['post /prices', 'post /prices/convert', 'post /prices/import', 'post /prices/preview'],
      ...['delete /statements/:id', 'post /statements', 'post /channels/:id/statements/pull'],
    ].toSorted(),
  )
  expect(of('operator')).toEqual(
    [
      ...tokensAndTasks,
      ...['post /alerts/:id/acknowledge', 'post /batches/:id/cancel'],
      ...['delete /channels/:id', 'patch /channels/:id', 'post /channels', 'post /channels/import'],
      ...['post /channels/preview', 'post /channels/test', 'post /channels/:id/discover'],
      ...[
        'post /channels/:id/test',
        'delete /models/:id',
        'put /models/:id',
        'patch /accounts/:id',
      ],
      ...[
        'delete /webhooks/:id',
        'patch /webhooks/:id',
        'post /webhooks',
        'post /webhooks/:id/test',
      ],
    ].toSorted(),
  )
})

test('tasks and requests still show what is the member’s own', async () => {
  const tasks = (await member.ask('GET', '/tasks')).body.items
  expect(tasks).toHaveLength(4)
  const done = tasks.find(
    ({ state, files }: { state: string; files: unknown[] }) =>
      state === 'succeeded' && files.length > 0,
  )
  expect(done.files[0].url).toStartWith(gateway.url)
  const rows = (await member.ask('GET', '/requests')).body.items
  expect(rows.length).toBeGreaterThan(4)
  const { timeline } = (await member.ask('GET', `/tasks/${done.id}`)).body
  expect(timeline.map(({ kind }: { kind: string }) => kind)).toContain('ended')
})

test('which attempts failed is told to staff alone', async () => {
  const path = `/explain/${own['request']!.at(-1)}`
  const [all, shown] = [await asBoss(path), (await member.ask('GET', path)).body]
  expect(all.steps.join()).toContain('txta-turbo failed')
  expect(shown.steps.join()).toContain("'coder' was served by txta-plus")
  expect(shown.steps.join()).not.toContain('failed')
})

test.each([
  ['account', () => ['hush-rival', rival.account, 'no-such-account', '']],
  ['token', () => [rival.token, 'no-such-token']],
  ['channel', () => ['hush-channel', 'no-such-channel']],
])('a list narrowed to a foreign %s is not there', async (name, values) => {
  for (const [route] of reads.filter(([each]) => !each.includes(':id'))) {
    for (const value of values()) {
      const path = `${route.split(' ')[1]}?month=2026-11&${name}=${encodeURIComponent(value)}`
      const { status, body } = await member.ask('GET', path)
      expect([path, status, body.error?.code]).toEqual([path, 404, 'not_found'])
      // Given twice, the own one does not hide the other.
      if (name !== 'account') continue
      const twice = await member.ask('GET', `${path}&account=acme`)
      expect([path, 'twice', twice.status]).toEqual([path, 'twice', 404])
    }
  }
})

test.each(forMembers.filter(([name]) => name.includes('/:id')))(
  '%s of another account is not there',
  async (name, { owned }) => {
    const [method = '', path = ''] = name.split(' ')
    const ids =
      owned === 'request or task'
        ? [rival.request, rival.task]
        : [rival[owned as keyof typeof rival] ?? 'x']
    for (const id of ids) {
      const { status, text } = await member.ask(method, path.replace(':id', id), {})
      expect([name, status]).toEqual([name, 404])
      expect(text).not.toContain('hush')
    }
  },
)

test('what a member does with a task is answered without the operator’s facts', async () => {
  const [done = '', , live = ''] = own['task']!
  for (const path of [`/tasks/${live}/cancel`, `/tasks/${done}/rerun`, `/tasks/${done}/callback`]) {
    const { text } = await member.ask('POST', path, {})
    clean(path, text)
    expect(text).not.toContain('"upstream_id"')
  }
})

test.each([
  '/requests?format=csv',
  '/requests?format=jsonl',
  '/tasks?format=csv',
  '/tasks?format=jsonl',
  '/accounts/acme/ledger?format=csv',
  '/bills?format=csv',
])('the file of %s has none of them', async (path) => {
  const { text } = await member.ask('GET', path)
  expect(text.split('\n').length).toBeGreaterThan(2)
  clean(path, text)
  for (const field of hiddenFields) expect(text).not.toMatch(new RegExp(`(?:^|[",{])${field}[",]`))
})

test('a file narrowed to what is not the member’s is not there', async () => {
  for (const filter of [
    'account=hush-rival',
    `account=${rival.account}`,
    `token=${rival.token}`,
    'channel=hush-channel',
  ]) {
    const { status } = await member.ask('GET', `/requests?format=csv&${filter}`)
    expect([filter, status]).toEqual([filter, 404])
  }
})
