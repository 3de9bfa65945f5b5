// What a gateway tells of itself after real traffic: metrics that agree with what was done, with the
// documentation, the dashboard and the alerts; and traces that join callers, gateway and upstreams.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { metrics } from '../../src/engine/telemetry/metrics/families.ts'
import { BatchClient, line } from '../batches/client.ts'
import { apiToken, root, startGateway, type TestGateway } from '../support/gateway.ts'
import { attributesOf, type Collector, startCollector } from '../support/process/collector.ts'
import { parseScrape, type Scrape, scrapeOf, sumOf } from '../support/process/scrape.ts'
import { requestIdOf, until } from '../support/read.ts'
import { jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

const key = 'upk-metrics-0123456789abcdef'
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const parentId = '00f067aa0ba902b7'
const traced = { traceparent: `00-${traceId}-${parentId}-01`, tracestate: 'vendor=a:b' }

const configFor = (sandbox: Sandbox, failing: TestUpstream) => `
accounts: [{ name: acme, balance: "100.00" }, { name: poor, balance: "0.00" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
channels:
  - name: failing
    keys: [${key}]
    protocols: { chat: "${failing.chat}", embeddings: "${failing.chat}" }
    models: { txta-plus: "*" }
    priority: 10
  - name: simulated
    keys: [${key}]
    protocols: ${JSON.stringify(sandbox.protocols)}
    models: { "*": "*" }
  - name: quiet
    keys: [${key}]
    protocols: { chat: "${failing.chat}" }
    models: { txta-turbo: "*" }
    priority: 10
    trace: false
`

let sandbox: Sandbox
let failing: TestUpstream
let collector: Collector
let gateway: TestGateway
let told = 0
let scrape: Scrape

const asked = (content: string) => ({ messages: [{ role: 'user', content }] })

async function makeTask(path: string, body: object, headers = {}): Promise<void> {
  const response = await gateway.post(path, body, headers)
  if (response.status !== 200) throw new Error(`${path}: ${await response.text()}`)
}

/** A stream whose caller does not wait for its end. */
async function leave(content: string): Promise<void> {
  const leaving = new AbortController()
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'txta-turbo', ...asked(content), stream: true }),
    signal: leaving.signal,
  })
  await response.body!.getReader().read()
  leaving.abort()
  await until('the call that was left', async () =>
    sumOf(await scrapeOf(gateway.url), 'gateway_calls_left_total') > 0 ? true : undefined,
  )
}

/** Something of everything that is counted. */
async function makeTraffic(): Promise<void> {
  const bodies = [
    gateway.post(
      '/v1/chat/completions',
      { model: 'txta-plus', ...asked('a fail-over, and then well') },
      { 'x-stainless-retry-count': '1' },
    ),
    gateway.post('/v1/chat/completions', { model: 'txta-turbo', ...asked('x'), stream: true }),
    gateway.post('/v1/chat/completions', { model: 'no-such-model', ...asked('x') }),
    gateway.post('/v1/chat/completions', '{'),
    gateway.post('/v1/embeddings', { model: 'txta-embed', input: ['x'] }),
    gateway.chat('[[sim:status=500]]'),
    gateway.post('/v1/images/generations', { model: 'imga-plus', prompt: 'p', n: 2 }),
    fetch(`${gateway.url}/v1/models`, { headers: { authorization: 'Bearer sk-nobody' } }),
  ]
  await Promise.all(bodies.map(async (each) => (await each).text()))
  // Cut off in the middle: somebody has to bear it.
  await (await gateway.chat('[[sim:cut=20]]', { stream: true })).text().catch(() => '')
  await leave('[[sim:chunk=50ms]] [[sim:tokens=20]]')
  await makeTask('/v1/videos', { model: 'vfa-2.7-t2v', prompt: 'a film', seconds: '5' }, traced)
  const batch = [line(1, 'x', { model: 'txta-turbo' }), line(2, 'x', { model: 'no-such-model' })]
  await new BatchClient(gateway.url, apiToken).run(batch)
  const callback_url = `${failing.url}/told`
  const image = { model_name: 'imgvendor-v2-1', prompt: 'p', callback_url }
  await makeTask('/imgvendor/v1/images/generations', image)
}

