// Streams that end in odd ways, over HTTP: events of any size, callers that do not read, upstreams that never
// end, and a gateway that stands still. What was delivered is charged, and no channel is blamed for it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { openCaller } from '../faults/caller.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { listAll, nanos, type RequestRow, rowOf, until } from '../support/read.ts'
import { completion, jsonReply, startUpstream, type TestUpstream } from '../support/upstream.ts'

type Json = Record<string, unknown>

let reply: (body: string) => Response | Promise<Response>
let upstream: TestUpstream
let gateway: TestGateway

const channel = (name: string, protocols: object, more: object = {}) => ({
  name,
  keys: ['upk-odd-0123456789'],
  protocols,
  models: { [name]: 'up' },
  ...more,
})
const names = ['chat', 'responses', 'messages', 'quick', 'brief']

beforeAll(async () => {
  upstream = startUpstream(({ body }) => reply(body))
  const { url, chat } = upstream
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [{ name: 'acme', balance: '1000.00' }],
      tokens: [{ account: 'acme', name: 'test', token: apiToken }],
      channels: [
        channel('chat', { chat }),
        channel('responses', { responses: chat }),
        channel('messages', { messages: url }),
        channel('quick', { chat }, { timeouts: { first_byte: '1s', idle: '1s', total: '4s' } }),
        channel('brief', { messages: url }, { timeouts: { idle: '1s', total: '2s' } }),
      ],
      models: names.map((name) => ({
        name,
        kind: 'text',
        interfaces: ['chat', 'responses', 'messages'],
        max_output_tokens: 2_000,
      })),
      prices: names.map((model) => ({
        model,
        unit: 'token',
        per_million: { input: '10.00', output: '20.00' },
      })),
    }),
  })
})
afterAll(async () => {
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

const messages = [{ role: 'user', content: 'hello' }]
const askChat = (model: string, more: Json = {}) =>
  gateway.post('/v1/chat/completions', { model, messages, ...more })

const stateOf = async (name: string): Promise<string> => {
  const all = await listAll<{ name: string; health: { state: string } }>(gateway, '/channels')
  return all.find((each) => each.name === name)!.health.state
}

/** Writes until nobody takes it any more; `next` gives undefined at the end. */
function endless(next: () => string | undefined | Promise<string>, onCancel = () => {}): Response {
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const part = await next()
        if (part === undefined) controller.close()
        else controller.enqueue(Buffer.from(part))
      },
      cancel: onCancel,
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

const chatLine = (delta: Json, more: Json = {}) =>
  `data: ${JSON.stringify({ id: 'c', model: 'up', choices: [{ index: 0, delta }], ...more })}\n\n`
const named = (data: Json) => `event: ${data['type']}\ndata: ${JSON.stringify(data)}\n\n`

describe('events of ten megabytes', () => {
  const tokens = Array.from({ length: 2_000 }, (_, i) => `word${i} `)
  const text = tokens.join('')
  const top = Array.from({ length: 20 }, (_, i) => ({
    token: `other${i}`,
    logprob: -i,
    bytes: [
      ...Buffer.from('some bytes that say the same, and a few more of them to be sure of it'),
    ],
  }))
  const logprobs = tokens.map((token) => ({ token, logprob: -0.1, top_logprobs: top }))
  const part = { type: 'output_text', text, annotations: [], logprobs }
  const item = { type: 'message', id: 'msg_1', role: 'assistant', content: [part] }
  const usage = { input_tokens: 10, output_tokens: 1_900 }
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const response = { id: 'resp_1', object: 'response', model: 'up', status: 'completed' }
  const events = (): string =>
    [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
      ...tokens.map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
      { type: 'response.output_text.done', ...at, text, logprobs },
      { type: 'response.content_part.done', ...at, part },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { ...response, output: [item], usage } },
    ]
      .map((event, sequence_number) => named({ ...event, sequence_number }))
      .join('')

  test('reach the caller whole and are charged as reported', async () => {
    const sent = events()
    expect(sent.length).toBeGreaterThan((4 * 9) << 20)
    reply = () => new Response(sent, { headers: { 'content-type': 'text/event-stream' } })
    const body = { model: 'responses', input: 'hello', stream: true, max_output_tokens: 2_000 }
    const answer = await gateway.post('/v1/responses', body)
    const given = (await answer.text()).replaceAll(/_gw[0-9a-f]{44}(?=")/g, '')
    expect(given.replaceAll('"model":"responses"', '"model":"up"') === sent).toBe(true)
    const row = await rowOf(gateway, answer.headers.get('x-request-id')!)
    expect([row.ending, nanos(row.charge), row.loss]).toEqual(['complete', 38_100_000n, '0.00'])
  })

  test('have the charge in the last of them', async () => {
    reply = () => new Response(events(), { headers: { 'content-type': 'text/event-stream' } })
    const body = { model: 'responses', input: 'hello', stream: true, max_output_tokens: 2_000 }
    const answer = await gateway.post('/v1/responses', body, { 'x-gateway-include': 'charge' })
    const last = (await answer.text()).trimEnd().split('\n').at(-1)!
    const { gateway: told, ...others } = JSON.parse(last.slice('data: '.length)).response.usage
    expect(others).toEqual(usage)
    expect(told).toMatchObject({ charge: '0.0381', currency: 'CNY' })
  })

  test('are translated without what is too much', async () => {
    reply = () => new Response(events(), { headers: { 'content-type': 'text/event-stream' } })
    const answer = await askChat('responses', { stream: true })
    const given = await answer.text()
    const contents = given.matchAll(/"content":"(word\d+ )"/g)
    expect([...contents].map(([, each]) => each).join('') === text).toBe(true)
    expect(given).toEndWith('data: [DONE]\n\n')
    const row = await rowOf(gateway, answer.headers.get('x-request-id')!)
    expect([row.ending, nanos(row.charge)]).toEqual(['complete', 38_100_000n])
  })
})

test('a stream that its upstream drops because its caller does not read is charged', async () => {
  const event = chatLine({ content: 'x'.repeat(8_000) })
  let sent = 0
  let sentMs = performance.now()
  // Like a send time-out: too long without being asked for more.
  reply = () =>
    endless(() => {
      const waitedMs = performance.now() - sentMs
      sentMs = performance.now()
      sent++
      return sent > 50 && waitedMs > 700 ? undefined : event
    })
  const caller = await openCaller(gateway.url)
  caller.stopReading()
  const body = { model: 'chat', messages, stream: true }
  const asked = caller.post('/v1/chat/completions', apiToken, body).catch(() => undefined)
  await until('the upstream to wait', async () => {
    const before = sent
    await Bun.sleep(300)
    return sent > 50 && sent === before ? true : undefined
  })
  await Bun.sleep(1_000)
  caller.startReading()
  await asked
  caller.close()
  const [row] = await until('the row', async () => {
    const rows = await listAll<RequestRow>(gateway, '/requests?model=chat')
    return rows.length > 0 ? rows : undefined
  })
  expect([row!.ending, row!.estimated, row!.loss]).toEqual(['cut_short', true, '0.00'])
  expect(nanos(row!.charge)).toBeGreaterThan(0n)
  expect(await stateOf('chat')).toBe('good')
})

describe('a stream without an end', () => {
  test('is ended near the maximum of the model, and charged', async () => {
    let isCancelled = false
    const event = chatLine({ content: 'and on and on '.repeat(20) })
    reply = () =>
      endless(
        () => event,
        () => {
          isCancelled = true
        },
      )
    const answer = await askChat('chat', { stream: true, max_tokens: 10 })
    const text = await answer.text()
    expect(text).toContain('beyond the maximum output of the model')
    const row = await rowOf(gateway, answer.headers.get('x-request-id')!)
    expect([row.ending, row.estimated]).toEqual(['cut_short', true])
    expect(row.usage!.output_tokens).toBeGreaterThan(2_000)
    expect(row.usage!.output_tokens).toBeLessThan(100_000)
    await until('the upstream to be told', () => isCancelled || undefined)
  })

  test('that is only alive ends by the total limit', async () => {
    const start = { type: 'message_start', message: { id: 'm', content: [], usage: {} } }
    const delta = { type: 'text_delta', text: 'hi' }
    const begun = named(start) + named({ type: 'content_block_delta', index: 0, delta })
    let events = 0
    reply = () =>
      endless(async () => {
        if (events++ === 0) return begun
        await Bun.sleep(100)
        return named({ type: 'ping' })
      })
    const answer = await gateway.post('/v1/messages', {
      model: 'brief',
      messages,
      max_tokens: 10,
      stream: true,
    })
    expect(await answer.text()).toContain('upstream_timeout')
    const row = await rowOf(gateway, answer.headers.get('x-request-id')!)
    expect([row.ending, row.charge]).toEqual(['failed', '0.00'])
  })
})

test('a gateway that stood still gives its calls their time again and blames no channel', async () => {
  let isAsked = 0
  reply = async () => {
    isAsked++
    await Bun.sleep(700)
    return jsonReply(completion({ prompt_tokens: 10, completion_tokens: 5 }))
  }
  const asked = Array.from({ length: 25 }, () => askChat('quick'))
  await until('the calls upstream', () => (isAsked === 25 ? true : undefined))
  process.kill(gateway.pid, 'SIGSTOP')
  await Bun.sleep(3_000)
  process.kill(gateway.pid, 'SIGCONT')
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  expect(statuses.filter((status) => status !== 200)).toEqual([])
  expect(await stateOf('quick')).toBe('good')
})

describe('a caller’s own errors', () => {
  test.each([
    [415, { error: { message: 'this media type is not supported' } }],
    [431, {}],
    [403, { error: { message: 'your input was flagged', metadata: { reasons: ['violence'] } } }],
  ])('with status %i take no channel from others', async (status, body) => {
    reply = (text) =>
      text.includes('hostile')
        ? jsonReply(body, { status })
        : jsonReply(completion({ prompt_tokens: 10, completion_tokens: 5 }))
    const hostile = [{ role: 'user', content: 'hostile' }]
    const attack = Array.from({ length: 30 }, () => askChat('chat', { messages: hostile }))
    for (const each of await Promise.all(attack)) expect(each.status).toBe(400)
    expect(await stateOf('chat')).toBe('good')
    expect((await askChat('chat')).status).toBe(200)
  })
})
