// Mistakes that translators are known for, each tried through the whole gateway.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { StyleName } from '../../src/styles/common/conversation.ts'
import { adminToken, apiToken, root, startGateway, type TestGateway } from '../support/gateway.ts'
import { ownEnv } from '../support/own-env.ts'
import { chunksIn, contentOf, errorOf } from '../support/read.ts'
import { jsonReply, startUpstream, streamReply, type TestUpstream } from '../support/upstream.ts'
import { problemsIn } from './grammars.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into requests of every shape
type Any = any

const styleNames: readonly StyleName[] = ['chat', 'responses', 'messages', 'generate']
const styleOf = (path: string): StyleName =>
  styleNames.find((name) => path.includes(name === 'generate' ? 'enerateContent' : `/${name}`))!

const usage = { input_tokens: 10, output_tokens: 5 }
const answers: Record<StyleName, Any> = {
  chat: { choices: [{ index: 0, message: { content: 'Done.' }, finish_reason: 'stop' }] },
  responses: {
    status: 'completed',
    output: [
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { type: 'message', id: 'm', content: [{ type: 'output_text', text: 'Done.' }] },
    ],
    usage,
  },
  messages: { content: [{ type: 'text', text: 'Done.' }], stop_reason: 'end_turn', usage },
  generate: { candidates: [{ content: { parts: [{ text: 'Done.' }] }, finishReason: 'STOP' }] },
}

let upstream: TestUpstream
/** The events of the next stream. */
let events: readonly Any[] = []
let gateway: TestGateway

