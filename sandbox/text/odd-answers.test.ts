// Answers that are unusual and legal, or not even legal: each directive in each text protocol's shapes.
import { afterAll, describe, expect, test } from 'bun:test'
import { startSandbox } from '../server.ts'
import { postTo } from '../testing.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any

const model = 'txta-plus'
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const named = (name: string) => ({ name, parameters })

const bodies: Record<string, (text: string, stream: boolean) => [path: string, body: object]> = {
  chat: (content, stream) => [
    '/v1/chat/completions',
    {
      model,
      stream,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content }],
      tools: ['a', 'b'].map((name) => ({ type: 'function', function: named(name) })),
    },
  ],
  responses: (input, stream) => [
    '/v1/responses',
    {
      model,
      stream,
      input,
      tools: ['a', 'b'].map((name) => ({ type: 'function', ...named(name) })),
    },
  ],
  messages: (content, stream) => [
    '/v1/messages',
    {
      model,
      stream,
      max_tokens: 1000,
      messages: [{ role: 'user', content }],
      tools: ['a', 'b'].map((name) => ({ name, input_schema: parameters })),
    },
  ],
  generate: (text, stream) => [
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    {
      contents: [{ role: 'user', parts: [{ text }] }],
      tools: [{ functionDeclarations: ['a', 'b'].map(named) }],
    },
  ],
}
const protocols = Object.keys(bodies)

const send = async (protocol: string, text: string, stream: boolean, more: object = {}) => {
  const [path, body] = bodies[protocol]!(text, stream)
  return (await postTo(sandbox.url + path, { ...body, ...more })).text()
}
const ask = async (protocol: string, text: string, more?: object): Promise<Any> =>
  JSON.parse(await send(protocol, text, false, more))
const rawStream = (protocol: string, text: string) => send(protocol, text, true)
const eventsOf = (stream: string): Any[] =>
  stream
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)))
const askStream = async (protocol: string, text: string) =>
  eventsOf(await rawStream(protocol, text))

