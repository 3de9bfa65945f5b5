// A scripted tool loop with sealed reasoning, in every style over every upstream style: the upstream
// checks each seal that comes back, so a loop that reaches its end has kept them all.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { askedOf } from '../support/asked.ts'
import {
  modelOver,
  type OneWireStage,
  startOneWire,
  type Wire,
  wires,
} from '../support/one-wire.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any

let stage: OneWireStage
beforeAll(async () => {
  stage = await startOneWire({ sandbox: { strict: true } })
})
afterAll(() => stage.stop())

const schema = {
  type: 'object',
  properties: { path: { type: 'string' }, command: { type: 'string' } },
}
const script = [
  ['read', { path: 'a.txt' }],
  [
    ['run', { command: 'ls' }],
    ['read', { path: 'b.txt' }],
  ],
]
const prompt = `[[sim:tools=${JSON.stringify(script)}]] [[sim:reasoning=5]]`
const tools = ['read', 'run']

interface Caller {
  path(model: string): string
  body(model: string, conversation: Any[]): object
  opening: Any
  said(answer: Any): Any[]
  calls(answer: Any): [id: string, name: string, input: unknown][]
  results(of: [id: string, name: string, text: string][]): Any[]
}

const callers: Record<Wire, Caller> = {
  chat: {
    path: () => '/v1/chat/completions',
    body: (model, messages) => ({
      model,
      messages,
      reasoning_effort: 'high',
      tools: tools.map((name) => ({ type: 'function', function: { name, parameters: schema } })),
    }),
    opening: { role: 'user', content: prompt },
    said: ({ choices }) => [choices[0].message],
    calls: ({ choices }) =>
      (choices[0].message.tool_calls ?? []).map(({ id, function: called }: Any) => [
        id,
        called.name,
        JSON.parse(called.arguments),
      ]),
    results: (all) =>
      all.map(([tool_call_id, , content]) => ({ role: 'tool', tool_call_id, content })),
  },
  responses: {
    path: () => '/v1/responses',
    body: (model, input) => ({
      model,
      input,
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high', summary: 'auto' },
      tools: tools.map((name) => ({ type: 'function', name, parameters: schema, strict: false })),
    }),
    opening: { role: 'user', content: prompt },
    said: ({ output }) => output,
    calls: ({ output }) =>
      output
        .filter((item: Any) => item.type === 'function_call')
        .map((item: Any) => [item.call_id, item.name, JSON.parse(item.arguments)]),
    results: (all) =>
      all.map(([call_id, , output]) => ({ type: 'function_call_output', call_id, output })),
  },
  messages: {
    path: () => '/v1/messages',
    body: (model, messages) => ({
      model,
      messages,
      max_tokens: 8000,
      thinking: { type: 'adaptive' },
      tools: tools.map((name) => ({ name, input_schema: schema })),
    }),
    opening: { role: 'user', content: prompt },
    said: ({ content }) => [{ role: 'assistant', content }],
    calls: ({ content }) =>
      content
        .filter(({ type }: Any) => type === 'tool_use')
        .map(({ id, name, input }: Any) => [id, name, input]),
    results: (all) => [
      {
        role: 'user',
        content: all.map(([tool_use_id, , content]) => ({
          type: 'tool_result',
          tool_use_id,
          content,
        })),
      },
    ],
  },
  generate: {
    path: (model) => `/vendorg/v1beta/models/${model}:generateContent`,
    body: (_, contents) => ({
      contents,
      generationConfig: { thinkingConfig: { includeThoughts: true } },
      tools: [
        { functionDeclarations: tools.map((name) => ({ name, parametersJsonSchema: schema })) },
      ],
    }),
    opening: { role: 'user', parts: [{ text: prompt }] },
    said: ({ candidates }) => [candidates[0].content],
    calls: ({ candidates }) =>
      candidates[0].content.parts
        .filter((part: Any) => part.functionCall)
        .map(({ functionCall: { id, name, args } }: Any) => [id, name, args]),
    results: (all) => [
      {
        role: 'user',
        parts: all.map(([id, name, result]) => ({
          functionResponse: { id, name, response: { result } },
        })),
      },
    ],
  },
}

/** What a request to the upstream has of sealed reasoning. */
const seals = /"(?:signature|encrypted_content|thoughtSignature)":"(?!skip_)/g

/** Fields that SDKs of some languages declare as bytes. */
const opaque = /"(signature|encrypted_content|thoughtSignature|data)":"([^"]*)"/g

/** As such an SDK returns what it got: decoded strictly, and encoded in the URL-safe alphabet. */
function throughBytes(answer: Any): Any {
  const text = JSON.stringify(answer).replaceAll(opaque, (_, name, value: string) => {
    const bytes = Buffer.from(value, 'base64')
    expect([name, bytes.toString('base64')]).toEqual([name, value])
    const written = bytes.toString('base64').replaceAll('+', '-').replaceAll('/', '_')
    return `"${name}":"${written}"`
  })
  return JSON.parse(text)
}

const pairs = wires.flatMap((caller) => wires.map((over) => [caller, over] as const))

test.each(pairs)('%s over %s plays a loop to its end', async (style, over) => {
  const caller = callers[style]
  const model = modelOver(over)
  const ask = async (conversation: Any[]): Promise<Any> => {
    const answer = await stage.gateway.post(caller.path(model), caller.body(model, conversation))
    const body = await answer.json()
    expect({ status: answer.status, error: (body as Any).error?.message }).toMatchObject({
      status: 200,
    })
    return body
  }
  const before = (await askedOf(stage.sandbox)).at(-1)?.number ?? 0
  const conversation = [caller.opening]
  const played: unknown[] = []
  let answer = await ask(conversation)
  for (let calls = caller.calls(answer); calls.length > 0; calls = caller.calls(answer)) {
    played.push(calls.map(([, name, input]) => [name, input]))
    const results = calls.map(([id, name], at): [string, string, string] => [
      id,
      name,
      `result ${played.length}.${at}`,
    ])
    const returned = style === over ? answer : throughBytes(answer)
    conversation.push(...caller.said(returned), ...caller.results(results))
    answer = await ask(conversation)
  }
  expect(played).toEqual([[script[0]], script[1]])
  expect(JSON.stringify(answer)).toContain('result 2.1')
  const asked = await askedOf(stage.sandbox, before)
  expect(asked).toHaveLength(3)
  // A chat upstream seals nothing; a chat caller returns the seals of calls only, which generate has.
  const isSealed = over !== 'chat' && (style !== 'chat' || over === 'generate')
  const expected = isSealed ? [0, 1, 2] : [0, 0, 0]
  expect(asked.map(({ body }) => body?.match(seals)?.length ?? 0)).toEqual(expected)
})

test.each(wires.filter((wire) => wire !== 'generate'))(
  'every signature of a generate stream over %s is base64, also when no thoughts were asked for',
  async (over) => {
    const { path, body, opening } = callers.generate
    const at = path(modelOver(over)).replace(':generateContent', ':streamGenerateContent?alt=sse')
    const { generationConfig: _, ...plain } = body('', [opening]) as Any
    let signatures = 0
    for (const asked of [body('', [opening]), plain]) {
      const text = await (await stage.gateway.post(at, asked)).text()
      for (const line of text.split('\n').filter((each) => each.startsWith('data: {'))) {
        const event = JSON.parse(line.slice('data: '.length))
        throughBytes(event)
        signatures += line.split('"thoughtSignature"').length - 1
      }
    }
    expect(signatures).toBeGreaterThan(0)
  },
)
