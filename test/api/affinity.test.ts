// The prompt cache of an upstream over a whole conversation: three keys or three channels, one
// conversation of ten turns in each style. The prefix is written once and then read, the money says the
// same, and a key that is lost costs one more write. In front of the sandbox is a relay that knows the
// keys and can reject one.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { longText } from '../../sandbox/testing.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { nanos, type RequestRow, requestIdOf, rowOf } from '../support/read.ts'
import { startUpstream, type TestUpstream } from '../support/upstream.ts'

const styles = ['chat', 'responses', 'messages', 'generate'] as const
type Style = (typeof styles)[number]

interface AttemptRow {
  channel: string
  key?: number
  affinity?: string
  moved?: string
}
interface Row extends RequestRow {
  conversation_by?: string
  cache_marks?: number
  usage: Record<
    'input_tokens' | 'output_tokens' | 'cache_read_tokens' | 'cache_write_tokens',
    number
  >
}

let sandbox: Sandbox
let relay: TestUpstream
let gateways: [TestGateway, TestGateway]
/** Keys that the relay rejects. */
const rejected = new Set<string>()

const keyOf = ({ headers }: Pick<Request, 'headers'>): string =>
  headers.get('x-goog-api-key') ?? (headers.get('authorization') ?? '').replace('Bearer ', '')

const keys = (name: string) => [1, 2, 3].map((n) => `upk-${name}-${n}-0123456789abcdef`)

const price = { input: '1.00', output: '8.00', cache_read: '0.10', cache_write: '1.25' }
/** A key that was rejected is not used for a minute, so each style has its own. */
const rejects = styles.map((style) => `rejects-${style}`)
const models = ['keys', 'channels', ...rejects, 'off', 'own', 'marks', 'api']

const channelOf = (name: string, model: string, more: object) => ({
  name,
  keys: [`upk-${name}-0123456789abcdef`],
  protocols: { messages: relay.url },
  models: { [model]: '*' },
  auto_cache: true,
  ...more,
})

/** JSON is YAML. */
const config = () =>
  JSON.stringify({
    accounts: [{ name: 'acme', balance: '1000.00' }],
    tokens: [{ account: 'acme', name: 'test', token: apiToken }],
    models: models.map((name) => ({ name, kind: 'text', interfaces: [...styles] })),
    prices: models.map((model) => ({ model, unit: 'token', per_million: price })),
    channels: [
      channelOf('keys', 'keys', { keys: keys('keys') }),
      ...[1, 2, 3].map((n) => channelOf(`channel-${n}`, 'channels', {})),
      ...rejects.map((name) => channelOf(name, name, { keys: keys(name) })),
      channelOf('own', 'own', {
        keys: keys('own'),
        protocols: Object.fromEntries(
          styles.map((style) => [style, sandbox.protocols[style]!.replace(sandbox.url, relay.url)]),
        ),
        auto_cache: false,
      }),
      channelOf('marks', 'marks', {
        keys: keys('marks'),
        protocols: { chat: sandbox.protocols['chat']!.replace(sandbox.url, relay.url) },
        capabilities: { cache_control: true },
      }),
      channelOf('off', 'off', { keys: keys('off'), affinity: 'off' }),
    ],
  })

beforeAll(async () => {
  sandbox = startSandbox()
  relay = startUpstream((call) => {
    if (rejected.has(keyOf(call))) {
      const error = { type: 'authentication_error', message: 'invalid x-api-key' }
      return Response.json({ type: 'error', error }, { status: 401 })
    }
    const { body, headers, path } = call
    return fetch(sandbox.url + path, { method: 'POST', headers, body })
  })
  const start = () =>
    startGateway({ config: config(), env: { GATEWAY_EGRESS_ALLOW: '127.0.0.0/8' } })
  gateways = await Promise.all([start(), start()])
})
afterAll(async () => {
  for (const gateway of gateways) expect(await gateway.stop()).toBe(0)
  await relay.stop()
  await sandbox.stop()
})

interface Turn {
  by: 'user' | 'model'
  text: string
}

const messagesOf = (turns: readonly Turn[]) =>
  turns.map(({ by, text }) => ({ role: by === 'user' ? 'user' : 'assistant', content: text }))

const pathOf = (style: Style, model: string): string =>
  ({
    chat: '/v1/chat/completions',
    responses: '/v1/responses',
    messages: '/v1/messages',
    generate: `/vendorg/v1beta/models/${model}:generateContent`,
  })[style]

/** The whole conversation so far, as each style has it. */
function requestOf(style: Style, model: string, system: string, turns: readonly Turn[]): object {
  if (style === 'generate') {
    const contents = turns.map(({ by, text }) => ({ role: by, parts: [{ text }] }))
    return { systemInstruction: { parts: [{ text: system }] }, contents }
  }
  if (style === 'chat') {
    return { model, messages: [{ role: 'system', content: system }, ...messagesOf(turns)] }
  }
  return style === 'responses'
    ? { model, instructions: system, input: messagesOf(turns) }
    : { model, system, messages: messagesOf(turns), max_tokens: 64 }
}

