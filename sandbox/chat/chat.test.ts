import { afterAll, expect, test } from 'bun:test'
import { startSandbox } from '../server.ts'
import {
  ask,
  askStream,
  chatOf,
  everyKind,
  fittingInput,
  longText,
  post,
  textOf,
} from '../testing.ts'
import { countTokens } from '../text/tokens.ts'

const nowMs = Date.UTC(2026, 10, 18)
const sandbox = startSandbox({ now: () => nowMs })
afterAll(() => sandbox.stop())

const withUsage = { stream_options: { include_usage: true } }

test('the same request has the same answer, and another request has another one', async () => {
  const first = await ask(sandbox, 'tell me something')
  expect(await ask(sandbox, 'tell me something')).toEqual(first)
  const other = await ask(sandbox, 'tell me something else')
  expect(other.id).not.toBe(first.id)
  expect(other.choices[0]?.message).not.toEqual(first.choices[0]?.message)
})

test('an answer has the time of the clock', async () => {
  expect((await ask(sandbox, 'what time is it')).created).toBe(nowMs / 1000)
})

test('a completion has the shape and the counts of the protocol', async () => {
  const answer = await ask(sandbox, 'four little words here')
  const text = answer.choices[0]?.message?.content ?? ''
  expect(answer.object).toBe('chat.completion')
  expect(answer.choices).toEqual([
    {
      index: 0,
      message: { role: 'assistant', content: text, refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    } as never,
  ])
  const output = countTokens(text)
  expect(answer.usage).toEqual({
    prompt_tokens: 7,
    completion_tokens: output,
    total_tokens: 7 + output,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  } as never)
})

test('a stream says what the completion says, one token per chunk', async () => {
  const whole = await ask(sandbox, 'compare me')
  const chunks = await askStream(sandbox, 'compare me', withUsage)
  const content = chunks.filter((chunk) => chunk.choices[0]?.delta?.content)
  expect(textOf(chunks)).toBe(whole.choices[0]?.message?.content ?? 'none')
  expect(content).toHaveLength(whole.usage?.completion_tokens ?? 0)
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage as never })
  expect(new Set(chunks.map((chunk) => `${chunk.id} ${chunk.created} ${chunk.object}`)).size).toBe(
    1,
  )
})

test('a stream begins with the role and ends with an empty delta and the reason', async () => {
  const chunks = await askStream(sandbox, 'order')
  expect(chunks[0]?.choices[0]?.delta?.role).toBe('assistant')
  expect(chunks.at(-1)?.choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' })
  expect(Object.keys(chunks.at(-1)?.choices[0]?.delta ?? { none: 1 })).toEqual([])
})

test('usage is null in ordinary chunks when asked for, and nowhere when not', async () => {
  const asked = await askStream(sandbox, 'usage', withUsage)
  expect(asked.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true)
  const unasked = await askStream(sandbox, 'usage')
  expect(unasked.some((chunk) => 'usage' in chunk || chunk.choices.length === 0)).toBe(false)
})

test('the output limit of either name cuts the answer and says so', async () => {
  for (const name of ['max_tokens', 'max_completion_tokens']) {
    const answer = await ask(sandbox, 'limit', { [name]: 7 })
    expect(answer.choices[0]?.finish_reason).toBe('length')
    expect(answer.usage?.completion_tokens).toBe(7)
    expect(countTokens(answer.choices[0]?.message?.content ?? '')).toBe(7)
  }
})

test('several choices differ, and all of them count', async () => {
  const more = { n: 3 }
  const whole = await ask(sandbox, 'choices', more)
  const texts = whole.choices.map((choice) => choice.message?.content ?? '')
  expect(new Set(texts).size).toBe(3)
  expect(whole.usage?.completion_tokens).toBe(texts.reduce((sum, t) => sum + countTokens(t), 0))
  const chunks = await askStream(sandbox, 'choices', more)
  expect([0, 1, 2].map((index) => textOf(chunks, index))).toEqual(texts)
})

test('an image part is accepted and counts as a fixed number of tokens', async () => {
  const parts = [
    { type: 'text', text: 'what is this' },
    { type: 'image_url', image_url: { url: 'https://media.example/cat.png' } },
  ]
  expect((await ask(sandbox, parts)).usage?.prompt_tokens).toBe(3 + 3 + 258)
})

test('the answer says how many images it saw, and no other medium is one', async () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
  const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
  const said = async (parts: unknown[], more?: object) =>
    (await ask(sandbox, parts, more)).choices[0]?.message?.content
  expect(await said([image])).toStartWith('I saw 1 image. ')
  expect(await said([image, image, sound])).toStartWith('I saw 2 images. ')
  expect(await said([sound])).not.toContain('image')
  const json = await said([image], { response_format: { type: 'json_object' } })
  expect(JSON.parse(json ?? '')).toEqual({ answer: expect.stringMatching(/^I saw 1 image /) })
  const exact = await ask(sandbox, [image, { type: 'text', text: '[[sim:tokens=40]]' }])
  expect(exact.usage?.completion_tokens).toBe(40)
  expect(countTokens(exact.choices[0]?.message?.content ?? '')).toBe(40)
})

