// From LiteLLM: its config and its database become channels, prices, accounts and tokens of a running
// gateway. Callers keep their keys, money is booked once, a second run changes nothing.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { startUpstream, type TestUpstream } from '../support/upstream.ts'
import { schemaStatements } from './litellm-schema.ts'
import { keys, rows } from './litellm-tables.ts'
import {
  askWith,
  chargeOf,
  hasPostgres,
  killAfterWrites,
  move,
  type OwnDatabase,
  ownDatabase,
  stateOf,
  upstreamAnswer,
} from './move.ts'

const config = 'currency: USD\n'

let upstream: TestUpstream
let database: OwnDatabase
let file: string
let args: string[]

/** A config as its documentation has it. */
const configFor = (base: string): string => `
model_list:
  - model_name: house-chat
    litellm_params:
      model: openai/upstream-name
      api_base: ${base}
      api_key: os.environ/HOUSE_KEY
      input_cost_per_token: 0.0000025
      output_cost_per_token: 1e-05
      rpm: 100
    model_info: { cache_read_input_token_cost: 0.00000125, max_input_tokens: 128000 }
  - model_name: other-model
    litellm_params:
      model: openai/other
      api_base: ${base}
      api_key: os.environ/HOUSE_KEY
      order: 2
      input_cost_per_token: 0.000001
      output_cost_per_token: 0.000002
  - model_name: Claude/Big
    litellm_params: { model: anthropic/claude-big, api_key: literal-key, input_cost_per_token: 0.000003, output_cost_per_token: 0.000015 }
  - model_name: unset
    litellm_params: { model: groq/llama, api_key: os.environ/NOT_SET_ANYWHERE }
  - model_name: no-cost
    litellm_params: { model: openai/no-cost, api_base: "${base}", api_key: os.environ/HOUSE_KEY }
  - model_name: house-rerank
    litellm_params: { model: openai/reranker, api_base: "${base}", api_key: os.environ/HOUSE_KEY, input_cost_per_query: 0.002 }
    model_info: { mode: rerank }
  - model_name: house-speech
    litellm_params: { model: openai/tts-1, api_base: "${base}", api_key: os.environ/HOUSE_KEY, input_cost_per_character: 0.000015 }
    model_info: { mode: audio_speech }
  - model_name: house-ears
    litellm_params: { model: openai/whisper-1, api_base: "${base}", api_key: os.environ/HOUSE_KEY, input_cost_per_second: 0.0001 }
    model_info: { mode: audio_transcription }
  - model_name: house-guard
    litellm_params: { model: openai/omni-moderation-latest, api_base: "${base}", api_key: os.environ/HOUSE_KEY, input_cost_per_token: 0, output_cost_per_token: 0 }
    model_info: { mode: moderation }
  - model_name: house-film
    litellm_params: { model: openai/film, api_base: "${base}", api_key: os.environ/HOUSE_KEY }
    model_info: { mode: video_generation }
  - model_name: claude-rerank
    litellm_params: { model: anthropic/rerank, api_key: literal-key }
    model_info: { mode: rerank }
  - model_name: "openai/*"
    litellm_params: { model: "openai/*", api_key: os.environ/HOUSE_KEY }
environment_variables: { HOUSE_KEY: upstream-key-1 }
router_settings:
  model_group_alias: { gpt-house: house-chat }
  routing_strategy: latency-based-routing
general_settings: { master_key: sk-1234 }
`

beforeAll(async () => {
  upstream = startUpstream(({ path }) => upstreamAnswer(path))
  file = join(tempDir(), 'config.yaml')
  writeFileSync(file, configFor(upstream.chat))
  if (!hasPostgres) return
  database = await ownDatabase()
  for (const statement of [...schemaStatements(), rows]) await database.run(statement)
  args = ['litellm', '--config', file, '--database', database.url]
})

afterAll(async () => {
  await upstream?.stop()
  await database?.drop()
})