beforeAll(async () => {
  sandbox = startSandbox({ key, taskSeconds: 0.3 })
  failing = startUpstream((call) => {
    if (call.path !== '/told') return jsonReply({ error: { message: 'broken' } }, { status: 500 })
    told++
    return new Response(null, { status: 204 })
  })
  collector = startCollector()
  gateway = await startGateway({
    config: configFor(sandbox, failing),
    env: {
      GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=gateways',
      OTEL_SERVICE_NAME: 'gw-test',
    },
  })
  await makeTraffic()
  scrape = await until('tasks have ended and are told', async () => {
    const now = await scrapeOf(gateway.url)
    const ended = sumOf(now, 'gateway_tasks_ended_total', { state: 'succeeded' })
    const open = sumOf(now, 'gateway_callbacks_waiting') + sumOf(now, 'gateway_tasks')
    const polled = sumOf(now, 'gateway_poll_lag_seconds_count')
    return ended >= 3 && told > 0 && open === 0 && polled > 0 ? now : undefined
  })
})

afterAll(async () => {
  await gateway?.stop()
  await Promise.all([sandbox?.stop(), failing?.stop(), collector?.stop()])
})

describe('a scrape', () => {
  test('is text of version 0.0.4, without a token', async () => {
    const response = await fetch(`${gateway.url}/metrics`)
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(response.headers.get('x-gateway-request-id')).toMatch(/^req_/)
    parseScrape(await response.text())
  })

  test('is OpenMetrics for who asks for that', async () => {
    const accept = 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5'
    const response = await fetch(`${gateway.url}/metrics`, { headers: { accept } })
    expect(response.headers.get('content-type')).toStartWith('application/openmetrics-text')
    const text = await response.text()
    expect(text).toEndWith('# EOF\n')
    expect(text).toContain('# TYPE gateway_calls counter\ngateway_calls_total{')
  })

  test('counts what was done', () => {
    const calls = (labels: object) => sumOf(scrape, 'gateway_calls_total', { ...labels })
    expect(calls({ interface: 'chat', model: 'txta-plus', status: '2xx' })).toBe(1)
    expect(calls({ interface: 'chat', model: 'txta-turbo', status: '2xx' })).toBe(2)
    expect(calls({ interface: 'chat', model: 'txta-plus', status: '5xx' })).toBe(2)
    expect(calls({ interface: 'chat', model: 'other', status: '4xx' })).toBe(3)
    expect(calls({ interface: 'embeddings', status: '2xx' })).toBe(1)
    expect(calls({ interface: 'images', model: 'imga-plus', status: '2xx' })).toBe(1)
    expect(calls({ interface: 'videos', status: '2xx' })).toBe(1)
    const errors = (code: string) => sumOf(scrape, 'gateway_errors_total', { code })
    expect(errors('model_not_found')).toBe(2)
    expect(errors('invalid_json')).toBe(1)
    expect(sumOf(scrape, 'gateway_auth_failures_total', { code: 'invalid_api_key' })).toBe(1)
    expect(sumOf(scrape, 'gateway_images_total', { interface: 'images' })).toBe(2)
    expect(sumOf(scrape, 'gateway_video_seconds_total', { model: 'vfa-2.7-t2v' })).toBe(5)
    expect(sumOf(scrape, 'gateway_callback_attempts_total', { outcome: 'delivered' })).toBe(1)
    for (const outcome of ['completed', 'failed']) {
      expect(sumOf(scrape, 'gateway_batch_lines_total', { outcome })).toBe(1)
    }
    expect(sumOf(scrape, 'gateway_batches_ended_total', { state: 'completed' })).toBe(1)
    expect(sumOf(scrape, 'gateway_attempts_total', { channel: 'failing' })).toBeGreaterThan(1)
    expect(sumOf(scrape, 'gateway_failovers_total', { model: 'txta-plus' })).toBeGreaterThan(0)
    expect(sumOf(scrape, 'gateway_overhead_seconds_count')).toBeGreaterThan(2)
    expect(sumOf(scrape, 'gateway_losses_total')).toBeGreaterThan(0)
    expect(sumOf(scrape, 'gateway_ledger_commit_seconds_count')).toBeGreaterThan(0)
    expect(sumOf(scrape, 'gateway_event_loop_delay_seconds_count')).toBeGreaterThan(0)
    expect(sumOf(scrape, 'gateway_process_resident_memory_bytes')).toBeGreaterThan(1e7)
  })

  test('has spent what the account has spent', async () => {
    const { body } = await gateway.admin('GET', '/accounts')
    const { balance } = body.items.find(({ name }: { name: string }) => name === 'acme')
    expect(sumOf(scrape, 'gateway_spend_total')).toBeCloseTo(100 - Number(balance), 6)
  })

  test('has as many rows as the log', async () => {
    const { body } = await gateway.admin('GET', '/requests?limit=500')
    // Requests without a token are counted elsewhere.
    const calls = body.items.filter(({ account_id }: { account_id: string }) => account_id !== '')
    expect(sumOf(scrape, 'gateway_calls_total')).toBe(calls.length)
    expect(sumOf(scrape, 'gateway_ledger_records_total')).toBe(body.items.length)
  })
})

