// Tools that the upstream runs: refused without a price, held for what they may cost, charged for what the
// upstream reports, in every text style.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { formatNanos } from '../../src/lib/text/decimal.ts'
import { apiToken, startGateway, type TestGateway } from '../support/gateway.ts'
import { chargeOf, errorOf, nanos, requestIdOf } from '../support/read.ts'
import { type Captured, completion, jsonReply, startUpstream } from '../support/upstream.ts'

const tokens = { input_tokens: 0, output_tokens: 0 }
const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' }

/** Each upstream answer reports searches in the way of its style. */
function reply({ path, body }: Captured): Response {
  if (path.endsWith('/messages')) {
    const usage = { ...tokens, server_tool_use: { web_search_requests: 3 } }
    const content = [{ type: 'text', text: '' }]
    return jsonReply({ id: 'm', type: 'message', role: 'assistant', content, usage })
  }
  if (path.endsWith('/responses')) {
    const opened = { ...search, action: { type: 'open_page' } }
    const output = [search, { ...search, action: { type: 'search' } }, opened]
    const response = { id: 'r', object: 'response', status: 'completed', output, usage: tokens }
    if (JSON.parse(body).stream !== true) return jsonReply(response)
    const event = JSON.stringify({ type: 'response.completed', response })
    return new Response(`event: response.completed\ndata: ${event}\n\n`, {
      headers: { 'content-type': 'text/event-stream' },
    })
  }
  if (path.includes(':generateContent')) {
    const groundingMetadata = { webSearchQueries: ['a', 'b'] }
    const content = { role: 'model', parts: [{ text: '' }] }
    const usageMetadata = { promptTokenCount: 0, candidatesTokenCount: 0 }
    const candidates = [{ content, finishReason: 'STOP', groundingMetadata }]
    return jsonReply({ candidates, usageMetadata })
  }
  const usage = { prompt_tokens: 0, completion_tokens: 0, num_search_queries: 4 }
  return jsonReply(completion(usage as object))
}

const upstream = startUpstream(reply)
const styles = ['chat', 'responses', 'messages', 'generate']
const price = { unit: 'token', per_million: { input: '0', output: '0' } }
let gateway: TestGateway
beforeAll(async () => {
  const config = {
    accounts: [
      { name: 'acme', balance: '0.50' },
      { name: 'rich', balance: '100.00' },
    ],
    tokens: [
      { account: 'acme', name: 'test', token: apiToken },
      { account: 'rich', name: 'rich', token: `${apiToken}-rich` },
    ],
    models: ['finder', 'plain'].map((name) => ({ name, kind: 'text', interfaces: styles })),
    prices: [
      { model: 'finder', ...price, per_call: { web_search: '0.05' } },
      { model: 'plain', ...price },
    ],
    channels: [
      {
        name: 'up',
        keys: ['upk-0123456789'],
        protocols: {
          chat: `${upstream.url}/v1`,
          responses: `${upstream.url}/v1`,
          messages: upstream.url,
          generate: upstream.url,
        },
        models: { finder: '*', plain: '*' },
      },
    ],
  }
  gateway = await startGateway({ config: JSON.stringify(config) })
})
afterAll(async () => {
  const { body } = await gateway.admin('POST', '/audit')
  expect(body.ok).toBe(true)
  expect(await gateway.stop()).toBe(0)
  await upstream.stop()
})

const said = [{ role: 'user', content: 'hi' }]
const rich = { authorization: `Bearer ${apiToken}-rich` }
const generate = '/vendorg/v1beta/models/finder:generateContent'
const contents = [{ parts: [{ text: 'hi' }] }]
const tool = (type: string, more: object = {}) => ({
  tools: [{ type, name: 'web_search', ...more }],
})

