import { afterAll, expect, test } from 'bun:test'
import { startSandbox } from '../server.ts'
import {
  everyKind,
  fittingInput,
  loggedCalls,
  longText,
  type NamedEvent,
  outline,
  postTo,
  readNamedEvents,
  typesOf,
} from '../testing.ts'
import { countTokens } from '../text/tokens.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())

interface Block {
  type: string
  text?: string
  thinking?: string
  signature?: string
  name?: string
  input?: unknown
}

interface Answer {
  type: string
  content: Block[]
  stop_reason: string
  usage: Record<string, unknown> & { input_tokens: number; output_tokens: number }
}

const messagesUrl = `${sandbox.protocols.messages}/v1/messages`

const bodyOf = (content: unknown, more: object = {}) => ({
  model: 'txta-plus',
  max_tokens: 1000,
  messages: [{ role: 'user', content }],
  ...more,
})

const ask = async (content: unknown, more?: object) =>
  (await (await postTo(messagesUrl, bodyOf(content, more))).json()) as Answer

const askStream = async (content: unknown, more: object = {}): Promise<NamedEvent[]> => {
  const response = await postTo(messagesUrl, bodyOf(content, { stream: true, ...more }))
  return readNamedEvents(await response.text())
}

const deltasOf = (events: NamedEvent[]) =>
  events
    .filter(({ type }) => type === 'content_block_delta')
    .map(({ delta }) => delta as Record<string, string>)

test('an answer has the shape and the counts of the protocol', async () => {
  const answer = await ask('four little words here')
  const text = answer.content[0]?.text ?? ''
  expect(answer).toEqual({
    id: expect.stringMatching(/^msg_\w{24}$/),
    type: 'message',
    role: 'assistant',
    model: 'txta-plus',
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: 7,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: countTokens(text),
      service_tier: 'standard',
    },
  } as never)
})

test('a stream counts the input at its start and the output at its end', async () => {
  const whole = await ask('compare me')
  const events = await askStream('compare me')
  expect(outline(typesOf(events))).toEqual([
    'message_start',
    'ping',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ])
  expect(events.every(({ event, type }) => event === type)).toBe(true)
  expect(events[0]?.['message']).toMatchObject({
    content: [],
    stop_reason: null,
    usage: { ...whole.usage, output_tokens: 0 },
  })
  expect(
    deltasOf(events)
      .map(({ text }) => text)
      .join(''),
  ).toBe(whole.content[0]?.text ?? 'none')
  expect(deltasOf(events)).toHaveLength(whole.usage.output_tokens)
  expect(events.at(-2)).toMatchObject({
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: whole.usage.output_tokens },
  })
})

test('a limit is needed; it cuts the answer, and one that just fits does not', async () => {
  const refused = await postTo(messagesUrl, bodyOf('x', { max_tokens: undefined }))
  expect(refused.status).toBe(400)
  const cut = await ask('[[sim:tokens=10]]', { max_tokens: 9 })
  expect(cut).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 9 } })
  const events = await askStream('[[sim:tokens=10]]', { max_tokens: 9 })
  expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'max_tokens' } })
  expect((await ask('[[sim:tokens=10]]', { max_tokens: 10 })).stop_reason).toBe('end_turn')
  expect((await ask('[[sim:tokens=0]]')).content).toEqual([])
})

test('thinking is a signed block before the text, in both forms', async () => {
  for (const [text, thinking, tokens] of [
    ['think', { type: 'enabled', budget_tokens: 1024 }, 12],
    ['[[sim:reasoning=5]]', { type: 'disabled' }, 5],
  ] as const) {
    const whole = await ask(text, { thinking })
    const [thought, said] = whole.content
    expect([thought?.type, said?.type]).toEqual(['thinking', 'text'])
    expect(countTokens(thought?.thinking ?? '')).toBe(tokens)
    expect(thought?.signature).toMatch(/^[\w+/]+=*$/)
    expect(whole.usage.output_tokens).toBe(tokens + countTokens(said?.text ?? ''))
    const events = await askStream(text, { thinking })
    const deltas = deltasOf(events)
    expect(deltas.map((delta) => delta['thinking'] ?? '').join('')).toBe(thought?.thinking ?? '-')
    expect(deltas.find(({ type }) => type === 'signature_delta')).toEqual({
      type: 'signature_delta',
      signature: thought?.signature ?? '',
    })
    const starts = events.filter(({ type }) => type === 'content_block_start')
    expect(starts.map(({ index }) => index)).toEqual([0, 1])
  }
})