const weather = { type: 'function', function: { name: 'weather', parameters: everyKind } }
const news = { type: 'function', function: { name: 'news' } }

test('a directive in the last words of the user calls a function with fitting input', async () => {
  const tools = [news, weather]
  const first = await ask(sandbox, 'go [[sim:tool]]', { tools, tool_choice: 'auto' })
  expect(first.choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: { tool_calls: [{ function: { name: 'news', arguments: '{}' } } as never] },
  })
  const text = 'go [[sim:tool=weather]]'
  const given = JSON.stringify(fittingInput)
  const named = await ask(sandbox, text, { tools })
  expect(named.choices[0]?.message?.tool_calls).toMatchObject([
    { function: { name: 'weather', arguments: given } },
  ])
  expect(named.usage?.completion_tokens).toBe(countTokens('weather') + countTokens(given))
  const chunks = await askStream(sandbox, text, { tools })
  const pieces = chunks.flatMap((chunk) => chunk.choices[0]?.delta?.tool_calls ?? [])
  const streamed = pieces as { function: { arguments: string } }[]
  expect(streamed.map((piece) => piece.function.arguments).join('')).toBe(given)
})

test('no function is called that is not there, not allowed, or already answered', async () => {
  const tools = [weather]
  const finish = async (text: string, more: object) =>
    (await ask(sandbox, text, more)).choices[0]?.finish_reason
  expect(await finish('[[sim:tool=other]]', { tools })).toBe('stop')
  expect(await finish('[[sim:tool]]', {})).toBe('stop')
  expect(await finish('[[sim:tool]]', { tools, tool_choice: 'none' })).toBe('stop')
  const called = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } }
  const messages = [
    { role: 'user', content: '[[sim:tool]]' },
    { role: 'assistant', content: null, tool_calls: [called] },
    { role: 'tool', tool_call_id: 'call_1', content: 'sunny [[sim:tool]]' },
  ]
  expect(await finish('', { tools, messages })).toBe('stop')
  const again = [...messages, { role: 'user', content: 'once more [[sim:tool]]' }]
  expect(await finish('', { tools, messages: again })).toBe('tool_calls')
  const enough = [...messages, { role: 'user', content: 'thank you' }]
  expect(await finish('', { tools, messages: enough })).toBe('stop')
})

test('what describes a function counts as input', async () => {
  const definition = countTokens(JSON.stringify(weather))
  const usage = (await ask(sandbox, 'one', { tools: [weather] })).usage
  expect(usage?.prompt_tokens).toBe(definition + 3 + 1)
})

test('reasoning comes first, by directive or by either switch, inside the output', async () => {
  const switches: [text: string, more: object, tokens: number][] = [
    ['[[sim:reasoning=5]]', {}, 5],
    ['[[sim:reasoning]]', {}, 12],
    ['think', { enable_thinking: true }, 12],
    ['think', { reasoning_effort: 'low' }, 12],
    ['think', { reasoning_effort: 'none' }, 0],
    ['[[sim:reasoning=0]]', { enable_thinking: true }, 0],
  ]
  for (const [text, more, tokens] of switches) {
    const whole = await ask(sandbox, text, more)
    const { content, reasoning_content: thought = '' } = whole.choices[0]?.message ?? {}
    expect(countTokens(thought)).toBe(tokens)
    expect(whole.usage?.completion_tokens_details?.reasoning_tokens).toBe(tokens)
    expect(whole.usage?.completion_tokens).toBe(tokens + countTokens(content ?? ''))
    const chunks = await askStream(sandbox, text, more)
    const deltas = chunks.map((chunk) => chunk.choices[0]?.delta)
    expect(deltas.map((delta) => delta?.reasoning_content ?? '').join('')).toBe(thought)
    expect(textOf(chunks)).toBe(content ?? 'none')
  }
})

test('a told length and the limit of the caller include the reasoning', async () => {
  const told = await ask(sandbox, '[[sim:tokens=20]] [[sim:reasoning=5]]')
  expect(told.usage?.completion_tokens).toBe(20)
  expect(countTokens(told.choices[0]?.message?.content ?? '')).toBe(15)
  const cut = await ask(sandbox, '[[sim:reasoning=5]]', { max_tokens: 8 })
  expect(cut.choices[0]?.finish_reason).toBe('length')
  expect(countTokens(cut.choices[0]?.message?.content ?? '')).toBe(3)
  const early = await ask(sandbox, '[[sim:reasoning=5]]', { max_tokens: 4 })
  expect(early.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: '' } })
  expect(early.usage?.completion_tokens).toBe(4)
})

