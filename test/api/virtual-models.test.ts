// Virtual models and aliases over real HTTP: who serves, when the next one does, what the caller reads,
// what it costs and what the log tells. Every name has members and channels of its own.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  good,
  isWhole,
  pathOf,
  type Reply,
  requestOf,
  type Style,
  startUpstreams,
  type Upstreams,
} from '../support/channels.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { accountOf, dataLines, errorIn, requestIdOf, rowOf, until } from '../support/read.ts'
import { jsonReply } from '../support/upstream.ts'

const stubbornToken = 'sk-stubborn-0123456789abcdefghijkl'
const narrowToken = 'sk-narrow-0123456789abcdefghijklmn'
const poorToken = 'sk-poor-0123456789abcdefghijklmnop'

/** Ten tokens of input and five of output, by the prices below. */
const costs = { a: '0.00002', b: '0.000055', own: '0.000125' }
const rates = {
  a: { input: '1.00', output: '2.00' },
  b: { input: '3.00', output: '5.00' },
  own: { input: '7.00', output: '11.00' },
}

const says = (status: number, message = 'no'): Reply => {
  const headers = status === 429 ? { 'retry-after': '1' } : undefined
  return () =>
    jsonReply({ error: { message, type: 'x', code: 'x' } }, { status, ...(headers && { headers }) })
}
const never: Reply = () => new Promise<Response>(() => {})
const breaksEarly: Reply = () =>
  new Response('data: {"id":"c', { headers: { 'content-type': 'text/event-stream' } })

type Asking = Style | 'generate'

interface Cause {
  name: string
  /** Left out: nothing listens there. */
  reply?: Reply
  style: Asking
  stream: boolean
}

const causes: Cause[] = [
  { name: 'refused-connection', style: 'chat', stream: false },
  { name: 'no-answer', reply: never, style: 'messages', stream: true },
  { name: 'says-401', reply: says(401), style: 'responses', stream: false },
  { name: 'says-403', reply: says(403), style: 'chat', stream: true },
  {
    name: 'says-404',
    reply: says(404, 'the model does not exist'),
    style: 'messages',
    stream: false,
  },
  { name: 'no-such-path', reply: says(404, ''), style: 'chat', stream: false },
  { name: 'says-429', reply: says(429), style: 'responses', stream: true },
  { name: 'says-500', reply: says(500), style: 'generate', stream: false },
  { name: 'says-503', reply: says(503), style: 'generate', stream: true },
  { name: 'breaks-off', reply: breaksEarly, style: 'chat', stream: true },
  { name: 'embeds-500', reply: says(500), style: 'embeddings', stream: false },
]

const others = ['plain', 'own', 'blamed', 'kept', 'poor', 'one-channel', 'lone', 'weighted', 'dead']
const names = [...causes.map(({ name }) => name), ...others]
const kindOf = (name: string) => (name.startsWith('embeds') ? 'embedding' : 'text')
const interfacesOf = (name: string) =>
  name.startsWith('embeds') ? ['embeddings'] : ['chat', 'responses', 'messages']

let up: Upstreams
let gateway: TestGateway

const membersOf = (name: string): unknown[] =>
  name === 'weighted'
    ? [
        { model: `${name}-a`, weight: 1 },
        { model: `${name}-b`, weight: 3 },
      ]
    : [`${name}-a`, `${name}-b`]

function configOf(): string {
  const plain = names.flatMap((name) => [`${name}-a`, `${name}-b`])
  const channels = names.flatMap((name) => {
    const isGenerate = causes.find((cause) => cause.name === name)?.style === 'generate'
    // A caller of the fourth style is served in translation.
    const more = isGenerate ? { protocols: { chat: `${up.url}/${name}-a/v1` } } : {}
    const timeouts = { first_byte: name === 'no-answer' ? '300ms' : '30s' }
    const first = up.channel(`${name}-a`, [`${name}-a`], { timeouts, ...more })
    const second = up.channel(`${name}-b`, [`${name}-b`])
    if (name === 'refused-connection') {
      return [{ ...first, protocols: { chat: 'http://127.0.0.1:1/v1' } }, second]
    }
    if (name === 'one-channel') return [up.channel(name, [`${name}-a`, `${name}-b`])]
    if (name === 'lone' || name === 'dead') return [second]
    return [first, second]
  })
  return JSON.stringify({
    accounts: [
      { name: 'acme', balance: '100.00' },
      { name: 'poor', balance: '0.0012' },
    ],
    tokens: [
      { account: 'acme', name: 'test', token: apiToken },
      { account: 'acme', name: 'stubborn', token: stubbornToken, fallback: 'never' },
      { account: 'acme', name: 'narrow', token: narrowToken, models: ['plain', 'claude-*'] },
      { account: 'poor', name: 'poor', token: poorToken },
    ],
    models: [
      ...plain.map((name) => ({
        name,
        kind: kindOf(name),
        interfaces: interfacesOf(name),
        max_output_tokens: 100,
      })),
      ...names.map((name) => ({
        name,
        kind: kindOf(name),
        virtual: membersOf(name),
        ...(name === 'own' && { price: 'own' }),
      })),
      { name: 'nick', alias: 'plain-a' },
      { name: 'nick-of-own', alias: 'own' },
      { name: 'claude-*', alias: 'plain-b' },
      { name: 'claude-opus*', alias: 'plain-a' },
      { name: 'claude-exact', alias: 'plain' },
    ],
    prices: [
      ...plain.map((model) => ({ model, unit: 'token', per_million: rates[model.at(-1) as 'a'] })),
      { model: 'own', unit: 'token', per_million: rates.own },
    ],
    channels,
  })
}

