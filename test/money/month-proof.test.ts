// A month of three channels against the statements of what the sandbox served in it: as the reports of three makers
// and as a table by id. All lines are explained; with thirty planted differences, these are named and nothing else.
// TEST_MONTH_CALLS=100000 makes so many calls instead of 3,000.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startSandbox } from '../../sandbox/server.ts'
import { loadConfig } from '../../src/config/index.ts'
import { monthAt, monthBounds, monthPlus } from '../../src/lib/text/month.ts'
import { type Served, serve } from '../../src/start/serve.ts'
import { adminToken, apiToken, tempDir } from '../support/gateway.ts'

const size = Number(process.env['TEST_MONTH_CALLS'] ?? 3_000)
setDefaultTimeout(Math.max(60_000, size * 20))

const dayMs = 86_400_000
const month = monthPlus(monthAt(Date.now()), -1)
const { fromMs, untilMs } = monthBounds(month)!

/** Both clocks of the process stand in the month, and jump from day to day. */
const [realDate, realMonotonic] = [Date.now, performance.now.bind(performance)]
let passedMs = 0
const shiftMs = fromMs - dayMs + 12 * 3_600_000 - realDate()
const kinds = ['openai', 'anthropic', 'openrouter'] as const
type Kind = (typeof kinds)[number]
/** Dollars for a million tokens; every cost is whole nano-units. */
const rates = {
  'up-openai-1': { input: '2', output: '8' },
  'up-openai-2': { input: '1', output: '4' },
  'up-anthropic-1': { input: '3', output: '15' },
  'up-anthropic-2': { input: '1', output: '5' },
  'up-openrouter-1': { input: '0.5', output: '1.5' },
  'up-openrouter-2': { input: '0.25', output: '2' },
}
const models = Object.keys(rates) as (keyof typeof rates)[]
const kindOf = (model: string) => kinds.find((kind) => model.includes(kind))!

let sandbox: ReturnType<typeof startSandbox>
/** The makers' reports: closed but for the tests of them, for the daily job would replace other statements by them. */
let areReportsOpen = false
const reports = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: ({ url, headers }) =>
    areReportsOpen
      ? fetch(url.replace(/^http:\/\/[^/]+/, sandbox.url), { headers })
      : new Response(null, { status: 503 }),
})
let gateway: Served
let base: string

beforeAll(async () => {
  Date.now = () => realDate() + shiftMs + passedMs
  performance.now = () => realMonotonic() + passedMs
  sandbox = startSandbox({ rates, now: Date.now })
  const configPath = join(tempDir(), 'gateway.yaml')
  writeFileSync(configPath, JSON.stringify(config()))
  const env = {
    GATEWAY_PORT: '0',
    GATEWAY_DATA_DIR: tempDir(),
    GATEWAY_CONFIG: configPath,
    GATEWAY_ADMIN_TOKEN: adminToken,
    GATEWAY_LOG: 'error',
  }
  gateway = await serve(loadConfig(env, tempDir()))
  base = `http://127.0.0.1:${gateway.port}`
})
afterAll(async () => {
  const { rss } = process.memoryUsage()
  if (size > 3_000) console.error(`${size} calls: ${Math.round(rss / 2 ** 20)} MB at the end`)
  await gateway.drain()
  await sandbox.stop()
  await reports.stop(true)
  Date.now = realDate
  performance.now = realMonotonic
})

