// Work that upstreams bill beside plain tokens: writes to a cache for an hour and further passes over the
// input. Each is held for when it is asked for, charged as it is reported, and adds up in every book. And
// fields that raise the output beyond its bound are held for.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { adminToken, apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { chargeOf, errorOf, requestIdOf } from '../support/read.ts'
import { type Captured, jsonReply, startUpstream, streamReply } from '../support/upstream.ts'

const usages: Record<string, object> = {}

const event = (data: { type: string }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

/** The case is in the words of the caller. */
function reply({ path, body }: Captured): Response {
  const name = /case-[\w-]+/.exec(body)?.[0] ?? ''
  const usage = usages[name] ?? { input_tokens: 1, output_tokens: 1 }
  if (path.endsWith('/chat/completions')) {
    const message = { role: 'assistant', content: 'hi' }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    return jsonReply({ id: 'c', object: 'chat.completion', choices, usage })
  }
  const head = { id: 'm', type: 'message', role: 'assistant' }
  const content = [{ type: 'text', text: 'hi' }]
  if (JSON.parse(body).stream !== true) {
    return jsonReply({ ...head, content, stop_reason: 'end_turn', usage })
  }
  // The last event of a stream says less than the first.
  const { cache_creation, iterations, ...rest } = usage as Record<string, unknown>
  const start = { ...rest, output_tokens: 1, ...(cache_creation != null && { cache_creation }) }
  const end = { ...rest, ...(iterations != null && { iterations }) }
  return streamReply(
    [
      { type: 'message_start', message: { ...head, content: [], usage: start } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: end },
      { type: 'message_stop' },
    ].map(event),
  )
}

const upstream = startUpstream(reply)
const rates = { input: '10', output: '20' }
const terms: Record<string, object> = {
  plain: { per_million: rates },
  written: { per_million: { ...rates, cache_read: '1', cache_write: '12.5' } },
  hour: { per_million: { ...rates, cache_write: '12.5', cache_write_1h: '21' } },
  tiers: {
    tiers: [
      { up_to: 1_000, per_million: { ...rates, cache_write_1h: '30' } },
      { per_million: { ...rates, cache_write: '25' } },
    ],
  },
}
const names = Object.keys(terms)
let gateway: TestGateway
beforeAll(async () => {
  const limits = { context_window: 200_000, max_output_tokens: 4_000 }
  const config = {
    accounts: [
      { name: 'acme', balance: '100.00' },
      { name: 'poor', balance: '0.06' },
    ],
    tokens: [
      { account: 'acme', name: 'test', token: apiToken },
      { account: 'poor', name: 'poor', token: `${apiToken}-poor` },
    ],
    models: [
      ...names.map((name) => ({ name, kind: 'text', interfaces: ['messages'], ...limits })),
      { name: 'chatty', kind: 'text', interfaces: ['chat'], ...limits },
    ],
    prices: [
      ...names.map((name) => ({ model: name, unit: 'token', ...terms[name] })),
      { model: 'chatty', unit: 'token', per_million: { ...rates, cache_write: '12.5' } },
    ],
    channels: [
      {
        name: 'up',
        keys: ['upk-0123456789'],
        protocols: { messages: upstream.url },
        models: Object.fromEntries(names.map((name) => [name, '*'])),
      },
      {
        name: 'up-chat',
        keys: ['upk-0123456789'],
        protocols: { chat: upstream.chat },
        models: { chatty: '*' },
      },
    ],
  }
  gateway = await startGateway({ config: JSON.stringify(config) })
})
afterAll(async () => {
  const { body } = await gateway.admin('POST', '/audit')
  expect(body.findings ?? []).toEqual([])
  expect(body.ok).toBe(true)
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

const ask = (
  model: string,
  said: string,
  more: object = {},
  headers: Record<string, string> = {},
) =>
  gateway.post(
    '/v1/messages',
    { model, max_tokens: 9, messages: [{ role: 'user', content: said }], ...more },
    headers,
  )

const base = { input_tokens: 100, output_tokens: 0, cache_read_input_tokens: 0 }
const split = (short: number, hour: number) => ({
  ...base,
  cache_creation_input_tokens: short + hour,
  cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: hour },
})

describe.each([false, true])('as a stream: %p,', (stream) => {
  test.each<[string, string, object, string]>([
    // 100 x 10 + 500 x the rate, per million
    ['twice the input', 'plain', split(0, 500), '-0.011'],
    ['1.6 times a shorter write', 'written', split(0, 500), '-0.011'],
    ['its own rate', 'hour', split(0, 500), '-0.0115'],
    ['its own rate beside shorter writes', 'hour', split(200, 300), '-0.0098'],
    ['the rate of its tier', 'tiers', split(0, 500), '-0.016'],
    ['the rate of its higher tier', 'tiers', split(0, 1_000), '-0.041'],
    [
      'its part, however large it is said to be',
      'hour',
      { ...split(0, 500), cache_creation: { ephemeral_1h_input_tokens: 9e9 } },
      '-0.0115',
    ],
    ['nothing more where there are none', 'hour', split(500, 0), '-0.00725'],
  ])('a write for an hour costs %s', async (label, model, usage, amount) => {
    const name = `case-${label.replaceAll(/\W+/g, '-')}-${model}`
    usages[name] = usage
    const answer = await ask(model, name, { stream })
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('hi')])
    expect((await chargeOf(gateway, requestIdOf(answer)))?.amount).toBe(amount)
  })

  const pass = { input_tokens: 2_000, output_tokens: 100 }
  const compaction = { type: 'compaction', input_tokens: 90_000, output_tokens: 3_500 }
  const message = { type: 'message', model: 'plain', ...pass }
  const compact = { context_management: { edits: [{ type: 'compact_20260112' }] } }
  test.each<[string, unknown, string]>([
    ['all of them', [compaction, message], '-0.992'],
    [
      'their writes, too',
      [
        compaction,
        {
          ...message,
          cache_creation_input_tokens: 500,
          cache_creation: { ephemeral_1h_input_tokens: 500 },
        },
      ],
      '-1.002',
    ],
    ['the counts beside an empty list', [], '-0.022'],
    ['the counts beside a list that cannot be read', [compaction, 'x'], '-0.022'],
    ['the counts beside a list with a hole', [compaction, { type: 'message' }], '-0.022'],
    ['the counts without a list', null, '-0.022'],
  ])('passes over the input cost %s', async (label, iterations, amount) => {
    const name = `case-${label.replaceAll(/\W+/g, '-')}`
    usages[name] = { ...pass, iterations }
    const more = { stream, max_tokens: 100, ...compact }
    const answer = await ask('plain', name, more)
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('hi')])
    expect((await chargeOf(gateway, requestIdOf(answer)))?.amount).toBe(amount)
  })
})

