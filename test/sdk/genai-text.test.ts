// Text through the official `@google/genai` package, over upstreams of every style: answers, streams,
// conversations, tools, objects, thoughts, counts, embeddings and errors.
import { afterAll, describe, expect, spyOn, test } from 'bun:test'
import type { GenerateContentConfig, GenerateContentResponse } from '@google/genai'
import { ApiError, FinishReason } from '@google/genai'
import { z } from 'zod'
import { requestIdShape } from '../support/read.ts'
import {
  breaking,
  type Failing,
  refusals,
  tries,
  upstreamFailures,
  withholding,
} from './failures.ts'
import { clientOf, describeTools } from './genai-tools.ts'
import {
  expectPaid,
  modelNames,
  models,
  type Over,
  overs,
  picture,
  report,
  thrownBy,
  useStage,
} from './stage.ts'

const stage = useStage()
const warn = spyOn(console, 'warn').mockImplementation(() => {})
afterAll(() => warn.mockRestore())

const client = (token?: string) => clientOf(stage, token)

const idOf = ({ sdkHttpResponse }: Pick<GenerateContentResponse, 'sdkHttpResponse'>) =>
  sdkHttpResponse?.headers?.['x-gateway-request-id']

const usageOf = ({ usageMetadata: used }: GenerateContentResponse) => ({
  input: used!.promptTokenCount!,
  output: (used!.candidatesTokenCount ?? 0) + (used!.thoughtsTokenCount ?? 0),
  cacheRead: used!.cachedContentTokenCount ?? 0,
})

const ask = (model: string, contents: string, config: GenerateContentConfig = {}) =>
  client().models.generateContent({ model, contents, config })

/** The text of a stream, and its last chunk. */
async function streamed(model: string, contents: string, config: GenerateContentConfig = {}) {
  let text = ''
  let last: GenerateContentResponse | undefined
  const stream = await client().models.generateContentStream({ model, contents, config })
  for await (const chunk of stream) {
    text += chunk.text ?? ''
    last = chunk
  }
  return { text, last: last! }
}

describe.each([...overs])('over $wire', (over) => {
  describeAnswers(over)
  describeObjects(over)
  describeStreams(over)
  describeTools(stage, over)

  describe('an error', () => {
    test.each([...upstreamFailures])('for $what has the status its readers look for', (failing) =>
      expectFailure({ model: over.model, ...failing }),
    )
  })
})

function describeAnswers({ model, wire }: Over): void {
  test('answers come whole and are paid for', async () => {
    const config = { systemInstruction: 'Be brief.', maxOutputTokens: 50 }
    const answer = await ask(model, 'hello [[sim:tokens=7]]', config)
    expect(answer.text!.length).toBeGreaterThan(0)
    expect([answer.modelVersion, typeof answer.responseId]).toEqual([model, 'string'])
    expect(answer.candidates?.[0]?.finishReason).toBe(FinishReason.STOP)
    const { promptTokenCount, totalTokenCount } = answer.usageMetadata!
    expect(totalTokenCount).toBe(promptTokenCount! + 7)
    const row = await expectPaid(stage, idOf(answer), usageOf(answer))
    expect(row.interface).toBe('generate')
  })

  test('answers look at a picture', async () => {
    const answer = await client().models.generateContent({
      model,
      contents: [{ inlineData: { mimeType: 'image/png', data: picture } }, 'what is this?'],
    })
    expect(answer.text).toContain('I saw 1 image')
  })

  test('answers show their thoughts on request, which are paid for beside the text', async () => {
    const contents = 'think [[sim:tokens=20]] [[sim:reasoning=12]]'
    const thinkingConfig = { includeThoughts: true, thinkingBudget: 1_024 }
    const answer = await ask(model, contents, { thinkingConfig })
    const parts = answer.candidates![0]!.content!.parts!
    expect(parts.map(({ thought }) => thought === true)).toEqual([true, false])
    expect(answer.usageMetadata!.totalTokenCount).toBe(answer.usageMetadata!.promptTokenCount! + 20)
  })

  test('answers stop at the limit', async () => {
    const config = { maxOutputTokens: 16 }
    const answer = await ask(model, '[[sim:tokens=50]]', config)
    const { last } = await streamed(model, '[[sim:tokens=50]]', config)
    for (const { candidates } of [answer, last]) {
      expect(candidates?.[0]?.finishReason).toBe(FinishReason.MAX_TOKENS)
    }
  })

  test.each([...withholding])('answers say that they were withheld: %s', async (contents) => {
    const whole = await ask(model, contents)
    const { last } = await streamed(model, contents)
    for (const { candidates } of [whole, last]) {
      expect(candidates?.[0]?.finishReason).toBe(FinishReason.SAFETY)
    }
  })

  test('tokens are counted beforehand', async () => {
    const contents = 'how long is this?'
    const { totalTokens } = await client().models.countTokens({ model, contents })
    const { promptTokenCount } = (await ask(model, contents)).usageMetadata!
    expect(totalTokens).toBeGreaterThan(0)
    // Upstreams of the other styles do not count; the gateway estimates.
    if (wire === 'generate') expect(totalTokens).toBe(promptTokenCount!)
  })
}