test('a required function is called, in a completion and in a stream', async () => {
  const tools = ['look', 'listen'].map((name) => ({ type: 'function', function: { name } }))
  const named = { tools, tool_choice: { type: 'function', function: { name: 'listen' } } }
  const whole = await ask(sandbox, 'act', named)
  expect(whole.choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: {
      content: null,
      tool_calls: [{ type: 'function', function: { name: 'listen', arguments: '{}' } }],
    },
  })
  const chunks = await askStream(sandbox, 'act', { tools, tool_choice: 'required' })
  const calls = chunks.flatMap((chunk) => chunk.choices[0]?.delta?.tool_calls ?? [])
  expect(calls[0]).toMatchObject({ index: 0, function: { name: 'look', arguments: '' } })
  expect(calls[1]).toEqual({ index: 0, function: { arguments: '{}' } })
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls')
  const unasked = await ask(sandbox, 'act', { tools })
  expect(unasked.choices[0]?.finish_reason).toBe('stop')
})

test('the JSON format gives an answer that parses', async () => {
  const answer = await ask(sandbox, 'json', { response_format: { type: 'json_object' } })
  const parsed: unknown = JSON.parse(answer.choices[0]?.message?.content ?? '')
  expect(parsed).toEqual({ answer: expect.any(String) })
})

test('a long prompt seen before is a cache hit in whole blocks; a short one never is', async () => {
  const long = longText('cached', 600)
  const first = await ask(sandbox, long)
  const second = await ask(sandbox, long)
  expect(first.usage?.prompt_tokens_details).toEqual({ cached_tokens: 0 })
  expect(second.usage?.prompt_tokens_details).toEqual({ cached_tokens: 512 })
  expect(second.usage?.prompt_tokens).toBe(603)
  const short = longText('short', 200)
  await ask(sandbox, short)
  expect((await ask(sandbox, short)).usage?.prompt_tokens_details['cached_tokens']).toBe(0)
})

test('a prompt that shares only its beginning is a hit for that beginning', async () => {
  await ask(sandbox, longText('begin', 600))
  const answer = await ask(sandbox, `${longText('begin', 300)} ${longText('other', 300)}`)
  expect(answer.usage?.prompt_tokens_details['cached_tokens']).toBe(256)
})

test('another model does not share the cache', async () => {
  await ask(sandbox, longText('model', 300))
  const answer = await ask(sandbox, longText('model', 300), { model: 'txta-turbo' })
  expect(answer.usage?.prompt_tokens_details['cached_tokens']).toBe(0)
})

test('a marked part is written to the cache first and read from it next time', async () => {
  const parts = (question: string) => [
    { type: 'text', text: longText('marked', 40), cache_control: { type: 'ephemeral' } },
    { type: 'text', text: question },
  ]
  const written = (await ask(sandbox, parts('one'))).usage
  expect(written?.prompt_tokens).toBe(3 + 40 + 1)
  expect(written?.prompt_tokens_details).toEqual({
    cached_tokens: 0,
    cache_creation_input_tokens: 43,
    cache_creation: { ephemeral_5m_input_tokens: 43 },
    cache_type: 'ephemeral',
  })
  const read = (await ask(sandbox, parts('two'))).usage
  expect(read?.prompt_tokens_details).toMatchObject({
    cached_tokens: 43,
    cache_creation_input_tokens: 0,
  })
})

test('a marker further on writes only what an earlier marker had not', async () => {
  const mark = { cache_control: { type: 'ephemeral' } }
  const base = { type: 'text', text: longText('grow', 50) }
  await ask(sandbox, [{ ...base, ...mark }])
  const grown = await ask(sandbox, [base, { type: 'text', text: longText('more', 20), ...mark }])
  expect(grown.usage?.prompt_tokens_details).toMatchObject({
    cached_tokens: 53,
    cache_creation_input_tokens: 20,
  })
})

test('what is missing or wrong is refused in the shape of the protocol', async () => {
  const cases: [body: unknown, param: string | null][] = [
    [{ messages: [{ role: 'user', content: 'x' }] }, 'model'],
    [{ model: 'm' }, 'messages'],
    [{ model: 'm', messages: [] }, 'messages'],
    [{ model: 'm', messages: [{ content: 'x' }] }, 'messages[0].role'],
    [chatOf('x', { n: 0 }), 'n'],
    [chatOf('x', { max_tokens: 'many' }), 'max_tokens'],
    [chatOf('x', { tool_choice: 'required' }), 'tool_choice'],
    ['{"model":', null],
    ['[]', null],
  ]
  for (const [body, param] of cases) {
    const response = await post(sandbox, body)
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      error: {
        message: expect.any(String),
        type: 'invalid_request_error',
        code: expect.any(String),
        param,
      },
    })
  }
})
