import { afterAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { startSandbox } from '../server.ts'
import {
  everyKind,
  fittingInput,
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

interface Item {
  id: string
  type: string
  status: string
  content?: { text: string }[]
  summary?: { text: string }[]
  name?: string
  arguments?: string
  call_id?: string
}

interface Answer {
  id: string
  object: string
  status: string
  incomplete_details: { reason: string } | null
  output: Item[]
  usage?: {
    input_tokens: number
    input_tokens_details: { cached_tokens: number; cache_write_tokens: number }
    output_tokens: number
    output_tokens_details: { reasoning_tokens: number }
    total_tokens: number
  }
}

const post = (body: object) =>
  postTo(`${sandbox.protocols.responses}/responses`, { model: 'txta-plus', ...body })

const ask = async (input: unknown, more: object = {}) =>
  (await (await post({ input, ...more })).json()) as Answer

const askStream = async (input: unknown, more: object = {}): Promise<NamedEvent[]> =>
  readNamedEvents(await (await post({ input, stream: true, ...more })).text())

const textOf = ({ output }: Answer) =>
  output
    .flatMap((item) => item.content ?? [])
    .map(({ text }) => text)
    .join('')

const lastResponse = (events: NamedEvent[]) => events.at(-1)?.['response'] as Answer

test('an answer has the shape and the counts of the protocol', async () => {
  const answer = await ask('four little words here')
  const text = textOf(answer)
  expect(answer).toMatchObject({
    object: 'response',
    status: 'completed',
    incomplete_details: null,
    output: [
      {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
      },
    ] as never,
  })
  const output = countTokens(text)
  expect(answer.usage).toEqual({
    input_tokens: 7,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 7 + output,
  })
})

test('what the caller set comes back, and so does what it left to its default', async () => {
  const set = { temperature: 0.5, instructions: 'Be brief.', metadata: { a: 'b' }, user: 'me' }
  expect(await ask('echo', set)).toMatchObject(set as never)
  expect(await ask('echo')).toMatchObject({
    temperature: 1,
    top_p: 1,
    instructions: null,
    tools: [],
    tool_choice: 'auto',
    text: { format: { type: 'text' } },
    error: null,
  } as never)
})

test('a stream is typed events in order, numbered from 0, one delta per token', async () => {
  const whole = await ask('compare me')
  const events = await askStream('compare me')
  expect(outline(typesOf(events))).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ])
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()])
  expect(events.every(({ event, type }) => event === type)).toBe(true)
  const deltas = events.filter(({ type }) => type === 'response.output_text.delta')
  expect(deltas).toHaveLength(whole.usage?.output_tokens ?? 0)
  expect(deltas.map(({ delta }) => delta).join('')).toBe(textOf(whole))
  expect(lastResponse(events)).toEqual(whole)
  expect(events[0]?.['response']).toMatchObject({ status: 'in_progress', output: [], usage: null })
})

test('the limit cuts the answer, and the limit that just fits does not', async () => {
  const cut = await ask('[[sim:tokens=10]]', { max_output_tokens: 9 })
  expect(cut).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    output: [{ status: 'incomplete' } as never],
    usage: { output_tokens: 9 } as never,
  })
  const events = await askStream('[[sim:tokens=10]]', { max_output_tokens: 9 })
  expect(events.at(-1)?.type).toBe('response.incomplete')
  expect(lastResponse(events)).toEqual(cut)
  expect((await ask('[[sim:tokens=10]]', { max_output_tokens: 10 })).status).toBe('completed')
})

test('reasoning is an item with a summary, streamed before the text and counted inside', async () => {
  const more = { reasoning: { effort: 'high', summary: 'auto' } }
  const whole = await ask('think', more)
  const [thought, message] = whole.output
  expect([thought?.type, message?.type]).toEqual(['reasoning', 'message'])
  expect(countTokens(thought?.summary?.[0]?.text ?? '')).toBe(12)
  expect(whole.usage?.output_tokens_details.reasoning_tokens).toBe(12)
  expect(whole.usage?.output_tokens).toBe(12 + countTokens(textOf(whole)))
  const events = await askStream('think', more)
  expect(outline(typesOf(events)).slice(2, 9)).toEqual([
    'response.output_item.added',
    'response.reasoning_summary_part.added',
    'response.reasoning_summary_text.delta',
    'response.reasoning_summary_text.done',
    'response.reasoning_summary_part.done',
    'response.output_item.done',
    'response.output_item.added',
  ])
  expect(lastResponse(events)).toEqual(whole)
})

test('a limit that ends within the reasoning leaves no message', async () => {
  const cut = await ask('[[sim:reasoning=6]]', { max_output_tokens: 6 })
  expect(cut).toMatchObject({ status: 'incomplete', usage: { output_tokens: 6 } as never })
  expect(cut.output).toMatchObject([{ type: 'reasoning', status: 'incomplete' }])
  expect((await ask('x', { reasoning: { effort: 'none' } })).output).toHaveLength(1)
})

const tools = [
  { type: 'web_search' },
  { type: 'function', name: 'news', parameters: {} },
  { type: 'function', name: 'weather', parameters: everyKind },
]

test('a function is called by choice and by directive, with fitting arguments', async () => {
  const given = JSON.stringify(fittingInput)
  const weather = { type: 'function_call', name: 'weather', arguments: given, status: 'completed' }
  const forced = await ask('act', { tools, tool_choice: { type: 'function', name: 'weather' } })
  expect(forced.output).toMatchObject([weather])
  expect(forced.usage?.output_tokens).toBe(countTokens('weather') + countTokens(given))
  expect((await ask('[[sim:tool=weather]]', { tools })).output).toMatchObject([weather])
  const required = await ask('act', { tools, tool_choice: 'required' })
  expect(required.output).toMatchObject([{ type: 'function_call', name: 'news' }])
  expect((await ask('act', { tools })).output).toMatchObject([{ type: 'message' }])
})

