// Creates of batches that are repeated under an Idempotency-Key, on both stores: one batch, one answer.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
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

describe.each([...storeKinds])('a batch that is created again on %s', (kind) => {
  let place: Place
  let upstream: TestUpstream
  let gateway: TestGateway
  let client: BatchClient

  beforeAll(async () => {
    upstream = startUpstream(() =>
      jsonReply(completion({ prompt_tokens: 50, completion_tokens: 50 })),
    )
    place = await newPlace(kind)
    const { dataDir, databaseUrl } = place.options
    const env = databaseUrl === undefined ? {} : { GATEWAY_DATABASE_URL: databaseUrl }
    gateway = await startGateway({ config: config(upstream.chat), dataDir, env })
    client = new BatchClient(gateway.url, apiToken)
  })
  afterAll(async () => {
    await gateway.stop()
    await upstream.stop()
    await place.remove()
  })

  const input = async (by = client) =>
    (await by.upload(`${JSON.stringify(line(1, 'hi'))}\n`)).id as string
  const create = async (key: string, fileId: string, more: object = {}, token = apiToken) => {
    const answer = await fetch(`${gateway.url}/v1/batches`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify({
        ...{ input_file_id: fileId, endpoint: '/v1/chat/completions', completion_window: '24h' },
        ...more,
      }),
    })
    const isReplayed = answer.headers.get('idempotent-replayed')
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    return { status: answer.status, isReplayed, body: (await answer.json()) as any }
  }

  test('is the first one, as it was answered first, also when it has ended and its input is gone', async () => {
    const file = await input()
    const metadata = { job: 'nightly' }
    const first = await create('one', file, { metadata })
    expect([first.status, first.isReplayed, first.body.status]).toEqual([200, null, 'validating'])
    const ended = await client.ended(first.body.id)
    expect(ended.status).toBe('completed')
    await client.call('DELETE', `/files/${file}`)
    const again = await create('one', file, { metadata })
    expect([again.status, again.isReplayed, again.body]).toEqual([200, 'true', first.body])
    expect((await client.get('/batches')).data).toHaveLength(1)
    expect(upstream.calls).toHaveLength(1)
  })

  test('is one, however many creates come at once', async () => {
    const file = await input()
    const before = (await client.get('/batches')).data.length
    const answers = await Promise.all(Array.from({ length: 12 }, () => create('at once', file)))
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(answers.filter(({ isReplayed }) => isReplayed === 'true')).toHaveLength(11)
    expect((await client.get('/batches')).data).toHaveLength(before + 1)
  })

  test('with another content is refused, and a key belongs to its account', async () => {
    const file = await input()
    const first = await create('two', file)
    const other = await create('two', await input())
    expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_mismatch'])
    const changed = await create('two', file, { metadata: { a: 'b' } })
    expect(changed.status).toBe(422)
    const theirs = await input(new BatchClient(gateway.url, rival))
    const ofRival = await create('two', theirs, {}, rival)
    expect([ofRival.status, ofRival.isReplayed]).toEqual([200, null])
    expect(ofRival.body.id).not.toBe(first.body.id)
  })

  test('under a key that is none is refused, and a refused create leaves its key free', async () => {
    const empty = await create('', await input())
    expect([empty.status, empty.body.error.param]).toEqual([400, 'Idempotency-Key'])
    expect((await create('x'.repeat(256), await input())).status).toBe(400)
    expect((await create('three', 'file-none')).status).toBe(404)
    expect((await create('three', await input())).status).toBe(200)
  })
})