const tools = [
  { name: 'news', input_schema: { type: 'object' } },
  { name: 'weather', input_schema: everyKind },
]
const weatherUse = { type: 'tool_use', name: 'weather', input: fittingInput }

test('a function is called by choice and by directive, with fitting input', async () => {
  const forced = await ask('act', { tools, tool_choice: { type: 'tool', name: 'weather' } })
  expect(forced).toMatchObject({ stop_reason: 'tool_use', content: [weatherUse] })
  expect((await ask('[[sim:tool=weather]]', { tools })).content).toMatchObject([weatherUse])
  const any = await ask('act', { tools, tool_choice: { type: 'any' } })
  expect(any.content).toMatchObject([{ type: 'tool_use', name: 'news', input: {} }])
  for (const type of ['auto', 'none']) {
    const free = await ask('act', { tools, tool_choice: { type } })
    expect(free.stop_reason).toBe('end_turn')
  }
})

test('the input of a function is streamed as JSON in pieces', async () => {
  const events = await askStream('[[sim:tool=weather]]', { tools })
  const start = events.find(({ type }) => type === 'content_block_start')
  expect(start).toMatchObject({ index: 0, content_block: { ...weatherUse, input: {} } })
  const json = deltasOf(events).map((delta) => delta['partial_json'] ?? '')
  expect(JSON.parse(json.join(''))).toEqual(fittingInput)
  const output = countTokens('weather') + countTokens(JSON.stringify(fittingInput))
  expect(events.at(-2)).toMatchObject({
    delta: { stop_reason: 'tool_use' },
    usage: { output_tokens: output },
  })
})

test('after the result of a function the answer is text, unless the user says more', async () => {
  const use = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'sunny' }
  const messages = (...last: object[]) => [
    { role: 'user', content: '[[sim:tool=weather]]' },
    { role: 'assistant', content: [{ type: 'text', text: 'hm' }, use] },
    { role: 'user', content: last },
  ]
  const stop = async (...last: object[]) =>
    (await ask('', { tools, messages: messages(...last) })).stop_reason
  expect(await stop(result)).toBe('end_turn')
  expect(await stop({ ...result, content: [] })).toBe('end_turn')
  expect(await stop({ ...result, content: 'it says [[sim:tool]]' })).toBe('end_turn')
  expect(await stop({ type: 'text', text: '[[sim:tool]]' }, result)).toBe('end_turn')
  expect(await stop(result, { type: 'text', text: 'thanks' })).toBe('end_turn')
  expect(await stop(result, { type: 'text', text: 'again [[sim:tool]]' })).toBe('tool_use')
})

test('counting gives the whole input that an answer would report', async () => {
  const image = { type: 'image', source: { type: 'url', url: 'https://media.example/cat.png' } }
  const paper = { type: 'document', source: { type: 'base64', data: 'AAAA' } }
  const note = { type: 'document', source: { type: 'text', data: 'two words' } }
  const marked = { type: 'text', text: longText('mark', 30), cache_control: { type: 'ephemeral' } }
  const body = bodyOf([image, paper, note, { type: 'text', text: 'see' }], {
    system: [marked],
    tools,
  })
  const counted = await postTo(`${messagesUrl}/count_tokens`, { ...body, max_tokens: undefined })
  const { input_tokens: whole } = (await counted.json()) as { input_tokens: number }
  const definitions = tools.map((tool) => countTokens(JSON.stringify(tool)))
  const parts = 3 + 30 + 3 + 258 + 258 + 2 + 1
  expect(whole).toBe(definitions.reduce((sum, one) => sum + one, parts))
  const answer = (await (await postTo(messagesUrl, body)).json()) as Answer
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = answer.usage
  expect(Number(cache_creation_input_tokens)).toBeGreaterThan(0)
  expect(input_tokens + Number(cache_creation_input_tokens) + Number(cache_read_input_tokens)).toBe(
    whole,
  )
  expect(answer.content[0]?.text).toStartWith('I saw 1 image. ')
})

