// Where metrics are read: on a port of their own, and of several workers as if they were one process.
// And a trace that passes through a gateway that makes no spans itself.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { type Sandbox, startSandbox } from '../../sandbox/server.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { freePort } from '../support/free-port.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { type Scrape, scrapeOf, sumOf } from '../support/process/scrape.ts'
import { requestIdOf, until } from '../support/read.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

const key = 'upk-places-0123456789abcdef'

const configFor = (chat: string) => `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: simulated
    keys: [${key}]
    protocols: { chat: "${chat}" }
    models: { txta-plus: "*" }
`

describe('a gateway with metrics on a port of their own', () => {
  let upstream: TestUpstream
  let gateway: TestGateway
  let metricsUrl: string

  beforeAll(async () => {
    upstream = startUpstream(() =>
      jsonReply(completion({ prompt_tokens: 3, completion_tokens: 2 })),
    )
    const port = freePort()
    metricsUrl = `http://127.0.0.1:${port}`
    const env = { GATEWAY_METRICS: String(port) }
    gateway = await startGateway({ config: configFor(upstream.chat), env })
  })
  afterAll(async () => {
    await gateway?.stop()
    await upstream?.stop()
  })

  test('has them there, and nothing else', async () => {
    expect(sumOf(await scrapeOf(metricsUrl), 'gateway_processes')).toBe(1)
    for (const path of ['/', '/healthz', '/admin/v1/accounts', '/v1/models', '/metrics/x']) {
      expect([path, (await fetch(metricsUrl + path)).status]).toEqual([path, 404])
    }
  })

  test('has none where callers are', async () => {
    expect((await fetch(`${gateway.url}/metrics`)).status).toBe(404)
  })

  test('hands the trace of a caller on, with a step of its own and the state as it was', async () => {
    const traceId = 'c'.repeat(32)
    const parentId = 'd'.repeat(16)
    const headers = {
      traceparent: `00-${traceId}-${parentId}-01`,
      tracestate: 'vendor=a:b , other@tenant=x',
    }
    const body = { model: 'txta-plus', messages: [{ role: 'user', content: 'x' }] }
    const response = await gateway.post('/v1/chat/completions', body, headers)
    await response.text()
    const sent = upstream.calls.at(-1)!.headers
    expect(sent.get('traceparent')).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`))
    expect(sent.get('traceparent')).not.toContain(parentId)
    expect(sent.get('tracestate')).toBe('vendor=a:b,other@tenant=x')
    const { body: row } = await gateway.admin('GET', `/requests/${requestIdOf(response)}`)
    expect(row.trace_id).toBe(traceId)
  })

  test('says nothing of traces to the upstream for callers that have none', async () => {
    for (const traceparent of ['', 'nonsense', `00-${'0'.repeat(32)}-${'d'.repeat(16)}-01`]) {
      const headers = { ...(traceparent && { traceparent }), tracestate: 'vendor=a:b' }
      const body = { model: 'txta-plus', messages: [{ role: 'user', content: 'x' }] }
      const response = await gateway.post('/v1/chat/completions', body, headers)
      expect(response.status).toBe(200)
      await response.text()
      const sent = upstream.calls.at(-1)!.headers
      expect(sent.has('traceparent') || sent.has('tracestate')).toBe(false)
    }
  })

  test('tells of a trace in its log where nobody is let in', async () => {
    const traceId = 'e'.repeat(32)
    const headers = {
      authorization: 'Bearer sk-x',
      traceparent: `00-${traceId}-${'d'.repeat(16)}-01`,
    }
    await fetch(`${gateway.url}/v1/models`, { headers })
    const line = await until('the line', async () =>
      gateway
        .output()
        .split('\n')
        .find((each) => each.includes(traceId)),
    )
    expect(JSON.parse(line)).toMatchObject({ msg: 'authentication failed', trace_id: traceId })
  })
})

if (!storeKinds.includes('postgres') || process.platform !== 'linux') {
  console.error('left out: metrics of several workers (set TEST_POSTGRES_URL, on Linux)')
} else {
  describe('two workers', () => {
    let place: Place
    let sandbox: Sandbox
    let gateway: TestGateway
    const calls = 24

    beforeAll(async () => {
      place = await newPlace('postgres')
      sandbox = startSandbox({ key })
      gateway = await startGateway({
        config: configFor(sandbox.protocols.chat!),
        env: { GATEWAY_WORKERS: '2', GATEWAY_DATABASE_URL: place.options.databaseUrl! },
      })
    })
    afterAll(async () => {
      await gateway?.stop()
      await sandbox?.stop()
      await place?.remove()
    })

    /** A connection of its own: the kernel chooses a worker for each. */
    const ask = async () => {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'txta-plus', messages: [{ role: 'user', content: 'x' }] }),
        keepalive: false,
      })
      await response.text()
      return response.status
    }
    const scrapes = (count: number): Promise<Scrape[]> =>
      Promise.all(
        Array.from({ length: count }, () => scrapeOf(gateway.url, { connection: 'close' })),
      )
    const callsIn = (scrape: Scrape) => sumOf(scrape, 'gateway_calls_total', { status: '2xx' })
    const workers = () =>
      readFileSync(`/proc/${gateway.pid}/task/${gateway.pid}/children`, 'utf8').trim().split(' ')

    test('answer for each other: every scrape has the whole sum', async () => {
      const statuses = await Promise.all(Array.from({ length: calls }, ask))
      expect(new Set(statuses)).toEqual(new Set([200]))
      for (const scrape of await scrapes(8)) {
        expect(callsIn(scrape)).toBe(calls)
        expect(sumOf(scrape, 'gateway_processes')).toBe(2)
        expect(sumOf(scrape, 'gateway_ledger_records_total')).toBe(calls)
        expect(sumOf(scrape, 'gateway_store_healthy')).toBe(1)
        expect(sumOf(scrape, 'gateway_channel_state', { state: 'good' })).toBe(2)
        expect(sumOf(scrape, 'gateway_info')).toBe(1)
      }
    })

    test('lose nothing of the sum when one of them dies', async () => {
      process.kill(Number(workers()[0]), 'SIGKILL')
      await until('it is replaced', async () => {
        const [scrape] = await scrapes(1).catch(() => [])
        if (scrape === undefined) return undefined
        expect(callsIn(scrape)).toBe(calls)
        return sumOf(scrape, 'gateway_processes') === 2 || undefined
      })
      expect(await ask()).toBe(200)
      for (const scrape of await scrapes(4)) expect(callsIn(scrape)).toBe(calls + 1)
    })
  })
}
