// The prompt cache over HTTP: per provider key, in the words of each text protocol.
import { afterAll, expect, test } from 'bun:test'
import { startSandbox } from '../server.ts'
import { longText, postTo } from '../testing.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any

const usageOf = async (path: string, body: object, key = 'upk-one'): Promise<Any> => {
  const headers = { authorization: `Bearer ${key}` }
  const answer: Any = await (await postTo(sandbox.url + path, body, { headers })).json()
  return answer.usage
}

const cache_control = { type: 'ephemeral' }
const messages = '/v1/messages'
const chat = '/v1/chat/completions'

/** A conversation of so many turns, marked at its end. */
const conversation = (name: string, turns: number) => ({
  model: 'txta-plus',
  max_tokens: 10,
  messages: Array.from({ length: turns * 2 - 1 }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: [
      {
        type: 'text',
        text: longText(`${name}${at}`, 100),
        ...(at === turns * 2 - 2 && { cache_control }),
      },
    ],
  })),
})

test('a conversation of ten turns on one key writes each part once', async () => {
  let written = 0
  for (let turns = 1; turns <= 10; turns++) {
    const usage = await usageOf(messages, conversation('turn', turns))
    expect(usage.cache_read_input_tokens).toBe(written)
    written += usage.cache_creation_input_tokens
    expect(usage.input_tokens).toBe(0)
  }
  const again = await usageOf(messages, conversation('turn', 10))
  expect(again).toMatchObject({
    cache_read_input_tokens: written,
    cache_creation_input_tokens: 0,
  })
})

test('another key has written nothing yet', async () => {
  const first = await usageOf(messages, conversation('keys', 3))
  expect(await usageOf(messages, conversation('keys', 3), 'upk-two')).toEqual(first)
  const { cache_read_input_tokens } = await usageOf(messages, conversation('keys', 3))
  expect(cache_read_input_tokens).toBe(first.cache_creation_input_tokens)
})

test('a mark on the whole request is one at its end', async () => {
  const ask = (text: string) => ({
    model: 'txta-plus',
    max_tokens: 10,
    cache_control,
    messages: [{ role: 'user', content: text }],
  })
  const text = longText('whole', 30)
  expect(await usageOf(messages, ask(text))).toMatchObject({ cache_creation_input_tokens: 33 })
  expect(await usageOf(messages, ask(text))).toMatchObject({ cache_read_input_tokens: 33 })
})

test('with a cache key, blocks are written first and then read, by requests of that key only', async () => {
  const asks: [path: string, body: (key: string) => object, field: string][] = [
    [
      chat,
      (key) => ({
        messages: [{ role: 'user', content: longText('chat', 600) }],
        prompt_cache_key: key,
      }),
      'prompt_tokens_details',
    ],
    [
      '/v1/responses',
      (key) => ({ input: longText('resp', 600), prompt_cache_key: key }),
      'input_tokens_details',
    ],
  ]
  for (const [path, body, field] of asks) {
    const details = async (key: string) =>
      (await usageOf(path, { model: 'txta-plus', ...body(key) }))[field]
    expect(await details('a')).toEqual({ cached_tokens: 0, cache_write_tokens: 512 })
    expect(await details('a')).toEqual({ cached_tokens: 512, cache_write_tokens: 0 })
    expect(await details('b')).toEqual({ cached_tokens: 0, cache_write_tokens: 512 })
  }
})

test('a breakpoint is a mark', async () => {
  const prompt_cache_breakpoint = { mode: 'explicit' }
  const part = { type: 'input_text', text: longText('point', 40), prompt_cache_breakpoint }
  const input = [{ role: 'user', content: [part, { type: 'input_text', text: 'go' }] }]
  const body = { model: 'txta-plus', input }
  expect((await usageOf('/v1/responses', body)).input_tokens_details.cache_write_tokens).toBe(43)
  expect((await usageOf('/v1/responses', body)).input_tokens_details.cached_tokens).toBe(43)
})