describe('names', () => {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const expressionsOf = () => {
    const dashboard = JSON.parse(read('deploy/grafana/model-gateway.json'))
    const rules = parse(read('deploy/alerts/model-gateway.rules.yml'))
    const panels = dashboard.panels.flatMap((panel: { targets?: { expr: string }[] }) =>
      (panel.targets ?? []).map(({ expr }) => expr),
    )
    const alerts = rules.groups.flatMap((group: { rules: { expr: string }[] }) =>
      group.rules.map(({ expr }) => expr),
    )
    const variables = dashboard.templating.list.flatMap(
      ({ query }: { query: { query?: string } }) => query.query ?? [],
    )
    return { panels, alerts, variables } as Record<'panels' | 'alerts' | 'variables', string[]>
  }
  const all = () => Object.values(expressionsOf()).flat()
  const plainOf = (name: string) => name.replace(/_(?:bucket|sum|count)$/, '')
  const documented = () => {
    const rows = read('docs/run/metrics.md').matchAll(
      /^\| `(gateway_\w+)`\s*\| (\w+)\s*\| ([^|]*)\|/gm,
    )
    return new Map([...rows].map(([, name, type, labels]) => [name!, { type, labels }]))
  }
  /** Labels of every series of a metric, as they were really seen. */
  const labelsOf = (name: string) =>
    new Set(
      scrape.samples
        .filter((sample) => sample.name === name || plainOf(sample.name) === name)
        .flatMap(({ labels }) => Object.keys(labels).filter((label) => label !== 'le')),
    )

  test('of the table, of a scrape and of the documentation are the same', () => {
    const known = Object.keys(metrics).sort()
    expect([...scrape.families.keys()].sort()).toEqual(known)
    expect([...documented().keys()].sort()).toEqual(known)
  })

  test('all have series after some traffic, with the type and labels that are documented', () => {
    for (const [name, { type, labels }] of documented()) {
      expect([name, scrape.families.get(name)!.type]).toEqual([name, type!])
      expect([
        name,
        labelsOf(name).size > 0 || scrape.text.includes(`\n${name} `) || isPlain(name),
      ]).toEqual([name, true])
      const listed = labels!.split(',').map((each) => each.trim())
      const said = new Set(listed.filter((each) => each !== ''))
      expect([name, labelsOf(name)]).toEqual([name, said])
    }
  })
  const isPlain = (name: string) => scrape.text.includes(`\n${name}_count `)

  test('in the dashboard and the alerts all exist, as do their labels and values', () => {
    const ours = new Set(Object.keys(metrics))
    for (const expression of all()) {
      for (const [, name] of expression.matchAll(/\b(gateway_\w+)\b/g)) {
        const isSeries = scrape.samples.some((sample) => sample.name === name)
        expect([name, isSeries && ours.has(plainOf(name!))]).toEqual([name, true])
      }
      for (const [, name, inside] of expression.matchAll(/\b(gateway_\w+)\{([^}]*)\}/g)) {
        for (const [, label] of inside!.matchAll(/(\w+)\s*(?:=~|!=|!~|=)/g)) {
          if (label === 'job' || label === 'instance') continue
          expect([name, label, labelsOf(plainOf(name!)).has(label!)]).toEqual([name, label!, true])
        }
      }
    }
  })

  test('by which sums are made are labels of what is summed', () => {
    for (const expression of all()) {
      const by = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) =>
        list!.split(',').map((each) => each.trim()),
      )
      const names = [...expression.matchAll(/\b(gateway_\w+)\b/g)].map(([, name]) => plainOf(name!))
      const labels = new Set(names.flatMap((name) => [...labelsOf(name)]))
      for (const label of by) {
        const isOurs = labels.has(label) || ['job', 'instance', 'le'].includes(label)
        expect([expression, label, isOurs]).toEqual([expression, label, true])
      }
    }
  })

  test('that are exported are all shown on the dashboard', () => {
    const shown = expressionsOf().panels.join(' ')
    const missing = Object.keys(metrics).filter(
      (name) => !new RegExp(`\\b${name}(_|\\b)`).test(shown),
    )
    expect(missing).toEqual([])
  })

  test('of alerts are documented, and every alert says what it means', () => {
    const rules = parse(read('deploy/alerts/model-gateway.rules.yml'))
    const alerts = rules.groups.flatMap((group: { rules: unknown[] }) => group.rules)
    const docs = [...read('docs/run/metrics.md').matchAll(/^\| `(Gateway\w+)`/gm)].map(
      ([, name]) => name,
    )
    expect(alerts.map(({ alert }: { alert: string }) => alert).sort()).toEqual(docs.sort())
    for (const { labels, annotations } of alerts) {
      expect(['critical', 'warning', 'info']).toContain(labels.severity)
      expect(annotations.summary && annotations.description).toBeTruthy()
    }
  })
})