beforeAll(async () => {
  up = startUpstreams()
  for (const { name, reply } of causes) if (reply !== undefined) up.on(`${name}-a`, reply)
  for (const name of ['own', 'kept', 'poor']) up.on(`${name}-a`, says(500))
  up.on('blamed-a', says(400, 'messages: too short'))
  up.on('one-channel', (asked) => (asked.model.endsWith('-a') ? says(429)(asked) : good(asked)))
  gateway = await startGateway({ config: configOf() })
})
afterAll(async () => {
  await gateway.stop()
  await up.stop()
})

interface Said {
  status: number
  text: string
  served: string | null
  id: string
}

async function ask(
  model: string,
  {
    style = 'chat' as Asking,
    stream = false,
    token = apiToken,
    headers = {} as Record<string, string>,
    more = {},
  } = {},
): Promise<Said> {
  const call = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  const isGenerate = style === 'generate'
  const path = isGenerate ? `/vendorg/v1beta/models/${model}:${call}` : pathOf[style]
  const body = isGenerate
    ? { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] }
    : requestOf(style, model, stream)
  const answer = await gateway.post(
    path,
    { ...body, ...more },
    {
      authorization: `Bearer ${token}`,
      ...headers,
    },
  )
  return {
    status: answer.status,
    text: await answer.text(),
    served: answer.headers.get('x-gateway-served-model'),
    id: requestIdOf(answer),
  }
}

/** Every model name in an answer, whatever its form. */
const namesIn = (text: string, stream: boolean): string[] => {
  const found: string[] = []
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, inner] of Object.entries(value)) {
      if (/^model(Version)?$/.test(key) && typeof inner === 'string') found.push(inner)
      visit(inner)
    }
  }
  const parts = stream ? dataLines(text).filter((data) => data !== '[DONE]') : [text]
  for (const part of parts) visit(JSON.parse(part))
  return found
}

const isComplete = (style: Asking, stream: boolean, text: string): boolean =>
  style === 'generate' ? text.includes('Hello there.') : isWhole(style, stream, text)

async function billed(id: string) {
  const row = await rowOf(gateway, id)
  const { body } = await gateway.admin('GET', `/explain/${id}`)
  const charge = body.entries.find(({ kind }: { kind: string }) => kind === 'charge')
  return { row: row as unknown as Record<string, unknown>, charge, steps: body.steps as string[] }
}

describe('a member that cannot serve is followed by the next', () => {
  test.each(causes)('$name, in $style, streamed: $stream', async ({ name, style, stream }) => {
    const said = await ask(name, { style, stream })
    expect([said.status, said.served]).toEqual([200, `${name}-b`])
    expect(isComplete(style, stream, said.text)).toBe(true)
    const named = namesIn(said.text, stream)
    expect(named.length).toBeGreaterThan(0)
    expect(new Set(named)).toEqual(new Set([name]))
    const { row, charge } = await billed(said.id)
    const cost = style === 'embeddings' ? '0.00003' : costs.b
    expect([row['model'], row['served_model'], row['charge']]).toEqual([name, `${name}-b`, cost])
    expect([charge.model, charge.served_model, charge.amount]).toEqual([
      name,
      `${name}-b`,
      `-${cost}`,
    ])
    const attempts = row['attempts'] as { model: string; channel: string }[]
    expect(attempts.map(({ model }) => model)).toEqual([`${name}-a`, `${name}-b`])
  })

  test('also where both are behind one channel and one key', async () => {
    const said = await ask('one-channel')
    expect([said.status, said.served]).toEqual([200, 'one-channel-b'])
  })

  test('also where no channel serves the first, which costs no attempt', async () => {
    const said = await ask('lone')
    expect([said.status, said.served]).toEqual([200, 'lone-b'])
    expect((await billed(said.id)).row['attempts']).toHaveLength(1)
  })

  test('and not otherwise', async () => {
    const said = await ask('plain', { stream: true })
    expect([said.status, said.served]).toEqual([200, 'plain-a'])
    const { row, charge, steps } = await billed(said.id)
    expect([row['charge'], charge.served_model]).toEqual([costs.a, 'plain-a'])
    expect(steps).toContain("'plain' was served by plain-a")
    expect(up.asked('plain-b')).toHaveLength(0)
  })

  test('but not after a refusal that blames the request', async () => {
    const said = await ask('blamed')
    expect([said.status, errorIn(said.text).code]).toEqual([400, 'upstream_invalid_request'])
    expect(said.served).toBeNull()
    expect(up.asked('blamed-b')).toHaveLength(0)
    const { row, charge } = await billed(said.id)
    expect([row['charge'], row['served_model'], charge]).toEqual(['0.00', null, undefined])
  })
})