describe('several calls', () => {
  const text = '[[sim:tool]] [[sim:calls=3]]'
  const calls: Record<string, (answer: Any) => string[]> = {
    chat: ({ choices }) => choices[0].message.tool_calls.map((call: Any) => call.function.name),
    responses: ({ output }) => output.map(({ name }: Any) => name),
    messages: ({ content }) => content.map(({ name }: Any) => name),
    generate: ({ candidates }) =>
      candidates[0].content.parts.map(({ functionCall }: Any) => functionCall.name),
  }

  test.each(protocols)('%s', async (protocol) => {
    const answer = await ask(protocol, text)
    expect(calls[protocol]!(answer)).toEqual(['a', 'b', 'a'])
    const ids = JSON.stringify(answer).match(/"(?:call_|toolu_)\w{10,}/g)
    expect(new Set(ids).size).toBe(3)
  })

  test.each<[protocol: string, more: object]>([
    ['chat', { parallel_tool_calls: false }],
    ['responses', { parallel_tool_calls: false }],
    ['messages', { tool_choice: { type: 'auto', disable_parallel_tool_use: true } }],
  ])('one only, where %s asks for one', async (protocol, more) => {
    expect(calls[protocol]!(await ask(protocol, text, more))).toEqual(['a'])
  })
})

describe('a text before the calls', () => {
  const text = '[[sim:tool]] [[sim:calls=2]] [[sim:preamble]] [[sim:reasoning=3]]'
  const said: Record<string, (answer: Any) => unknown[]> = {
    chat: ({ choices: [{ message }] }) => [message.content, message.tool_calls.length],
    responses: ({ output: [, message, ...calls] }) => [message.content[0].text, calls.length],
    messages: ({ content: [, block, ...calls] }) => [block.text, calls.length],
    generate: ({ candidates: [{ content }] }) => {
      const [first, call, ...more] = content.parts
      expect([first.thoughtSignature, typeof call.thoughtSignature]).toEqual([undefined, 'string'])
      return [first.text, 1 + more.length]
    },
  }

  test.each(protocols)('%s', async (protocol) => {
    const [before, calls] = said[protocol]!(await ask(protocol, text))
    expect([String(before).split(' ').length > 3, calls]).toEqual([true, 2])
    const stream = await rawStream(protocol, text)
    expect(stream).toContain(`"${String(before).slice(0, 3)}`)
  })
})

test.each<[protocol: string, more: object, text: (answer: Any) => string, why: object]>([
  [
    'chat',
    { stop: ' ' },
    ({ choices }) => choices[0].message.content,
    { choices: [{ finish_reason: 'stop' }] },
  ],
  [
    'messages',
    { stop_sequences: ['zz', ' '] },
    ({ content }) => content[0].text,
    { stop_reason: 'stop_sequence', stop_sequence: ' ' },
  ],
  [
    'generate',
    { generationConfig: { stopSequences: [' '] } },
    ({ candidates }) => candidates[0].content.parts[0].text,
    { candidates: [{ finishReason: 'STOP' }] },
  ],
])('%s stops before a sequence', async (protocol, more, text, why) => {
  const answer = await ask(protocol, 'hi', more)
  expect(text(answer)).toMatch(/^\w+$/)
  expect(answer).toMatchObject(why)
})

test.each([
  ['chat', { code: 'context_length_exceeded' }],
  ['responses', { code: 'context_length_exceeded' }],
  [
    'messages',
    { message: expect.stringMatching(/^prompt is too long: \d+ tokens > \d+ maximum$/) },
  ],
  ['generate', { message: expect.stringContaining('exceeds the maximum number of tokens') }],
])('fail=context_length: %s says so in its own words', async (protocol, error) => {
  expect(await ask(protocol, '[[sim:fail=context_length]]')).toMatchObject({ error })
})

test.each<[protocol: string, sources: (answer: Any) => Any]>([
  ['chat', ({ choices }) => choices[0].message.annotations[0].url_citation],
  ['responses', ({ output }) => output[0].content[0].annotations[0]],
  ['messages', ({ content }) => content[0].citations[0]],
  ['generate', ({ candidates }) => candidates[0].groundingMetadata.groundingChunks[0].web],
])('cite: %s names a source in both forms', async (protocol, sources) => {
  const url = 'https://sandbox.example/source'
  const found = sources(await ask(protocol, '[[sim:cite]]'))
  expect([found.url ?? found.uri, found.title]).toEqual([url, 'A source'])
  expect(await rawStream(protocol, '[[sim:cite]]')).toContain(url)
  expect(await rawStream(protocol, 'plain')).not.toContain(url)
})

describe('interleaved calls', () => {
  const text = '[[sim:tool]] [[sim:interleaved]]'
  const deltas: Record<string, (events: Any[]) => [at: number, piece: string][]> = {
    chat: (events) =>
      events
        .flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
        .map(({ index, function: { arguments: piece } }: Any) => [index, piece]),
    responses: (events) =>
      events
        .filter(({ type }) => type === 'response.function_call_arguments.delta')
        .map(({ output_index, delta }) => [output_index, delta]),
    messages: (events) =>
      events
        .filter(({ delta }) => delta?.type === 'input_json_delta')
        .map(({ index, delta }) => [index, delta.partial_json]),
  }

  test.each(['chat', 'responses', 'messages'])('%s', async (protocol) => {
    const all = deltas[protocol]!(await askStream(protocol, text))
    for (const at of [0, 1]) {
      const own = all.filter(([index]) => index === at).map(([, piece]) => piece)
      expect(JSON.parse(own.join(''))).toEqual({ city: 'sandbox' })
    }
    const changes = all.filter(([index], i) => i > 0 && index !== all[i - 1]![0]).length
    // Blocks of messages end before the next one begins.
    expect(changes > 1).toBe(protocol !== 'messages')
  })

  test('the response at the end has both calls, in order', async () => {
    const events = await askStream('responses', text)
    const done = events.filter(({ type }) => type === 'response.output_item.done')
    const { output } = events.at(-1).response
    expect(output).toEqual(done.map(({ item }) => item))
    expect(output.map(({ name }: Any) => name)).toEqual(['a', 'b'])
  })
})

describe('a refusal', () => {
  const said = 'I cannot help with that request.'

  test('is a text of its own in chat', async () => {
    const [choice] = (await ask('chat', '[[sim:refusal]]')).choices
    expect(choice).toMatchObject({
      finish_reason: 'stop',
      message: { content: null, refusal: said },
    })
    const events = await askStream('chat', '[[sim:refusal]]')
    expect(events.map(({ choices }) => choices[0]?.delta.refusal ?? '').join('')).toBe(said)
  })

  test('is a part of a message in responses', async () => {
    const { output, status } = await ask('responses', '[[sim:refusal]]')
    expect([status, output[0].content]).toEqual(['completed', [{ type: 'refusal', refusal: said }]])
    const events = await askStream('responses', '[[sim:refusal]]')
    const deltas = events.filter(({ type }) => type === 'response.refusal.delta')
    expect(deltas.map(({ delta }) => delta).join('')).toBe(said)
    expect(events.find(({ type }) => type === 'response.refusal.done').refusal).toBe(said)
  })

  test('is a reason to stop in messages', async () => {
    const stop = {
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: 'policy', explanation: said },
    }
    expect(await ask('messages', '[[sim:refusal]]')).toMatchObject({ content: [], ...stop })
    const events = await askStream('messages', '[[sim:refusal]]')
    expect(events.at(-2).delta).toMatchObject(stop)
  })

  test('is a reason to finish in generate, or the prompt is blocked', async () => {
    const answer = await ask('generate', '[[sim:refusal]]')
    expect(answer.candidates[0]).toMatchObject({ finishReason: 'SAFETY', content: { parts: [] } })
    const blocked = await ask('generate', '[[sim:refusal=prompt]]')
    expect(blocked.promptFeedback).toEqual({ blockReason: 'PROHIBITED_CONTENT' })
    expect(blocked.candidates).toBeUndefined()
    expect(await askStream('generate', '[[sim:refusal=prompt]]')).toHaveLength(1)
  })
})

