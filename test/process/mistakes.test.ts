// Mistakes that operators make, and the sentence that each of them gets: from gateway check, from gateway
// doctor, or from a gateway that runs. Many mistakes share a file, because every one of them is told.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiToken, root, startGateway, type TestGateway, tempDir } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import { errorOf } from '../support/read.ts'
import { jsonReply, startUpstream } from '../support/upstream.ts'

async function run(words: readonly string[], config: object, env: Record<string, string> = {}) {
  const dir = tempDir()
  const path = join(dir, 'gateway.yaml')
  // JSON is YAML.
  writeFileSync(path, JSON.stringify(config))
  chmodSync(path, 0o600)
  const child = Bun.spawn([join(root, 'bin/gateway'), ...words], {
    cwd: dir,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...ownEnv, GATEWAY_PORT: '0', GATEWAY_DATA_DIR: tempDir(), ...env },
  })
  const out = await new Response(child.stdout).text()
  return { code: await child.exited, out }
}

const channelAt = (name: string, protocols: object, more: object = {}) => ({
  name,
  keys: ['upk-0123456789'],
  protocols,
  models: { 'txta-plus': '*' },
  ...more,
})
const up = 'https://up.example'

describe('gateway check refuses', () => {
  let out = ''
  let code = 0
  beforeAll(async () => {
    const channels = [
      channelAt('c0', { chat: `${up}/v1/chat/completions` }),
      channelAt('c1', { messages: `${up}/v1` }),
      channelAt('c2', { generate: `${up}/v1beta/models/m:generateContent` }),
      channelAt('c3', { chat: `${up}/v1/messages` }),
      channelAt('c4', { chta: up }),
      channelAt('c5', { chat: up }, { timeouts: { idle: 10 } }),
      channelAt('c6', { chat: up }, { models: {} }),
      channelAt('c7', { chat: 'up.example/v1' }),
      { preset: 'opanai', keys: ['k'] },
      { preset: 'openai' },
      { preset: 'azure-openai', keys: ['k'] },
      { preset: 'vllm', base_url: 'http://10.0.0.5:8000/api' },
      { name: 'c12', keys: ['k'], base_url: up, models: { a: '*' } },
    ]
    const token = { account: 'a', name: 't' }
    const read = await run(['check'], {
      accounts: [{ name: 'a', balance: 100 }],
      tokens: [
        { ...token, token: 'sk-short' },
        { ...token, models: ['gpt*4'] },
        { ...token, expires_at: '2027-01-01' },
        { ...token, limits: { rpm: 0 } },
        { ...token, allowed_ips: ['10.0.0.0/33'] },
      ],
      channels,
      prices: [
        { model: 'txta-plus', unit: 'token', per_million: { input: 1, output: '2' } },
        { model: 'txta-plus', unit: 'hour', per_hour: '1' },
      ],
    })
    out = read.out
    code = read.code
  })

  test.each([
    [
      'a pasted chat endpoint',
      `ends in /chat/completions, which the gateway adds itself: write ${up}/v1`,
    ],
    [
      'a messages address with its version',
      `ends in /v1, which the gateway adds itself: write ${up}`,
    ],
    [
      'a pasted generate endpoint',
      'ends in /v1beta/models/m:generateContent, which the gateway adds',
    ],
    [
      'an address of another protocol',
      `is an address of the protocol messages: write messages: ${up}`,
    ],
    ['a misspelt protocol', 'channels[4].protocols.chta is not a known key; did you mean "chat"?'],
    ['a duration without a unit', 'channels[5].timeouts.idle must be a duration with its unit'],
    ['a channel without models', 'channels[6].models must name at least one model'],
    [
      'an address without its scheme',
      'channels[7].protocols.chat must be an http or https address',
    ],
    ['a misspelt preset', 'channels[8].preset is not a known preset; did you mean "openai"?'],
    ['a preset without a key', 'channels[9].keys is missing'],
    ['a preset without its host', 'preset azure-openai needs it, in the form https://RESOURCE.'],
    [
      'a preset with a path too many',
      'because preset vllm adds the paths: write http://10.0.0.5:8000',
    ],
    ['a base address without a preset', 'channels[12].protocols is missing'],
    ['a balance as a number', 'accounts[0].balance must be a quoted decimal: write "100"'],
    ['a short token', "tokens[0].token must be 'sk-' and at least 24 more"],
    [
      'a star in the middle',
      'tokens[1].models[0] must be a model name, or a prefix that ends in one *',
    ],
    ['a date without a time', 'tokens[2].expires_at must be an RFC 3339 time'],
    ['a limit of nothing', 'tokens[3].limits.rpm must be at least 1'],
    ['a network that is none', 'tokens[4].allowed_ips[0] must be an IP address or a CIDR'],
    ['a price as a number', 'prices[0].per_million.input must be a quoted decimal: write "1"'],
    ['a unit that does not exist', 'prices[1].unit must be one of token, image'],
  ])('%s: %s', (_, sentence) => {
    expect(out).toContain(sentence)
    expect(code).toBe(78)
  })
})

