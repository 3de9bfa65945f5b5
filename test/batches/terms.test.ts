// Terms of batches and files, on both stores: batches end after 24 hours, files expire, accounts have a quota, and
// files may be in S3.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../src/store/schema.ts'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { chargesOf, readLedger } from '../support/books.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { type FakeS3, s3Keys, s3Region, startFakeS3 } from '../support/tasks/fake-s3.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'
import { answersIn, BatchClient, line } from './client.ts'

const config = (chat: string) => `
accounts: [{ name: acme, balance: "100.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
models:
  - { name: plain, kind: text, interfaces: [chat] }
  - { name: kept, kind: text, interfaces: [responses] }
prices:
  - { model: plain, unit: token, per_million: { input: "1000", output: "1000" } }
  - { model: kept, unit: token, per_million: { input: "1", output: "1" } }
channels:
  - name: upstream
    keys: [sk-upstream-0123456789]
    protocols: { chat: "${chat}", responses: "${chat}" }
    models: { plain: up, kept: up }
`

const inS3 = ({ url }: FakeS3) => `
media:
  keep: s3
  s3:
    endpoint: ${url}
    region: ${s3Region}
    bucket: results
    access_key: ${s3Keys.access}
    secret_key: ${s3Keys.secret}
`

const response = {
  ...{ id: 'resp_upstream1', object: 'response', created_at: 1, status: 'completed', model: 'up' },
  output: [
    {
      ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
    },
  ],
  usage: { input_tokens: 5, output_tokens: 5, total_tokens: 10 },
}

const numbers = (count: number) => sql`(
  WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ${count})
  SELECT n FROM counted) AS numbers`

const masterKey = Buffer.alloc(32, 7).toString('base64')