describe('why it ended', () => {
  const words: Record<string, (answer: Any) => unknown> = {
    chat: ({ choices }) => choices[0].finish_reason,
    responses: ({ status, incomplete_details }) => incomplete_details?.reason ?? status,
    messages: ({ stop_reason }) => stop_reason,
    generate: ({ candidates }) => candidates[0].finishReason ?? null,
  }
  const inStream = (stream: string) =>
    /"(?:finish_reason|stop_reason|finishReason)":"|response\.(?:completed|incomplete)/.test(stream)

  test.each([
    ['chat', null, 'content_filter'],
    ['responses', 'in_progress', 'content_filter'],
    ['messages', null, 'refusal'],
    ['generate', null, 'SAFETY'],
  ])('%s', async (protocol, none, filtered) => {
    const word = async (text: string) => words[protocol]!(await ask(protocol, text))
    expect(await word('[[sim:finish=none]]')).toBe(none)
    expect(await word('[[sim:finish=filtered]]')).toBe(filtered)
    expect(await word('[[sim:finish=BANANA]]')).toBe('BANANA')
    expect(inStream(await rawStream(protocol, 'hi'))).toBe(true)
    expect(inStream(await rawStream(protocol, '[[sim:finish=none]]'))).toBe(false)
    expect(await rawStream(protocol, '[[sim:finish=BANANA]]')).toContain('"BANANA"')
  })
})

test('no-done: the last mark of a stream is missing, where there is one', async () => {
  expect(await rawStream('chat', 'hi')).toContain('[DONE]')
  expect(await rawStream('chat', '[[sim:no-done]]')).not.toContain('[DONE]')
  expect(await rawStream('messages', 'hi')).toContain('message_stop')
  expect(await rawStream('messages', '[[sim:no-done]]')).not.toContain('message_stop')
})

test.each([
  ['chat', /^: keep-alive$/gm],
  ['responses', /^: keep-alive$/gm],
  ['messages', /^event: ping$/gm],
  ['generate', /^: keep-alive\r?$/gm],
])('keep-alive: %s shows that it is alive', async (protocol, sign) => {
  const count = async (text: string) => (await rawStream(protocol, text)).match(sign)?.length ?? 0
  const usual = protocol === 'messages' ? 1 : 0
  expect(await count('[[sim:tokens=10]]')).toBe(usual)
  const all = await count('[[sim:tokens=10]] [[sim:keep-alive]]')
  expect(all).toBeGreaterThanOrEqual(10)
  const some = await count('[[sim:tokens=10]] [[sim:keep-alive=5]]')
  expect(some).toBeGreaterThan(usual)
  expect(some).toBeLessThan(all / 2)
})

test('keep-alive: a list stays JSON', async () => {
  const url = `${sandbox.url}/v1beta/models/${model}:streamGenerateContent`
  const [, body] = bodies['generate']!('[[sim:keep-alive]]', true)
  expect(await (await postTo(url, body)).json()).toBeArray()
})

describe('usage', () => {
  const places = async (protocol: string, text: string, has: (event: Any) => unknown) => {
    const events = await askStream(protocol, text)
    const found = events.flatMap((event, at) => (has(event) ? [at] : []))
    return { found, events, last: events.length - 1 }
  }

  test('of chat is in the first chunk, in every one, or with the reason', async () => {
    const at = (text: string) => places('chat', text, ({ usage }) => usage)
    expect((await at('[[sim:usage=first]]')).found).toEqual([0])
    const every = await at('[[sim:usage=every]]')
    expect(every.found).toEqual([...every.events.keys()])
    const counts = every.events.map(({ usage }) => usage.completion_tokens)
    expect(counts).toEqual([...counts].sort((a, b) => a - b))
    const late = await at('[[sim:usage=last]]')
    expect(late.found).toEqual([late.last])
    expect(late.events.at(-1).choices[0].finish_reason).toBe('stop')
  })

  test('of messages is complete at the start, at the end, or twice', async () => {
    const usages = async (text: string) => {
      const events = await askStream('messages', text)
      return [events[0].message.usage, events.at(-2).usage]
    }
    const whole = { input_tokens: expect.any(Number), output_tokens: 5 }
    const [first, none] = await usages('[[sim:tokens=5]] [[sim:usage=first]]')
    expect([first, none]).toEqual([expect.objectContaining(whole), undefined])
    const [zero, last] = await usages('[[sim:tokens=5]] [[sim:usage=last]]')
    expect(zero).toEqual({ input_tokens: 0, output_tokens: 0 })
    expect(last).toMatchObject(whole)
    const [start, end] = await usages('[[sim:tokens=5]] [[sim:usage=every]]')
    expect(start.input_tokens).toBe(end.input_tokens)
  })

  test('of responses and generate is at the start only, or at the end only', async () => {
    const response = await places('responses', '[[sim:usage=first]]', (one) => one.response?.usage)
    expect(response.found).toEqual([0, 1])
    const has = ({ usageMetadata }: Any) => usageMetadata
    expect((await places('generate', '[[sim:usage=first]]', has)).found).toEqual([0])
    const late = await places('generate', '[[sim:usage=last]]', has)
    expect(late.found).toEqual([late.last])
  })
})