const priced = { unit: 'token', per_million: { input: '1', output: '2' } }
const idle = {
  tokens: [{ account: 'nobody', name: 'ci', models: ['claude-*'] }],
  models: ['unpriced', 'house'].map((name) => ({ name, kind: 'text', interfaces: ['chat'] })),
  prices: [
    { model: 'hose', ...priced },
    { model: 'house', ...priced },
  ],
}

test('gateway check warns of what has no effect', async () => {
  const models = { 'gpt-*': '*', 'txta-plsu': '*', unpriced: '*' }
  const channels = [channelAt('cloud', { chat: `${up}/v1` }, { models }), { preset: 'ollama' }]
  const tag = { tag: 'team=red', amount: '1.00', per: 'day' }
  const accounts = [{ name: 'acme', tag_names: ['job'], tag_budgets: [tag] }]
  const own = { name: 'house-own', kind: 'text', virtual: ['house'], price: 'own' }
  const declared = { ...idle, models: [...idle.models, own], accounts, channels }
  const { code, out } = await run(['check'], declared)
  expect(code).toBe(0)
  for (const sentence of [
    "channel 'cloud' serves gpt-*, and no model of the catalog is called so; declare models under models:",
    'gateway channel discover cloud --add',
    "channel 'ollama' serves no model; add those of its upstream",
    "channel 'cloud' serves txta-plsu, which is no model here",
    'a channel serves unpriced, which has no price here',
    "token 'ci' names the account 'nobody', which is not declared here; a start is refused unless",
    "token 'ci' may use claude-*, and no model of the catalog is called so",
    'there is a price of hose, and no model is called so',
    "account 'acme' has a budget for team=red, and its calls cannot carry that tag; add team to its tag_names",
    "model 'house-own' has a price of its own (price: own), and there is none; add a price of house-own",
  ]) {
    expect(out).toContain(sentence)
  }
})

const upstream = startUpstream(({ path, headers }) => {
  if (path === '/v1/models') {
    const isRight = headers.get('authorization') === 'Bearer right'
    return jsonReply({ data: [{ id: 'house-2026' }] }, { status: isRight ? 200 : 401 })
  }
  if (path === '/denied/chat/completions') {
    const error = { message: 'this key may not do that', code: 'forbidden' }
    return jsonReply({ error }, { status: 403 })
  }
  return new Response('404 page not found', { status: 404 })
})
afterAll(() => upstream.stop())

test('gateway doctor asks upstreams and the database', async () => {
  const channels = [
    channelAt(
      'list',
      { chat: `${upstream.url}/v1` },
      { keys: ['right'], models: { house: 'hose-2026' } },
    ),
    channelAt('key', { chat: `${upstream.url}/v1` }, { keys: ['wrong'] }),
    channelAt('path', { chat: `${upstream.url}/v2` }, { keys: ['right'] }),
  ]
  const { code, out } = await run(['doctor', '--json'], { ...idle, channels })
  expect(code).toBe(1)
  const said = JSON.parse(out).findings.map(
    ({ state, check, says }: Record<string, string>) => `${state} ${check}: ${says}`,
  )
  for (const sentence of [
    "warning channel list: house: its upstream lists no model 'hose-2026'",
    `problem channel key: ${upstream.url} refuses the key (401)`,
    `warning channel path: ${upstream.url} has no list of models below ${upstream.url}/v2 (404)`,
    "problem tokens: token 'ci' is of the account 'nobody', which does not exist",
  ]) {
    expect(said).toContainEqual(expect.stringContaining(sentence))
  }
  expect(out).toContain("the nearest is 'house-2026'")
})

describe('a gateway that runs', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    const models = ['unpriced', 'lost', 'denied']
    const config = {
      accounts: [{ name: 'acme', balance: '10.00' }],
      tokens: [{ account: 'acme', name: 'test', token: apiToken }],
      models: models.map((name) => ({
        name,
        kind: 'text',
        interfaces: ['chat'],
        translate: false,
      })),
      prices: ['lost', 'denied'].map((model) => ({ model, ...priced })),
      channels: models.map((name) =>
        channelAt(name, { chat: `${upstream.url}/${name}` }, { models: { [name]: '*' } }),
      ),
    }
    gateway = await startGateway({ config: JSON.stringify(config) })
  })
  afterAll(async () => {
    expect(await gateway.stop()).toBe(0)
  })

  test.each([
    [
      'unpriced',
      404,
      'model_not_found',
      "model 'unpriced' has no price, so it cannot be called yet",
    ],
    ['absent', 404, 'model_not_found', "model 'absent' does not exist or is not visible"],
    ['lost', 502, 'upstream_error', 'the upstream has nothing at this path (status 404)'],
    ['denied', 502, 'upstream_permission_denied', 'this key may not do that'],
  ])('%s gets %p %p: %s', async (model, status, code, sentence) => {
    const answer = await gateway.chat('hi', { model })
    const error = await errorOf(answer)
    expect([answer.status, error.code]).toEqual([status, code])
    expect(error.message).toContain(sentence)
  })
})
