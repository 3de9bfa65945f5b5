// Data policies over real HTTP: whatever fails and however calls are routed, no byte reaches a channel that
// does not promise what the token and its account require.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { root, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import { newPerson } from '../support/sign-in.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

interface Terms {
  training?: string
  retention_days?: number
  region?: string
}

const offers: Record<string, Terms | undefined> = {
  silent: undefined,
  trains: { training: 'yes', retention_days: 0, region: 'eu' },
  opted: { training: 'opt_out', retention_days: 0, region: 'eu' },
  eu0: { training: 'no', retention_days: 0, region: 'eu' },
  eu30: { training: 'no', retention_days: 30, region: 'eu' },
  us0: { training: 'no', retention_days: 0, region: 'us' },
  partly: { training: 'no', region: 'eu' },
}

let upstream: TestUpstream
let gateway: TestGateway
/** By channel. */
let failing: Record<string, number> = {}

const answerTo = (path: string) => {
  if (path.endsWith('/images/generations')) {
    return jsonReply({ created: 1, data: [{ b64_json: Buffer.from('png').toString('base64') }] })
  }
  if (path.endsWith('/contents/generations/tasks')) return jsonReply({ id: `cgt-${Math.random()}` })
  if (path.endsWith('/embeddings')) {
    const data = [{ object: 'embedding', index: 0, embedding: [0.5] }]
    return jsonReply({
      object: 'list',
      data,
      model: 'm',
      usage: { prompt_tokens: 1, total_tokens: 1 },
    })
  }
  return jsonReply(completion({ prompt_tokens: 3, completion_tokens: 2 }))
}

const channelOf = ({ path }: { path: string }) => path.split('/')[1]!

const config = () => {
  const models = ['one', 'two'].map((name) => ({ name, kind: 'text', interfaces: ['chat'] }))
  const texts = { one: '*', two: '*', 'txta-embed': '*', 'imga-plus': '*', 'vidmodel-1-0-pro': '*' }
  return JSON.stringify({
    accounts: [
      { name: 'acme', balance: '1000.00' },
      { name: 'careful', balance: '1000.00', require: { training: 'no', region: 'eu' } },
    ],
    tokens: [
      { account: 'acme', name: 'free', token: 'sk-test-0123456789abcdefghijklmnop' },
      { account: 'careful', name: 'bound', token: 'sk-careful-0123456789abcdefgh' },
    ],
    channels: Object.entries(offers).map(([name, data], at) => ({
      name,
      keys: [`key-${name}-0123456789`],
      protocols: {
        chat: `${upstream.url}/${name}`,
        embeddings: `${upstream.url}/${name}`,
        images: `${upstream.url}/${name}`,
        arkvendor: `${upstream.url}/${name}`,
      },
      models: at % 2 === 0 ? texts : { ...texts, one: 'other' },
      ...(data && { data }),
    })),
    models: [...models, { name: 'both', kind: 'text', virtual: ['one', 'two'] }],
    prices: ['one', 'two'].map((model) => ({
      ...{ model, unit: 'token', per_million: { input: '1.00', output: '1.00' } },
    })),
  })
}