beforeAll(async () => {
  upstream = startUpstream(({ path, body }) => {
    const isStream = path.includes(':stream') || (JSON.parse(body) as Any).stream === true
    if (!isStream) return jsonReply(answers[styleOf(path)])
    return streamReply(events.map((event) => `data: ${JSON.stringify(event)}\n\n`))
  })
  const base = (style: StyleName) =>
    style === 'chat' || style === 'responses' ? upstream.chat : upstream.url
  gateway = await startGateway({
    config: JSON.stringify({
      accounts: [{ name: 'acme', balance: '100.00' }],
      tokens: [{ account: 'acme', name: 'test', token: apiToken }],
      channels: styleNames.map((style) => ({
        name: style,
        keys: ['upk-bugs-0123456789'],
        protocols: { [style]: base(style) },
        models: { [`over-${style}`]: 'x' },
      })),
      models: styleNames.map((style) => ({
        name: `over-${style}`,
        kind: 'text',
        interfaces: [style],
      })),
      prices: styleNames.map((style) => ({
        model: `over-${style}`,
        unit: 'token',
        per_million: { input: '1.00', output: '2.00' },
      })),
    }),
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const sent = (): Any => JSON.parse(upstream.calls.at(-1)!.body)
const user = { role: 'user', content: 'Hi' }
const others = styleNames.filter((style) => style !== 'messages')

describe('a terminal coding tool', () => {
  test.each(others)('keeps its betas and context edits to itself (%s)', async (over) => {
    const answer = await gateway.post(
      '/v1/messages?beta=true',
      {
        model: `over-${over}`,
        max_tokens: 100,
        context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
        metadata: { user_id: '{"session":"s"}' },
        messages: [user],
      },
      { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'context-management-2025-06-27' },
    )
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-gateway-translation-loss')).toContain('context_management')
    expect(JSON.stringify(sent())).not.toContain('clear_thinking')
    const names = [...upstream.calls.at(-1)!.headers.keys()]
    expect(names.filter((name) => /beta|anthropic|msgapi/.test(name))).toEqual([])
  })

  test.each(others)('and the operator see in the log what was translated (%s)', async (over) => {
    const answer = await gateway.post('/v1/messages', {
      model: `over-${over}`,
      max_tokens: 100,
      context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
      messages: [user],
    })
    const id = answer.headers.get('request-id') ?? answer.headers.get('x-request-id')
    const path = `messages>${over}`
    const told = { translation: path, translation_losses: ['context_management'] }
    const steps = [
      expect.stringContaining(
        `translated from messages to ${over}; changed or left out: context_management`,
      ),
    ]
    const explained = await gateway.admin('GET', `/explain/${id}`)
    expect(explained.body).toMatchObject({ ...told, steps: expect.arrayContaining(steps) })
    expect((await gateway.admin('GET', `/requests/${id}`)).body).toMatchObject(told)
    const { items } = (await gateway.admin('GET', '/requests?limit=5')).body
    expect(items.find((each: Any) => each.request_id === id)).toMatchObject(told)
    const child = Bun.spawn([join(root, 'bin/gateway'), 'explain', String(id)], {
      env: { ...ownEnv, GATEWAY_URL: gateway.url, GATEWAY_ADMIN_TOKEN: adminToken },
      stderr: 'inherit',
    })
    const text = (await child.stdout.text()).replaceAll(/ +/g, ' ')
    expect(await child.exited).toBe(0)
    for (const part of [`translation ${path}`, 'changed or left out context_management']) {
      expect(text).toContain(part)
    }
  })

  test.each(others)('may give instructions in the middle (%s)', async (over) => {
    const answer = await gateway.post('/v1/messages', {
      model: `over-${over}`,
      max_tokens: 100,
      messages: [
        user,
        { role: 'assistant', content: 'Hello.' },
        { role: 'system', content: 'Be brief from now on.' },
        { role: 'user', content: 'And now?' },
      ],
    })
    expect(answer.status).toBe(200)
    const text = JSON.stringify(sent())
    expect(text.indexOf('Hello.')).toBeLessThan(text.indexOf('Be brief from now on.'))
    expect(text).not.toContain('"role":"system"')
  })

  test('gets a whole message of an upstream whose reasoning comes first', async () => {
    const body = { model: 'over-responses', max_tokens: 100, messages: [user] }
    const answer = (await (await gateway.post('/v1/messages', body)).json()) as Any
    expect(answer.content.at(-1)).toEqual({ type: 'text', text: 'Done.' })
  })
})

test.each(['responses', 'messages', 'generate'])(
  'several answers are refused where the upstream gives one (%s)',
  async (over) => {
    const before = upstream.calls.length
    const body = { model: `over-${over}`, messages: [user], n: 2 }
    const answer = await gateway.post('/v1/chat/completions', body)
    expect([answer.status, (await errorOf(answer)).param]).toEqual([400, 'n'])
    expect(upstream.calls.length).toBe(before)
  },
)

describe('a stream', () => {
  const ask = async (model: string) => {
    const fields = { stream: true, stream_options: { include_usage: true } }
    const answer = await gateway.post('/v1/chat/completions', {
      model,
      messages: [user],
      ...fields,
    })
    return answer.text()
  }

  test('whose text is in the last event only has its text', async () => {
    events = [
      { type: 'response.created', response: {} },
      { type: 'response.completed', response: answers.responses },
    ]
    const text = await ask('over-responses')
    expect(problemsIn('chat', text)).toEqual([])
    expect(contentOf(chunksIn(text))).toBe('Done.')
  })

  test('that repeats its text at the end of an item has it once', async () => {
    const at = { item_id: 'm', output_index: 0, content_index: 0 }
    const item = answers.responses.output[1]
    events = [
      { type: 'response.created', response: {} },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_text.delta', ...at, delta: 'Do' },
      { type: 'response.output_text.delta', ...at, delta: 'ne.' },
      { type: 'response.output_text.done', ...at, text: 'Done.' },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { ...answers.responses, output: [item] } },
    ]
    expect(contentOf(chunksIn(await ask('over-responses')))).toBe('Done.')
  })

  test('with thoughts beside the output costs both', async () => {
    events = [
      {
        ...answers.generate,
        usageMetadata: {
          promptTokenCount: 10,
          candidatesTokenCount: 2,
          thoughtsTokenCount: 98,
          totalTokenCount: 110,
        },
      },
    ]
    const shown = chunksIn(await ask('over-generate')).at(-1)!.usage!
    expect([shown.prompt_tokens, shown.completion_tokens]).toEqual([10, 100])
  })

  test('that counts its input twice on the way costs it once', async () => {
    const counts = { input_tokens: 10, cache_read_input_tokens: 4, output_tokens: 1 }
    events = [
      { type: 'message_start', message: { usage: counts } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { ...counts, output_tokens: 7 },
      },
      { type: 'message_stop' },
    ]
    const shown = chunksIn(await ask('over-messages')).at(-1)!.usage!
    expect([shown.prompt_tokens, shown.completion_tokens]).toEqual([14, 7])
  })
})
