// A gateway whose every secret and every prompt is a canary, and upstreams that repeat whatever they are
// told: no secret is in any answer, and neither secrets nor prompts are in the log, the metrics or the
// traces. The log is at its most talkative.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { logFields } from '../../src/lib/telemetry/log.ts'
import { foundIn, prompts, secrets } from '../support/canaries.ts'
import { apiToken, failedStart, startGateway, type TestGateway } from '../support/gateway.ts'
import { type Collector, startCollector } from '../support/process/collector.ts'
import { type Scrape, scrapeOf, sumOf } from '../support/process/scrape.ts'
import { until } from '../support/read.ts'
import {
  asEvents,
  type Captured,
  jsonReply,
  startUpstream,
  streamReply,
  type TestUpstream,
  textChunk,
} from '../support/upstream.ts'

/** Repeats what it was told, in one way of failing after the other. */
function repeat({ headers, body, path }: Captured, url: string): Response {
  const told = `no: ${JSON.stringify(Object.fromEntries(headers))} ${body} ${prompts.answer}`
  const how = /do:(\w+)/.exec(body)?.[1] ?? 'task'
  const own = {
    'x-request-id': headers.get('authorization') ?? 'none',
    'set-cookie': told.slice(0, 99),
  }
  const error = { message: told, code: prompts.answer, type: told }
  if (how === 'html')
    return new Response(`<html>${told}</html>`, { headers: { 'content-type': 'text/html' } })
  if (how === 'nonsense') return jsonReply(JSON.stringify({ told }))
  if (how === 'stream') {
    const events = asEvents([textChunk(prompts.answer), JSON.stringify({ error })])
    return streamReply([events])
  }
  if (/^e\d+$/.test(how)) {
    const status = Number(how.slice(1))
    return jsonReply({ error, ...error }, { status, headers: own })
  }
  return asTask(path, told, url)
}

/** Accepts a task, then fails it, or says it is done with a link that does not work. */
function asTask(path: string, told: string, url: string): Response {
  const link = `${url}/files/x.mp4?Signature=${prompts.link}`
  if (path.includes('/files/')) return jsonReply({ error: { message: told } }, { status: 500 })
  if (path.endsWith('/video-synthesis')) {
    return jsonReply({ output: { task_id: 'vf-done', task_status: 'PENDING' }, request_id: 'r1' })
  }
  if (path.includes('/api/v1/tasks/')) {
    return jsonReply({ output: { task_status: 'SUCCEEDED', video_url: link }, usage: { told } })
  }
  if (path.includes('/contents/generations/tasks/')) {
    return jsonReply({
      id: 'ark-1',
      status: 'failed',
      error: { code: prompts.answer, message: told },
    })
  }
  if (path.includes('/contents/generations/tasks')) return jsonReply({ id: 'ark-1' })
  if (path.includes(':predictLongRunning')) return jsonReply({ name: 'operations/g-1' })
  if (path.includes('operations/')) {
    return jsonReply({ name: 'operations/g-1', done: true, error: { code: 3, message: told } })
  }
  if (path.startsWith('/v1/images/generations/')) {
    const data = { task_id: 'img-1', task_status: 'failed', task_status_msg: told }
    return jsonReply({ code: 0, data })
  }
  return jsonReply({ code: 0, data: { task_id: 'img-1', task_status: 'submitted' } })
}

const channel = (name: string, key: string, protocols: object, models: readonly string[]) =>
  JSON.stringify({
    name,
    keys: [key],
    protocols,
    models: Object.fromEntries(models.map((model) => [model, '*'])),
  })

const configFor = (url: string) => `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken}, limits: { rpm: 100000 } }]
callbacks: { secret: ${secrets.callback} }
tasks: { unknown_for: 1s }
channels:
  - ${channel('text', secrets.textKey, { chat: `${url}/v1`, responses: `${url}/v1`, messages: url, embeddings: `${url}/v1` }, ['txta-plus', 'txta-embed'])}
  - ${channel('image', secrets.imageKey, { images: `${url}/v1` }, ['imga-plus'])}
  - ${channel('signed', secrets.signedKey, { imgvendor: url }, ['imgvendor-v2-1'])}
  - ${channel('task', secrets.taskKey, { vf: url, arkvendor: `${url}/api/v3`, vendorg: url }, ['vfa-2.7-t2v', 'vidmodel-1-0-pro', 'vendorg-video-1'])}
`

let sandbox: Sandbox
let upstream: TestUpstream
let collector: Collector
let gateway: TestGateway
let lastScrape: Scrape
/** Whatever anybody was answered, headers included. */
const answers: string[] = []

const headersOf = (more: Record<string, string> = {}) => ({
  authorization: `Bearer ${apiToken}`,
  'content-type': 'application/json',
  cookie: `session=${prompts.header}`,
  'x-secret-note': prompts.header,
  'user-agent': prompts.header,
  'x-forwarded-for': prompts.header,
  baggage: `note=${prompts.header}`,
  traceparent: `00-${'9'.repeat(32)}-${'8'.repeat(16)}-01`,
  tracestate: `note=${prompts.state}`,
  ...more,
})