describe('the price', () => {
  test('of its own is charged whoever serves', async () => {
    const said = await ask('own')
    expect([said.status, said.served]).toEqual([200, 'own-b'])
    expect((await billed(said.id)).charge.amount).toBe(`-${costs.own}`)
    const other = await ask('nick-of-own')
    expect([other.status, namesIn(other.text, false)]).toEqual([200, ['nick-of-own']])
    const { charge } = await billed(other.id)
    expect([charge.model, charge.served_model, charge.amount]).toEqual([
      'nick-of-own',
      'own-b',
      `-${costs.own}`,
    ])
  })

  test('is held for the most expensive member, and no more is needed', async () => {
    // 100 tokens of output cost 0.0002 at the first member and 0.0005 at the second; input adds to it.
    const more = { max_tokens: 100 }
    const tooLittle = await ask('poor', { token: poorToken, more: { ...more, n: 3 } })
    expect([tooLittle.status, errorIn(tooLittle.text).code]).toEqual([402, 'insufficient_quota'])
    expect(up.asked('poor-a')).toHaveLength(0)
    const firstOnly = await ask('poor', {
      token: poorToken,
      more: { ...more, n: 3 },
      headers: { 'x-gateway-fallback': 'never' },
    })
    expect(firstOnly.status).toBe(502)
    const said = await ask('poor', { token: poorToken, more })
    expect([said.status, said.served]).toEqual([200, 'poor-b'])
    expect((await accountOf(gateway, 'poor')).balance).toBe('0.001145')
  })
})

describe('a caller that wants no other model', () => {
  test.each([
    ['says so in the request', { headers: { 'x-gateway-fallback': 'never' } }],
    ['has a token that says so', { token: stubbornToken }],
  ])('%s gets the error of the first choice', async (_, how) => {
    const before = up.asked('kept-b').length
    const said = await ask('kept', how)
    expect([said.status, errorIn(said.text).code]).toEqual([502, 'upstream_error'])
    expect(up.asked('kept-b')).toHaveLength(before)
    const dead = await ask('dead', how)
    expect([dead.status, errorIn(dead.text).code]).toEqual([503, 'no_available_channel'])
  })

  test('must say it in the right word', async () => {
    const said = await ask('plain', { headers: { 'x-gateway-fallback': 'nevre' } })
    expect([said.status, errorIn(said.text).param]).toEqual([400, 'x-gateway-fallback'])
    expect((await ask('plain', { headers: { 'x-gateway-fallback': 'allowed' } })).status).toBe(200)
  })
})

describe('an alias', () => {
  test.each([
    ['nick', 'plain-a'],
    ['claude-sonnet-4', 'plain-b'],
    ['claude-opus-4', 'plain-a'],
    ['claude-exact', 'plain-a'],
  ])('%s is served by %s, under its own name', async (name, served) => {
    for (const stream of [false, true]) {
      const said = await ask(name, { stream, style: 'messages' })
      expect([said.status, said.served]).toEqual([200, served])
      expect(new Set(namesIn(said.text, stream))).toEqual(new Set([name]))
      const { charge } = await billed(said.id)
      expect([charge.model, charge.served_model]).toEqual([name, served])
    }
  })

  test('must be allowed itself, and is enough', async () => {
    const narrow = (name: string) => ask(name, { token: narrowToken })
    expect((await narrow('claude-any')).status).toBe(200)
    expect((await narrow('plain')).status).toBe(200)
    for (const name of ['plain-a', 'plain-b', 'nick']) {
      expect([(await narrow(name)).status, name]).toEqual([404, name])
    }
  })

  test('by a pattern takes no word that has no place in a log', async () => {
    for (const name of ['claude-\u0007', `claude-${'x'.repeat(200)}`, 'claude-"', 'claude- ']) {
      expect((await ask(name)).status).toBe(404)
    }
  })
})