const config = () => ({
  currency: 'CNY',
  exchange: { USD: '7', EUR: '8' },
  accounts: [{ name: 'acme', balance: '900000' }],
  tokens: [{ account: 'acme', name: 'test', token: apiToken }],
  models: models.map((name) => ({
    ...{ name: name.slice(3), kind: 'text', interfaces: ['chat'] },
  })),
  prices: models.map((name) => ({
    ...{ model: name.slice(3), unit: 'token', per_million: { input: '30', output: '120' } },
  })),
  costs: models.map((name) => ({
    ...{ channel: kindOf(name), model: name.slice(3), currency: 'USD', unit: 'token' },
    per_million: rates[name],
  })),
  channels: kinds.map((kind) => ({
    name: kind,
    keys: [`upk-${kind}-0123456789`],
    protocols: { chat: sandbox.protocols.chat },
    models: Object.fromEntries(
      models.filter((name) => kindOf(name) === kind).map((name) => [name.slice(3), name]),
    ),
    billing: { kind, key: `adm-upk-${kind}-0123456789`, url: `http://127.0.0.1:${reports.port}` },
  })),
})

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const admin = async (method: string, path: string, body?: unknown): Promise<any> => {
  const response = await fetch(`${base}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const answer = (await response.json()) as any
  expect([method, path, response.status, answer.error]).toEqual([
    ...[method, path, response.status < 300 ? response.status : 200, undefined],
  ])
  return answer
}

const call = async (at: number): Promise<void> => {
  const model = models[at % models.length]!.slice(3)
  const content = `call ${at} [[sim:tokens=${1 + (at % 7)}]]`
  const stream = at % 10 === 0
  const response = await fetch(`${base}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content }] }),
  })
  await response.text()
  if (response.status !== 200) throw new Error(`call ${at}: ${response.status}`)
}

/** The day before the month, its days, and the day after it. */
const days = Math.round((untilMs - fromMs) / dayMs) + 2
const atOnce = 16