// biome-ignore lint/suspicious/noExplicitAny: answers of four styles
function textOf(style: Style, answer: any): string {
  if (style === 'chat') return answer.choices[0].message.content
  if (style === 'generate') return answer.candidates[0].content.parts[0].text
  const holder = style === 'responses' ? answer.output[0] : answer
  return holder.content[0].text
}

interface Conversation {
  /** Asks the next question, at one of the gateways. */
  next(gateway?: TestGateway): Promise<Row>
}

function converse(
  style: Style,
  model: string,
  name: string,
  { headers = {}, more = {}, words = 300 } = {},
): Conversation {
  const system = longText(`${name}-${style}`, words)
  const turns: Turn[] = []
  return {
    async next(gateway = gateways[0]) {
      turns.push({ by: 'user', text: `[[sim:tokens=9]] question ${turns.length} of ${name}` })
      const request = { ...requestOf(style, model, system, turns), ...more }
      const answer = await gateway.post(pathOf(style, model), request, headers)
      const text = await answer.text()
      expect([answer.status, answer.status === 200 ? '' : text]).toEqual([200, ''])
      turns.push({ by: 'model', text: textOf(style, JSON.parse(text)) })
      return (await rowOf(gateway, requestIdOf(answer))) as Row
    },
  }
}

async function ask(conversation: Conversation, count: number): Promise<Row[]> {
  const rows: Row[] = []
  for (let i = 0; i < count; i++) rows.push(await conversation.next())
  return rows
}

const attemptsOf = ({ attempts }: Row) => attempts as AttemptRow[]
const placesOf = (rows: readonly Row[]) =>
  new Set(
    rows.map((row) =>
      attemptsOf(row)
        .map(({ channel, key }) => `${channel} ${key}`)
        .at(-1),
    ),
  )
const affinityOf = (rows: readonly Row[]) => rows.map((row) => attemptsOf(row).at(-1)!.affinity)

/** Writes of everything before the last turn; a turn's own part is always written once. */
const wholeWrites = (rows: readonly Row[]) =>
  rows.filter(({ usage }) => usage.cache_read_tokens === 0).length

/** All that was written before is read, and charged for as that. */
function expectReads(rows: readonly Row[]): void {
  for (const [i, { usage, charge }] of rows.entries()) {
    const before = rows[i - 1]?.usage
    const known = before === undefined ? 0 : before.cache_read_tokens + before.cache_write_tokens
    if (before !== undefined) expect(usage.cache_read_tokens).toBe(known)
    const { cache_read_tokens: read, cache_write_tokens: written } = usage
    const plain = usage.input_tokens - read - written
    const thousandths = plain * 1_000 + usage.output_tokens * 8_000 + read * 100 + written * 1_250
    expect(nanos(charge)).toBe(BigInt(thousandths))
  }
}

describe.each(styles)('a conversation of ten turns in the %s style', (style) => {
  test.each(['keys', 'channels'] as const)(
    'over three %s writes its prefix once',
    async (model) => {
      const rows = await ask(converse(style, model, 'alone'), 10)
      expect(wholeWrites(rows)).toBe(1)
      expect(rows.filter(({ usage }) => usage.cache_read_tokens > 300)).toHaveLength(9)
      expectReads(rows)
      expect(placesOf(rows).size).toBe(1)
      expect(affinityOf(rows)).toEqual(['new', ...Array<string>(9).fill('kept')])
    },
  )

  test('at two gateways by turns, beside another one, writes its prefix once', async () => {
    const both = [converse(style, 'keys', 'here'), converse(style, 'keys', 'there')]
    const rows: Row[][] = [[], []]
    for (let turn = 0; turn < 10; turn++) {
      for (const [i, one] of both.entries()) {
        rows[i]!.push(await one.next(gateways[(turn + i) % 2]))
      }
    }
    for (const each of rows) {
      expect(wholeWrites(each)).toBe(1)
      expectReads(each)
    }
  })

  test('that loses its key in the middle writes its prefix exactly once more', async () => {
    const model = `rejects-${style}`
    const one = converse(style, model, 'loses')
    const before = await ask(one, 5)
    rejected.add(keys(model)[attemptsOf(before[0]!)[0]!.key! - 1]!)
    const after = await ask(one, 5)
    expect([wholeWrites(before), wholeWrites(after)]).toEqual([1, 1])
    expectReads(before)
    expectReads(after)
    expect(attemptsOf(after[0]!).map(({ affinity, moved }) => [affinity, moved])).toEqual([
      ['kept', undefined],
      ['moved', 'failed'],
    ])
    expect(affinityOf(after.slice(1))).toEqual(Array(4).fill('kept'))
    expect(placesOf(after).size).toBe(1)
  })

  test('where affinity is off writes it for every key', async () => {
    const rows = await ask(converse(style, 'off', 'spread'), 4)
    expect(wholeWrites(rows)).toBe(3)
    expect(affinityOf(rows)).toEqual([undefined, undefined, undefined, undefined])
  })
})

