// Sealed reasoning: given out in each protocol's own field, taken back as it was, refused otherwise.
import { afterAll, describe, expect, test } from 'bun:test'
import { type Sandbox, startSandbox } from '../server.ts'
import { postTo } from '../testing.ts'
import { createSeals } from './seals.ts'

const sandbox = startSandbox()
const stranger = startSandbox({ maker: 'stranger' })
afterAll(() => Promise.all([sandbox.stop(), stranger.stop()]))

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const prompt = '[[sim:tool]] [[sim:reasoning=4]]'
const altered = (seal: string) => `${seal.slice(0, -6)}AAAA${seal.slice(-2)}`

test('a seal opens for its maker and its protocol only, and only as it was made', () => {
  const seals = createSeals('one', 'messages')
  const seal = seals.make({ call: 'toolu_1' })
  expect(seals.open(seal)).toEqual({ call: 'toolu_1' })
  for (const other of [altered(seal), `${seal} `, seal.slice(4), '', undefined, 'gw1.a.b.c']) {
    expect(seals.open(other)).toBeUndefined()
  }
  expect(createSeals('two', 'messages').open(seal)).toBeUndefined()
  expect(createSeals('one', 'generate').open(seal)).toBeUndefined()
})

describe('messages', () => {
  const tools = [{ name: 'weather', input_schema: parameters }]
  const user = { role: 'user', content: prompt }
  const send = async (messages: Any[], more: object = {}, to = sandbox): Promise<Any> => {
    const body = { model: 'txta-plus', max_tokens: 1000, messages, tools, ...more }
    return (await postTo(`${to.url}/v1/messages`, body)).json()
  }
  const turns = (content: Any[]) => [
    user,
    { role: 'assistant', content },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: 'sunny' }] },
  ]
  const problem = async (content: Any[], more?: object, to?: Sandbox) =>
    (await send(turns(content), more, to)).error?.message ?? 'taken'

  test('thinking is taken back as it was given out, and in no other way', async () => {
    const { content } = await send([user])
    const [thinking, call] = content
    expect(await problem(content)).toBe('taken')
    const invalid = 'messages.1.content.0: Invalid `signature` in `thinking` block'
    for (const wrong of [
      [{ ...thinking, thinking: `${thinking.thinking}.` }, call],
      [{ ...thinking, signature: altered(thinking.signature) }, call],
      [{ ...thinking, signature: 'EqQBCkYIARgCKkD' }, call],
      [thinking, { ...call, id: 'toolu_other' }],
      [thinking],
    ]) {
      expect(await problem(wrong)).toBe(invalid)
    }
    expect(await problem(content, {}, stranger)).toBe(invalid)
    const { signature, ...unsigned } = thinking
    expect(await problem([unsigned, call])).toContain('signature: Field required')
    const misplaced = await send([{ role: 'user', content: [thinking] }])
    expect(misplaced.error.message).toContain('may only be in `assistant` messages')
  })

  test('thinking is hidden on request, and still signed', async () => {
    const thinking = { type: 'adaptive', display: 'omitted' }
    const { content, usage } = await send([user], { thinking })
    expect(content[0]).toMatchObject({ type: 'thinking', thinking: '' })
    expect(usage.output_tokens).toBeGreaterThan(4)
    expect(await problem(content, { thinking })).toBe('taken')
  })

  test('redacted thinking is taken back as it was', async () => {
    const { content } = await send([{ ...user, content: `${prompt} [[sim:redacted]]` }])
    expect(content[0]).toEqual({ type: 'redacted_thinking', data: expect.any(String) })
    expect(await problem(content)).toBe('taken')
    const data = altered(content[0].data)
    expect(await problem([{ ...content[0], data }, content[1]])).toContain('Invalid `data`')
  })

  test('with a budget, a turn that goes on begins with its thinking', async () => {
    const thinking = { type: 'enabled', budget_tokens: 1024 }
    const { content } = await send([user], { thinking })
    expect(await problem(content, { thinking })).toBe('taken')
    expect(await problem(content.slice(1), { thinking })).toContain('Expected `thinking`')
    expect(await problem(content.slice(1))).toBe('taken')
  })
})

