// What an operator works with besides calls: the record of changes searched, models asked for at an
// upstream, channels from a text, and a bundle for whoever helps, on every engine there is.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { refresh } from '../../engine/catalog/refresh.ts'
import type { Engine } from '../../engine/engine.ts'
import { fileWith, newTestEngine, type TestEngine } from '../../engine/test-engine.ts'
import { newRequestContext } from '../../http/request-context.ts'
import { storeKinds } from '../../store/test-stores.ts'
import type { AdminApp } from '../route.ts'
import { admin } from '../test-admin.ts'

interface Fields {
  [name: string]: unknown
  items: Fields[]
  channels: Fields[]
  models: Fields[]
  gone: Fields[]
  id: string
}

const key = 'upk-CANARY-0123456789abcdef'
const token = 'sk-CANARYcanaryCANARYcanaryCANARY'
const secret = `whsec_${Buffer.from('CANARY-of-a-callback-secret-32by').toString('base64')}`
const limits = { bodyBytes: 100_000, bodyMs: 5_000, jsonDepth: 20, listPage: 500 }
const connection = { ip: () => '192.0.2.7', keepOpen: () => {} }

describe.each([...storeKinds])('operating on %s', (on) => {
  let it: TestEngine
  let engine: Engine
  let app: AdminApp
  const asked: (string | null)[] = []
  const notices: { signature: string | null }[] = []
  const upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      asked.push(request.headers.get('authorization'))
      notices.push({ signature: request.headers.get('webhook-signature') })
      if (new URL(request.url).pathname !== '/v1/models') {
        return Response.json({ error: { message: `no, ${key}` } }, { status: 401 })
      }
      const ids = ['txta-plus', 'writer-9', 'txta-turbo', 'has space', 'txta-plus', 7]
      return Response.json({ object: 'list', data: ids.map((id) => ({ id })) })
    },
  })

  beforeAll(async () => {
    it = await newTestEngine(on)
    engine = it.engine
    engine.declared = {
      ...engine.declared,
      file: fileWith({
        accounts: [{ name: 'declared' }],
        tokens: [{ account: 'declared', name: 'given', token }],
        channels: [
          {
            name: 'filed',
            keys: [key],
            protocols: { chat: 'http://up.example/v1' },
            models: { a: '*' },
          },
        ],
        callbacks: { secret },
      }),
    }
    app = admin({ engine, limits, isAdmin: (given) => given === 'boss' })
    await refresh(engine)
  })
  afterAll(async () => {
    await it.close()
    await upstream.stop(true)
  })

  async function send(method: string, path: string, body?: object): Promise<Response> {
    const headers = { authorization: 'Bearer boss', 'content-type': 'application/json' }
    const request = new Request(`http://localhost${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return app.fetch(request, { context: newRequestContext(request, connection) })
  }
  async function ask(method: string, path: string, body?: object) {
    const answer = await send(method, path, body)
    return { status: answer.status, body: (await answer.json()) as Fields }
  }
  const channel = (name: string, base: string, models: object) => ({
    name,
    keys: [key],
    protocols: { chat: base, responses: base, vf: 'http://up.example' },
    models,
  })
  const yaml = (more: string, keys = 'PUT_THE_KEY_HERE') =>
    `channels:\n  - name: house\n    keys: ["${keys}"]\n    protocols: { chat: "${upstream.url}v1" }\n${more}`

  test('the record of changes is searched by who, what, to what and when', async () => {
    const first = await ask('POST', '/accounts', { name: 'acme' })
    await ask('POST', '/accounts', { name: 'other' })
    const list = async (query: string) => (await ask('GET', `/audit-log?${query}`)).body.items
    const [row] = await list(`action=account.create&subject=${first.body.id}&actor=admin`)
    expect(row).toMatchObject({ address: '192.0.2.7', after: { name: 'acme' } })
    expect(row!['request_id']).toMatch(/^req_/)
    expect(await list('action=account.create')).toHaveLength(2)
    expect(await list('actor=nobody')).toEqual([])
    expect(await list('from=2100-01-01T00:00:00Z')).toEqual([])
    expect(await list('action=account.create&to=2100-01-01T00:00:00Z&limit=1')).toHaveLength(1)
    expect((await ask('GET', '/audit-log?from=yesterday')).status).toBe(400)
    // By name as well as by id: of an account, and a price by its model.
    await ask('POST', '/accounts/acme/credits', { amount: '1.00' })
    const rates = { input: '1', output: '2' }
    await ask('POST', '/prices', { model: 'txta-plus', unit: 'token', per_million: rates })
    expect(
      (await list('subject=acme')).map((each: Fields) => [each['action'], each['name']]),
    ).toEqual([
      ['account.credit', 'acme'],
      ['account.create', 'acme'],
    ])
    expect(await list('subject=txta-plus')).toMatchObject([
      { action: 'price.create', name: 'txta-plus' },
    ])
  })

  test("an upstream's models are held against those of its channel", async () => {
    const models = { 'txta-plus': '*', mine: 'writer-9', 'txta-vl-plus': '*', 'vfb-1.1-t2v': '*' }
    await ask('POST', '/channels', channel('listing', `${upstream.url}v1`, models))
    asked.length = 0
    const { body } = await ask('POST', '/channels/listing/discover')
    expect(asked).toEqual([`Bearer ${key}`])
    expect(body).toMatchObject({
      ok: true,
      models: [
        { upstream_model: 'txta-plus', names: ['txta-plus'], kind: 'text' },
        { upstream_model: 'txta-turbo', names: [], kind: 'text' },
        { upstream_model: 'writer-9', names: ['mine'], kind: null, priced: false },
      ],
      // The video model is asked for in a protocol that was not listed.
      gone: [{ name: 'txta-vl-plus', upstream_model: 'txta-vl-plus' }],
    })
  })

  test('an upstream that gives no list is told of without its secrets', async () => {
    await ask('POST', '/channels', channel('closed', `${upstream.url}v2`, { a: '*' }))
    const { status, body } = await ask('POST', '/channels/closed/discover')
    expect([status, body['ok'], body.models]).toEqual([200, false, []])
    expect(body['error']).toStartWith('no, ')
    expect(JSON.stringify(body)).not.toContain('CANARY')
    const only = { ...channel('videos', '', { a: '*' }), protocols: { vf: 'http://up.example' } }
    await ask('POST', '/channels', only)
    const none = await ask('POST', '/channels/videos/discover')
    expect(none.body['error']).toStartWith('no protocol of this channel has a list')
    expect((await ask('POST', '/channels/nobody/discover')).status).toBe(404)
  })

  test('channels come from a text, after a look at what changes', async () => {
    const models = '    models: { txta-plus: "*" }\n'
    const importing = (text: string, dry_run: boolean) =>
      ask('POST', '/channels/import', { yaml: text, dry_run })
    const poll = await importing(yaml(models), true)
    expect(poll.body.channels).toMatchObject([{ name: 'house', change: 'refused' }])
    expect((await importing(yaml(models), false)).status).toBe(400)
    expect((await importing(yaml(models, key), true)).body.channels[0]!['change']).toBe('new')
    expect((await ask('GET', '/channels/house')).status).toBe(404)
    await importing(yaml(models, key), false)
    expect((await ask('GET', '/channels/house')).body).toMatchObject({ keys: 1, disabled: true })

    const same = await importing(yaml(models), true)
    expect(same.body.channels).toMatchObject([{ change: 'same', fields: [] }])
    const text = yaml(`${models}    priority: 3\n`)
    const filed = `${text}  - { name: filed, keys: [x], protocols: { vf: "http://a" }, models: { b: "*" } }\n`
    const changed = await importing(filed, false)
    expect(changed.body.channels).toMatchObject([
      { change: 'changed', fields: [{ field: 'priority', before: 0, after: 3 }] },
      { change: 'skipped' },
    ])
    // Its key is still the one it had.
    asked.length = 0
    await ask('POST', '/channels/house/discover')
    expect(asked).toEqual([`Bearer ${key}`])
    expect((await ask('GET', '/channels/house')).body['priority']).toBe(3)
    for (const wrong of ['channels: [', 'channels: []', yaml(`${models}    wieght: 1\n`)]) {
      const { status, body } = await importing(wrong, true)
      expect([status, (body['error'] as Fields)['param']]).toEqual([400, 'yaml'])
    }
  })

  test('a receiver is tried with a signed notice, under the rules of callbacks', async () => {
    const url = `${upstream.url}hook`
    const refused = await ask('POST', '/callbacks/test', { url, account: 'acme' })
    expect([refused.status, refused.body['ok']]).toEqual([200, false])
    expect(refused.body['error']).toBeString()
    Object.assign(engine, { egressAllow: ['127.0.0.1/32'] })
    const { body } = await ask('POST', '/callbacks/test', { url, account: 'acme' })
    expect(body).toMatchObject({ ok: false, status: 401 })
    expect(notices.at(-1)).toMatchObject({ signature: expect.stringMatching(/^v1,/) })
  })

  test('health tells of the database, of waiting work and of what was complained of', async () => {
    engine.log.error('something broke', { error: new Error(`with ${key}`), channel: 'house' })
    const { body } = await ask('GET', '/health')
    expect(body['store']).toMatchObject({ engine: on, version: expect.any(String) })
    expect((body['store'] as { bytes: number }).bytes).toBeGreaterThan(10_000)
    expect(body['disk'] === null).toBe(on === 'postgres')
    expect(body['jobs']).toMatchObject([{ name: 'tasks', waiting: 0 }, { name: 'callbacks' }])
    expect(body['recent_errors']).toMatchObject([
      { level: 'error', message: 'something broke', fields: { channel: 'house' } },
    ])
    expect(JSON.stringify(body)).not.toContain('CANARY')
  })

  test('settings and the diagnostic bundle have everything but secrets', async () => {
    const { body } = await ask('GET', '/settings')
    const { file, effective } = body['yaml'] as Record<string, string>
    expect(file).toContain('name: filed')
    expect(file).not.toContain('name: house')
    expect(effective).toContain('name: house')
    expect(body['retention']).toEqual({ request_log_days: 400, results_days: null })
    const answer = await send('GET', '/diagnostics')
    expect(answer.headers.get('content-disposition')).toContain('gateway-diagnostics-')
    const text = await answer.text()
    expect(JSON.parse(text)).toMatchObject({
      version: expect.any(String),
      counts: { channels: expect.any(Number) },
      health: { recent_errors: [{ message: 'something broke' }] },
      settings: { yaml: { effective: expect.stringContaining('name: house') } },
      metrics: expect.stringContaining('gateway_requests_in_flight'),
    })
    for (const shown of [text, JSON.stringify(body)]) {
      expect(shown).not.toContain('CANARY')
      expect(shown).not.toContain(secret)
      expect(shown).not.toContain(secret.slice(6, 20))
    }
    const [noted] = (await ask('GET', '/audit-log?action=diagnostics')).body.items
    expect(noted).toMatchObject({ actor: 'admin', subject: 'gateway' })
  })
})
