// The command line as a person meets it: a child process against a small admin server.
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeAddress, writeAddress } from '../lib/address-file.ts'
import { commands, elsewhere } from './commands.ts'
import { commonFlags } from './terminal/command.ts'
import { helpPage } from './terminal/help.ts'
import { parseLine } from './terminal/parse-line.ts'
import { program } from './test-program.ts'

interface Seen {
  method: string
  path: string
  authorization: string | null
  body: unknown
}

type Reply = (seen: Seen) => Response

let seen: Seen[] = []
let reply: Reply = () => Response.json({})

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url)
    const text = await request.text()
    const call: Seen = {
      method: request.method,
      path: pathname + search,
      authorization: request.headers.get('authorization'),
      body: text === '' ? undefined : JSON.parse(text),
    }
    seen.push(call)
    return reply(call)
  },
})
const url = `http://127.0.0.1:${server.port}`
const dir = mkdtempSync(join(tmpdir(), 'gateway-cli-'))

beforeEach(() => {
  seen = []
  reply = () => Response.json({})
})

afterAll(() => {
  server.stop(true)
  rmSync(dir, { recursive: true })
})

async function gateway(args: readonly string[], env: Record<string, string> = {}) {
  const child = Bun.spawn([...program, ...args], {
    cwd: dir,
    env: { GATEWAY_URL: url, GATEWAY_ADMIN_TOKEN: 'adm-test', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { stdout, stderr, exitCode }
}

const answer = (body: unknown, status = 200) => {
  reply = () => Response.json(body, { status })
}

test('token create shows the secret and says that it is shown once', async () => {
  answer({ id: 'tok_1', token: 'sk-very-secret', prefix: 'sk-very', account: 'acme', name: 'ci' })
  const args = ['--account', 'acme', '--name', 'ci', '--models', 'txta-*,imga-plus', '--rpm', '60']
  const run = await gateway(['token', 'create', ...args, '--allowed-ips', '127.0.0.0/8'])
  expect(run.exitCode).toBe(0)
  expect(run.stdout.match(/sk-very-secret/g)).toHaveLength(1)
  expect(run.stdout).toContain('shown only once')
  expect(seen).toEqual([
    {
      method: 'POST',
      path: '/admin/v1/tokens',
      authorization: 'Bearer adm-test',
      body: {
        account: 'acme',
        name: 'ci',
        models: ['txta-*', 'imga-plus'],
        limits: { rpm: 60 },
        allowed_ips: ['127.0.0.0/8'],
      },
    },
  ])
})

test('--json prints the answer as one document, wherever the flag stands', async () => {
  const body = { items: [{ id: 'acc_1', name: 'acme', balance: '1.00' }], next_cursor: 'c2' }
  answer(body)
  for (const args of [
    ['account', 'list', '--json'],
    ['--json', 'account', 'list'],
  ]) {
    const run = await gateway(args)
    expect(JSON.parse(run.stdout)).toEqual(body)
    expect(run.stderr).toBe('')
  }
})

test('an empty answer is still one JSON document', async () => {
  reply = () => new Response(null, { status: 204 })
  const run = await gateway(['token', 'revoke', 'tok_1', '--json'])
  expect(run).toEqual({ stdout: 'null\n', stderr: '', exitCode: 0 })
  expect(seen[0]).toMatchObject({ method: 'DELETE', path: '/admin/v1/tokens/tok_1' })
})

test('a list is an aligned table without colour, and tells how to go on', async () => {
  answer({
    items: [
      { id: 'acc_1', name: '示例', balance: '100.00', held: '0.00', available: '100.00' },
      { id: 'acc_22', name: 'b\u001b[31m', balance: '7.123', currency: 'CNY' },
    ],
    next_cursor: 'c2',
  })
  const run = await gateway(['account', 'list', '--limit', '2'])
  expect(run.stdout).toBe(
    [
      'ID      NAME     BALANCE  HELD  AVAILABLE',
      'acc_1   示例      100.00  0.00     100.00',
      'acc_22  b[31m  7.123 CNY     -          -',
      '',
      'more accounts: add --cursor c2',
      '',
    ].join('\n'),
  )
  expect(seen[0]?.path).toBe('/admin/v1/accounts?limit=2')
})

test('a wrong flag or command exits 2 and names the nearest one', async () => {
  const cases = [
    [['token', 'list', '--acount', 'a'], 'did you mean --account?'],
    [['tokn', 'list'], "did you mean 'token'?"],
    [['token', 'craete'], "did you mean 'token create'?"],
    [['strat'], "did you mean 'start'?"],
    [['token'], 'needs one of: create, list, show, update, revoke'],
    [['token', 'create', '--account', 'a'], 'needs --name'],
    [['account', 'show'], 'needs ID|NAME'],
    [['token', 'update', 'tok_1'], 'nothing to change'],
    [['token', 'update', 'tok_1', '--rpm', 'many'], '--rpm takes a whole number'],
    [['account', 'credit', 'acme', '1e3'], 'AMOUNT takes an amount'],
    [['account', 'list', '--url', 'nowhere'], 'not an http address'],
    [['token', 'list', '--account', 'a', '--account', 'b'], '--account is given twice'],
    [
      ['token', 'update', 't', '--models', 'a', '--models', 'b'],
      '--models is given twice; separate several values with commas',
    ],
    [
      ['channel', 'update', 'c', '--protocol', 'chat=http://a', '--protocol', 'chat=http://b'],
      "--protocol is given twice for 'chat'",
    ],
    [['price', 'create', '--model', 'm'], 'needs one of --file, --json-body and its terms'],
    [['price', 'create', '--model', 'm', '--input', '1', '--price', '2'], 'has no --price'],
    [['price', 'create', '--model', 'm', '--input', 'x'], '--input takes an amount'],
    [['price', 'create', '--model', 'm', '--output', '1'], 'needs --unit'],
    [['price', 'create', 'm', '--input', '1', '--cach-read', '1'], 'did you mean --cache-read?'],
    [['price', 'create', 'm', '--input', '1', '--output-audoi', '1'], 'mean --output-audio?'],
  ] as const
  const runs = await Promise.all(cases.map(([args]) => gateway(args)))
  runs.forEach((run, i) => {
    expect(run.stderr).toContain(cases[i]![1])
    expect(run.stderr.trimEnd().split('\n')).toHaveLength(1)
    expect({ exitCode: run.exitCode, stdout: run.stdout }).toEqual({ exitCode: 2, stdout: '' })
  })
  expect(seen).toEqual([])
})

test('an unreachable gateway exits 69 and the sentence says how to start it', async () => {
  const closed = Bun.serve({ port: 0, fetch: () => new Response() })
  const address = `http://127.0.0.1:${closed.port}`
  await closed.stop(true)
  const run = await gateway(['account', 'list', '--url', address])
  expect(run.exitCode).toBe(69)
  expect(run.stdout).toBe('')
  expect(run.stderr).toContain('gateway start')
})

test("a refusal exits 1 with the gateway's message and the request id once", async () => {
  const message = 'no account of that name (req_9)'
  answer({ error: { message, code: 'not_found', request_id: 'req_9' } }, 404)
  const told = await gateway(['account', 'show', 'a/b', '--json'])
  const stderr = `gateway: ${message}\n`
  expect(told).toEqual({ stdout: '', stderr, exitCode: 1 })
  expect(seen[0]?.path).toBe('/admin/v1/accounts/a%2Fb')

  answer({ error: { message: 'no such account', request_id: 'req_10' } }, 404)
  const untold = await gateway(['account', 'show', 'x'])
  expect(untold.stderr).toBe('gateway: no such account (request id req_10)\n')
})

test('the admin token is taken from the data directory when nothing else gives it', async () => {
  writeFileSync(join(dir, 'admin-token'), 'adm-from-file\n')
  answer({ items: [] })
  const run = await gateway(['account', 'list'], {
    GATEWAY_ADMIN_TOKEN: '',
    GATEWAY_DATA_DIR: dir,
  })
  expect(run.stdout).toBe('no accounts\n')
  expect(seen[0]?.authorization).toBe('Bearer adm-from-file')
})

test('without any admin token the refusal says where one may come from', async () => {
  answer({ error: { message: 'no' } }, 401)
  const run = await gateway(['account', 'list'], { GATEWAY_ADMIN_TOKEN: '' })
  expect(run.exitCode).toBe(1)
  expect(run.stderr).toContain('GATEWAY_ADMIN_TOKEN')
})

test('help lists every command, and every command has its page', async () => {
  const [help, flag, group] = await Promise.all([
    gateway(['help']),
    gateway(['-h']),
    gateway(['token', '--help']),
  ])
  expect(help.exitCode).toBe(0)
  for (const { path } of commands) expect(help.stdout).toContain(`  ${path.join(' ')}`)
  for (const { name } of elsewhere) expect(help.stdout).toContain(`  ${name} `)
  expect(flag.stdout).toBe(help.stdout)
  expect(group.stdout).toContain('token revoke ID')
  expect(group.stdout).not.toContain('channel')
  const page = await gateway(['token', 'create', '-h'])
  expect(page.stdout).toContain('Usage: gateway token create --account ID|NAME --name NAME')
  expect(page.stdout).toContain('--allowed-ips')
})

test('every command tells of itself, also those that other programs answer', async () => {
  const started = join(import.meta.dir, '../../bin/gateway')
  const names = ['start', 'dev', 'sandbox', 'doctor', 'check', 'restore', 'db', 'health', 'bill']
  const pages = names.map(async (name) => {
    const child = Bun.spawn([started, name, '--help'], { cwd: dir, stderr: 'pipe' })
    const [text] = await Promise.all([new Response(child.stdout).text(), child.exited])
    return [name, child.exitCode, /^(?:Usage: )?gateway /.test(text), text.includes('--help')]
  })
  // The two that work on a database have one page.
  const whole = (name: string) => name !== 'restore' && name !== 'db'
  expect(await Promise.all(pages)).toEqual(names.map((name) => [name, 0, true, whole(name)]))
  for (const { path } of commands.filter(({ path: [first] }) => first !== 'help')) {
    const parsed = parseLine([...path, '--help'], commands, elsewhere)
    const page = helpPage(parsed.kind === 'help' ? parsed.words : [], commands, elsewhere)
    expect(page).toStartWith(`Usage: gateway ${path.join(' ')}`)
  }
  const odd = Bun.spawnSync([started, 'start', '--port', '9000'], { cwd: dir })
  expect([odd.exitCode, odd.stderr.toString()]).toEqual([
    2,
    "gateway: start does not take '--port'; see gateway start --help\n",
  ])
})

test('without an address, the gateway of the data directory is asked', async () => {
  answer({ items: [] })
  writeAddress(dir, url)
  const env = { GATEWAY_URL: '', GATEWAY_DATA_DIR: dir }
  expect(await gateway(['account', 'list'], env)).toMatchObject({ stdout: 'no accounts\n' })
  expect(await gateway(['account', 'list'], { ...env, GATEWAY_PORT: '0' })).toMatchObject({
    stdout: 'no accounts\n',
  })
  // What is said goes before what is found.
  const away = { ...env, GATEWAY_PORT: '1' }
  expect((await gateway(['account', 'list'], away)).stderr).toContain('http://localhost:1 ')
  removeAddress(dir, url)
})

test('on a terminal there are colours, and the table keeps within its width', async () => {
  answer({ items: [{ request_id: 'req_1', status: 502, model: 'm'.repeat(70), charge: '0.25' }] })
  const show = async (env: Record<string, string>) => {
    let text = ''
    const child = Bun.spawn([...program, 'request', 'list'], {
      cwd: dir,
      env: { GATEWAY_URL: url, GATEWAY_ADMIN_TOKEN: 'adm-test', TERM: 'xterm', ...env },
      terminal: {
        cols: 90,
        rows: 24,
        data: (_, bytes) => {
          text += new TextDecoder().decode(bytes)
        },
      },
    })
    expect(await child.exited).toBe(0)
    child.terminal?.close()
    return text.trimEnd()
  }
  const coloured = await show({})
  expect(coloured).toContain('\u001b[31m502')
  const plain = await show({ NO_COLOR: '1' })
  expect(plain).not.toContain('\u001b')
  expect(Bun.stripANSI(coloured)).toBe(plain)
  expect(Math.max(...plain.split(/\r?\n/).map((line) => line.length))).toBeLessThanOrEqual(90)
})

test('a negative amount is a value and not a flag', async () => {
  await gateway(['account', 'credit', 'acme', '-5.00', '--note', 'back'])
  expect(seen[0]).toMatchObject({
    path: '/admin/v1/accounts/acme/credits',
    body: { amount: '-5.00', note: 'back' },
  })
})

test('a channel takes keys from the environment and several protocols and models', async () => {
  answer({ id: 'ch_1', name: 'up', keys: 2 })
  const args = ['channel', 'create', '--name', 'up', '--key', 'k1', '--key-env', 'UP_KEY']
  const more = ['--protocol', 'chat=https://up.example/v1?a=b', '--model', 'txta-plus=p1']
  const run = await gateway([...args, ...more, '--model', 'vfa-*=*', '--priority', '-1'], {
    UP_KEY: 'k2',
  })
  expect(run.exitCode).toBe(0)
  expect(run.stdout).toMatch(/^keys {2}2$/m)
  expect(seen[0]?.body).toEqual({
    name: 'up',
    keys: ['k1', 'k2'],
    protocols: { chat: 'https://up.example/v1?a=b' },
    models: { 'txta-plus': 'p1', 'vfa-*': '*' },
    priority: -1,
  })
  const unset = await gateway([...args, ...more])
  expect(unset.stderr).toContain('UP_KEY is not set')
  const unknown = await gateway([...args, '--protocol', 'cht=x', '--model', 'a=b'], { UP_KEY: 'k' })
  expect(unknown).toMatchObject({ exitCode: 2 })
  expect(unknown.stderr).toContain("did you mean 'chat'?")
})

test('accounts at clouds come from files and from the variables of their own tools', async () => {
  const create = async (flags: string[], env: Record<string, string> = {}) => {
    answer({ id: 'ch_1', name: 'up', keys: 1 })
    const run = await gateway(['channel', 'create', ...flags], env)
    return run.exitCode === 0 ? seen.at(-1)?.body : run.stderr
  }
  const AWS = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret' }
  const bedrock = [
    '--preset',
    'bedrock',
    '--aws-region',
    'eu-west-1',
    '--model',
    'nova=amazon.nova',
  ]
  const account = { region: 'eu-west-1', access_key: 'AKID', secret_key: 'secret' }
  const made = { preset: 'bedrock', models: { nova: 'amazon.nova' } }
  expect(await create(bedrock, AWS)).toEqual({ ...made, auth: { aws: account } })
  expect(await create(bedrock, { ...AWS, AWS_SESSION_TOKEN: 'session' })).toEqual({
    ...made,
    auth: { aws: { ...account, session_token: 'session' } },
  })
  expect(await create(bedrock)).toContain('the variable AWS_ACCESS_KEY_ID is not set')
  const file = join(dir, 'account.json')
  writeFileSync(file, '{"client_email":"a"}')
  const vertex = ['--preset', 'vertex', '--vertex-location', 'global']
  expect(await create([...vertex, '--google-file', file])).toEqual({
    preset: 'vertex',
    auth: { google: { service_account: '{"client_email":"a"}' } },
    vertex: { location: 'global' },
  })
  expect(await create([...vertex, '--google-machine', '--vertex-project', 'p-1'])).toEqual({
    preset: 'vertex',
    auth: { google: {} },
    vertex: { location: 'global', project: 'p-1' },
  })
  expect(await create([...vertex, '--google-file', join(dir, 'gone')])).toContain('ENOENT')
  expect(await create(['--preset', 'vertex', '--vertex-project', 'p'])).toContain(
    'needs --vertex-l',
  )
  const entra = [
    '--preset',
    'azure-entra',
    '--base-url',
    'https://a.example',
    '--azure-tenant',
    't',
  ]
  const AZURE = { AZURE_CLIENT_ID: 'id', AZURE_CLIENT_SECRET: 'secret' }
  expect(await create(entra, AZURE)).toMatchObject({
    auth: { azure: { tenant: 't', client_id: 'id', client_secret: 'secret' } },
  })
})

test('a failed channel test and a failed audit exit 1 with the reason', async () => {
  answer({ ok: false, latency_ms: 3, error: 'key refused' })
  const tried = await gateway(['channel', 'test', 'ch_1', '--model', 'm'])
  expect(tried).toMatchObject({ exitCode: 1, stdout: 'failed: key refused\n' })
  expect(seen[0]?.body).toEqual({ model: 'm' })

  answer({ ok: false, accounts: 2, entries: 9, problems: [{ account: 'acme', problem: 'off' }] })
  const audit = await gateway(['audit'])
  expect(audit.exitCode).toBe(1)
  expect(audit.stdout).toMatch(/2 accounts, 9 entries.*1 problem\b\n\n.*\nacme +off/)

  answer({ ok: true, accounts: 2, entries: 9, problems: [] })
  expect(await gateway(['audit'])).toMatchObject({ exitCode: 0 })
})

test('a price comes from a file or from the line, and the model must agree', async () => {
  const file = join(dir, 'price.yaml')
  writeFileSync(file, 'unit: token\nper_million: { input: "0.80", output: "2.00" }\n')
  const price = { unit: 'token', per_million: { input: '0.80', output: '2.00' } }
  await gateway(['price', 'create', '--model', 'm', '--file', file])
  await gateway(['price', 'create', '--json-body', JSON.stringify({ ...price, model: 'm' })])
  expect(seen.map((each) => each.body)).toEqual([
    { ...price, model: 'm' },
    { ...price, model: 'm' },
  ])
  const odd = await gateway(['price', 'create', '--model', 'm', '--json-body', '{"model":"n"}'])
  expect(odd.exitCode).toBe(2)
})

test('the terms of a simple price are flags', async () => {
  const create = ['price', 'create', '--model', 'm']
  await gateway([...create, '--input', '0.80', '--output', '2', '--cache-read', '0.08'])
  await gateway([
    ...create,
    '--unit',
    'token',
    '--input',
    '1',
    '--output',
    '2',
    '--tool',
    'web_search=0.05',
  ])
  await gateway([...create, '--unit', 'image', '--price', '0.20', '--account', 'acme'])
  await gateway([
    ...create,
    '--unit',
    'video_second',
    '--price',
    '720p=0.90',
    '--price',
    '1080p=1.20',
  ])
  await gateway([
    ...create,
    '--unit',
    'video_token',
    '--price',
    '15',
    '--effective-from',
    '2027-01-01T00:00:00Z',
  ])
  await gateway([...create, '--unit', 'default', '--account', 'acme'])
  const model = 'm'
  expect(seen.map((each) => each.body)).toEqual([
    { model, unit: 'token', per_million: { input: '0.80', output: '2', cache_read: '0.08' } },
    {
      model,
      unit: 'token',
      per_million: { input: '1', output: '2' },
      per_call: { web_search: '0.05' },
    },
    { model, unit: 'image', per_image: '0.20', account: 'acme' },
    { model, unit: 'video_second', per_second: { '720p': '0.90', '1080p': '1.20' } },
    { model, unit: 'video_token', per_million: '15', effective_from: '2027-01-01T00:00:00Z' },
    { model, unit: 'default', account: 'acme' },
  ])
})

test('a price of one line has the model, every rate and service tiers', async () => {
  const rates = {
    ...{ input: '1.25', output: '10', cache_read: '0.125', cache_write: '1.5' },
    ...{ cache_write_1h: '2.5', input_audio: '3', input_image: '4' },
    ...{ output_audio: '20', output_image: '30' },
  }
  const flags = Object.entries(rates).flatMap(([name, amount]) => [
    `--${name.replaceAll('_', '-')}`,
    amount,
  ])
  const tiers = ['--tier', 'priority=2', '--tier', 'flex=0.5']
  await gateway(['price', 'create', 'gpt-x', ...flags, ...tiers])
  expect(seen.map((each) => each.body)).toEqual([
    {
      model: 'gpt-x',
      unit: 'token',
      per_million: rates,
      service_tiers: { priority: { factor: '2' }, flex: { factor: '0.5' } },
    },
  ])
})

test('prices of a public file are picked by every pattern that is given', async () => {
  const file = join(dir, 'api.json')
  const cost = { cost: { input: 1, output: 2 } }
  const models = (...names: string[]) => ({
    models: Object.fromEntries(names.map((name) => [name, cost])),
  })
  writeFileSync(
    file,
    JSON.stringify({ openai: models('gpt-5', 'o1'), anthropic: models('claude-x') }),
  )
  const from = ['price', 'import', file, '--from', 'models.dev', '--json']
  const { stdout } = await gateway([...from, '--only', 'gpt-*', '--only', 'anthropic/*'])
  expect(JSON.parse(stdout).prices.map((price: { model: string }) => price.model)).toEqual([
    'claude-x',
    'gpt-5',
  ])
})

test('a virtual model, an alias and a model of a file are put by name', async () => {
  const file = join(dir, 'model.yaml')
  writeFileSync(file, 'kind: text\ninterfaces: [chat]\n')
  await gateway(['model', 'put', 'coder', '--virtual', 'a=3,b', '--price', 'own'])
  await gateway(['model', 'put', 'claude-*', '--alias', 'coder'])
  await gateway(['model', 'put', 'm', '--file', file])
  expect(seen.map(({ method, path, body }) => [method, path, body])).toEqual([
    [
      'PUT',
      '/admin/v1/models/coder',
      { kind: 'text', virtual: [{ model: 'a', weight: 3 }, 'b'], price: 'own' },
    ],
    ['PUT', '/admin/v1/models/claude-*', { alias: 'coder' }],
    ['PUT', '/admin/v1/models/m', { kind: 'text', interfaces: ['chat'] }],
  ])
  for (const odd of [[], ['--virtual', 'a', '--alias', 'b'], ['--virtual', 'a=x']]) {
    expect((await gateway(['model', 'put', 'coder', ...odd])).exitCode).toBe(2)
  }
})

test('the request log is filtered by every flag', async () => {
  answer({ items: [{ request_id: 'req_1', status: 200, usage: { input_tokens: 12 } }] })
  const filters = ['--account=a', '--token=t', '--model=m', '--channel=c', '--status=502']
  const times = ['--error-code=upstream_error', '--from=2026-11-01T00:00:00Z']
  const run = await gateway(['request', 'list', ...filters, ...times])
  expect(run.stdout).toContain('req_1')
  expect(seen[0]?.path).toBe(
    '/admin/v1/requests?account=a&token=t&model=m&channel=c&status=502' +
      '&error_code=upstream_error&from=2026-11-01T00%3A00%3A00Z',
  )
})

test('a page that is empty and has a next one is not the end of a list', async () => {
  reply = ({ path }) =>
    Response.json(
      path.includes('cursor=')
        ? { items: [{ request_id: 'req_9', status: 200 }], next_cursor: null }
        : { items: [], next_cursor: 'c1' },
    )
  const run = await gateway(['request', 'list', '--model=m', '--limit=5'])
  expect(run.stdout).toContain('req_9')
  expect(seen.map(({ path }) => path)).toEqual([
    '/admin/v1/requests?model=m&limit=5',
    '/admin/v1/requests?model=m&limit=5&cursor=c1',
  ])
})

test('explain prints the steps, then the entries in its currency', async () => {
  const entries = [{ at: '2026-11-01T00:00:00Z', kind: 'charge', amount: '-0.02' }]
  const steps = ['12 tokens in', '0.02 in all']
  answer({ request_id: 'req_1', charge: '0.02', currency: 'CNY', steps, entries })
  const run = await gateway(['explain', 'req_1'])
  expect(run.stdout).toMatch(/req_1 +0\.02 CNY\n\n +12 tokens in\n +0\.02 in all\n\nAT/)
  expect(run.stdout).toContain('charge  -0.02 CNY')
})

const events = (...data: readonly unknown[]) =>
  new Response(
    data
      .map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`)
      .join(''),
    { headers: { 'content-type': 'text/event-stream', 'x-gateway-request-id': 'req_7' } },
  )
const word = (content: string) => ({ choices: [{ delta: { content } }] })

test('call chat prints the streamed words and puts id and usage on stderr', async () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2 }
  reply = () => events(word('good '), word('day'), { choices: [], usage }, '[DONE]')
  const args = ['call', 'chat', '--model', 'txta-plus', 'hello there', '--stream']
  const run = await gateway([...args, '--token', 'sk-caller', '--max-tokens', '5'])
  const stderr = 'request req_7, 3 tokens in, 2 out\n'
  expect(run).toEqual({ stdout: 'good day\n', stderr, exitCode: 0 })
  expect(seen[0]).toMatchObject({
    path: '/v1/chat/completions',
    authorization: 'Bearer sk-caller',
    body: {
      model: 'txta-plus',
      max_tokens: 5,
      stream: true,
      messages: [{ role: 'user', content: 'hello there' }],
    },
  })
})

test('call chat exits 1 when the stream breaks off or carries an error', async () => {
  const args = ['call', 'chat', '--model', 'm', 'hi', '--stream', '--token', 't']
  reply = () => events(word('good '))
  const cut = await gateway(args)
  expect(cut).toMatchObject({ exitCode: 1, stdout: 'good \n' })
  expect(cut.stderr).toContain('req_7')
  reply = () => events(word('a'), { error: { message: 'upstream cut off' } }, '[DONE]')
  const failed = await gateway(args)
  expect(failed).toMatchObject({ exitCode: 1 })
  expect(failed.stderr).toBe('gateway: upstream cut off (request id req_7)\n')
})

test('call chat without --stream prints the answer, with GATEWAY_TOKEN as the token', async () => {
  answer({ choices: [{ message: { content: 'good day' } }] })
  const args = ['call', 'chat', '--model', 'm', 'hi']
  const run = await gateway(args, { GATEWAY_TOKEN: 'sk-env' })
  expect(run).toMatchObject({ stdout: 'good day\n', exitCode: 0 })
  expect(seen[0]?.authorization).toBe('Bearer sk-env')
  expect(await gateway(args)).toMatchObject({ exitCode: 2 })
})

test('version prints the version of the package', async () => {
  const [human, json] = await Promise.all([gateway(['version']), gateway(['version', '--json'])])
  expect(human.stdout).toMatch(/^\d+\.\d+\.\d+/)
  expect(JSON.parse(json.stdout)).toEqual({ version: human.stdout.trim() })
})

test('no flag of a command has the name of one that every command has', () => {
  const common = Object.keys(commonFlags)
  const taken = commands.flatMap(({ path, flags }) =>
    Object.keys(flags).flatMap((flag) =>
      common.includes(flag) ? [`${path.join(' ')} --${flag}`] : [],
    ),
  )
  expect(taken).toEqual([])
})

test('what was charged is shown by what was asked for, and in total', async () => {
  const row = { charges: 2, quantity: 49, amount: '0.25', estimated: 0 }
  const items = [{ model: 'txta-plus', unit: 'token', token_id: 'tok_1', token: 'ci', ...row }]
  const span = { from: '2026-10-01T00:00:00.000Z', to: '2026-11-01T00:00:00.000Z' }
  answer({ ...span, by: ['model', 'token'], currency: 'CNY', total: { ...row, unit: null }, items })
  const { stdout } = await gateway(['usage', '--by', 'model,token', '--account', 'acme'])
  expect(seen[0]?.path).toBe('/admin/v1/usage?by=model%2Ctoken&account=acme')
  const [head, , titles, first] = stdout.split('\n')
  expect(head).toEndWith('2026-11-01T00:00:00.000Z  0.25 CNY, 2 charges')
  expect(titles).toMatch(/^MODEL +TOKEN +UNIT +CHARGES +QUANTITY +AMOUNT$/)
  expect(first).toMatch(/^txta-plus +ci +token +2 +49 +0.25 CNY$/)
})

test('help has names as they are written, without the marks of documents', () => {
  const shown = commands.flatMap(({ flags }) => Object.values(flags).map(({ summary }) => summary))
  expect(shown.filter((summary) => /^[a-z][A-Z]|`/.test(summary))).toEqual([])
})