describe('responses', () => {
  const tools = [{ type: 'function', name: 'weather', parameters }]
  const user = { role: 'user', content: prompt }
  const send = async (input: Any[], to = sandbox): Promise<Any> => {
    const include = ['reasoning.encrypted_content']
    const body = { model: 'txta-plus', input, tools, include, store: false }
    return (await postTo(`${to.url}/v1/responses`, body)).json()
  }
  const back = (...items: Any[]) => [
    user,
    ...items,
    { type: 'function_call_output', call_id: items.at(-1).call_id, output: 'sunny' },
  ]
  const error = async (input: Any[], to?: Sandbox) => (await send(input, to)).error

  test('reasoning is taken back with its seal, under its id or none', async () => {
    const [reasoning, call] = (await send([user])).output
    expect(await error(back(reasoning, call))).toBeNull()
    const { id, ...nameless } = reasoning
    expect(await error(back({ ...nameless, summary: [] }, call))).toBeNull()
    const code = 'invalid_encrypted_content'
    const encrypted_content = altered(reasoning.encrypted_content)
    for (const wrong of [
      back({ ...reasoning, encrypted_content }, call),
      back({ ...reasoning, id: 'rs_other' }, call),
      back(reasoning, { ...call, call_id: 'call_other' }),
      [user, call, reasoning],
      [user, reasoning, user],
    ]) {
      expect(await error(wrong)).toMatchObject({ code, type: 'invalid_request_error' })
    }
    expect(await error(back(reasoning, call), stranger)).toMatchObject({ code })
  })

  test('reasoning without a seal has to be known', async () => {
    const [{ encrypted_content, ...reasoning }, call] = (await send([user])).output
    expect((await error(back(reasoning, call))).message).toContain('not found')
  })
})

describe('generate', () => {
  const tools = [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: parameters }] }]
  const user = { role: 'user', parts: [{ text: prompt }] }
  const send = async (contents: Any[], more: object = {}, to = sandbox): Promise<Any> => {
    const url = `${to.url}/v1beta/models/txta-plus:generateContent`
    return (await postTo(url, { contents, tools, ...more })).json()
  }
  const back = (...parts: Any[]) => [
    user,
    { role: 'model', parts },
    { role: 'user', parts: [{ functionResponse: { name: 'weather', response: {} } }] },
  ]
  const problem = async (contents: Any[], more?: object, to?: Sandbox) =>
    (await send(contents, more, to)).error?.message ?? 'taken'
  const corrupted = 'Corrupted thought signature.'

  test('a signature is taken back on its call only', async () => {
    const [part] = (await send([user])).candidates[0].content.parts
    const { thoughtSignature, functionCall } = part
    expect(await problem(back(part))).toBe('taken')
    const renamed = { functionCall, thought_signature: thoughtSignature }
    expect(await problem(back(renamed))).toBe('taken')
    const args = { ...functionCall.args, days: 1 }
    expect(await problem(back({ ...part, functionCall: { ...functionCall, args } }))).toBe('taken')
    for (const wrong of [
      back({ ...part, thoughtSignature: altered(thoughtSignature) }),
      back({ ...part, functionCall: { ...functionCall, name: 'other' } }),
      back({ text: '', thoughtSignature }, { functionCall }),
      [{ role: 'user', parts: [{ text: 'x', thoughtSignature }] }],
    ]) {
      expect(await problem(wrong)).toBe(corrupted)
    }
    expect(await problem(back(part), {}, stranger)).toBe(corrupted)
  })

  test('a text is signed too, and its signature may come back on a thought', async () => {
    const question = { role: 'user', parts: [{ text: '[[sim:reasoning]]' }] }
    const [part] = (await send([question])).candidates[0].content.parts
    const { text, thoughtSignature } = part
    const thought = { text: 'hm', thought: true, thoughtSignature }
    expect(await problem([question, { role: 'model', parts: [part] }, user])).toBe('taken')
    expect(await problem([question, { role: 'model', parts: [thought, { text }] }, user])).toBe(
      'taken',
    )
  })

  test('while thoughts are asked for, a call needs a signature or the placeholder', async () => {
    const more = { generationConfig: { thinkingConfig: { includeThoughts: true } } }
    const { parts } = (await send([user], more)).candidates[0].content
    const { functionCall } = parts.at(-1)
    expect(await problem(back(...parts), more)).toBe('taken')
    expect(await problem(back({ functionCall }), more)).toContain('missing a thought_signature')
    const thoughtSignature = 'skip_thought_signature_validator'
    expect(await problem(back({ functionCall, thoughtSignature }), more)).toBe('taken')
    expect(await problem([...back({ functionCall }), user], more)).toBe('taken')
  })
})

test('a chat upstream can want its reasoning back with every call', async () => {
  const send = async (thought: object) => {
    const called = {
      id: 'call_1',
      type: 'function',
      function: { name: 'weather', arguments: '{}' },
    }
    const messages = [
      { role: 'user', content: '[[sim:replay]]' },
      { role: 'assistant', content: null, tool_calls: [called], ...thought },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
    ]
    const body = { model: 'txta-plus', messages }
    return (await postTo(`${sandbox.url}/v1/chat/completions`, body)).status
  }
  expect([await send({}), await send({ reasoning_content: '' })]).toEqual([400, 200])
})
