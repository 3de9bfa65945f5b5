// Batches in the admin API, on both stores: who sees which, what they show while they run, who may cancel
// them, and the notice of their end.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { type NoticeReceiver, startReceiver } from '../support/notices.ts'
import { nanos, until } from '../support/read.ts'
import { newPerson, type SignedIn } from '../support/sign-in.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'
import { BatchClient, line } from './client.ts'

const rival = 'sk-rival-0123456789abcdefghijklmnop'

const config = (chat: string) => `
accounts: [{ name: acme, balance: "100.00" }, { name: rival, balance: "100.00" }]
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: rival, name: theirs, token: ${rival} }
models: [{ name: plain, kind: text, interfaces: [chat] }]
prices: [{ model: plain, unit: token, per_million: { input: "1000", output: "1000" } }]
channels:
  - name: upstream
    keys: [sk-upstream-0123456789]
    protocols: { chat: "${chat}" }
    models: { plain: up }
`

describe.each([...storeKinds])('batches in the admin API on %s', (kind) => {
  let place: Place
  let upstream: TestUpstream
  let receiver: NoticeReceiver
  let gateway: TestGateway
  let client: BatchClient
  let theirs: BatchClient
  let member: SignedIn
  const gate = Promise.withResolvers<void>()

  beforeAll(async () => {
    receiver = startReceiver()
    upstream = startUpstream(async ({ body }) => {
      if (body.includes('hold on')) await gate.promise
      return jsonReply(completion({ prompt_tokens: 50, completion_tokens: 50 }))
    })
    place = await newPlace(kind)
    const { dataDir, databaseUrl } = place.options
    const env = {
      GATEWAY_EGRESS_ALLOW: '127.0.0.0/8',
      ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
    }
    gateway = await startGateway({ config: config(upstream.chat), dataDir, env })
    client = new BatchClient(gateway.url, apiToken)
    theirs = new BatchClient(gateway.url, rival)
    member = await newPerson(gateway, { name: 'mia', role: 'member', account: 'acme' })
    const hook = { url: receiver.url('/all'), events: ['batch.completed'] }
    receiver.knows('/all', (await gateway.admin('POST', '/webhooks', hook)).body.secret)
  })
  afterAll(async () => {
    gate.resolve()
    await gateway.stop()
    await upstream.stop()
    receiver.stop()
    await place.remove()
  })

  const noticeOf = (id: string) => receiver.first(({ data }) => data.batch === id)

  test('show counts, charge and times to staff, and to members those of their account', async () => {
    const own = await client.run([line(1, 'hi'), line(2, 'hi', { stream: true })])
    const other = await theirs.run([line(1, 'hi')])
    const { body } = await gateway.admin('GET', `/batches/${own.id}`)
    expect(body).toMatchObject({
      ...{ id: own.id, account: 'acme', token: 'test', state: 'completed', progress: 100 },
      ...{ endpoint: '/v1/chat/completions', charge: '0.10', estimate: null, errors: [] },
      request_counts: { total: 2, completed: 1, failed: 1 },
      output_file_id: own.output_file_id,
    })
    expect(Date.parse(body.finished_at)).toBeGreaterThanOrEqual(Date.parse(body.created_at))
    const idsOf = ({ items }: { items: { id: string }[] }) => items.map(({ id }) => id)
    expect(idsOf((await gateway.admin('GET', '/batches')).body)).toEqual([other.id, own.id])
    const ofRival = await gateway.admin('GET', '/batches?account=rival&state=completed')
    expect(idsOf(ofRival.body)).toEqual([other.id])
    expect((await gateway.admin('GET', '/batches?state=failed')).body.items).toEqual([])
    const page = (await gateway.admin('GET', '/batches?limit=1')).body
    const next = (await gateway.admin('GET', `/batches?limit=1&cursor=${page.next_cursor}`)).body
    expect([idsOf(page), idsOf(next), next.next_cursor]).toEqual([[other.id], [own.id], null])
    expect(idsOf((await member.ask('GET', '/batches')).body)).toEqual([own.id])
    expect((await member.ask('GET', `/batches/${own.id}`)).status).toBe(200)
    for (const path of [`/batches/${other.id}`, '/batches/none', '/batches?account=rival']) {
      expect((await member.ask('GET', path)).status).toBe(404)
    }
  })

  test('tell of their end, also of one that a mistake in the input ends', async () => {
    const { id } = await client.run([line(1, 'hi')])
    expect((await noticeOf(id)).data).toEqual({
      ...{ batch: id, account: 'acme', status: 'completed', charge: '0.10' },
      request_counts: { total: 1, completed: 1, failed: 0 },
    })
    const wrong = await client.run([line(1, 'hi')], {}, 'no json')
    expect(wrong.status).toBe('failed')
    expect((await noticeOf(wrong.id)).data).toEqual({
      ...{ batch: wrong.id, account: 'acme', status: 'failed', charge: '0.00' },
      request_counts: { total: 0, completed: 0, failed: 0 },
    })
    const { body } = await gateway.admin('GET', `/batches/${wrong.id}`)
    expect(body.errors).toMatchObject([{ line: 2 }])
    expect(receiver.arrivals.filter(({ data }) => data.batch === wrong.id)).toHaveLength(1)
  })

  test('show their charge while they run, and are cancelled by operators, with an audit entry', async () => {
    const { id } = await client.start([line(1, 'hi'), ...heldLines])
    const running = await until('the first charge', async () => {
      const { body } = await gateway.admin('GET', `/batches/${id}`)
      return nanos(body.charge) > 0n ? body : undefined
    })
    expect(running).toMatchObject({
      ...{ state: 'in_progress', charge: '0.10', estimate: '6.10', finished_at: null },
    })
    expect(running.request_counts).toEqual({ total: 61, completed: 1, failed: 0 })
    const finance = await newPerson(gateway, { name: 'fin', role: 'finance' })
    for (const person of [member, finance]) {
      expect((await person.ask('POST', `/batches/${id}/cancel`)).status).toBe(403)
    }
    const operator = await newPerson(gateway, { name: 'ops', role: 'operator' })
    const cancelled = await operator.ask('POST', `/batches/${id}/cancel`)
    expect([cancelled.status, cancelled.body.state]).toEqual([200, 'cancelling'])
    expect((await operator.ask('POST', `/batches/${id}/cancel`)).status).toBe(200)
    const { items } = (await gateway.admin('GET', '/audit-log?action=batch.cancel')).body
    expect(items).toHaveLength(1)
    expect(items[0]).toMatchObject({
      ...{ actor: 'ops', subject: id },
      ...{ before: { state: 'in_progress' }, after: { state: 'cancelling' } },
    })
    // So that its owner has learnt of it before a held line ends.
    await Bun.sleep(1_200)
    gate.resolve()
    const batch = await client.ended(id)
    expect(batch.status).toBe('cancelled')
    expect((await noticeOf(id)).data.status).toBe('cancelled')
    const again = await gateway.admin('POST', `/batches/${id}/cancel`)
    expect([again.status, again.body.state]).toEqual([200, 'cancelled'])
    const done = (await client.get('/batches?limit=2')).data.at(-1)
    const late = await gateway.admin('POST', `/batches/${done.id}/cancel`)
    expect([late.status, late.body.error.code]).toEqual([409, 'conflict'])
  })
})

const heldLines = Array.from({ length: 60 }, (_, n) => line(n + 2, 'hold on'))