test('lists have virtual models and exact aliases, and no patterns', async () => {
  const answer = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${narrowToken}` },
  })
  const { data } = (await answer.json()) as { data: { id: string }[] }
  expect(data.map(({ id }) => id)).toEqual(['claude-exact', 'plain'])
  const one = await fetch(`${gateway.url}/vendorg/v1beta/models/claude-x`, {
    headers: { 'x-goog-api-key': narrowToken },
  })
  expect([one.status, await one.json()]).toMatchObject([200, { name: 'models/claude-x' }])
})

test('weights decide who is first', async () => {
  await Promise.all(Array.from({ length: 200 }, () => ask('weighted')))
  const [a, b] = [up.asked('weighted-a').length, up.asked('weighted-b').length]
  // Expected 50 and 150, with a standard deviation of 6.
  expect(a + b).toBe(200)
  expect(a).toBeGreaterThan(15)
  expect(a).toBeLessThan(95)
})

describe('the administration', () => {
  const put = (name: string, body: object) => gateway.admin('PUT', `/models/${name}`, body)

  test('adds a virtual model and an alias, which work at once', async () => {
    const made = await put('house', { kind: 'text', virtual: ['plain-b', { model: 'plain-a' }] })
    expect([made.status, made.body.virtual, made.body.price, made.body.callable]).toEqual([
      200,
      ['plain-b', 'plain-a'],
      'served',
      true,
    ])
    const pattern = await put('house-*', { alias: 'house' })
    expect([pattern.status, pattern.body.callable, pattern.body.unavailable_reason]).toEqual([
      200,
      true,
      null,
    ])
    expect((await ask('house-1')).served).toBe('plain-b')
    const own = await put('priced', { kind: 'text', virtual: ['plain-a'], price: 'own' })
    expect([own.body.callable, own.body.unavailable_reason]).toEqual([
      false,
      'it has no price in force',
    ])
    expect((await ask('priced')).status).toBe(404)
    const price = { model: 'priced', unit: 'token', per_million: rates.own }
    expect((await gateway.admin('POST', '/prices', price)).status).toBe(201)
    expect((await billed((await ask('priced')).id)).charge.amount).toBe(`-${costs.own}`)
  })

  test.each([
    ['an unknown member', 'x1', { kind: 'text', virtual: ['nothing'] }, 'virtual'],
    ['a virtual member', 'x1', { kind: 'text', virtual: ['plain'] }, 'virtual'],
    ['an alias as a member', 'x1', { kind: 'text', virtual: ['nick'] }, 'virtual'],
    ['itself as a member', 'x1', { kind: 'text', virtual: ['x1'] }, 'virtual'],
    ['a member of another kind', 'x1', { kind: 'text', virtual: ['imga-plus'] }, 'virtual'],
    ['the same member twice', 'x1', { kind: 'text', virtual: ['plain-a', 'plain-a'] }, 'virtual'],
    ['no member', 'x1', { kind: 'text', virtual: [] }, 'virtual'],
    ['an unknown field', 'x1', { kind: 'text', virtual: ['plain-a'], prize: 'own' }, 'prize'],
    ['an unknown price', 'x1', { kind: 'text', virtual: ['plain-a'], price: 'free' }, 'price'],
    ['an alias of nothing', 'x1', { alias: 'nothing' }, 'alias'],
    ['an alias of an alias', 'x1', { alias: 'nick' }, 'alias'],
    [
      'a member that becomes virtual',
      'txta-turbo',
      { kind: 'text', virtual: ['txta-plus'] },
      'virtual',
    ],
  ])('refuses %s', async (_, name, body, param) => {
    const used = { kind: 'text', virtual: ['txta-turbo'] }
    if (name === 'txta-turbo') expect((await put('uses-turbo', used)).status).toBe(200)
    const refused = await put(name, body)
    expect([refused.status, refused.body.error.param]).toEqual([400, param])
  })

  test('shows both models in bills, and the books are in order', async () => {
    await until('nothing held', async () =>
      (await accountOf(gateway)).held === '0.00' ? true : undefined,
    )
    const { body } = await gateway.admin('POST', '/audit')
    expect([body.ok, body.problems]).toEqual([true, []])
    const month = new Date().toISOString().slice(0, 7)
    const csv = await fetch(
      `${gateway.url}/admin/v1/bills?account=acme&month=${month}&format=csv`,
      { headers: { authorization: 'Bearer admin-token-for-tests-0123456789' } },
    )
    const [head = '', ...lines] = (await csv.text()).split('\r\n')
    const at = (name: string) => head.replace('\uFEFF', '').split(',').indexOf(name)
    const pairs = lines
      .map((line) => line.split(','))
      .map((cells) => [cells[at('model')], cells[at('served_model')]])
    expect(pairs).toContainEqual(['says-401', 'says-401-b'])
    expect(pairs).toContainEqual(['claude-opus-4', 'plain-a'])
  })
})
