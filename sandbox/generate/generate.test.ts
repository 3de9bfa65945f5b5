import { afterAll, describe, expect, test } from 'bun:test'
import { startSandbox } from '../server.ts'
import { everyKind, fittingInput, loggedCalls, longText, postTo } from '../testing.ts'
import { countTokens } from '../text/tokens.ts'

const sandbox = startSandbox()
afterAll(() => sandbox.stop())

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
type Any = any

const at = (call: string) => `${sandbox.protocols['generate']}/v1beta/models/txta-plus:${call}`
const bodyOf = (text: string, more: object = {}) => ({
  contents: [{ role: 'user', parts: [{ text }] }],
  ...more,
})
const ask = async (text: string, more?: object): Promise<Any> =>
  (await postTo(at('generateContent'), bodyOf(text, more))).json()
const eventsOf = async (text: string, more?: object): Promise<Any[]> => {
  const response = await postTo(at('streamGenerateContent?alt=sse'), bodyOf(text, more))
  const events = (await response.text()).split('\r\n\r\n')
  expect(events.pop()).toBe('')
  return events.map((event) => JSON.parse(event.replace(/^data: /, '')))
}
const textOf = ({ candidates }: Any) => candidates[0].content.parts[0].text as string

test('an answer has the shape and the counts of the protocol', async () => {
  const answer = await ask('four little words here')
  const text = textOf(answer)
  expect(answer).toEqual({
    candidates: [{ content: { parts: [{ text }], role: 'model' }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: 7,
      candidatesTokenCount: countTokens(text),
      totalTokenCount: 7 + countTokens(text),
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 7 }],
    },
    modelVersion: 'txta-plus',
    responseId: expect.stringMatching(/^\w{24}$/),
  })
})

test('a stream and a list have the text of the whole answer and its usage at their end', async () => {
  const whole = await ask('compare me')
  const events = await eventsOf('compare me')
  const response = await postTo(at('streamGenerateContent'), bodyOf('compare me'))
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(await response.json()).toEqual(events)
  expect(events.map(textOf).join('')).toBe(textOf(whole))
  expect(events.at(-1)).toMatchObject({
    candidates: [{ finishReason: 'STOP' }],
    usageMetadata: whole.usageMetadata,
  })
  expect(events[0].usageMetadata).toMatchObject({ promptTokenCount: 6, totalTokenCount: 6 })
})

describe('thoughts', () => {
  const shown = { generationConfig: { thinkingConfig: { includeThoughts: true } } }

  test('are shown on request and counted beside the text in any case', async () => {
    const prompt = '[[sim:tokens=20]] [[sim:reasoning=8]]'
    const answer = await ask(prompt, shown)
    expect(answer.candidates[0].content.parts).toMatchObject([{ thought: true }, {}])
    const counts = { candidatesTokenCount: 12, thoughtsTokenCount: 8 }
    expect(answer.usageMetadata).toMatchObject(counts)
    const hidden = await ask(prompt)
    expect(hidden.candidates[0].content.parts).toHaveLength(1)
    expect(hidden.usageMetadata).toMatchObject(counts)
    expect(
      (await eventsOf(prompt, shown)).filter((each) => each.candidates[0].content.parts[0].thought),
    ).toHaveLength(8)
  })

  test('are written with underscores as well', async () => {
    const answer = await ask('hi', {
      generation_config: { thinking_config: { include_thoughts: true }, max_output_tokens: 30 },
    })
    expect(answer.usageMetadata.thoughtsTokenCount).toBeGreaterThan(0)
    expect(answer.candidates[0].finishReason).toBe('MAX_TOKENS')
  })
})

test('a function is called with arguments that fit', async () => {
  const upper = JSON.parse(JSON.stringify(everyKind), (name, value) =>
    name === 'type' && typeof value === 'string' ? value.toUpperCase() : value,
  )
  for (const declared of [{ parameters: upper }, { parametersJsonSchema: everyKind }]) {
    const tools = [{ functionDeclarations: [{ name: 'weather', ...declared }] }]
    const answer = await ask('[[sim:tool]]', { tools })
    expect(answer.candidates[0].content.parts).toEqual([
      { functionCall: { id: expect.any(String), name: 'weather', args: fittingInput } },
    ])
    const events = await eventsOf('[[sim:tool]]', { tools })
    expect(events[0].candidates[0].content.parts[0].functionCall.args).toEqual(fittingInput)
  }
})

test('a prompt that comes again is cached', async () => {
  const long = longText('again', 600)
  await ask(long)
  const { usageMetadata } = await ask(long)
  expect(usageMetadata.cachedContentTokenCount).toBe(512)
})

test('input is counted as it is counted in an answer', async () => {
  const counted = await postTo(at('countTokens'), bodyOf('count me'))
  const { usageMetadata } = await ask('count me')
  expect(await counted.json()).toEqual({ totalTokens: usageMetadata.promptTokenCount })
})

test('a text becomes a vector, and a batch as many as it has', async () => {
  const content = { parts: [{ text: 'a cat' }] }
  const one: Any = await (
    await postTo(at('embedContent'), { content, outputDimensionality: 4 })
  ).json()
  expect(one.embedding.values).toHaveLength(4)
  const request = { model: 'models/txta-plus', content, output_dimensionality: 4 }
  const many: Any = await (
    await postTo(at('batchEmbedContents'), { requests: [request, request] })
  ).json()
  expect(many.embeddings).toEqual([one.embedding, one.embedding])
  const wrong = await postTo(at('batchEmbedContents'), { requests: [{ content }] })
  expect(wrong.status).toBe(400)
})

test.each([
  ['[[sim:status=429]]', 429, 'RESOURCE_EXHAUSTED'],
  ['[[sim:fail]]', 500, 'INTERNAL'],
  ['[[sim:fail=content_policy]]', 400, 'INVALID_ARGUMENT'],
])('%s is an error of the protocol', async (text, status, word) => {
  const response = await postTo(at('generateContent'), bodyOf(text))
  const { error }: Any = await response.json()
  expect([response.status, error.code, error.status]).toEqual([status, status, word])
})

test('usage is missing on request, and the log has the model of the path', async () => {
  const answer = await ask('[[sim:no-usage]] [[sim:tokens=3]]')
  expect(answer.usageMetadata).toBeUndefined()
  const call = (await loggedCalls(sandbox)).at(-1)!
  expect(call).toMatchObject({ protocol: 'generate', model: 'txta-plus', completion_tokens: 3 })
})
