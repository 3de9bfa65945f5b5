// A gateway that looks used: long names, large amounts, months that are over, requests and tasks that
// failed, callbacks that were refused, a channel that is down, alerts, invitations and a statement.
import { monthAt, monthBounds, monthPlus } from '../../../src/lib/text/month.ts'
import { insertPrice } from '../../../src/store/catalog/prices.ts'
import { openStore } from '../../../src/store/index.ts'
import { aRequest, charged } from '../../../src/store/test-stores.ts'
import { openPast } from '../data/past-months.ts'
import { adminToken, apiToken, startGateway, type TestGateway, tempDir } from '../gateway.ts'
import { until } from '../read.ts'
import { completion, jsonReply, startUpstream } from '../upstream.ts'
import { password } from './browser.ts'

export const longAccount = 'northwind-international-trading-and-logistics-asia-pacific'
export const longChannel = 'pool-amsterdam-3-reserved-capacity-for-night-batches'
export const longModel = 'txta-writer-2026-11-preview-long-context-reasoning'
export const lastMonth = monthPlus(monthAt(Date.now()), -1)
/** What callers and upstreams wrote, in their own language. */
export const quoted = [
  /A lighthouse in a storm.*/s,
  /The model failed to make the video\./,
  /The sandbox was told to answer \d+\./,
] as const
const longPrompt =
  'A lighthouse in a storm at night, seen from a small boat: 巨浪拍打礁石, slow camera, rain on the lens'

export interface BusyGateway extends TestGateway {
  /** A task whose callback was refused. */
  told: string
  /** Makes a task that takes long. */
  makeSlow(): Promise<string>
  /** A task that failed. */
  failed: string
  /** A request that failed after several attempts. */
  refused: string
  /** A request of a token that has many details. */
  good: string
  statement: string
  subscription: string
  /** Of the upstream behind the channels. */
  upstream: string
  stopAll(): Promise<void>
}

export async function startBusy(): Promise<BusyGateway> {
  const dataDir = tempDir()
  await fillPast(dataDir)
  const upstream = startUpstream(({ path }) => {
    if (path.startsWith('/hook')) return new Response('try later', { status: 503 })
    if (path.endsWith('/models')) {
      const ids = ['txta-plus', 'txta-turbo', longModel, 'writer-9']
      return jsonReply({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) })
    }
    if (path.startsWith('/bad')) {
      return jsonReply({ error: { message: 'Incorrect API key provided' } }, { status: 401 })
    }
    return jsonReply(completion({ prompt_tokens: 812_345, completion_tokens: 64_321 }))
  })
  const gateway = await startGateway({
    dataDir,
    config: `
accounts:
  - { name: acme, balance: "12345678.90", tag_names: [team, project], budget: { amount: "50000.00", per: month } }
tokens:
  - { account: acme, name: test, token: ${apiToken} }
channels:
  - name: ${longChannel}
    keys: [upk-0123456789abcdef]
    protocols: { chat: "${upstream.url}/bad/v1" }
    models: { txta-turbo: "*" }
    priority: 10
  - name: pool-b
    keys: [upk-1123456789abcdef, upk-2123456789abcdef]
    protocols: { chat: "${upstream.url}/v1" }
    models: { txta-turbo: "*" }
`,
    env: {
      GATEWAY_SANDBOX: 'on',
      GATEWAY_SANDBOX_TASK_SECONDS: '1',
      GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
    },
  })
  const ids = await fillNow(gateway, upstream.url)
  const stopAll = async () => {
    await gateway.stop()
    await upstream.stop()
  }
  return { ...gateway, ...ids, upstream: upstream.url, stopAll }
}

type Ids = Omit<BusyGateway, keyof TestGateway | 'upstream' | 'stopAll'>

