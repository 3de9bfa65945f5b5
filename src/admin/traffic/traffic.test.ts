import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newTestEngine, type TestEngine } from '../../engine/test-engine.ts'
import { newRequestContext } from '../../http/request-context.ts'
import { newId } from '../../lib/crypto/ids.ts'
import { findAccount } from '../../store/catalog/accounts.ts'
import { logHorizonKey } from '../../store/log/watermark.ts'
import { setMeta } from '../../store/sql/meta.ts'
import { aRequest, storeKinds } from '../../store/test-stores.ts'
import type { AdminApp } from '../route.ts'
import { admin } from '../test-admin.ts'

interface Answer {
  items: Record<string, unknown>[]
  uncounted_requests: number
  error: { message: string; param: string | null }
}

const limits = { bodyBytes: 100_000, bodyMs: 5_000, jsonDepth: 20, listPage: 500 }
const connection = { ip: () => '127.0.0.1', keepOpen: () => {} }
const noonMs = Date.parse('2026-11-01T12:00:00Z')
const day = 'from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z'

describe.each([...storeKinds])('traffic in the admin API on %s', (on) => {
  let it: TestEngine
  let app: AdminApp
  let acme: string

  beforeAll(async () => {
    it = await newTestEngine(on)
    app = admin({ engine: it.engine, limits, isAdmin: (secret) => secret === 'boss' })
    await ask('/accounts', { name: 'acme' })
    acme = (await findAccount(it.engine.store.read, 'acme'))!.id
    const at = (minute: number, more: object) => {
      const atMs = noonMs + minute * 60_000
      return it.engine.store.record(
        aRequest({ atMs, requestId: newId('req', atMs), accountId: acme, ...more }),
      )
    }
    const usage = { inputTokens: 100, outputTokens: 1, cacheReadTokens: 40, cacheWriteTokens: 0 }
    const charged = { firstByteMs: 40, chargeNanos: 2_000_000_000n }
    await at(1, { totalMs: 100, ...charged, channel: 'a', usage })
    await at(2, { totalMs: 300, firstByteMs: 60, chargeNanos: 1_000_000_000n, channel: 'a' })
    await at(61, { status: 404, errorCode: 'model_not_found', model: 'anything', totalMs: 1 })
  })
  afterAll(() => it.close())

  async function ask(path: string, body?: object) {
    const headers = { authorization: 'Bearer boss', 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const request = new Request(`http://localhost${path}`, { headers, ...sent })
    const answer = await app.fetch(request, { context: newRequestContext(request, connection) })
    return { status: answer.status, body: (await answer.json()) as Answer }
  }

  test('is told apart by time and kind, with what is not indexed yet', async () => {
    const { body } = await ask(`/traffic?${day}&by=hour,model,status`)
    expect(body.uncounted_requests).toBe(0)
    expect(body.items).toEqual([
      {
        hour: '2026-11-01T12:00:00.000Z',
        model: 'txta-plus',
        status: 200,
        requests: 2,
        charge: '3.00',
        input_tokens: 100,
        cache_read_tokens: 40,
        average_ms: 200,
        average_first_byte_ms: 50,
        p50_ms: 128,
        p95_ms: expect.any(Number),
        p99_ms: expect.any(Number),
        retries: 0,
      },
      expect.objectContaining({ model: null, status: 404, requests: 1, charge: '0.00' }),
    ])
  })

  test('says which time it is of, in whole slots, and of an account in whole hours', async () => {
    const span = 'from=2026-11-01T12:01:30Z&to=2026-11-01T12:58:00Z'
    expect((await ask(`/traffic?${span}`)).body).toMatchObject({
      from: '2026-11-01T12:00:00.000Z',
      to: '2026-11-01T13:00:00.000Z',
    })
    const narrow = span.replace('12:58', '12:04')
    expect((await ask(`/traffic?${narrow}`)).body).toMatchObject({
      from: '2026-11-01T12:00:00.000Z',
      to: '2026-11-01T12:05:00.000Z',
    })
    expect((await ask(`/traffic?${narrow}&account=acme`)).body).toMatchObject({
      to: '2026-11-01T13:00:00.000Z',
    })
  })

  test('is narrowed down by filters, and by account has no percentiles', async () => {
    const failed = await ask(`/traffic?${day}&by=day&status=404`)
    expect(failed.body.items).toMatchObject([{ day: '2026-11-01T00:00:00.000Z', requests: 1 }])
    const own = await ask(`/traffic?${day}&by=account,status&account=acme`)
    expect(own.body.items).toMatchObject([
      { account_id: acme, status: 200, requests: 2, p50_ms: null },
      { account_id: acme, status: 404, requests: 1, p50_ms: null },
    ])
  })

  test('a request of before the horizon of the log is said to be gone', async () => {
    const id = newId('req', noonMs - 1)
    expect((await ask(`/explain/${id}`)).body.error.message).toStartWith('there is no request')
    await it.engine.store.tx((tx) => setMeta(tx, logHorizonKey, String(noonMs)))
    for (const path of [`/explain/${id}`, `/requests/${id}`]) {
      const { status, body } = await ask(path)
      expect(status).toBe(404)
      expect(body.error.message).toContain('kept from 2026-11-01T12:00:00.000Z on')
    }
  })

  test.each([
    ['by=week', 'by'],
    ['by=hour,day', 'by'],
    ['from=yesterday', 'from'],
    ['from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z', 'to'],
    ['from=2025-11-02T00:00:00Z&to=2026-11-01T00:00:00Z&by=slot', 'from'],
    ['by=slot,account', 'by'],
    ['by=account,model', 'model'],
    ['status=ok', 'status'],
  ])('refuses ?%s and names %s', async (query, param) => {
    const { status, body } = await ask(`/traffic?${query}`)
    expect([status, body.error.param]).toEqual([400, param])
  })
})