test('a chat upstream that tells the lifetime is charged by it, and a translated caller sees it', async () => {
  const details = { cached_tokens: 0, cache_creation: { ephemeral_1h_input_tokens: 500 } }
  usages['case-chat'] = {
    prompt_tokens: 600,
    completion_tokens: 0,
    prompt_tokens_details: { ...details, cache_write_tokens: 500 },
  }
  const answer = await ask('chatty', 'case-chat')
  expect(JSON.parse(await answer.text()).usage).toMatchObject({
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 500 },
  })
  expect((await chargeOf(gateway, requestIdOf(answer)))?.amount).toBe('-0.011')
})

test('explanation, request, ledger and bill tell it alike', async () => {
  usages['case-told'] = split(200, 300)
  const id = requestIdOf(await ask('hour', 'case-told'))
  const { body: told } = await gateway.admin('GET', `/explain/${id}`)
  expect(told.steps).toContain('cache_write: 200 x 12.50 per million = 0.0025')
  expect(told.steps).toContain('cache_write_1h: 300 x 21.00 per million = 0.0063')
  expect(told.charge).toBe('0.0098')
  const { body: row } = await gateway.admin('GET', `/requests/${id}`)
  expect(row.usage).toMatchObject({ cache_write_tokens: 500, cache_write_1h_tokens: 300 })
  expect(await chargeOf(gateway, id)).toMatchObject({ tier: 'cache_write_1h' })
})

test('the rate goes out and in again: admin API, list and file', async () => {
  const price = {
    model: 'hour',
    account: 'poor',
    unit: 'token',
    per_million: { ...rates, cache_write_1h: '19' },
  }
  const made = await gateway.admin('POST', '/prices', price)
  expect([made.status, made.body.per_million?.cache_write_1h]).toEqual([201, '19.00'])
  for (const format of ['csv', 'yaml']) {
    const headers = { authorization: `Bearer ${adminToken}` }
    const url = `${gateway.url}/admin/v1/prices`
    const file = await (await fetch(`${url}/export?format=${format}`, { headers })).text()
    expect(file).toContain('cache_write_1h')
    const type = format === 'csv' ? 'text/csv' : 'application/yaml'
    const read = await fetch(`${url}/import?dry_run=true`, {
      method: 'POST',
      headers: { ...headers, 'content-type': type },
      body: file,
    })
    expect([format, read.status]).toEqual([format, 200])
  }
})

describe('is held for:', () => {
  const poor = { authorization: `Bearer ${apiToken}-poor` }
  const words = 'x '.repeat(1_500)
  const hourMark = { cache_control: { type: 'ephemeral', ttl: '1h' } }
  const text = [{ type: 'text', text: words, ...hourMark }]

  // 3,000 bytes and more at 10 per million: 0.031; at 20 per million 0.062.
  test.each<[string, object, number]>([
    ['nothing', {}, 200],
    ['a write for five minutes', { cache_control: { type: 'ephemeral', ttl: '5m' } }, 200],
    ['a write for an hour, by itself', hourMark, 402],
    ['a write for an hour, in a part', { messages: [{ role: 'user', content: text }] }, 402],
    [
      'a write for an hour, in the instructions',
      { system: [{ type: 'text', text: 'x', ...hourMark }] },
      402,
    ],
    [
      'a write for an hour, of a tool',
      { tools: [{ name: 'f', input_schema: {}, ...hourMark }] },
      402,
    ],
    ['another pass', { context_management: { edits: [{ type: 'compact_20260112' }] } }, 402],
    [
      'edits that cost nothing',
      { context_management: { edits: [{ type: 'clear_thinking_20251015' }] } },
      200,
    ],
    ['reasoning', { thinking: { type: 'enabled', budget_tokens: 5 } }, 402],
    ['no reasoning', { thinking: { type: 'disabled' } }, 200],
    ['effort', { output_config: { effort: 'low' } }, 402],
    ['a higher bound', { n_predict: 4_000 }, 402],
    ['a higher bound one level down', { options: { num_predict: 4_000 } }, 402],
    ['no bound', { extra_body: { max_new_tokens: -1 } }, 402],
  ])('%s', async (_, more, status) => {
    const answer = await ask('plain', words, more, poor)
    const code = answer.status === 200 ? '' : (await errorOf(answer)).code
    expect([answer.status, code]).toEqual([status, status === 200 ? '' : 'insufficient_quota'])
  })
})