test('the receiver of notices is told to the gateway, and is sent nothing', async () => {
  const receiver = 'https://hooks.example/notices'
  await gateway(['webhook', 'create', '--receiver', receiver, '--event', 'bill.closed'])
  const [call] = seen
  expect(call).toMatchObject({ method: 'POST', path: '/admin/v1/webhooks' })
  expect(call?.body).toEqual({ url: receiver, events: ['bill.closed'] })
})

test('rules of error rates are flags, and another form of one is refused', async () => {
  const words = ['webhook', 'create', '--receiver', 'https://hooks.example/', '--event']
  const rules = ['--rule', 'model=a:b:0.2:5m:20', '--rule', 'channel=main:0.5:90s:4']
  await gateway([...words, 'error_rate', ...rules])
  expect(seen[0]?.body).toEqual({
    url: 'https://hooks.example/',
    events: ['error_rate'],
    rules: [
      { model: 'a:b', above: 0.2, over: '5m', min: 20 },
      { channel: 'main', above: 0.5, over: '90s', min: 4 },
    ],
  })
  const wrong = await gateway([...words, 'error_rate', '--rule', 'txta-plus:0.2'])
  expect([wrong.exitCode, wrong.stderr]).toEqual([
    2,
    expect.stringContaining(
      "--rule takes model=NAME:ABOVE:OVER:MIN or channel=…, not 'txta-plus:0.2'",
    ),
  ])
})

test('a page of help keeps its columns when one flag has many choices', () => {
  const lines = helpPage(['channel', 'create'], commands, elsewhere).split('\n')
  const name = lines.find((line) => line.startsWith('  --name '))
  expect(name?.length).toBeLessThan(110)
  expect(lines.find((line) => line.includes('--preset '))).toEndWith('|wan')
})