async function fillNow(gateway: TestGateway, upstream: string): Promise<Ids> {
  await fillSettings(gateway, upstream)
  const { refused, good } = await fillRequests(gateway)
  const tasks = await fillTasks(gateway, `${upstream}/hook/of-the-customer?with=a-long-address`)
  const subscription = await make(gateway, '/webhooks', {
    url: `${upstream}/hook/notices`,
    events: ['task.failures', 'balance.low', 'bill.closed', 'error_rate', 'channel.down'],
    rules: [{ model: 'txta-plus', above: 0.5, over: '5m', min: 20 }],
  })
  const statement = await compareStatement(gateway)
  return { ...tasks, refused, good, subscription: subscription.id, statement }
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function make(gateway: TestGateway, path: string, body: object): Promise<any> {
  const made = await gateway.admin('POST', path, body)
  if (made.status >= 300) throw new Error(`${path}: ${JSON.stringify(made.body)}`)
  return made.body
}

async function fillSettings(gateway: TestGateway, upstream: string): Promise<void> {
  await make(gateway, '/accounts', {
    name: longAccount,
    balance: '98765432.123456',
    balance_low: '100',
  })
  await make(gateway, '/tokens', {
    account: longAccount,
    name: 'nightly-report-generation-for-the-finance-department',
    models: ['txta-plus', 'txta-turbo', 'vfa-*', 'imga-*', 'txta-vl-plus'],
    limits: { rpm: 60_000, tpm: 200_000_000, concurrency: 1_000 },
    budget: { amount: '1234567.89', per: 'week' },
  })
  await make(gateway, '/people', { name: 'ada', role: 'administrator', password })
  await make(gateway, '/people', { name: 'mel', role: 'member', account: 'acme', password })
  await make(gateway, '/people', {
    name: 'wilhelmina.von-hohenstein@northwind-trading.example',
    role: 'finance',
    password,
  })
  await make(gateway, '/invitations', {
    role: 'member',
    account: 'acme',
    email: 'zhang.wei@acme.example',
  })
  await make(gateway, '/channels', {
    name: 'cloud',
    keys: ['upk-3123456789abcdef'],
    protocols: { chat: `${upstream}/v1` },
    models: { [longModel]: '*' },
  })
  const text = {
    kind: 'text',
    interfaces: ['chat'],
    context_window: 1_048_576,
    max_output_tokens: 65_536,
  }
  await gateway.admin('PUT', `/models/${longModel}`, { ...text, display_name: 'Writer preview' })
  await gateway.admin('PUT', '/models/house-writer', { alias: 'txta-plus' })
  await gateway.admin('PUT', '/models/coder', {
    kind: 'text',
    virtual: ['txta-plus', 'txta-turbo'],
  })
  await make(gateway, '/prices', {
    ...{ model: 'txta-plus', account: longAccount, unit: 'token' },
    tiers: [
      { up_to: 128_000, per_million: { input: '0.7234', output: '1.99', cache_read: '0.07' } },
      { per_million: { input: '1.44', output: '3.98', cache_read: '0.14' } },
    ],
    per_call: { web_search: '0.05' },
  })
}

async function fillRequests(gateway: TestGateway): Promise<{ refused: string; good: string }> {
  const say = async (content: string, more: object = {}, headers: Record<string, string> = {}) => {
    const messages = [{ role: 'user', content }]
    const body = { model: 'txta-plus', messages, ...more }
    const answer = await gateway.post('/v1/chat/completions', body, headers)
    await answer.text()
    return answer.headers.get('x-gateway-request-id') ?? ''
  }
  await say(
    'hello',
    { user: 'end-user-0042' },
    { 'x-gateway-tags': 'team=red, project=autumn-campaign' },
  )
  const good = await say('hello', { model: 'txta-turbo' })
  await say('[[sim:status=400]]')
  await say('[[sim:status=429]]', { model: 'txta-vl-plus' })
  await say('again', { model: 'no-such-model-of-that-very-long-name-at-all-2026-preview' })
  await say('[[sim:tokens=60]] [[sim:cut=20]]', { stream: true })
  const refused = await say('[[sim:status=500]]')
  return { refused, good }
}

async function fillTasks(gateway: TestGateway, hook: string) {
  const video = async (prompt: string): Promise<string> => {
    const body = { model: 'vfa-2.7-t2v', prompt, seconds: 5, resolution: '720p' }
    return ((await (await gateway.post('/v1/videos', body)).json()) as { id: string }).id
  }
  const makeSlow = () => video(`${longPrompt} [[sim:delay=90s]]`)
  await makeSlow()
  const failed = await video('a dog [[sim:fail]]')
  const done = await video('a cat')
  const image = { model: 'imga-plus', prompt: longPrompt, n: 2 }
  await (await gateway.post('/v1/images/generations', image)).text()
  const asked = { model_name: 'imgvendor-v2', prompt: longPrompt, callback_url: hook }
  const made = await gateway.post('/imgvendor/v1/images/generations', asked)
  const told = ((await made.json()) as { data: { task_id: string } }).data.task_id
  const task = async (id: string) => (await gateway.admin('GET', `/tasks/${id}`)).body
  await until('a refused callback', async () => {
    return (await task(told)).callback?.attempts.length > 0 || undefined
  })
  for (const id of [failed, done]) {
    await until('tasks to end', async () => (await task(id)).finished_at ?? undefined)
  }
  return { told, failed, makeSlow }
}

/** One line matches, one has another amount, one is unknown here. */
async function compareStatement(gateway: TestGateway): Promise<string> {
  const { body } = await gateway.admin('GET', '/requests?channel=sandbox&status=200')
  const [one, two] = body.items as { upstream_request_id: string; charge: string; at: string }[]
  const table = [
    'time,request id,model,amount',
    `${one!.at},${one!.upstream_request_id},txta-plus,${one!.charge}`,
    `${one!.at},chatcmpl-unknown-to-the-gateway-0123456789abcdef,txta-plus,1250000.10`,
    ...(two === undefined ? [] : [`${two.at},${two.upstream_request_id},txta-plus,5.00`]),
  ].join('\n')
  const path = '/admin/v1/statements?channel=sandbox&name=statement-of-november-2026.csv'
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'text/csv' },
    body: `${table}\n`,
  })
  const made = (await answer.json()) as { id?: string }
  if (made.id === undefined) throw new Error(`statement: ${JSON.stringify(made)}`)
  return made.id
}

