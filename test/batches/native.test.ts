// Batches of channels whose upstream has a batch API, on both stores: lines go there and not as calls, their
// results are charged once each, and what the upstream does not run the gateway does or says.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { chargesOf, readAccount, readLedger } from '../support/books.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { nanos } from '../support/read.ts'
import { answersIn, BatchClient, type Line, line } from './client.ts'
import { NativeUpstream, nativeConfig, poor } from './native-upstream.ts'

describe.each([...storeKinds])('native batches on %s', (kind) => {
  let place: Place
  let upstream: NativeUpstream
  let gateway: TestGateway
  let client: BatchClient

  beforeAll(async () => {
    upstream = new NativeUpstream(0.2)
    place = await newPlace(kind)
    const { dataDir, databaseUrl } = place.options
    const env = databaseUrl === undefined ? {} : { GATEWAY_DATABASE_URL: databaseUrl }
    gateway = await startGateway({ config: nativeConfig(upstream.url), dataDir, env })
    client = new BatchClient(gateway.url, apiToken)
  })
  afterEach(() => {
    upstream.asked.length = 0
    upstream.instead = () => undefined
    upstream.shown = (batch) => batch
  })
  afterAll(async () => {
    await gateway.stop()
    await upstream.stop()
    await place.remove()
  })

  const lines = (count: number, more: object = {}) =>
    Array.from({ length: count }, (_, n) => line(n, `hi ${n}`, { max_tokens: 20, ...more }))
  const charged = async (account = 'acme') => chargesOf(await readLedger(gateway, account))
  const idsIn = (output: ReturnType<typeof answersIn>) =>
    output.map(({ response }) => response.request_id as string)

  /** What was charged since, by request id; nothing stays held, and the books are right. */
  async function chargedFor(before: readonly { request_id: string | null }[], account = 'acme') {
    const known = new Set(before.map(({ request_id }) => request_id))
    expect((await readAccount(gateway, account)).held).toBe('0.00')
    expect((await gateway.admin('POST', '/audit')).body).toMatchObject({ ok: true })
    return (await charged(account)).filter(({ request_id }) => !known.has(request_id))
  }

  test('go to the upstream as one file, and each line is charged once by its result', async () => {
    const before = await charged()
    const all = [...lines(4), line(9, 'no [[sim:status=400]]', { max_tokens: 20 })]
    const batch = await client.run(all)
    expect(batch.request_counts).toEqual({ total: 5, completed: 4, failed: 1 })
    expect(upstream.count('POST', '/v1/files')).toBe(1)
    expect(upstream.count('POST', '/v1/batches')).toBe(1)
    expect(upstream.count('POST', '/v1/chat/completions')).toBe(0)
    const sent = upstream.asked.find(({ path }) => path === '/v1/files')!.body
    expect(sent).toContain('"model":"up"')
    expect(sent).not.toContain(apiToken)
    const output = answersIn(await client.content(batch.output_file_id))
    expect(output.map(({ custom_id }) => custom_id)).toEqual(lines(4).map((l) => l.custom_id))
    const entries = await chargedFor(before)
    expect(entries.map(({ request_id }) => request_id).toSorted()).toEqual(
      idsIn(output).toSorted() as string[],
    )
    for (const { response } of output) {
      expect(response.body.model).toBe('plain')
      const { prompt_tokens: input, completion_tokens: made } = response.body.usage
      const entry = entries.find(({ request_id }) => request_id === response.request_id)!
      expect(nanos(entry.amount)).toBe(-BigInt(input + made) * 500_000n)
      const { body: row } = await gateway.admin('GET', `/requests/${response.request_id}`)
      expect(row).toMatchObject({ model: 'plain', channel: 'upstream', status: 200 })
      expect(row.service_tier).toBe('batch')
    }
    const [failed] = answersIn(await client.content(batch.error_file_id))
    expect([failed.custom_id, failed.response.status_code]).toEqual(['line-9', 400])
    expect(failed.error.code).toBe('upstream_invalid_request')
  })

  test('work for embeddings, for the messages style, and for calls that are translated', async () => {
    const vector: Line = {
      ...{ custom_id: 'v', method: 'POST', url: '/v1/embeddings' },
      body: { model: 'vectors', input: 'hi' },
    }
    const first = answersIn(await client.content((await client.run([vector])).output_file_id))
    expect(first[0].response.body.data[0].embedding.length).toBeGreaterThan(0)
    for (const model of ['made', 'plain']) {
      const before = await charged()
      const message = (n: number): Line => ({
        ...{ custom_id: `an id: ${n}`, method: 'POST', url: '/v1/messages' },
        body: { model, max_tokens: 20, messages: [{ role: 'user', content: `hi ${n}` }] },
      })
      const batch = await client.run([message(1), message(2)])
      expect(batch.request_counts).toEqual({ total: 2, completed: 2, failed: 0 })
      const output = answersIn(await client.content(batch.output_file_id))
      expect(output.map(({ custom_id }) => custom_id)).toEqual(['an id: 1', 'an id: 2'])
      expect(output[0].response.body).toMatchObject({ type: 'message', model })
      expect(await chargedFor(before)).toHaveLength(2)
    }
    expect(upstream.count('POST', '/v1/messages/batches')).toBe(1)
    for (const path of ['/v1/messages', '/v1/chat/completions', '/v1/embeddings']) {
      expect(upstream.count('POST', path)).toBe(0)
    }
  })

  test('get only the lines that the account covers', async () => {
    const theirs = new BatchClient(gateway.url, poor)
    const before = await charged('poor')
    const batch = await theirs.run(lines(40, { max_tokens: 30 }))
    const { completed, failed } = batch.request_counts
    expect([completed > 0, failed > 0, completed + failed]).toEqual([true, true, 40])
    const files = upstream.asked.filter(({ path }) => path === '/v1/files')
    const sent = files.flatMap(({ body }) => body.match(/"custom_id"/g) ?? [])
    expect(sent).toHaveLength(completed)
    for (const { error, response } of answersIn(await theirs.content(batch.error_file_id))) {
      expect([response.status_code, error.code]).toEqual([402, 'insufficient_quota'])
    }
    expect(await chargedFor(before, 'poor')).toHaveLength(completed)
  })

  test('are run by the gateway when the upstream refuses them', async () => {
    upstream.instead = ({ method, path }) =>
      method === 'POST' && path === '/v1/batches'
        ? new Response('{"error":{"message":"no batches here"}}', { status: 400 })
        : undefined
    const before = await charged()
    const batch = await client.run(lines(3))
    expect(batch.request_counts).toEqual({ total: 3, completed: 3, failed: 0 })
    expect(upstream.count('POST', '/v1/chat/completions')).toBe(3)
    expect(await chargedFor(before)).toHaveLength(3)
  })

  test('that the upstream fails before any line are run by the gateway', async () => {
    upstream.shown = (batch) => ({ ...batch, status: 'failed', output_file_id: null })
    const before = await charged()
    const batch = await client.run(lines(2))
    expect(batch.request_counts).toEqual({ total: 2, completed: 2, failed: 0 })
    expect(upstream.count('POST', '/v1/chat/completions')).toBe(2)
    expect(await chargedFor(before)).toHaveLength(2)
  })

  test('that expire upstream have the lines that were run, and the others in the error file', async () => {
    upstream.instead = ({ path }) =>
      path.endsWith('/content') ? new Response(`${oneResult}\n`) : undefined
    upstream.shown = (batch) => ({ ...batch, status: 'expired', output_file_id: 'file-x' })
    const before = await charged()
    const batch = await client.run(lines(3))
    expect(batch.request_counts).toEqual({ total: 3, completed: 1, failed: 2 })
    const failed = answersIn(await client.content(batch.error_file_id))
    expect(failed.map(({ error }) => error.code)).toEqual(['batch_expired', 'batch_expired'])
    expect(await chargedFor(before)).toHaveLength(1)
  })

  test('that are cancelled are cancelled upstream and cost nothing', async () => {
    let isCancelled = false
    upstream.instead = ({ path }) => {
      if (path.endsWith('/cancel')) isCancelled = true
      return undefined
    }
    upstream.shown = (batch) =>
      isCancelled
        ? { ...batch, status: 'cancelled', output_file_id: null, error_file_id: null }
        : { ...batch, status: 'in_progress' }
    const before = await charged()
    const { id } = await client.start(lines(3))
    while (upstream.count('POST', '/v1/batches') === 0) await Bun.sleep(20)
    expect(nanos((await readAccount(gateway)).held)).toBeGreaterThan(0n)
    await client.call('POST', `/batches/${id}/cancel`)
    const batch = await client.ended(id)
    expect([batch.status, batch.request_counts.failed]).toEqual(['cancelled', 3])
    const failed = answersIn(await client.content(batch.error_file_id))
    expect(failed.every(({ error }) => error.code === 'batch_cancelled')).toBe(true)
    expect(upstream.asked.some(({ path }) => path.endsWith('/cancel'))).toBe(true)
    expect(await chargedFor(before)).toEqual([])
  })
})

const oneResult = JSON.stringify({
  ...{ id: 'r', custom_id: 'line-1', error: null },
  response: {
    ...{ status_code: 200, request_id: 'up-1' },
    body: {
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'up' },
      choices: [
        { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'yes' } },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 },
    },
  },
})