async function ask(method: string, path: string, body?: unknown, more = {}): Promise<number> {
  const response = await fetch(gateway.url + path, {
    method,
    headers: headersOf(more),
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text().catch(() => '')
  answers.push(JSON.stringify([...response.headers]), text)
  return response.status
}

const note = {
  user: prompts.field,
  metadata: { note: prompts.field },
  safety_identifier: prompts.field,
}

const textCalls = (how: string, model: string): [path: string, body: object][] => {
  const content = `${prompts.text} do:${how}`
  const messages = [{ role: 'user', content }]
  return [
    ['/v1/chat/completions', { model, messages, ...note }],
    ['/v1/chat/completions', { model, messages, stream: true, ...note }],
    ['/v1/responses', { model, input: content, ...note }],
    ['/v1/messages', { model, messages, max_tokens: 5 }],
  ]
}

const callback = () => ({ callback_url: `${upstream.url}/hook?sig=${prompts.link}` })

const mediaCalls = (how: string): [path: string, body: object][] => {
  const prompt = `${prompts.media} do:${how}`
  const image_url = { url: `https://example.com/a.png?X-Signature=${prompts.link}` }
  const content = [{ type: 'text', text: prompt }]
  return [
    ['/v1/embeddings', { model: 'txta-embed', input: [prompt], ...note }],
    ['/v1/images/generations', { model: 'imga-plus', prompt, ...note }],
    ['/v1/videos', { model: 'vfa-2.7-t2v', prompt, seconds: '5' }],
    [
      '/imgvendor/v1/images/generations',
      { model_name: 'imgvendor-v2-1', prompt, negative_prompt: prompts.media, ...callback() },
    ],
    [
      '/arkvendor/api/v3/contents/generations/tasks',
      { model: 'vidmodel-1-0-pro', content, ...callback() },
    ],
    ['/v1/videos', { model: 'vidmodel-1-0-pro', prompt, input_reference: image_url }],
    [
      `/vendorg/v1beta/models/vendorg-video-1:predictLongRunning?key=${apiToken}`,
      { instances: [{ prompt }], parameters: { durationSeconds: 4 } },
    ],
  ]
}

/** What makes no sense, with something in it that nobody should repeat. */
async function askNonsense(): Promise<void> {
  await ask('POST', '/v1/chat/completions', { model: prompts.model, messages: [] })
  await ask('POST', '/v1/chat/completions', `{"model": "${prompts.text}`)
  await ask('POST', `/v1/chat/completions?note=${prompts.query}`, { model: 5, [prompts.field]: 1 })
  await ask('GET', `/v1/videos/${prompts.path}`)
  await ask('GET', `/v1/videos/${prompts.path}/content?sig=${prompts.query}`)
  await ask('GET', `/nowhere/${prompts.path}?a=${prompts.query}`)
  await ask('DELETE', `/v1/videos/${prompts.path}`)
  const nobody = { authorization: `Bearer sk-${prompts.header}` }
  await ask('POST', '/v1/chat/completions', { model: 'txta-plus' }, nobody)
  await ask(
    'GET',
    `/vendorg/v1beta/operations/${prompts.path}?key=sk-${prompts.query}`,
    undefined,
    {
      authorization: '',
    },
  )
  await ask(
    'POST',
    '/v1/images/generations',
    { model: 'imga-plus' },
    { 'idempotency-key': prompts.header },
  )
}

/** Operators make mistakes with secrets in their hands. */
async function administer(): Promise<void> {
  const send = async (method: string, path: string, body?: unknown) => {
    const response = await gateway.admin(method, path, body)
    answers.push(JSON.stringify(response.body))
    return response
  }
  const made = { name: 'made', keys: [secrets.taskKey], models: { x: '*' } }
  await send('POST', '/channels', { ...made, protocols: { chat: 5 }, wrong: 1 })
  await send('POST', '/channels', {
    ...made,
    protocols: { chat: `http://u:${secrets.taskKey}@h/v1` },
  })
  await send('POST', '/channels', {
    ...made,
    keys: [`${secrets.taskKey} with space`],
    protocols: {},
  })
  const good = {
    ...made,
    protocols: { chat: `${upstream.url}/v1` },
    models: { 'txta-vl-plus': '*' },
  }
  const { body } = await send('POST', '/channels', good)
  await send('POST', `/channels/${body.id}/test`)
  await send('PATCH', `/channels/${body.id}`, { keys: [secrets.imageKey], priority: 'x' })
  await send('DELETE', `/channels/${body.id}`)
  for (const path of [
    '/channels',
    '/tokens',
    '/settings',
    '/health',
    '/diagnostics',
    '/alerts',
    '/callbacks',
  ]) {
    await send('GET', path)
  }
  const response = await fetch(`${gateway.url}/admin/v1/accounts`, {
    headers: { authorization: `Bearer ${secrets.masterKey}` },
  })
  answers.push(await response.text())
}

beforeAll(async () => {
  sandbox = startSandbox({ key: 'unused-0123456789' })
  upstream = startUpstream((call) => {
    if (call.path === '/hook') return new Response(prompts.answer, { status: 500 })
    return repeat(call, upstream.url)
  })
  collector = startCollector()
  gateway = await startGateway({
    config: configFor(upstream.url),
    env: {
      GATEWAY_LOG: 'debug',
      GATEWAY_SANDBOX: 'on',
      GATEWAY_SANDBOX_TASK_SECONDS: '0.2',
      GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
      GATEWAY_MASTER_KEY: secrets.masterKey,
      GATEWAY_REDIS_URL: `redis://:${secrets.redis}@127.0.0.1:1`,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${secrets.collector}`,
    },
  })
  for (const how of ['e400', 'e401', 'e429', 'e500', 'html', 'nonsense', 'stream', 'task']) {
    for (const [path, body] of textCalls(how, 'txta-plus')) await ask('POST', path, body)
    for (const [path, body] of mediaCalls(how)) await ask('POST', path, body)
  }
  // The same well, by the sandbox.
  for (const [path, body] of textCalls('well', 'txta-turbo')) {
    expect([path, await ask('POST', path, body)]).toEqual([path, 200])
  }
  await askNonsense()
  await administer()
  await until('tasks have ended and are told', async () => {
    const now = await scrapeOf(gateway.url)
    const ended = sumOf(now, 'gateway_tasks_ended_total')
    const isTold = sumOf(now, 'gateway_callback_attempts_total') > 0
    return ended >= 3 && isTold ? true : undefined
  })
  const { body } = await gateway.admin('GET', '/tasks?limit=100')
  for (const { id } of body.items) {
    await ask('GET', `/v1/videos/${id}`)
    await ask('GET', `/v1/videos/${id}/content`)
  }
  lastScrape = await scrapeOf(gateway.url)
  await until('its spans have come', async () => collector.spans.length > 20 || undefined)
  await gateway.stop()
})

afterAll(async () => {
  await Promise.all([sandbox?.stop(), upstream?.stop(), collector?.stop()])
})

const lines = () =>
  gateway
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
const given = { ...secrets, apiToken }

test('the upstreams were really told, and repeated it', () => {
  const told = upstream.calls
    .map(({ headers, body }) => JSON.stringify([...headers]) + body)
    .join('')
  expect(told).toContain(secrets.textKey)
  expect(told).toContain(prompts.text)
  expect(answers.join('')).toContain(prompts.text)
  expect(collector.headers[0]!.get('authorization')).toBe(`Bearer ${secrets.collector}`)
})

test('no answer has a secret in it, whole, encoded or in pieces', () => {
  const { apiToken: _, ...others } = given
  expect(foundIn(answers.join('\n'), others, { pieces: true })).toEqual([])
})

describe('the log', () => {
  test('says something of everything', () => {
    const messages = new Set(lines().map((line) => JSON.parse(line).msg))
    for (const each of ['upstream failed', 'request ended', 'authentication failed', 'draining']) {
      expect(messages).toContain(each)
    }
  })

  test('is one JSON object a line, of listed fields only', () => {
    const known = new Set(['time', 'level', 'msg', ...logFields])
    const used = new Set(lines().flatMap((line) => Object.keys(JSON.parse(line))))
    expect([...used].filter((name) => !known.has(name as never))).toEqual([])
    const others = gateway
      .output()
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('{'))
    // What is printed for people at the start is on standard output.
    expect(others.join('\n')).not.toMatch(/error|warn/i)
  })

  test('has no secret in it, whole, encoded or in pieces', () => {
    expect(foundIn(gateway.output(), given, { pieces: true })).toEqual([])
  })

  test('has no prompt in it, and nothing that callers or upstreams wrote', () => {
    expect(foundIn(gateway.output(), prompts)).toEqual([])
  })
})

test('no secret and no prompt is in the metrics', async () => {
  const { text } = lastScrape
  expect(foundIn(text, given, { pieces: true })).toEqual([])
  expect(foundIn(text, prompts)).toEqual([])
})

test('no secret and no prompt is in the traces', () => {
  expect(foundIn(collector.text(), given, { pieces: true })).toEqual([])
  expect(foundIn(collector.text(), prompts)).toEqual([])
})

test('a start that fails repeats no password of a database', async () => {
  const url = `postgres://gateway:${secrets.database}@127.0.0.1:1/gateway`
  const { text, code } = await failedStart({ GATEWAY_DATABASE_URL: url })
  expect(code).not.toBe(0)
  expect(foundIn(text, { database: secrets.database }, { pieces: true })).toEqual([])
})