describe.if(hasPostgres)('a config and a database', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway({ config })
  })
  afterAll(() => gateway?.stop())

  test('a dry run says what would come of it, and changes nothing', async () => {
    const before = await stateOf(gateway)
    const { report, code } = await move(gateway, [...args, '--dry-run'])
    expect(code).toBe(0)
    expect(report.dry_run).toBe(true)
    expect(report.carried.every(({ state }) => state === 'planned')).toBe(true)
    const named = report.carried.map(({ kind, name }) => `${kind} ${name}`)
    expect(named).toContain('account acme')
    expect(named).toContain('token acme/ci')
    expect(named).toContain('price house-chat')
    const left = report.not_carried.map(({ name, reason }) => `${name}: ${reason}`).join('\n')
    expect(left).toContain('NOT_SET_ANYWHERE is not set')
    expect(left).toContain('from-database: kept encrypted')
    expect(left).toContain('master_key')
    expect(left).toContain('metadata.tags')
    expect(left).toContain('no-cost: the config has no cost')
    expect(left).toContain('openai/*: a pattern')
    expect(left).toContain('house-film: of the mode video_generation, which is not carried')
    expect(left).toContain('claude-rerank: the channel litellm-anthropic')
    expect(left).not.toContain('routing_strategy')
    const changed = report.carried_differently.map(({ name, reason }) => `${name}: ${reason}`)
    expect(changed.join('\n')).toContain("claude-big: callers have asked for 'Claude/Big'")
    expect(await stateOf(gateway)).toEqual(before)
    const { text } = await move(gateway, [...args, '--dry-run'], { isText: true })
    for (const part of ['CARRIED\n', 'CARRIED DIFFERENTLY\n', 'NOT CARRIED\n']) {
      expect(text).toContain(part)
    }
    expect(text).not.toContain('upstream-key-1')
  })

  test('it comes over: credits, budgets, prices, and a caller with its old key gets an answer', async () => {
    const { report, code, stderr } = await move(gateway, args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(report.carried.every(({ state }) => state === 'made')).toBe(true)
    const { body: acme } = await gateway.admin('GET', '/accounts/acme')
    expect(acme).toMatchObject({ balance: '60.50', budget: { amount: '100.00', per: 'month' } })
    const { body: ann } = await gateway.admin('GET', '/accounts/ann')
    expect(ann).toMatchObject({ balance: '10.00', email: 'ann@example.com' })
    const { body: blue } = await gateway.admin('GET', '/accounts/Blue-Co')
    expect(blue).toMatchObject({ balance: '0.00', display_name: 'Blue & Co' })

    const answer = await askWith(gateway, keys.acme, 'house-chat')
    expect(answer.status).toBe(200)
    // 1,000 at 2.50 and 100 at 10.00 for a million.
    expect(answer.headers.get('x-gateway-charge')).toBe('0.0035')
    const call = upstream.calls.at(-1)!
    expect(call.path).toBe('/v1/chat/completions')
    expect(call.headers.get('authorization')).toBe('Bearer upstream-key-1')
    expect(JSON.parse(call.body).model).toBe('upstream-name')
    expect((await askWith(gateway, keys.acme, 'gpt-house')).status).toBe(200)
    expect((await askWith(gateway, keys.rotated, 'house-chat')).status).toBe(200)
    expect((await askWith(gateway, keys.ann, 'house-chat')).status).toBe(200)
    expect((await askWith(gateway, keys.blocked, 'house-chat')).status).toBe(401)
    expect((await askWith(gateway, keys.narrow, 'house-chat')).status).toBe(404)
    expect((await askWith(gateway, keys.narrow, 'other-model')).status).toBe(200)
    expect((await askWith(gateway, keys.spent, 'house-chat')).status).toBe(402)
    expect((await askWith(gateway, `${keys.acme}x`, 'house-chat')).status).toBe(401)
  })

  test('models of other kinds come over with their units, and latency decides as it did', async () => {
    const charge = (path: string, body: object) => chargeOf(gateway, keys.acme, path, body)
    const rerank = { model: 'house-rerank', query: 'q', documents: ['a'] }
    expect(await charge('/v1/rerank', rerank)).toBe('0.002')
    const speech = { model: 'house-speech', input: '0123456789', voice: 'alloy' }
    expect(await charge('/v1/audio/speech', speech)).toBe('0.00015')
    const text = { model: 'house-guard', input: 'x' }
    expect(await charge('/v1/moderations', text)).toBe('0.00')
    const { items: prices } = (await gateway.admin('GET', '/prices?model=house-ears')).body
    expect(prices[0]).toMatchObject({ unit: 'audio_second', per_minute: '0.006' })
    const { items } = (await gateway.admin('GET', '/models?limit=500')).body
    const carried = items.filter(({ name }: { name: string }) => name.startsWith('house-'))
    expect(new Set(carried.map(({ routing }: { routing: string }) => routing))).toEqual(
      new Set(['latency']),
    )
  })

  test('tokens have the limits that keys had', async () => {
    const { items } = (await gateway.admin('GET', '/tokens')).body
    const byName = Object.fromEntries(
      items.map((token: { account: string; name: string }) => [
        `${token.account}/${token.name}`,
        token,
      ]),
    )
    expect(byName['acme/ci']).toMatchObject({
      prefix: 'sk-...StUv',
      limits: { tpm: 100_000 },
      budget: { amount: '15.75', per: 'total' },
    })
    expect(byName['acme/narrow']).toMatchObject({
      models: ['other-model'],
      limits: { rpm: 30 },
      budget: { amount: '2.00', per: 'day' },
    })
    expect(byName['ann/ann-key']).toMatchObject({
      limits: { concurrency: 7 },
      expires_at: '2099-01-01T00:00:00.000Z',
      budget: null,
    })
    expect(byName['acme/off']).toMatchObject({ disabled: true })
  })

  test('a second run changes nothing, and neither brings back what was revoked nor replaces a price', async () => {
    const { body: list } = await gateway.admin('GET', '/tokens')
    const off = list.items.find(({ name }: { name: string }) => name === 'off')
    await gateway.admin('DELETE', `/tokens/${off.id}`)
    await gateway.admin('POST', '/prices', {
      ...{ model: 'house-chat', unit: 'token', per_million: { input: '9.00', output: '9.00' } },
    })
    await database.run(`UPDATE "LiteLLM_TeamTable" SET spend = spend + 1 WHERE team_id = 'team-1'`)
    const before = await stateOf(gateway)
    const { report, code } = await move(gateway, args)
    expect(code).toBe(0)
    expect(report.carried.filter(({ state }) => state !== 'exists')).toEqual([])
    expect(await stateOf(gateway)).toEqual(before)
    expect((await gateway.admin('POST', '/audit')).body).toMatchObject({ ok: true, problems: [] })
  })
})

