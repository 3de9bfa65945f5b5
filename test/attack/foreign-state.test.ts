// Objects in the operator's upstream account: an account reaches those that were made for it, at the
// channel and key where they live, and no others.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import {
  type Captured,
  jsonReply,
  startUpstream,
  streamReply,
  type TestUpstream,
} from '../support/upstream.ts'

let gateway: TestGateway
let upstream: TestUpstream
let made = 0
const down = new Set<string>()

const responseOf = (fields: Record<string, unknown>, key: string) => {
  const id = ++made
  return {
    id: `resp_${key}_${id}`,
    object: 'response',
    status: 'completed',
    model: 'txta-plus',
    previous_response_id: fields['previous_response_id'] ?? null,
    output: [
      {
        id: `msg_${key}_${id}`,
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: `"resp_${key}_${id}" is "id"`, annotations: [] }],
      },
    ],
    usage: { input_tokens: 5, output_tokens: 5, total_tokens: 10 },
  }
}

const eventsOf = (response: ReturnType<typeof responseOf>) => {
  const [item] = response.output
  const begun = { ...response, status: 'in_progress', output: [], usage: null }
  const at = { item_id: item!.id, output_index: 0, content_index: 0 }
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    { type: 'response.output_text.delta', ...at, delta: 'one ' },
    { type: 'response.output_text.delta', ...at, delta: `{"item_id":"${item!.id}"}` },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ]
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}

const keyOf = ({ headers }: Captured) => headers.get('authorization')!.slice(-2)