test.each<[string, string, object, string, string]>([
  [
    'messages',
    '/v1/messages',
    tool('web_search_20250305', { max_uses: 5 }),
    '-0.15',
    'web_search x3',
  ],
  [
    'a bound',
    '/v1/messages',
    tool('web_search_20250305', { max_uses: 2 }),
    '-0.10',
    'web_search x2',
  ],
  ['responses', '/v1/responses', { input: 'hi', ...tool('web_search') }, '-0.10', 'web_search x2'],
  [
    'a stream',
    '/v1/responses',
    { input: 'hi', stream: true, ...tool('web_search_preview_2025_03_11') },
    '-0.10',
    'web_search x2',
  ],
  ['generate', generate, { contents, tools: [{ googleSearch: {} }] }, '-0.10', 'web_search x2'],
  ['chat', '/v1/chat/completions', { web_search_options: {} }, '-0.20', 'web_search x4'],
])('%s is charged by the calls that are reported', async (_, path, fields, amount, tier) => {
  const body = path === generate ? fields : { model: 'finder', max_tokens: 9, ...fields }
  const messages = path.endsWith('messages') || path.endsWith('completions')
  const answer = await gateway.post(path, { ...body, ...(messages && { messages: said }) }, rich)
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
  const id = requestIdOf(answer)
  const { body: ledger } = await gateway.admin('GET', '/accounts/rich/ledger')
  const entry = ledger.items.find(
    (each: { kind: string; request_id: string }) =>
      each.kind === 'charge' && each.request_id === id,
  )
  expect([entry.amount, entry.tier]).toEqual([amount, tier])
  const { body: explained } = await gateway.admin('GET', `/explain/${id}`)
  expect(JSON.stringify(explained)).toContain('calls x 0.05')
})

test.each<[string, object, boolean]>([
  ['ten calls, where nothing bounds them', tool('web_search_20250305'), true],
  ['as many calls as are allowed', tool('web_search_20250305', { max_uses: 10 }), true],
  ['no more than the balance pays for', tool('web_search_20250305', { max_uses: 11 }), false],
])('the hold is for %s', async (_, fields, isServed) => {
  const answer = await gateway.post('/v1/messages', {
    model: 'finder',
    messages: said,
    max_tokens: 9,
    ...fields,
  })
  expect(answer.status).toBe(isServed ? 200 : 402)
  await answer.text()
  const charge = isServed ? await chargeOf(gateway, requestIdOf(answer)) : undefined
  // The account has what it had before.
  if (charge !== undefined) {
    await gateway.admin('POST', '/accounts/acme/credits', { amount: '0.15', note: 'again' })
  }
})

test.each<[string, string, object]>([
  [
    '/v1/messages',
    'tools[0].type',
    { messages: said, max_tokens: 9, ...tool('web_search_20250305') },
  ],
  ['/v1/responses', 'tools[0].type', { input: 'hi', ...tool('web_search') }],
  ['/v1/responses', 'tools[0].type', { model: 'finder', input: 'hi', ...tool('code_interpreter') }],
  ['/v1/chat/completions', 'web_search_options', { messages: said, web_search_options: {} }],
  [
    '/v1/messages/count_tokens',
    'tools[0].type',
    { messages: said, ...tool('web_search_20250305') },
  ],
])('a tool without a price is refused at %s by its %s', async (path, param, fields) => {
  const asked = upstream.calls.length
  const refused = await gateway.post(path, { model: 'plain', ...fields }, rich)
  expect(refused.status).toBe(400)
  expect((await errorOf(refused)).param).toBe(param)
  expect(upstream.calls).toHaveLength(asked)
})

test.each<[string, object, string]>([
  ['ten calls, where nothing bounds them', tool('web_search_20250305'), '0.50'],
  ['as many calls as are allowed', tool('web_search_20250305', { max_uses: 3 }), '0.15'],
])('a budget needs room for %s', async (_, fields, needed) => {
  const budget = (amount: string) => ({ budget: { amount, per: 'total' } })
  // A billionth less than needed.
  const { body: made } = await gateway.admin('POST', '/tokens', {
    ...{ account: 'rich', name: `room-${needed}`, ...budget(lessByOne(needed)) },
  })
  const body = { model: 'finder', messages: said, max_tokens: 9, ...fields }
  const ask = () => gateway.post('/v1/messages', body, { authorization: `Bearer ${made.token}` })
  const asked = upstream.calls.length
  const refused = await ask()
  expect([refused.status, (await errorOf(refused)).code]).toEqual([402, 'budget_exhausted'])
  expect(upstream.calls).toHaveLength(asked)
  await gateway.admin('PATCH', `/tokens/${made.id}`, budget(needed))
  const served = await ask()
  expect([served.status, await served.text()]).toEqual([200, expect.any(String)])
  const { body: token } = await gateway.admin('GET', `/tokens/${made.id}`)
  expect([token.budget.spent, token.budget.held]).toEqual(['0.15', '0.00'])
})

const lessByOne = (amount: string): string => formatNanos(nanos(amount) - 1n)