describe.each([...storeKinds])('terms of batches on %s', (kind) => {
  let place: Place
  let upstream: TestUpstream
  let s3: FakeS3
  let gateway: TestGateway
  let client: BatchClient
  let gate = Promise.withResolvers<void>()

  const start = async (more = '') => {
    const { dataDir, databaseUrl } = place.options
    const env = {
      GATEWAY_MASTER_KEY: masterKey,
      ...(databaseUrl !== undefined && { GATEWAY_DATABASE_URL: databaseUrl }),
    }
    gateway = await startGateway({ config: config(upstream.chat) + more, dataDir, env })
    client = new BatchClient(gateway.url, apiToken)
  }

  beforeAll(async () => {
    upstream = startUpstream(async ({ body, path }) => {
      if (body.includes('hold on')) await gate.promise
      if (path.endsWith('/responses')) return jsonReply(response)
      return jsonReply(completion({ prompt_tokens: 50, completion_tokens: 50 }))
    })
    s3 = startFakeS3()
    place = await newPlace(kind)
    await start()
  })
  afterAll(async () => {
    await gateway.stop('SIGKILL')
    await upstream.stop()
    await s3.stop()
    await place.remove()
  })

  /** As if time had passed: while no gateway has the store. */
  async function change(work: (db: Kysely<Schema>) => Promise<unknown>, more?: string) {
    await gateway.stop('SIGKILL')
    const store = await place.open()
    await store.tx(work)
    await store.close()
    await start(more)
  }

  test('after 24 hours lines that were not run are in the error file, and cost nothing', async () => {
    const lines = [line(1, 'hi'), ...Array.from({ length: 40 }, (_, n) => line(n + 2, 'hold on'))]
    const { id, created_at, expires_at, input_file_id: input } = await client.start(lines)
    expect(expires_at - created_at).toBe(86_400)
    while ((await client.get(`/batches/${id}`)).request_counts.completed < 1) await Bun.sleep(20)
    // As after days without a gateway: its input would have expired, too.
    await change(async (db) => {
      await sql`UPDATE batches SET expires_at_ms = 1 WHERE id = ${id}`.execute(db)
      await sql`UPDATE account_files SET expires_at_ms = 1 WHERE id = ${input}`.execute(db)
    })
    const batch = await client.ended(id)
    gate.resolve()
    gate = Promise.withResolvers<void>()
    expect([batch.status, batch.request_counts]).toEqual([
      'expired',
      { total: 41, completed: 1, failed: 40 },
    ])
    expect(batch.expired_at).toBeGreaterThan(0)
    expect(answersIn(await client.content(batch.output_file_id))).toHaveLength(1)
    const unrun = answersIn(await client.content(batch.error_file_id))
    expect(unrun.map(({ custom_id }) => custom_id)).toEqual(
      lines.slice(1).map(({ custom_id }) => custom_id),
    )
    for (const { response, error } of unrun) {
      expect([response, error.code]).toEqual([null, 'batch_expired'])
    }
    expect(chargesOf(await readLedger(gateway))).toHaveLength(1)
  })

  test("what a line made upstream is its account's", async () => {
    const asked = {
      ...line(1, ''),
      ...{ url: '/v1/responses', body: { model: 'kept', input: 'hi' } },
    }
    const batch = await client.run([asked])
    const [answer] = answersIn(await client.content(batch.output_file_id))
    const { id } = answer.response.body
    expect(id).toStartWith('resp_upstream1_gw')
    const next = { model: 'kept', input: 'and then', previous_response_id: id }
    expect((await client.call('POST', '/responses', next)).status).toBe('completed')
    expect(JSON.parse(upstream.calls.at(-1)!.body).previous_response_id).toBe('resp_upstream1')
  })

  test('a file that has expired is gone, and its content with it', async () => {
    const file = await client.upload('{}\n')
    expect(file.expires_at - file.created_at).toBe(30 * 86_400)
    const kept = await client.upload('{}\n')
    await change((db) =>
      sql`UPDATE account_files SET expires_at_ms = 1 WHERE id = ${file.id}`.execute(db),
    )
    expect((await client.fails('GET', `/files/${file.id}`)).error.code).toBe('file_not_found')
    expect((await client.fails('GET', `/files/${file.id}/content`)).status).toBe(404)
    const { data } = await client.get('/files')
    const ids = data.map(({ id }: { id: string }) => id)
    expect([ids.includes(file.id), ids.includes(kept.id)]).toEqual([false, true])
    const create = { endpoint: '/v1/chat/completions', completion_window: '24h' }
    const refused = await client.fails('POST', '/batches', { ...create, input_file_id: file.id })
    expect([refused.status, refused.error.param]).toEqual([404, 'input_file_id'])
  })

  test('the files of an account have a quota', async () => {
    const file = await client.upload('{}\n')
    const full = (db: Kysely<Schema>) =>
      sql`UPDATE account_files SET bytes = ${2 * 1024 ** 3} WHERE id = ${file.id}`.execute(db)
    await change(full)
    const refused = await client.form({ file: new File(['{}\n'], 'a'), purpose: 'batch' })
    expect(refused.status).toBe(413)
    await client.call('DELETE', `/files/${file.id}`)
    expect((await client.upload('{}\n')).bytes).toBe(3)
  })

  test('an account has at most 10,000 files, and creates at most 2,000 batches in an hour', async () => {
    const { id, input_file_id } = await client.run([line(1, 'hi')])
    const fileColumns = sql`account_id, filename, purpose, bytes, state, place, stored_bytes,
      created_at_ms, expires_at_ms`
    const batchColumns = sql`account_id, token_id, endpoint, input_file_id, state, total, completed,
      failed, charge_nanos, created_at_ms, expires_at_ms, fence, body`
    await change(async (db) => {
      await sql`INSERT INTO account_files (id, ${fileColumns})
        SELECT 'many-' || n, ${fileColumns} FROM account_files, ${numbers(10_000)}
        WHERE id = ${input_file_id}`.execute(db)
      await sql`INSERT INTO batches (id, ${batchColumns})
        SELECT ${id} || '-' || n, ${batchColumns} FROM batches, ${numbers(2_000)}
        WHERE id = ${id}`.execute(db)
    })
    const refused = await client.form({ file: new File(['{}\n'], 'a'), purpose: 'batch' })
    expect([refused.status, await refused.text()]).toEqual([413, expect.stringContaining('10000')])
    const create = { endpoint: '/v1/chat/completions', completion_window: '24h', input_file_id }
    expect((await client.fails('POST', '/batches', create)).status).toBe(429)
    await change(async (db) => {
      await sql`DELETE FROM account_files WHERE id LIKE 'many-%'`.execute(db)
      await sql`UPDATE batches SET created_at_ms = 1`.execute(db)
    })
    expect((await client.upload('{}\n')).bytes).toBe(3)
    expect((await client.call('POST', '/batches', create)).status).toBe('validating')
  })

  test('files are in S3, encrypted, where results are kept there', async () => {
    await change(async () => undefined, inS3(s3))
    const keyOf = (id: string) => [...s3.objects.keys()].find((key) => key.endsWith(id))
    const text = `${JSON.stringify(line(1, 'a secret text'))}\n`
    const file = await client.upload(text)
    const stored = s3.objects.get(keyOf(file.id)!)!
    expect(Buffer.from(stored).includes('a secret text')).toBe(false)
    expect(await client.content(file.id)).toBe(text)
    const batch = await client.run([line(1, 'a secret text')])
    expect(batch.request_counts.completed).toBe(1)
    expect(keyOf(batch.output_file_id)).toBeDefined()
    expect(answersIn(await client.content(batch.output_file_id))).toHaveLength(1)
    await client.call('DELETE', `/files/${file.id}`)
    expect(keyOf(file.id)).toBeUndefined()
  })
})