test('counting books no tokens and refuses what it cannot count', async () => {
  await postTo(`${messagesUrl}/count_tokens`, bodyOf('one'))
  expect((await loggedCalls(sandbox)).at(-1)).toMatchObject({
    protocol: 'messages',
    prompt_tokens: 0,
    finished: true,
  })
  const refused = await postTo(`${messagesUrl}/count_tokens`, { model: 'm' })
  expect(refused.status).toBe(400)
  const failed = await postTo(`${messagesUrl}/count_tokens`, bodyOf('[[sim:fail]]'))
  expect(failed.status).toBe(500)
})

test('cached input is told apart from the rest: by itself, or written and then read', async () => {
  const long = longText('cached', 600)
  await ask(long)
  expect((await ask(long)).usage).toMatchObject({
    input_tokens: 603 - 512,
    cache_read_input_tokens: 512,
    cache_creation_input_tokens: 0,
  })
  const system = [
    { type: 'text', text: longText('hour', 40), cache_control: { type: 'ephemeral', ttl: '1h' } },
    { type: 'text', text: longText('short', 20), cache_control: { type: 'ephemeral' } },
  ]
  expect((await ask('one', { system })).usage).toMatchObject({
    input_tokens: 4,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 63,
    cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 43 },
  })
  const events = await askStream('two', { system })
  expect(events[0]?.['message']).toMatchObject({
    usage: { input_tokens: 4, cache_read_input_tokens: 63, cache_creation_input_tokens: 0 },
  })
})

test('a marker on the result of a function or on a function is obeyed', async () => {
  const cache_control = { type: 'ephemeral' }
  const result = { type: 'tool_result', tool_use_id: 't', content: 'one two', cache_control }
  expect((await ask([result])).usage).toMatchObject({ cache_creation_input_tokens: 5 })
  const marked = [{ ...tools[0], cache_control }]
  const definition = countTokens(JSON.stringify(tools[0]))
  const { usage } = await ask('x', { tools: marked })
  expect(usage).toMatchObject({ cache_creation_input_tokens: definition, input_tokens: 4 })
})

test('either header carries the key, and any version is served', async () => {
  const locked = startSandbox({ key: 'sk-right-abcdefghijkl' })
  try {
    const status = async (headers: Record<string, string>) =>
      (await postTo(`${locked.url}/v1/messages?beta=true`, bodyOf('x'), { headers })).status
    expect(await status({ 'x-api-key': 'sk-right-abcdefghijkl' })).toBe(200)
    expect(await status({ authorization: 'Bearer sk-right-abcdefghijkl' })).toBe(200)
    expect(await status({ 'x-api-key': 'sk-wrong-abcdefghijkl' })).toBe(401)
    for (const name of ['msgapi-version', 'anthropic-version']) {
      const headers = { 'x-api-key': 'sk-right-abcdefghijkl', [name]: '2042-01-01' }
      expect(await status(headers)).toBe(200)
    }
  } finally {
    await locked.stop()
  }
})

test('a refusal has the shape of the protocol and the id of the call', async () => {
  const cases: [status: number, type: string][] = [
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [402, 'billing_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [413, 'request_too_large'],
    [429, 'rate_limit_error'],
    [500, 'api_error'],
    [504, 'timeout_error'],
    [529, 'overloaded_error'],
  ]
  for (const [status, type] of cases) {
    const response = await postTo(messagesUrl, bodyOf(`[[sim:status=${status}]]`))
    expect(response.status).toBe(status)
    const id = response.headers.get('request-id')
    expect(id).toStartWith('sbx-')
    expect(await response.json()).toEqual({
      type: 'error',
      error: { type, message: expect.stringContaining(String(status)) },
      request_id: id,
    })
  }
})

test('what is missing is refused and named', async () => {
  const cases: [more: object, name: string][] = [
    [{ model: '' }, 'model'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ content: 'x' }] }, 'messages.0.role'],
    [{ messages: [{ role: 'user' }] }, 'messages.0.content'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ tool_choice: { type: 'any' } }, 'tool_choice'],
  ]
  for (const [more, name] of cases) {
    const response = await postTo(messagesUrl, bodyOf('x', more))
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', message: expect.stringContaining(`'${name}'`) },
    })
  }
})