test('the arguments of a function are streamed and told whole', async () => {
  const events = await askStream('[[sim:tool=weather]]', { tools })
  expect(outline(typesOf(events)).slice(2)).toEqual([
    'response.output_item.added',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.output_item.done',
    'response.completed',
  ])
  const deltas = events.filter(({ type }) => type.endsWith('arguments.delta'))
  expect(JSON.parse(deltas.map(({ delta }) => delta).join(''))).toEqual(fittingInput)
  expect(lastResponse(events)).toEqual(await ask('[[sim:tool=weather]]', { tools }))
})

test('after the result of a function the answer is text', async () => {
  const asked = '[[sim:tool=weather]] [[sim:reasoning]]'
  const [thought, call] = (await ask(asked, { tools })).output
  const input = [
    { role: 'user', content: asked },
    thought,
    call,
    { type: 'function_call_output', call_id: call?.call_id, output: 'sunny' },
  ]
  const answer = await ask(input, { tools })
  expect(answer.output.at(-1)).toMatchObject({ type: 'message' })
  const again = await ask([...input, { role: 'user', content: 'more [[sim:tool]]' }], { tools })
  expect(again.output.at(-1)).toMatchObject({ type: 'function_call', name: 'news' })
})

test('instructions, items and parts of every kind count as input', async () => {
  const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' }
  const file = { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA' }
  const input = [
    { role: 'user', content: [{ type: 'input_text', text: 'two words' }, image, file] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'one' }] },
    { role: 'user', content: 'and three words' },
  ]
  const answer = await ask(input, { instructions: 'Be brief' })
  expect(answer.usage?.input_tokens).toBe(4 * 3 + 2 + 2 + 258 + 258 + 1 + 3)
  expect(textOf(answer)).toStartWith('I saw 1 image. ')
})

test('the JSON format gives an answer that parses', async () => {
  const answer = await ask('json', { text: { format: { type: 'json_object' } } })
  expect(JSON.parse(textOf(answer))).toEqual({ answer: expect.any(String) })
})

test('a long prompt is cached by itself, a marked part is written and then read', async () => {
  const details = async (input: unknown) => (await ask(input)).usage?.input_tokens_details
  await ask(longText('cached', 600))
  const again = await ask(longText('cached', 600))
  expect(again.usage?.input_tokens_details).toEqual({ cached_tokens: 512, cache_write_tokens: 0 })
  expect(again.usage?.input_tokens).toBe(603)
  const text = longText('marked', 40)
  const marked = { type: 'input_text', text, cache_control: { type: 'ephemeral' } }
  const input = [{ role: 'user', content: [marked, { type: 'input_text', text: 'then' }] }]
  expect(await details(input)).toEqual({ cached_tokens: 0, cache_write_tokens: 43 })
  expect(await details(input)).toEqual({ cached_tokens: 43, cache_write_tokens: 0 })
})

test('what is missing or wrong is refused and named', async () => {
  const cases: [body: object, param: string][] = [
    [{ model: '', input: 'x' }, 'model'],
    [{}, 'input'],
    [{ input: '' }, 'input'],
    [{ input: [] }, 'input'],
    [{ input: [{ content: 'x' }] }, 'input[0]'],
    [{ input: 'x', max_output_tokens: 0 }, 'max_output_tokens'],
    [{ input: 'x', tool_choice: 'required', tools: [{ type: 'web_search' }] }, 'tool_choice'],
  ]
  for (const [body, param] of cases) {
    const response = await post(body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param } })
  }
})

test('an answer can be gone on from by the same key, unless it was not to be stored', async () => {
  const client = (apiKey: string) =>
    new OpenAI({ apiKey, baseURL: sandbox.protocols.responses ?? '', maxRetries: 0 })
  const asked = { model: 'txta-plus', input: 'kept [[sim:tokens=8]]' }
  const kept = await client('a').responses.create(asked)
  const goOn = (id: string) => ({ ...asked, input: 'more', previous_response_id: id })
  const more = await client('a').responses.create(goOn(kept.id))
  expect(more.usage!.input_tokens).toBeGreaterThan(kept.usage!.input_tokens)
  expect(more.previous_response_id).toBe(kept.id)
  const lost = await client('a').responses.create({ ...asked, input: 'not kept', store: false })
  for (const refused of [
    client('b').responses.create(goOn(kept.id)),
    client('a').responses.create(goOn(lost.id)),
    client('a').responses.create({ ...asked, input: [{ type: 'item_reference', id: 'msg_0' }] }),
  ]) {
    expect(await refused.catch((error: unknown) => error)).toMatchObject({ status: 404 })
  }
})

test('the official client gathers a stream to the whole response', async () => {
  const client = new OpenAI({ apiKey: 'any', baseURL: sandbox.protocols.responses ?? '' })
  const asked = { model: 'txta-plus', input: 'sdk [[sim:reasoning=4]]' }
  const whole = await client.responses.create(asked)
  const gathered = await client.responses.stream(asked).finalResponse()
  expect(whole.output_text).not.toBe('')
  expect(gathered.output_text).toBe(whole.output_text)
  expect(gathered.usage).toEqual(whole.usage!)
})