function describeObjects({ model }: Over): void {
  const schemas: [string, GenerateContentConfig][] = [
    ['any', {}],
    ['a JSON schema', { responseJsonSchema: z.toJSONSchema(report) }],
    [
      'a schema of its own kind',
      {
        responseSchema: {
          type: 'OBJECT',
          properties: {
            city: { type: 'STRING' },
            note: { type: 'STRING', nullable: true },
            days: { type: 'ARRAY', items: { type: 'INTEGER' } },
          },
          required: ['city', 'note', 'days'],
        } as never,
      },
    ],
  ]
  test.each(schemas)('an answer is an object where that is asked for: %s', async (what, schema) => {
    const config = { responseMimeType: 'application/json', ...schema }
    const whole = JSON.parse((await ask(model, 'an object, please', config)).text!)
    const { text } = await streamed(model, 'an object, please', config)
    expect(JSON.parse(text)).toEqual(whole)
    if (what === 'a JSON schema') expect(whole).toEqual(report.parse(whole))
    if (what.endsWith('own kind'))
      expect(Object.keys(whole).sort()).toEqual(['city', 'days', 'note'])
  })
}

function describeStreams({ model }: Over): void {
  test('streams have the text of the whole answer and are paid for', async () => {
    const contents = 'tell me [[sim:tokens=15]]'
    const whole = await ask(model, contents)
    const { text, last } = await streamed(model, contents)
    expect(text).toBe(whole.text!)
    expect(last.candidates?.[0]?.finishReason).toBe(FinishReason.STOP)
    expect(usageOf(last)).toEqual(usageOf(whole))
    await expectPaid(stage, idOf(last), usageOf(whole))
  })

  test.each(breaking)('streams that break end with an error of the SDK (%s)', async (how) => {
    const error = await thrownBy(() => streamed(model, `[[sim:tokens=20]] [[sim:${how}]]`))
    expect(error).toBeInstanceOf(ApiError)
    expect((error as ApiError).status).toBe(502)
  })

  test('streams carry a conversation, with its thoughts', async () => {
    const chat = client().chats.create({
      model,
      config: { thinkingConfig: { includeThoughts: true } },
    })
    const first = await chat.sendMessage({ message: 'hello [[sim:tokens=9]] [[sim:reasoning=4]]' })
    let text = ''
    for await (const chunk of await chat.sendMessageStream({ message: 'and again' })) {
      text += chunk.text ?? ''
    }
    const last = await chat.sendMessage({ message: 'and again' })
    expect(first.text!.length * text.length * last.text!.length).toBeGreaterThan(0)
    const turns = chat.getHistory(true).map(({ role }) => role)
    const changes = turns.filter((role, index) => role !== turns[index - 1])
    expect(changes).toEqual(['user', 'model', 'user', 'model', 'user', 'model'])
  })
}

/** Words of the statuses that are told. */
const words: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'RESOURCE_EXHAUSTED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  502: 'INTERNAL',
  503: 'UNAVAILABLE',
}

async function expectFailure(
  { status, token, model = models.text, content = 'x' }: Failing,
  config: GenerateContentConfig = {},
): Promise<void> {
  const error = (await thrownBy(() =>
    client(token).models.generateContent({ model, contents: content, config }),
  )) as ApiError
  expect(error).toBeInstanceOf(ApiError)
  expect(error.status).toBe(status)
  const told = JSON.parse(error.message).error
  expect([told.code, told.status]).toEqual([status, words[status]])
  expect(told.message).toMatch(/\(req_[0-9a-f]{32}\)$/)
}

describe('an error', () => {
  test.each([...refusals])('for $what has the status its readers look for', (failing) =>
    expectFailure(failing),
  )

  test('for a search says that there is none', () =>
    expectFailure(
      { what: 'a search', status: 400, code: 'invalid_request' },
      { tools: [{ googleSearch: {} }] },
    ))
})

/** Over every upstream at the same time, because all of it takes time. */
describe('a call over every upstream', () => {
  const slow = '[[sim:delay=900ms]]'
  const overAll = (config: () => GenerateContentConfig, contents: string) =>
    Promise.all(overs.map(({ model }) => thrownBy(() => ask(model, contents, config()))))

  test("ends with the SDK's own time limit, or when its user leaves", async () => {
    const errors = [
      ...(await overAll(() => ({ httpOptions: { timeout: 100 } }), slow)),
      ...(await overAll(() => ({ abortSignal: AbortSignal.timeout(100) }), slow)),
    ]
    for (const error of errors) expect(error).not.toBeInstanceOf(ApiError)
  })

  test.each(tries.slice(0, 2))('is tried again after %s (%s): %d calls', async (_, how, wanted) => {
    const retryOptions = { attempts: 2, initialDelay: 0.01 }
    const calls = await stage.countCalls(() =>
      overAll(() => ({ httpOptions: { retryOptions } }), `[[sim:${how}]]`),
    )
    expect(calls).toBe(wanted * overs.length)
  })
})

test('models are listed with what they can do', async () => {
  const names: string[] = []
  for await (const { name, supportedActions } of await client().models.list()) {
    names.push(name!.replace('models/', ''))
    expect(supportedActions!.length).toBeGreaterThan(0)
  }
  expect(names.sort()).toEqual(modelNames)
  const one = await client().models.get({ model: models.text })
  expect(one.name).toBe(`models/${models.text}`)
})

test('contents become vectors', async () => {
  const { embeddings } = await client().models.embedContent({
    model: models.embedding,
    contents: ['first text', 'second text'],
    config: { outputDimensionality: 8 },
  })
  expect(embeddings!.map(({ values }) => values!.length)).toEqual([8, 8])
})

test('the id of a request is in the headers that the SDK keeps', async () => {
  expect(idOf(await ask(models.text, 'hello'))).toMatch(requestIdShape)
})