test.each(['chat', 'responses'] as const)(
  'over upstreams of its own style, a cache key has the prefix written once (%s)',
  async (style) => {
    const rows = await ask(
      converse(style, 'own', 'own', { more: { prompt_cache_key: 'mine' } }),
      10,
    )
    expect(rows[0]!.usage.cache_write_tokens).toBeGreaterThan(256)
    expect(wholeWrites(rows)).toBe(1)
    expectReads(rows)
    expect(rows.map(({ cache_marks }) => cache_marks)).toEqual(Array(10).fill(undefined))
  },
)

test.each(styles)(
  'an upstream of the chat style that reads marks gets them (%s)',
  async (style) => {
    const rows = await ask(converse(style, 'marks', 'marks'), 4)
    expect(wholeWrites(rows)).toBe(1)
    expectReads(rows)
    expect(rows.map(({ cache_marks }) => cache_marks)).toEqual([2, 3, 3, 3])
  },
)

test('an upstream that caches by itself has read it nine times of ten', async () => {
  const rows = await ask(converse('generate', 'own', 'own'), 10)
  expect(wholeWrites(rows)).toBe(1)
})

test('a key that is taken from the channel: the conversation goes on at another one', async () => {
  const [gateway] = gateways
  const all = keys('api')
  const created = await gateway.admin('POST', '/channels', channelOf('api', 'api', { keys: all }))
  expect(created.status).toBe(201)
  expect(created.body).toMatchObject({ affinity: 'on', auto_cache: true })
  const one = converse('messages', 'api', 'taken')
  const before = await ask(one, 3)
  const used = attemptsOf(before[0]!)[0]!.key! - 1
  const left = all.filter((_, i) => i !== used)
  const changed = await gateway.admin('PATCH', `/channels/${created.body.id}`, { keys: left })
  expect(changed.body).toMatchObject({ keys: 2, affinity: 'on', auto_cache: true })
  const after = await ask(one, 3)
  expect([wholeWrites(before), wholeWrites(after)]).toEqual([1, 1])
  expect(attemptsOf(after[0]!)[0]).toMatchObject({ affinity: 'moved', moved: 'gone' })
  const off = { affinity: 'off', auto_cache: false }
  await gateway.admin('PATCH', `/channels/${created.body.id}`, off)
  const [last] = await ask(one, 1)
  expect(attemptsOf(last!)[0]).not.toHaveProperty('affinity')
  expect(last).not.toHaveProperty('cache_marks')
})

test.each<[string, Style, Parameters<typeof converse>[3]]>([
  ['prompt_cache_key', 'chat', { more: { prompt_cache_key: 'mine' } }],
  ['prompt_cache_key', 'responses', { more: { prompt_cache_key: 'mine' } }],
  ['session-id', 'responses', { headers: { 'session-id': '019a-77' } }],
  ['x-claude-code-session-id', 'messages', { headers: { 'x-claude-code-session-id': 's-1' } }],
  [
    'metadata.user_id',
    'messages',
    { more: { metadata: { user_id: '{"device_id":"d","session_id":"s-2"}' } } },
  ],
])(
  'a conversation named by %s in the %s style is kept, and the log says by what',
  async (by, style, how) => {
    // Small, and at both gateways: only the name holds it together.
    const one = converse(style, 'keys', `named-${by}`, { ...how, words: 3 })
    const rows = [await one.next(gateways[0]), await one.next(gateways[1]), await one.next()]
    expect(placesOf(rows).size).toBe(1)
    expect(rows.map(({ conversation_by }) => conversation_by)).toEqual([by, by, by])
    const { body } = await gateways[0].admin('GET', `/explain/${rows[2]!.request_id}`)
    expect(body.steps.join('\n')).toMatch(
      new RegExp(`its conversation was kept at keys, key \\d; known by ${by}`),
    )
  },
)

test('marks of the gateway are in the log and explained; a caller’s own are respected', async () => {
  const [row] = await ask(converse('messages', 'keys', 'marks'), 1)
  expect(row).toMatchObject({ cache_marks: 2 })
  const { body } = await gateways[0].admin('GET', `/explain/${row!.request_id}`)
  expect(body.steps.join('\n')).toContain('2 added to the request')
  const cache_control = { type: 'ephemeral' }
  const system = [{ type: 'text', text: longText('own', 300), cache_control }]
  const messages = [{ role: 'user', content: 'hi' }]
  const answer = await gateways[0].post('/v1/messages', {
    model: 'keys',
    max_tokens: 9,
    system,
    messages,
  })
  expect(answer.status).toBe(200)
  const own = (await rowOf(gateways[0], requestIdOf(answer))) as Row
  expect(own.cache_marks).toBeUndefined()
  expect(relay.calls.at(-1)!.body.split('cache_control')).toHaveLength(2)
})
