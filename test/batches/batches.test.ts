// Files and batches over real HTTP, on both stores: what callers see, what lines cost, and what stops them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newPlace, type Place, storeKinds } from '../../src/store/test-stores.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { nanos } from '../support/read.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'
import { answersIn, BatchClient, type Line, line } from './client.ts'

const rival = 'sk-rival-0123456789abcdefghijklmnop'
const slow = 'sk-slow-0123456789abcdefghijklmnopq'
const poor = 'sk-poor-0123456789abcdefghijklmnopq'

const config = (chat: string) => `
accounts:
  - { name: acme, balance: "100.00" }
  - { name: rival, balance: "100.00" }
  - { name: poor, balance: "0.25" }
tokens:
  - { account: acme, name: test, token: ${apiToken} }
  - { account: acme, name: slow, token: ${slow}, limits: { concurrency: 1 } }
  - { account: rival, name: theirs, token: ${rival} }
  - { account: poor, name: theirs, token: ${poor} }
models:
  - { name: plain, kind: text, interfaces: [chat, messages, responses] }
  - { name: tiered, kind: text, interfaces: [chat] }
  - { name: narrow, kind: text, interfaces: [chat] }
prices:
  - { model: plain, unit: token, per_million: { input: "1000", output: "1000" } }
  - { model: narrow, unit: token, per_million: { input: "1000", output: "1000" } }
  - model: tiered
    unit: token
    per_million: { input: "1000", output: "1000" }
    service_tiers: { batch: { factor: "0.5" } }
channels:
  - name: upstream
    keys: [sk-upstream-0123456789]
    protocols: { chat: "${chat}" }
    models: { plain: up, tiered: up }
  - name: narrow
    keys: [sk-upstream-0123456789]
    protocols: { chat: "${chat}" }
    models: { narrow: narrow-up }
    max_concurrency: 4
`

interface Answer {
  error: { param: string | null }
}