beforeAll(async () => {
  upstream = startUpstream((call) => {
    const key = keyOf(call)
    if (down.has(key)) return new Response('down', { status: 500 })
    const fields = JSON.parse(call.body) as Record<string, unknown>
    const response = responseOf(fields, key)
    return fields['stream'] === true ? streamReply(eventsOf(response)) : jsonReply(response)
  })
  const channel = (name: string, keys: string[]) => `
  - name: ${name}
    keys: [${keys.join(', ')}]
    protocols: { chat: "${upstream.url}/v1", responses: "${upstream.url}/v1", messages: "${upstream.url}" }
    models: { txta-plus: "*", txta-turbo: "*" }`
  gateway = await startGateway({
    config: `
accounts: [{ name: acme, balance: "1000.00" }, { name: rival, balance: "1000.00" }]
tokens:
  - { account: acme, name: x, token: sk-acme-0123456789abcdefghijklmnop }
  - { account: acme, name: y, token: sk-acmy-0123456789abcdefghijklmnop }
  - { account: rival, name: x, token: sk-riva-0123456789abcdefghijklmnop }
channels:${channel('first', ['upstream-key-01', 'upstream-key-02'])}${channel('second', ['upstream-key-03'])}
`,
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

type Who = 'acme' | 'acmy' | 'riva'
const post = (who: Who, path: string, fields: object) =>
  gateway.post(
    path,
    { model: 'txta-plus', ...fields },
    {
      authorization: `Bearer sk-${who}-0123456789abcdefghijklmnop`,
    },
  )
const respond = async (who: Who, fields: object) => {
  const answer = await post(who, '/v1/responses', { max_output_tokens: 16, ...fields })
  return { status: answer.status, body: (await answer.json()) as ReturnType<typeof responseOf> }
}
const errorOf = async (response: Response) =>
  ((await response.json()) as { error: { type: string; code: string; param: string } }).error
const lastCall = () => upstream.calls.at(-1)!
const sent = () => JSON.parse(lastCall().body) as Record<string, unknown>

describe('an earlier response', () => {
  test('is gone on from by the account it was made for, at its channel and key', async () => {
    for (let i = 0; i < 8; i++) {
      const first = await respond('acme', { input: 'hi' })
      const key = keyOf(lastCall())
      expect(first.body.id).toStartWith(`resp_${key}_`)
      const next = await respond(i % 2 === 0 ? 'acme' : 'acmy', {
        input: `what is "${first.body.id}"?`,
        previous_response_id: first.body.id,
      })
      expect(next.status).toBe(200)
      expect(keyOf(lastCall())).toBe(key)
      const raw = first.body.id.slice(0, first.body.id.indexOf('_gw'))
      expect(sent()).toMatchObject({
        previous_response_id: raw,
        input: `what is "${first.body.id}"?`,
      })
      expect(next.body.previous_response_id).toBe(first.body.id)
    }
  })

  test('is the same in every event of a stream, and its text is left alone', async () => {
    const answer = await post('acme', '/v1/responses', { input: 'hi', stream: true })
    const text = await answer.text()
    const events = text
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice(6)))
    const ids = new Set(events.flatMap(({ response }) => response?.id ?? []))
    const items = new Set(
      events.flatMap(({ item_id, item, response }) =>
        [item_id, item?.id, response?.output[0]?.id].filter((id) => id !== undefined),
      ),
    )
    expect([ids.size, items.size]).toEqual([1, 1])
    const [id] = ids as Set<string>
    const [item] = items as Set<string>
    const raw = item!.slice(0, item!.indexOf('_gw'))
    expect(events.find(({ delta }) => delta?.startsWith('{')).delta).toBe(`{"item_id":"${raw}"}`)
    expect(events.at(-1).response.output[0].content[0].text).toBe(
      `"${id!.slice(0, id!.indexOf('_gw'))}" is "id"`,
    )
    expect((await respond('acme', { input: 'x', previous_response_id: id })).status).toBe(200)
    const refers = { input: [{ type: 'item_reference', id: item }] }
    expect((await respond('acme', refers)).status).toBe(200)
    expect(sent()['input']).toEqual([{ type: 'item_reference', id: raw }])
    expect((await respond('riva', refers)).status).toBe(404)
  })

  test('of another account, raw, changed or made up is not found', async () => {
    const { body } = await respond('acme', { input: 'my secret' })
    const raw = body.id.slice(0, body.id.indexOf('_gw'))
    const asked = upstream.calls.length
    const tries: [Who, string][] = [
      ['riva', body.id],
      ['riva', raw],
      ['acme', raw],
      ['acme', `${body.id.slice(0, -1)}${body.id.endsWith('0') ? '1' : '0'}`],
      ['acme', body.id.replace('resp_', 'resp_x')],
      ['acme', 'resp_1'],
      ['acme', ''],
    ]
    for (const [who, id] of tries) {
      const answer = await post(who, '/v1/responses', { input: 'x', previous_response_id: id })
      expect(answer.status).toBe(404)
      expect(await errorOf(answer)).toMatchObject({
        type: 'invalid_request_error',
        code: 'not_found',
        param: 'previous_response_id',
      })
    }
    expect(upstream.calls).toHaveLength(asked)
  })

  test('does not fail over, and is not found when its channel is gone', async () => {
    const added = await gateway.admin('POST', '/channels', {
      name: 'third',
      keys: ['upstream-key-04'],
      protocols: { responses: `${upstream.url}/v1` },
      models: { 'txta-plus': '*' },
      priority: 9,
    })
    expect(added.status).toBe(201)
    const { body } = await respond('acme', { input: 'hi' })
    expect(body.id).toStartWith('resp_04')
    down.add('04')
    const before = upstream.calls.length
    const goesOn = { input: 'x', previous_response_id: body.id }
    expect((await post('acme', '/v1/responses', goesOn)).status).toBe(502)
    expect(upstream.calls).toHaveLength(before + 1)
    await gateway.admin('DELETE', `/channels/${added.body.id}`)
    down.clear()
    const answer = await post('acme', '/v1/responses', goesOn)
    expect([answer.status, (await errorOf(answer)).param]).toEqual([404, 'previous_response_id'])
  })
})

describe('items that come along whole', () => {
  const message = (id: string) => ({
    type: 'message',
    id,
    role: 'assistant',
    content: [{ type: 'output_text', text: 'x' }],
  })

  test('keep the ids that are their own, and go where those live', async () => {
    const { body } = await respond('acme', { input: 'hi' })
    const key = keyOf(lastCall())
    const [item] = body.output
    const input = [item, { role: 'user', content: 'go on' }]
    for (let i = 0; i < 4; i++) {
      expect((await respond('acme', { input })).status).toBe(200)
      expect(keyOf(lastCall())).toBe(key)
      const [given] = sent()['input'] as { id: string }[]
      expect(given!.id).toBe(item!.id.slice(0, item!.id.indexOf('_gw')))
    }
    expect((await respond('riva', { input })).status).toBe(200)
    expect((sent()['input'] as object[])[0]).not.toHaveProperty('id')
  })

  test('lose ids that are not', async () => {
    const input = [message('msg_of_another'), { role: 'user', content: 'x', id: 5 }]
    expect((await respond('acme', { input })).status).toBe(200)
    const { input: given } = sent() as { input: object[] }
    expect(given).toHaveLength(2)
    for (const item of given) expect(item).not.toHaveProperty('id')
  })
})

describe('what this gateway never hands out', () => {
  const say = { messages: [{ role: 'user', content: 'x' }], max_tokens: 5 }
  const part = (content: object) => ({
    messages: [{ role: 'user', content: [content] }],
    max_tokens: 5,
  })
  test.each<[string, string, object]>([
    ['conversation', '/v1/responses', { input: 'x', conversation: 'conv_1' }],
    ['prompt.id', '/v1/responses', { prompt: { id: 'pmpt_1' } }],
    ['item_reference', '/v1/responses', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['item_reference', '/v1/responses', { input: [{ id: 'msg_1' }] }],
    [
      'file_id',
      '/v1/responses',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] },
    ],
    [
      'vector_store_ids',
      '/v1/responses',
      { input: 'x', tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
    ],
    [
      'container',
      '/v1/responses',
      { input: 'x', tools: [{ type: 'code_interpreter', container: 'cntr_1' }] },
    ],
    ['file_id', '/v1/chat/completions', part({ type: 'file', file: { file_id: 'file-1' } })],
    ['previous_response_id', '/v1/chat/completions', { ...say, previous_response_id: 'resp_1' }],
    ['container', '/v1/messages', { ...say, container: 'container_1' }],
    [
      'diagnostics.previous_message_id',
      '/v1/messages',
      { ...say, diagnostics: { previous_message_id: 'msg_1' } },
    ],
    [
      'file_id',
      '/v1/messages',
      part({ type: 'document', source: { type: 'file', file_id: 'file-1' } }),
    ],
  ])('such as %s is not found at %s', async (param, path, fields) => {
    const asked = upstream.calls.length
    const answer = await post('acme', path, fields)
    expect(answer.status).toBe(404)
    expect((await errorOf(answer)).param).toBe(param)
    expect(upstream.calls).toHaveLength(asked)
  })

  test.each([{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_1' }])(
    'such as a conversation is refused in words that clients send all of it for: %j',
    async (thread) => {
      const asked = upstream.calls.length
      const answer = await post('acme', '/v1/messages', { ...say, thread })
      expect(answer.status).toBe(400)
      const error = (await errorOf(answer)) as unknown as Record<string, unknown>
      expect(error['param']).toBe('thread')
      expect(error['details']).toMatchObject({ error_code: 'thread_unsupported_request' })
      expect(upstream.calls).toHaveLength(asked)
    },
  )
})