test('calls of a whole month', async () => {
  let next = 0
  for (let day = 0; day < days; day++) {
    const until = Math.round((size * (day + 1)) / days)
    const worker = async () => {
      while (next < until) await call(next++)
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
    passedMs += dayMs
  }
  expect(next).toBe(size)
})

const channelMonth = async (kind: Kind) =>
  (await admin('GET', `/months/${month}/channels?channel=${kind}`)).items[0]

const lastDay = new Date(untilMs - dayMs).toISOString().slice(0, 10)

test.each(kinds)('the report of %s leaves nothing to explain', async (kind) => {
  areReportsOpen = true
  await admin('POST', `/channels/${kind}/statements/pull`, { from: `${month}-01`, to: lastDay })
  areReportsOpen = false
  const found = await channelMonth(kind)
  expect(found).toMatchObject({ unexplained_lines: 0, missing_days: [], difference: '0.00' })
  expect(found.invoice).toBe(found.ours)
  expect(Number(found.invoice)).toBeGreaterThan(0)
})

const statementOf = async (kind: Kind, from: number, to: number): Promise<string[]> => {
  const query = new URLSearchParams({
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
  })
  const response = await fetch(`${sandbox.url}/_sandbox/statement?${query}`, {
    headers: { authorization: `Bearer adm-upk-${kind}-0123456789` },
  })
  return (await response.text()).trimEnd().split('\r\n')
}

const upload = async (kind: Kind, lines: readonly string[]) => {
  const query = new URLSearchParams({
    ...{ channel: kind, name: `${kind}.csv`, tolerance: '0' },
    from: `${month}-01`,
    to: monthPlus(month, 1).concat('-01'),
  })
  const response = await fetch(`${base}/admin/v1/statements?${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'text/csv' },
    body: `${lines.join('\r\n')}\r\n`,
  })
  expect([response.status, await response.json()]).toMatchObject([201, { channel: kind }])
}

test.each(kinds)('the table of %s by id leaves nothing to explain', async (kind) => {
  const lines = await statementOf(kind, fromMs, untilMs)
  expect(lines.length - 1).toBeGreaterThan(size / 4)
  await upload(kind, lines)
  const found = await channelMonth(kind)
  const matched = { reason: 'matched', lines: lines.length - 1, difference: '0.00' }
  expect(found.explained_by).toMatchObject([matched])
  expect(found).toMatchObject({ unexplained_lines: 0, difference: '0.00' })
})

/** Cells: id, time, model, tokens, cost, currency. */
type Cells = [string, string, string, string, string, string]
type Plant = (cells: Cells, kind: Kind) => Cells[]

const otherModel = (name: string) => name.replace(/\d$/, (digit) => (digit === '1' ? '2' : '1'))
const otherDay = (time: string) =>
  time.replace(/-(\d\d)T/, (_, day) => (Number(day) > 15 ? '-03T' : '-28T'))
const times = (cost: string, factor: number) => (Number(cost) * factor).toFixed(9)

const plants: readonly (readonly [reason: string, Plant])[] = [
  [
    'price_differs',
    ([id, at, model, tokens, cost, of]) => [[id, at, model, tokens, times(cost, 1.1), of]],
  ],
  [
    'price_differs',
    ([id, at, model, tokens, cost, of]) => [[id, at, model, tokens, times(cost, 0.5), of]],
  ],
  ['gateway_only', () => []],
  ['upstream_only', (cells, kind) => [cells, [`nobody-${kind}`, ...cells.slice(1)] as Cells]],
  ['billed_twice', (cells) => [cells, cells]],
  ['model_differs', ([id, at, model, ...rest]) => [[id, at, otherModel(model), ...rest]]],
  ['day_differs', ([id, at, ...rest]) => [[id, otherDay(at), ...rest]]],
  [
    'quantity_differs',
    ([id, at, model, tokens, cost, of]) => [
      [id, at, model, `${Number(tokens) + 9}`, times(cost, 1.2), of],
    ],
  ],
  ['exchange', ([id, at, model, tokens, cost]) => [[id, at, model, tokens, cost, 'EUR']]],
]

test('thirty differences are named, and nothing else', async () => {
  const expected: string[] = []
  const found: string[] = []
  for (const kind of kinds) {
    const [head, ...lines] = await statementOf(kind, fromMs, untilMs)
    const [, early] = await statementOf(kind, fromMs - dayMs, fromMs)
    const planted = new Map(
      plants.map((plant, at) => [Math.floor((lines.length * (at + 1)) / 11), plant]),
    )
    const changed = lines.flatMap((line, at) => {
      const plant = planted.get(at)
      if (plant === undefined) return [line]
      const [reason, change] = plant
      const cells = line.split(',') as Cells
      const id = reason === 'upstream_only' ? `nobody-${kind}` : cells[0]
      expected.push(`${kind} ${reason} ${id}`)
      return change(cells, kind).map((row) => row.join(','))
    })
    // A call of the last month, on this month's statement.
    const [id, , ...rest] = early!.split(',')
    changed.push([id, `${month}-01T00:00:05Z`, ...rest].join(','))
    expected.push(`${kind} late ${id}`)
    await upload(kind, [head!, ...changed])
    const { explained_by, unexplained_lines } = await channelMonth(kind)
    expect(unexplained_lines).toBe(plants.length)
    const sum = (name: string) =>
      explained_by.reduce((all: number, row: Record<string, string>) => all + Number(row[name]), 0)
    expect(sum('difference')).toBeCloseTo(sum('invoice') - sum('ours'), 6)
    for (const { reason } of explained_by) {
      if (reason === 'matched') continue
      const { items } = await admin(
        'GET',
        `/months/${month}/lines?channel=${kind}&reason=${reason}`,
      )
      for (const line of items) found.push(`${kind} ${line.reason} ${line.upstream_id}`)
    }
    const dispute = await admin('GET', `/months/${month}/dispute?channel=${kind}`)
    expect(dispute.items).toHaveLength(plants.length)
    for (const { reason, request_ids } of dispute.items) {
      expect([reason, request_ids.length]).toEqual([reason, reason === 'upstream_only' ? 0 : 1])
    }
  }
  expect(expected).toHaveLength(30)
  expect(found.toSorted()).toEqual(expected.toSorted())
})