describe('traces', () => {
  const spansOf = (id: string) => collector.spans.filter((span) => span.traceId === id)
  const ofRequest = (id: string) => (span: (typeof collector.spans)[number]) =>
    attributesOf(span)['gateway.request_id'] === id

  test('go on from the caller, through the gateway, to the upstream', async () => {
    const id = 'a'.repeat(32)
    const traceparent = `00-${id}-${parentId}-01`
    const headers = { traceparent, tracestate: 'vendor=a:b, x@y=z' }
    const body = { model: 'txta-plus', ...asked('a secret prompt'), user: 'traced' }
    const response = await gateway.post('/v1/chat/completions', body, headers)
    await response.text()
    const server = await until('the span', async () =>
      collector.spans.find(ofRequest(requestIdOf(response))),
    )
    expect(server).toMatchObject({ traceId: id, parentSpanId: parentId, kind: 2 })
    expect(server.name).toBe('chat txta-plus')
    expect(attributesOf(server)).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'txta-plus',
      'http.response.status_code': '200',
      'gateway.interface': 'chat',
    })
    expect(Number(attributesOf(server)['gen_ai.usage.input_tokens'])).toBeGreaterThan(0)
    const tries = spansOf(id).filter(({ kind }) => kind === 3)
    expect(tries.length).toBeGreaterThan(0)
    expect(new Set(tries.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([server.spanId]))
    const listed = await fetch(`${sandbox.url}/_sandbox/calls`)
    const { calls } = (await listed.json()) as { calls: { user?: string; headers?: unknown }[] }
    expect(calls.some(({ user }) => user === 'traced')).toBe(true)
    expect(collector.text()).not.toContain('a secret prompt')
    expect(collector.headers[0]!.get('x-team')).toBe('gateways')
    expect(collector.text()).toContain('"gw-test"')
    const { body: row } = await gateway.admin('GET', `/requests/${requestIdOf(response)}`)
    expect(row.trace_id).toBe(id)
  })

  test('reach the upstream with a step of their own for each try', async () => {
    const id = 'b'.repeat(32)
    const before = failing.calls.length
    // Often enough that the channel that fails is tried although it is avoided.
    await until('a try at the channel that fails', async () => {
      const headers = { traceparent: `00-${id}-${parentId}-00`, tracestate: 'vendor=a:b , bad' }
      await (await gateway.chat('x', {})).text()
      await (
        await gateway.post('/v1/chat/completions', { model: 'txta-plus', ...asked('x') }, headers)
      ).text()
      return (
        failing.calls.slice(before).some((call) => call.headers.has('traceparent')) || undefined
      )
    })
    const sent = failing.calls
      .slice(before)
      .flatMap((call) => call.headers.get('traceparent') ?? [])
    const own = sent.filter((each) => each.includes(id))
    expect(new Set(sent).size).toBe(sent.length)
    for (const each of own) {
      // Not wanted by the caller: handed on as not wanted, and no span of it leaves.
      expect(each).toMatch(new RegExp(`^00-${id}-[0-9a-f]{16}-00$`))
      expect(each).not.toContain(parentId)
    }
    const states = failing.calls.slice(before).map((call) => call.headers.get('tracestate'))
    expect(states.filter((state) => state !== null)).toEqual([])
    expect(spansOf(id)).toEqual([])
  })

  test('are told to no channel that does not want them', async () => {
    const before = failing.calls.length
    const ask = { model: 'txta-turbo', ...asked('x') }
    await until('a try at the quiet channel', async () => {
      await (await gateway.post('/v1/chat/completions', ask, traced)).text()
      return failing.calls.length > before || undefined
    })
    expect(failing.calls.slice(before).some(({ headers }) => headers.has('traceparent'))).toBe(
      false,
    )
  })

  test('of a task join its create and its end', async () => {
    const task = await until('the span of the task', async () =>
      spansOf(traceId).find(({ name }) => name === 'task vfa-2.7-t2v'),
    )
    const create = spansOf(traceId).find(({ kind }) => kind === 2)!
    expect(create.name).toBe('video_generation vfa-2.7-t2v')
    expect(task.parentSpanId).toBe(create.spanId)
    expect(attributesOf(task)).toMatchObject({
      'gateway.task.state': 'succeeded',
      'gen_ai.operation.name': 'video_generation',
      'gateway.video_seconds': '5',
    })
    expect(
      spansOf(traceId).some(
        ({ kind, parentSpanId }) => kind === 3 && parentSpanId === create.spanId,
      ),
    ).toBe(true)
    expect(collector.text()).not.toContain('a film')
  })

  test('begin here for callers that have none, or one that cannot be read', async () => {
    const answers = await Promise.all([
      gateway.chat('x'),
      gateway.post(
        '/v1/chat/completions',
        { model: 'txta-plus', ...asked('x') },
        { traceparent: 'zz' },
      ),
    ])
    for (const response of answers) {
      await response.text()
      const span = await until('the span', async () =>
        collector.spans.find(ofRequest(requestIdOf(response))),
      )
      expect(span.parentSpanId).toBeUndefined()
      expect(span.traceId).toMatch(/^[0-9a-f]{32}$/)
    }
  })

  test('never hold a request up, also when the collector hangs', async () => {
    collector.hangs = true
    for (let i = 0; i < 5; i++) {
      const response = await gateway.chat('x')
      expect(response.status).toBe(200)
      await response.text()
    }
    collector.hangs = false
    const now = await scrapeOf(gateway.url)
    expect(sumOf(now, 'gateway_trace_spans_total', { outcome: 'sent' })).toBeGreaterThan(0)
  })
})