for (const kind of storeKinds) {
  describe(`batches on ${kind}`, () => {
    let place: Place
    let upstream: TestUpstream
    let gateway: TestGateway
    let client: BatchClient
    const gate = Promise.withResolvers<void>()
    const narrowGate = Promise.withResolvers<void>()

    beforeAll(async () => {
      upstream = startUpstream(async ({ body }) => {
        if (body.includes('wait at the narrow')) await narrowGate.promise
        if (body.includes('hold on')) await gate.promise
        if (body.includes('bad gateway'))
          return jsonReply({ error: { message: 'no' } }, { status: 400 })
        return jsonReply(completion({ prompt_tokens: 50, completion_tokens: 50 }))
      })
      place = await newPlace(kind)
      const { dataDir, databaseUrl } = place.options
      const env = databaseUrl === undefined ? {} : { GATEWAY_DATABASE_URL: databaseUrl }
      gateway = await startGateway({ config: config(upstream.chat), dataDir, env })
      client = new BatchClient(gateway.url, apiToken)
    })
    afterAll(async () => {
      gate.resolve()
      await gateway.stop()
      await upstream.stop()
      await place.remove()
    })

    const charges = async (account: string) => {
      const { body } = await gateway.admin('GET', `/accounts/${account}/ledger?limit=500`)
      return (body.items as { kind: string; amount: string; request_id: string }[]).filter(
        (entry) => entry.kind === 'charge',
      )
    }

    test('a file is uploaded, listed newest first, read and deleted, by its account alone', async () => {
      const text = `${JSON.stringify(line(1, 'hi'))}\n`
      const first = await client.upload(text)
      expect(first).toMatchObject({
        object: 'file',
        purpose: 'batch',
        bytes: text.length,
        filename: 'input.jsonl',
        status: 'processed',
      })
      const second = await client.upload(text)
      const { data, has_more } = await client.get('/files?limit=1')
      expect([data[0].id, has_more]).toEqual([second.id, true])
      const rest = await client.get(`/files?limit=1&after=${second.id}`)
      expect(rest.data[0].id).toBe(first.id)
      expect(await client.content(first.id)).toBe(text)
      const other = new BatchClient(gateway.url, rival)
      for (const path of [`/files/${first.id}`, `/files/${first.id}/content`, '/files/file-0']) {
        const { status, error } = await other.fails('GET', path)
        expect([status, error.code]).toEqual([404, 'file_not_found'])
      }
      expect((await other.fails('DELETE', `/files/${first.id}`)).status).toBe(404)
      expect((await other.get('/files')).data).toEqual([])
      const gone = await client.call('DELETE', `/files/${first.id}`)
      expect(gone).toEqual({ id: first.id, object: 'file', deleted: true })
      expect((await client.fails('GET', `/files/${first.id}/content`)).error.code).toBe(
        'file_not_found',
      )
    })

    test('a form that is no batch file is refused and leaves nothing', async () => {
      const before = (await client.get('/files')).data.length
      const cases: [Record<string, string | File>, number, string | null][] = [
        [{ file: new File(['x'], 'a') }, 400, 'purpose'],
        [{ file: new File(['x'], 'a'), purpose: 'assistants' }, 400, 'purpose'],
        [{ purpose: 'batch' }, 400, 'file'],
        [{ purpose: 'batch', file: 'text' }, 400, 'file'],
        [{ purpose: 'batch', file: new File([], 'a') }, 400, 'file'],
        [{ purpose: 'batch', file: new File(['x'], 'a'), color: 'red' }, 400, 'color'],
        [{ purpose: 'batch', file: new File(['x\n'.repeat(50_001)], 'a') }, 400, 'file'],
      ]
      for (const [fields, status, param] of cases) {
        const answer = await client.form(fields)
        expect([answer.status, ((await answer.json()) as Answer).error.param]).toEqual([
          status,
          param,
        ])
      }
      expect((await client.get('/files')).data.length).toBe(before)
    })

    test('a form that ends within its file is a mistake of its caller', async () => {
      const part = 'content-disposition: form-data; name="file"; filename="a.jsonl"'
      const answer = await fetch(`${gateway.url}/v1/files`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${apiToken}`,
          'content-type': 'multipart/form-data; boundary=b',
        },
        body: `--b\r\n${part}\r\n\r\n{}\n`,
      })
      expect([answer.status, await answer.json()]).toMatchObject([
        400,
        { error: { code: 'invalid_request' } },
      ])
      expect(gateway.output()).not.toContain('file not stored')
    })

    test('every line is run and charged once, and its request id is the gateway’s own', async () => {
      const before = await charges('acme')
      const lines = [1, 2, 3, 4, 5].map((number) => line(number, `hi ${number}`))
      const batch = await client.run([...lines, line(6, 'bad gateway')], {
        metadata: { job: 'nightly' },
      })
      expect(batch).toMatchObject({
        object: 'batch',
        status: 'completed',
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
        request_counts: { total: 6, completed: 5, failed: 1 },
        metadata: { job: 'nightly' },
        errors: null,
      })
      const output = answersIn(await client.content(batch.output_file_id))
      expect(output.map(({ custom_id }) => custom_id)).toEqual(lines.map((l) => l.custom_id))
      for (const { id, response, error } of output) {
        expect([response.status_code, error]).toEqual([200, null])
        expect(id).toStartWith('batch_req_')
        expect(response.body.choices[0].message.content).toBe('Hello there.')
        expect(response.body.model).toBe('plain')
      }
      const [failed] = answersIn(await client.content(batch.error_file_id))
      expect(failed.response.status_code).toBe(400)
      expect(failed.error.code).toBe('upstream_invalid_request')
      const added = (await charges('acme')).filter(
        ({ request_id: id }) => !before.some((b) => b.request_id === id),
      )
      const ids = output.map(({ response }) => response.request_id)
      expect(added.map(({ request_id: id }) => id).sort()).toEqual(ids.sort())
      expect(added.every(({ amount }) => nanos(amount) === -100_000_000n)).toBe(true)
      const { body: row } = await gateway.admin('GET', `/requests/${ids[0]}`)
      expect(row).toMatchObject({ model: 'plain', interface: 'chat', status: 200 })
      const file = await client.get(`/files/${batch.output_file_id}`)
      expect(file.purpose).toBe('batch_output')
    })

    test('a price with a tier for batches is charged by it', async () => {
      const batch = await client.run([line(1, 'hi', { model: 'tiered' })])
      const [answer] = answersIn(await client.content(batch.output_file_id))
      const entry = (await charges('acme')).find((e) => e.request_id === answer.response.request_id)
      expect(nanos(entry!.amount)).toBe(-50_000_000n)
      expect(upstream.calls.at(-1)!.body).not.toContain('service_tier')
    })

    test('the body of a line goes upstream as it stands there', async () => {
      const body =
        '{"seed":9007199254740993, "model":"plain","z":1,"a":1.10,"messages":[{"role":"user","content":"as it is"}]}'
      const raw = `{"custom_id":"raw","method":"POST","url":"/v1/chat/completions","body":1,"body":${body}}`
      const batch = await client.run([line(1, 'hi')], {}, raw)
      expect(batch.request_counts).toEqual({ total: 2, completed: 2, failed: 0 })
      const sent = upstream.calls.find((call) => call.body.includes('as it is'))!
      expect(sent.body).toBe(body.replace('"plain"', '"up"'))
    })

    test('lines of other interfaces are served as their callers are', async () => {
      const body = { model: 'plain', max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] }
      const url = '/v1/messages'
      const messages = await client.run([{ custom_id: 'm', method: 'POST', url, body }])
      const [answer] = answersIn(await client.content(messages.output_file_id))
      expect(answer.response.body).toMatchObject({ type: 'message', role: 'assistant' })
      const responses = await client.run([
        {
          custom_id: 'r',
          method: 'POST',
          url: '/v1/responses',
          body: { model: 'plain', input: 'hi' },
        },
      ])
      const [other] = answersIn(await client.content(responses.output_file_id))
      expect(other.response.body).toMatchObject({ object: 'response', status: 'completed' })
    })

    test('lines that find no money fail, and those before them are served', async () => {
      const lines = [1, 2, 3, 4, 5].map((n) => line(n, 'hi', { max_tokens: 50 }))
      const batch = await new BatchClient(gateway.url, poor).run(lines)
      expect(batch.status).toBe('completed')
      const { completed, failed: count } = batch.request_counts
      expect([completed > 0, count > 0, completed + count]).toEqual([true, true, 5])
      const failed = answersIn(
        await new BatchClient(gateway.url, poor).content(batch.error_file_id),
      )
      for (const { response, error } of failed) {
        expect([response.status_code, error.code]).toEqual([402, 'insufficient_quota'])
        expect(response.body.error.code).toBe('insufficient_quota')
      }
      expect((await charges('poor')).length).toBe(completed)
    })

    test('limits of the token delay lines and fail none', async () => {
      const lines = Array.from({ length: 6 }, (_, n) => line(n, 'hi'))
      const batch = await new BatchClient(gateway.url, slow).run(lines)
      expect(batch.request_counts).toEqual({ total: 6, completed: 6, failed: 0 })
    })

    test('lines leave callers slots of a channel, and wait for theirs without a trace', async () => {
      const asked = () => upstream.calls.filter(({ body }) => body.includes('at the narrow'))
      const more = { model: 'narrow', max_tokens: 50 }
      const lines = [1, 2, 3, 4, 5, 6].map((n) => line(n, 'wait at the narrow', more))
      const { id } = await client.start(lines)
      while (asked().length < 3) await Bun.sleep(20)
      // Longer than calls wait for a slot.
      await Bun.sleep(2_500)
      expect((await gateway.chat('hi', more)).status).toBe(200)
      expect(asked()).toHaveLength(3)
      narrowGate.resolve()
      const { request_counts: counts } = await client.ended(id)
      expect(counts).toEqual({ total: 6, completed: 6, failed: 0 })
      const { body } = await gateway.admin('GET', '/requests?model=narrow')
      expect(body.items.map(({ status }: { status: number }) => status)).toEqual(
        new Array(7).fill(200),
      )
    })

    test('an input with mistakes fails the batch, with the line of each', async () => {
      const wrong = [
        line(1, 'hi'),
        { ...line(2, 'hi'), custom_id: 'line-1' },
        { ...line(3, 'hi'), url: '/v1/embeddings' },
        { ...line(4, 'hi'), method: 'GET' },
        { ...line(5, 'hi'), custom_id: undefined },
        { ...line(6, 'hi'), body: 'text' },
      ] as Line[]
      const calls = upstream.calls.length
      const batch = await client.run(wrong, {}, '{broken')
      expect(batch.status).toBe('failed')
      expect(
        batch.errors.data.map((e: { line: number; code: string }) => [e.line, e.code]),
      ).toEqual([
        [2, 'duplicate_custom_id'],
        [3, 'invalid_url'],
        [4, 'invalid_method'],
        [5, 'missing_required_parameter'],
        [6, 'missing_required_parameter'],
        [7, 'invalid_json_line'],
      ])
      expect([batch.output_file_id, batch.error_file_id]).toEqual([null, null])
      expect(upstream.calls.length).toBe(calls)
    })

    test('a line that asks for a stream, or for a model it may not use, fails alone', async () => {
      const batch = await client.run([
        line(1, 'hi', { stream: true }),
        line(2, 'hi', { model: 'unknown' }),
        line(3, 'hi'),
      ])
      expect(batch.request_counts).toEqual({ total: 3, completed: 1, failed: 2 })
      const failed = answersIn(await client.content(batch.error_file_id))
      expect(failed.map(({ error }) => error.code)).toEqual(['invalid_request', 'model_not_found'])
    })

    test('a create with a mistake is refused, and other accounts’ batches are not found', async () => {
      const file = await client.upload(`${JSON.stringify(line(1, 'hi'))}\n`)
      const good = {
        input_file_id: file.id,
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
      }
      const many = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, 'v']))
      const cases: [object, number, string][] = [
        [{ ...good, endpoint: '/v1/images/generations' }, 400, 'endpoint'],
        [{ ...good, completion_window: '1h' }, 400, 'completion_window'],
        [{ ...good, metadata: many }, 400, 'metadata'],
        [{ ...good, metadata: { a: 1 } }, 400, 'metadata'],
        [{ ...good, color: 'red' }, 400, 'color'],
        [{ ...good, input_file_id: 'file-unknown' }, 404, 'input_file_id'],
      ]
      for (const [body, status, param] of cases) {
        const refused = await client.fails('POST', '/batches', body)
        expect([refused.status, refused.error.param]).toEqual([status, param])
      }
      const other = new BatchClient(gateway.url, rival)
      const { status, error } = await other.fails('POST', '/batches', good)
      expect([status, error.code]).toEqual([404, 'file_not_found'])
      const batch = await client.ended((await client.call('POST', '/batches', good)).id)
      for (const path of [`/batches/${batch.id}`, '/batches/batch_unknown']) {
        expect((await other.fails('GET', path)).error.code).toBe('batch_not_found')
      }
      expect((await other.fails('POST', `/batches/${batch.id}/cancel`)).status).toBe(404)
      expect((await other.get('/batches')).data).toEqual([])
      expect((await client.get('/batches?limit=1')).data[0].id).toBe(batch.id)
    })

    test('an input is deleted or read, however close the two come', async () => {
      const endpoint = '/v1/chat/completions'
      const text = `${JSON.stringify(line(1, 'hi'))}\n`
      const files = await Promise.all(Array.from({ length: 12 }, () => client.upload(text)))
      const found = await Promise.all(
        files.map(async ({ id }) => {
          const create = { input_file_id: id, endpoint, completion_window: '24h' }
          const [made, deleted] = await Promise.all([
            client.fails('POST', '/batches', create),
            client.fails('DELETE', `/files/${id}`),
          ])
          // Also one that ended before.
          return [made.error?.code ?? made.object, deleted.error?.code ?? deleted.object].join()
        }),
      )
      const right = ['batch,conflict', 'file_not_found,file', 'batch,file']
      for (const each of found) expect(right).toContain(each)
    })

    test('a cancelled batch ends with a line for each of its lines', async () => {
      const lines = Array.from({ length: 60 }, (_, n) => line(n, 'hold on'))
      const { id, input_file_id } = await client.start(lines)
      while ((await client.get(`/batches/${id}`)).status !== 'in_progress') await Bun.sleep(20)
      expect((await client.fails('DELETE', `/files/${input_file_id}`)).status).toBe(409)
      const cancelling = await client.call('POST', `/batches/${id}/cancel`)
      expect(cancelling.status).toBe('cancelling')
      await Bun.sleep(1_200)
      gate.resolve()
      const batch = await client.ended(id)
      expect(batch.status).toBe('cancelled')
      const { total, completed, failed } = batch.request_counts
      expect([total, completed + failed]).toEqual([60, 60])
      expect(completed).toBeGreaterThan(0)
      expect(failed).toBeGreaterThan(0)
      const output = answersIn(await client.content(batch.output_file_id))
      const unrun = answersIn(await client.content(batch.error_file_id))
      expect(output.length + unrun.length).toBe(60)
      expect(unrun.every((l) => l.response === null && l.error.code === 'batch_cancelled')).toBe(
        true,
      )
      expect((await client.call('POST', `/batches/${id}/cancel`)).status).toBe('cancelled')
    })
  })
}