beforeAll(async () => {
  upstream = startUpstream((call) => {
    const status = failing[channelOf(call)]
    return status === undefined
      ? answerTo(call.path)
      : jsonReply({ error: { message: 'no', type: 'server_error' } }, { status })
  })
  gateway = await startGateway({ config: config() })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const authorized = (token: string) => ({ authorization: `Bearer ${token}` })

async function newToken(require: Terms | null, account = 'acme'): Promise<string> {
  const name = `t${Math.random().toString(36).slice(2)}`
  const { body } = await gateway.admin('POST', '/tokens', { account, name, require })
  return body.token
}

const calls: Record<string, (token: string, word: string) => Promise<Response>> = {
  chat: (token, word) => ask('/v1/chat/completions', token, chatOf('one', word)),
  virtual: (token, word) => ask('/v1/chat/completions', token, chatOf('both', word)),
  messages: (token, word) => ask('/v1/messages', token, { ...chatOf('two', word), max_tokens: 5 }),
  conversation: (token) =>
    ask('/v1/chat/completions', token, { ...chatOf('one', 'same'), prompt_cache_key: 'kept' }),
  embeddings: (token, word) => ask('/v1/embeddings', token, { model: 'txta-embed', input: word }),
  image: (token, prompt) => ask('/v1/images/generations', token, { model: 'imga-plus', prompt }),
  video: (token, text) =>
    ask('/arkvendor/api/v3/contents/generations/tasks', token, {
      model: 'vidmodel-1-0-pro',
      content: [{ type: 'text', text }],
    }),
  count: (token, word) => ask('/v1/messages/count_tokens', token, chatOf('two', word)),
}

const chatOf = (model: string, content: string) => ({
  model,
  messages: [{ role: 'user', content }],
})
const ask = (path: string, token: string, body: object) =>
  gateway.post(path, body, authorized(token))

/** Written once more, in the words of the contract. */
const qualifies = (name: string, need: Terms | null): boolean => {
  const data = offers[name]
  return (
    (need?.training === undefined || data?.training === 'no') &&
    (need?.region === undefined || data?.region === need.region) &&
    (need?.retention_days === undefined ||
      (data?.retention_days !== undefined && data.retention_days <= need.retention_days))
  )
}

const need = fc.record(
  {
    training: fc.constant('no'),
    retention_days: fc.constantFrom(0, 7, 30, 90),
    region: fc.constantFrom('eu', 'us', 'mars'),
  },
  { requiredKeys: [] },
)

test('no byte reaches a channel that does not qualify, whatever fails', async () => {
  const failures = fc.dictionary(
    fc.constantFrom(...Object.keys(offers)),
    fc.constantFrom(500, 503, 429, 401, 404),
  )
  const wanted = fc.array(fc.constantFrom(...Object.keys(calls)), { minLength: 2, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(need, need, failures, wanted, async (own, whole, broken, kinds) => {
      await gateway.admin('PATCH', '/accounts/acme', { require: whole })
      const token = await newToken(own)
      failing = broken
      const from = upstream.calls.length
      const statuses = await Promise.all(
        kinds.map(async (kind, at) => (await calls[kind]!(token, `${kind} ${at}`)).status),
      )
      const able = Object.keys(offers).filter(
        (name) => qualifies(name, own) && qualifies(name, whole),
      )
      const asked = new Set(upstream.calls.slice(from).filter(isCreate).map(channelOf))
      expect([...asked].filter((name) => !able.includes(name))).toEqual([])
      if (able.length === 0) expect([...new Set(statuses)]).toEqual([403])
      else expect(statuses).not.toContain(403)
    }),
    { numRuns: 60 },
  )
  failing = {}
  await gateway.admin('PATCH', '/accounts/acme', { require: null })
})

/** Polls go where a task was made. */
const isCreate = ({ path }: { path: string }) => !/tasks\/./.test(path)

describe('a call that no channel may serve', () => {
  test('is 403 and says which rule refused, in every interface', async () => {
    const token = await newToken({ retention_days: 0, region: 'mars' })
    const from = upstream.calls.length
    for (const call of Object.values(calls)) {
      const response = await call(token, 'x')
      const { error } = (await response.json()) as { error: Record<string, string> }
      expect([response.status, error['code'], error['type']]).toEqual([
        ...[403, 'data_policy', 'permission_error'],
      ])
      expect(error['message']).toContain('the token requires retention_days: 0, region: mars')
    }
    expect(upstream.calls.slice(from).filter(isCreate)).toEqual([])
  })

  test('the account binds its tokens, those of the file and those of members too', async () => {
    const from = upstream.calls.length
    const token = 'sk-careful-0123456789abcdefgh'
    for (let i = 0; i < 8; i++) expect((await calls['chat']!(token, `c${i}`)).status).toBe(200)
    const asked = new Set(upstream.calls.slice(from).map(channelOf))
    expect([...asked].every((name) => ['eu0', 'eu30', 'partly'].includes(name))).toBeTrue()
    const other = await newToken({ region: 'us' }, 'careful')
    const refused = await calls['chat']!(other, 'x')
    expect(refused.status).toBe(403)
    expect(await refused.text()).toContain('the account requires training: no, region: eu')
    const list = await fetch(`${gateway.url}/v1/models`, { headers: authorized(other) })
    expect(JSON.stringify(await list.json())).toContain('"one"')
  })
})

describe('administration', () => {
  test('tokens, accounts and channels show it, change it, and null clears it', async () => {
    const made = await gateway.admin('POST', '/accounts', {
      name: 'new',
      require: { training: 'no' },
    })
    expect([made.status, made.body.require]).toEqual([201, { training: 'no' }])
    const account = await gateway.admin('PATCH', '/accounts/new', { require: { region: 'eu' } })
    expect(account.body.require).toEqual({ region: 'eu' })
    expect(
      (await gateway.admin('PATCH', '/accounts/new', { require: null })).body.require,
    ).toBeNull()
    const owned = await gateway.admin('PATCH', '/accounts/careful', { require: null })
    expect([owned.status, owned.body.error.param]).toEqual([409, 'require'])
    const token = await gateway.admin('POST', '/tokens', {
      ...{ account: 'acme', name: 'shown', require: { retention_days: 7 } },
    })
    expect(token.body.require).toEqual({ retention_days: 7 })
    const rotated = await gateway.admin('POST', `/tokens/${token.body.id}/rotate`, {})
    expect(rotated.body.require).toEqual({ retention_days: 7 })
    const cleared = await gateway.admin('PATCH', `/tokens/${token.body.id}`, { require: null })
    expect(cleared.body.require).toBeNull()
    expect((await gateway.admin('GET', '/channels/eu30')).body.data).toEqual(offers['eu30'])
    expect((await gateway.admin('GET', '/channels/silent')).body.data).toBeNull()
    const channel = { keys: ['k'], protocols: { chat: upstream.url }, models: { one: '*' } }
    const data = { training: 'no', retention_days: 3 }
    const api = await gateway.admin('POST', '/channels', { name: 'api', ...channel, data })
    expect(api.body.data).toEqual(data)
    const kept = await gateway.admin('PATCH', '/channels/api', { priority: -9 })
    expect(kept.body.data).toEqual(data)
    const gone = await gateway.admin('PATCH', '/channels/api', { data: null })
    expect(gone.body.data).toBeNull()
    await gateway.admin('DELETE', '/channels/api')
  })

  const wrong: [object, string][] = [
    [{ require: { training: 'yes' } }, 'require.training'],
    [{ require: { retention_days: -1 } }, 'require.retention_days'],
    [{ require: { retention_days: '0' } }, 'require.retention_days'],
    [{ require: { regions: 'eu' } }, 'require.regions'],
    [{ require: true }, 'require'],
  ]
  test.each(wrong)('%j is 400', async (body, param) => {
    const token = { account: 'acme', name: 'wrong', ...body }
    for (const { status, body: answer } of [
      await gateway.admin('POST', '/tokens', token),
      await gateway.admin('PATCH', '/accounts/acme', body),
    ]) {
      expect([status, answer.error.param]).toEqual([400, param])
    }
  })

  test('a member narrows what an operator has set, and does not widen it', async () => {
    const { body: token } = await gateway.admin('POST', '/tokens', {
      ...{ account: 'acme', name: 'held', require: { retention_days: 30 } },
    })
    const member = await newPerson(gateway, { name: 'mia', role: 'member', account: 'acme' })
    const change = async (require: Terms | null) =>
      (await member.ask('PATCH', `/tokens/${token.id}`, { require })).status
    expect(await change(null)).toBe(403)
    expect(await change({ region: 'eu' })).toBe(403)
    expect(await change({ retention_days: 31 })).toBe(403)
    expect(await change({ retention_days: 7, region: 'eu' })).toBe(200)
    expect(await change({ retention_days: 30 })).toBe(200)
  })
})

test('a wrong policy in the file stops the start with its line', async () => {
  const path = join(tempDir(), 'gateway.yaml')
  writeFileSync(path, 'accounts:\n  - name: a\n    require:\n      training: maybe\n')
  const env = { ...ownEnv, GATEWAY_CONFIG: path, GATEWAY_DATA_DIR: tempDir(), GATEWAY_PORT: '0' }
  const started = Bun.spawn([join(root, 'bin/gateway'), 'start'], { env, stderr: 'pipe' })
  expect(await started.exited).toBe(78)
  expect(await new Response(started.stderr).text()).toContain(':4:17: accounts[0].require.training')
})