test.if(hasPostgres)(
  'an import that is killed after each of its writes is finished by the next',
  async () => {
    const gateway = await startGateway({ config })
    try {
      const small = join(tempDir(), 'config.yaml')
      writeFileSync(
        small,
        configFor(upstream.chat).replace(
          / {2}- model_name: other-model[\s\S]*?(?=environment)/,
          '',
        ),
      )
      const fewer = args.map((each) => (each === file ? small : each))
      let runs = 0
      while (await killAfterWrites(gateway, fewer, (runs % 3) + 1)) runs++
      expect(runs).toBeGreaterThan(4)
      const { items } = (await gateway.admin('GET', '/accounts/acme/ledger')).body
      expect(
        items.map(({ kind, amount }: { kind: string; amount: string }) => [kind, amount]),
      ).toEqual([['credit', '59.50']])
      expect((await askWith(gateway, keys.acme, 'house-chat')).status).toBe(200)
      expect((await gateway.admin('POST', '/audit')).body.ok).toBe(true)
    } finally {
      await gateway.stop()
    }
  },
)

test('of a gateway with another currency a rate is needed; amounts and prices follow it', async () => {
  const gateway = await startGateway({ config: 'currency: CNY\n' })
  try {
    const plain = ['litellm', '--config', file]
    const refused = await move(gateway, plain)
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('give --exchange')
    const { code } = await move(gateway, [...plain, '--exchange', '7.10'])
    expect(code).toBe(0)
    const { items } = (await gateway.admin('GET', '/prices?model=house-chat')).body
    expect(items[0].per_million).toMatchObject({
      input: '17.75',
      output: '71.00',
      cache_read: '8.875',
    })
  } finally {
    await gateway.stop()
  }
})

test.each<[string, string[], string]>([
  ['a config that is not there', ['--config', '/nowhere/config.yaml'], 'cannot read'],
  [
    'a database that is not there',
    ['--config', 'FILE', '--database', 'postgres://a:hidden@127.0.0.1:9/x'],
    'cannot read the database',
  ],
  [
    'a file as database',
    ['--config', 'FILE', '--database', '/nowhere/file'],
    'cannot read the database',
  ],
])('%s is told in a sentence', async (_, given, sentence) => {
  const server = Bun.serve({
    port: 0,
    fetch: () => Response.json({ currency: 'USD', items: [] }),
  })
  const { code, stderr } = await move({ url: `http://127.0.0.1:${server.port}` }, [
    'litellm',
    ...given.map((each) => (each === 'FILE' ? file : each)),
  ])
  await server.stop(true)
  expect(code).toBe(2)
  expect(stderr).toContain(sentence)
  expect(stderr).not.toContain('hidden')
})
