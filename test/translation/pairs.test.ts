// Every text style over every upstream style, through the whole gateway: JSON and stream, text and
// tools. The answer keeps the grammar of the caller's style, says how it was translated, and costs
// what the upstream reported.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chatProblems } from '../../src/styles/chat/test-grammar.ts'
import { generateProblem } from '../../src/styles/generate/test-grammar.ts'
import { messagesProblems } from '../../src/styles/messages/test-grammar.ts'
import { responsesProblem } from '../../src/styles/responses/test-grammar.ts'
import type { TestGateway } from '../support/gateway.ts'
import { type OneWireStage, startOneWire, wires as styles, type Wire } from '../support/one-wire.ts'
import { accountOf, chargeOf, errorOf, requestIdOf, rowOf } from '../support/read.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any

type Style = Wire

let stage: OneWireStage
let gateway: TestGateway

beforeAll(async () => {
  stage = await startOneWire()
  gateway = stage.gateway
})

afterAll(() => stage.stop())

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

interface Asked {
  text: string
  stream?: boolean
  tool?: string
}

/** The same request in each style. */
const requests: Record<Style, (model: string, asked: Asked) => [path: string, body: Any]> = {
  chat: (model, { text, stream, tool }) => [
    '/v1/chat/completions',
    {
      model,
      max_tokens: 500,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: text },
      ],
      ...(stream && { stream, stream_options: { include_usage: true } }),
      ...(tool && {
        tools: [{ type: 'function', function: { name: tool, parameters: schema } }],
        tool_choice: 'required',
      }),
    },
  ],
  responses: (model, { text, stream, tool }) => [
    '/v1/responses',
    {
      model,
      max_output_tokens: 500,
      instructions: 'Be brief.',
      input: text,
      ...(stream && { stream }),
      ...(tool && {
        tools: [{ type: 'function', name: tool, parameters: schema, strict: false }],
        tool_choice: 'required',
      }),
    },
  ],
  messages: (model, { text, stream, tool }) => [
    '/v1/messages',
    {
      model,
      max_tokens: 500,
      system: 'Be brief.',
      messages: [{ role: 'user', content: text }],
      ...(stream && { stream }),
      ...(tool && {
        tools: [{ name: tool, input_schema: schema }],
        tool_choice: { type: 'any' },
      }),
    },
  ],
  generate: (model, { text, stream, tool }) => [
    `/vendorg/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [{ role: 'user', parts: [{ text }] }],
      generationConfig: { maxOutputTokens: 500 },
      ...(tool && {
        tools: [{ functionDeclarations: [{ name: tool, parametersJsonSchema: schema }] }],
        toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      }),
    },
  ],
}

const texts: Record<Style, (answer: Any) => string> = {
  chat: ({ choices }) => choices[0].message.content ?? '',
  responses: ({ output }) =>
    output
      .flatMap((item: Any) => item.content ?? [])
      .map(({ text }: Any) => text ?? '')
      .join(''),
  messages: ({ content }) => content.map(({ text }: Any) => text ?? '').join(''),
  generate: ({ candidates }) =>
    candidates[0].content.parts
      .map(({ text, thought }: Any) => (thought ? '' : (text ?? '')))
      .join(''),
}

const calls: Record<Style, (answer: Any) => [name: string, input: unknown][]> = {
  chat: ({ choices }) =>
    (choices[0].message.tool_calls ?? []).map((call: Any) => [
      call.function.name,
      JSON.parse(call.function.arguments),
    ]),
  responses: ({ output }) =>
    output
      .filter(({ type }: Any) => type === 'function_call')
      .map((item: Any) => [item.name, JSON.parse(item.arguments)]),
  messages: ({ content }) =>
    content
      .filter(({ type }: Any) => type === 'tool_use')
      .map((block: Any) => [block.name, block.input]),
  generate: ({ candidates }) =>
    candidates[0].content.parts
      .filter((part: Any) => part.functionCall)
      .map(({ functionCall }: Any) => [functionCall.name, functionCall.args]),
}

const problems: Record<Style, (stream: string) => string[]> = {
  chat: chatProblems,
  // What is forwarded has the upstream's own usage.
  messages: (stream) => messagesProblems(stream).filter((each) => each !== 'usage is not complete'),
  responses: (stream) => [responsesProblem(stream) ?? []].flat(),
  generate: (stream) => [generateProblem(stream) ?? []].flat(),
}

const send = (style: Style, over: Style, asked: Asked) => {
  const [path, body] = requests[style](`over-${over}`, asked)
  return gateway.post(path, body)
}

const pairs = styles.flatMap((style) => styles.map((over) => [style, over] as const))

describe.each(pairs)('%s over %s', (style, over) => {
  const path = style === over ? null : `${style}>${over}`

  test('answers a question', async () => {
    const answer = await send(style, over, { text: 'Say hello' })
    expect([answer.status, answer.headers.get('x-gateway-translation')]).toEqual([200, path])
    const body: Any = await answer.json()
    expect(texts[style](body).length).toBeGreaterThan(0)
    expect(JSON.stringify(body)).toContain(`over-${over}`)
    const id = requestIdOf(answer)
    const row = await rowOf(gateway, id)
    expect(row).toMatchObject({ interface: style, status: 200 })
    expect(Number((await chargeOf(gateway, id))?.amount)).toBeLessThan(0)
  })

  test('streams it', async () => {
    const answer = await send(style, over, { text: 'Say hello', stream: true })
    expect([answer.status, answer.headers.get('x-gateway-translation')]).toEqual([200, path])
    expect(problems[style](await answer.text())).toEqual([])
    expect(Number((await chargeOf(gateway, requestIdOf(answer)))?.amount)).toBeLessThan(0)
  })

  test('calls a tool', async () => {
    const body: Any = await (await send(style, over, { text: 'Paris', tool: 'weather' })).json()
    const [call] = calls[style](body)
    expect(call?.[0]).toBe('weather')
    expect(call?.[1]).toHaveProperty('city')
  })

  test('streams the call of a tool', async () => {
    const answer = await send(style, over, { text: 'Paris', tool: 'weather', stream: true })
    const text = await answer.text()
    expect(problems[style](text)).toEqual([])
    expect(text).toContain('weather')
  })

  test('reports an upstream failure in its own words, and charges nothing', async () => {
    const before = await accountOf(gateway)
    const answer = await send(style, over, { text: '[[sim:status=500]]' })
    expect(answer.status).toBeGreaterThanOrEqual(500)
    expect((await errorOf(answer)).message.length).toBeGreaterThan(0)
    expect((await accountOf(gateway)).balance).toBe(before.balance)
  })
})

test('a stream of the generate style is a list where that is asked for', async () => {
  const [path, body] = requests.generate('over-chat', { text: 'Say hello', stream: true })
  const answer = await gateway.post(path.replace('?alt=sse', ''), body)
  expect(answer.headers.get('x-gateway-translation')).toBe('generate>chat')
  const list = (await answer.json()) as Any[]
  expect(list.at(-1).candidates[0].finishReason).toBe('STOP')
})