const charges = 30
const chargeNanos = 778_518_000n

/** Accounts that paid for calls last month. */
async function fillPast(dataDir: string): Promise<void> {
  const store = await openStore({ dataDir })
  const credit = { month: lastMonth, kind: 'credit', amountNanos: 87_654_321_000_000_000n } as const
  const accountId = await openPast(store, 'acme-old', [credit])
  await openPast(store, 'late-closer', [{ ...credit, month: monthPlus(lastMonth, -1) }])
  const { fromMs } = monthBounds(lastMonth)!
  const terms = {
    unit: 'token',
    tiers: [{ inputNanos: 800_000_000n, outputNanos: 2_000_000_000n }],
  } as const
  await store.tx(async (tx) => {
    for (const model of ['txta-plus', longModel]) {
      const price = { id: `price_of_${model}`, model, terms, effectiveFromMs: fromMs } as const
      await insertPrice(tx, { ...price, source: 'api' }, fromMs)
    }
  })
  for (let i = 0; i < charges; i++) {
    const model = i % 4 === 0 ? longModel : 'txta-plus'
    const priceId = `price_of_${model}`
    const atMs = fromMs + i * 11 * 3_600_000
    const usage = {
      inputTokens: 812_345,
      outputTokens: 64_321,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    }
    const request = aRequest({ atMs, accountId, model, priceId, chargeNanos, usage })
    await store.record(charged(request, chargeNanos, { quantity: 876_666 }))
  }
  await store.close()
}
