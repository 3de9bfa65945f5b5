// Text through the official `@google/genai` package: answers, streams, tools, thoughts, counts,
// embeddings, conversations and errors.
import { afterAll, describe, expect, spyOn, test } from 'bun:test'
import {
  ApiError,
  FunctionCallingConfigMode,
  type GenerateContentResponse,
  GoogleGenAI,
  Type,
} from '@google/genai'
import { expectPaid, models, picture, thrownBy, tokens, useStage } from './stage.ts'

const stage = useStage()
const warn = spyOn(console, 'warn').mockImplementation(() => {})
afterAll(() => warn.mockRestore())

const client = (apiKey = tokens.usual) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: `${stage.gateway.url}/vendorg` } })

const idOf = ({ sdkHttpResponse }: Pick<GenerateContentResponse, 'sdkHttpResponse'>) =>
  sdkHttpResponse?.headers?.['x-gateway-request-id']

const usageOf = ({ usageMetadata: used }: GenerateContentResponse) => ({
  input: used!.promptTokenCount!,
  output: (used!.candidatesTokenCount ?? 0) + (used!.thoughtsTokenCount ?? 0),
  cacheRead: used!.cachedContentTokenCount ?? 0,
})

const weather = {
  name: 'weather',
  description: 'The weather of a city.',
  parameters: {
    type: Type.OBJECT,
    properties: { city: { type: Type.STRING } },
    required: ['city'],
  },
}

describe('answers', () => {
  test('come whole and are paid for', async () => {
    const answer = await client().models.generateContent({
      model: models.text,
      contents: 'hello [[sim:tokens=7]]',
      config: { systemInstruction: 'Be brief.', maxOutputTokens: 50 },
    })
    expect(answer.text!.length).toBeGreaterThan(0)
    expect(answer.modelVersion).toBe(models.text)
    expect(answer.candidates?.[0]?.finishReason).toBe('STOP' as never)
    await expectPaid(stage, idOf(answer), usageOf(answer))
  })

  test('look at a picture', async () => {
    const answer = await client().models.generateContent({
      model: models.vision,
      contents: [{ inlineData: { mimeType: 'image/png', data: picture } }, 'what is this?'],
    })
    expect(answer.text).toContain('I saw 1 image')
  })

  test('show their thoughts on request, which are paid for beside the text', async () => {
    const answer = await client().models.generateContent({
      model: models.text,
      contents: 'think [[sim:tokens=20]] [[sim:reasoning=12]]',
      config: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1_024 } },
    })
    const parts = answer.candidates![0]!.content!.parts!
    expect(parts.map(({ thought }) => thought === true)).toEqual([true, false])
    expect(answer.usageMetadata).toMatchObject({ candidatesTokenCount: 8, thoughtsTokenCount: 12 })
    await expectPaid(stage, idOf(answer), usageOf(answer))
  })

  test('stop at the limit', async () => {
    const answer = await client().models.generateContent({
      model: models.text,
      contents: '[[sim:tokens=50]]',
      config: { maxOutputTokens: 4 },
    })
    expect(answer.candidates?.[0]?.finishReason).toBe('MAX_TOKENS' as never)
  })

  test('are JSON where that is asked for', async () => {
    const answer = await client().models.generateContent({
      model: models.text,
      contents: 'an object, please',
      config: { responseMimeType: 'application/json' },
    })
    expect(() => JSON.parse(answer.text!)).not.toThrow()
    const fitting = await client().models.generateContent({
      model: models.text,
      contents: 'the weather, please',
      config: { responseMimeType: 'application/json', responseSchema: weather.parameters },
    })
    expect(JSON.parse(fitting.text!)).toEqual({ city: 'sandbox' })
  })
})

describe('tools', () => {
  test('are called, answered and lead to a text', async () => {
    const config = {
      tools: [{ functionDeclarations: [weather] }],
      toolConfig: {
        functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO },
      },
    }
    const question = { role: 'user', parts: [{ text: 'weather? [[sim:tool=weather]]' }] }
    const first = await client().models.generateContent({
      model: models.text,
      contents: [question],
      config,
    })
    const [call] = first.functionCalls!
    expect(call).toMatchObject({ name: 'weather', args: { city: 'sandbox' } })
    await expectPaid(stage, idOf(first), usageOf(first))
    const result = { id: call!.id!, name: call!.name!, response: { output: 'sunny' } }
    const second = await client().models.generateContent({
      model: models.text,
      contents: [
        question,
        first.candidates![0]!.content!,
        { role: 'user', parts: [{ functionResponse: result }] },
      ],
      config,
    })
    expect(second.functionCalls).toBeUndefined()
    expect(second.text!.length).toBeGreaterThan(0)
  })

  test('can be demanded, also in a stream', async () => {
    const stream = await client().models.generateContentStream({
      model: models.text,
      contents: 'weather?',
      config: {
        tools: [{ functionDeclarations: [weather] }],
        toolConfig: {
          functionCallingConfig: {
            mode: FunctionCallingConfigMode.ANY,
            allowedFunctionNames: ['weather'],
          },
        },
      },
    })
    const calls = []
    for await (const chunk of stream) calls.push(...(chunk.functionCalls ?? []))
    expect(calls).toMatchObject([{ name: 'weather', args: { city: 'sandbox' } }])
  })
})

describe('streams', () => {
  test('have the text of the whole answer and are paid for', async () => {
    const request = { model: models.text, contents: 'tell me [[sim:tokens=15]]' }
    const whole = await client().models.generateContent(request)
    let text = ''
    let last: GenerateContentResponse | undefined
    for await (const chunk of await client().models.generateContentStream(request)) {
      text += chunk.text ?? ''
      last = chunk
    }
    expect(text).toBe(whole.text!)
    expect(last!.candidates?.[0]?.finishReason).toBe('STOP' as never)
    await expectPaid(stage, idOf(last!), { ...usageOf(whole) })
  })

  test('that break end with an error of the SDK', async () => {
    const error = await thrownBy(async () => {
      const stream = await client().models.generateContentStream({
        model: models.text,
        contents: '[[sim:tokens=9]] [[sim:cut=3]]',
      })
      for await (const _ of stream);
    })
    expect(error).toBeInstanceOf(ApiError)
    expect((error as ApiError).status).toBe(502)
  })

  test('carry a conversation', async () => {
    const chat = client().chats.create({ model: models.text })
    const first = await chat.sendMessage({ message: 'hello [[sim:tokens=5]]' })
    let text = ''
    for await (const chunk of await chat.sendMessageStream({ message: 'and again' })) {
      text += chunk.text ?? ''
    }
    expect(first.text!.length * text.length).toBeGreaterThan(0)
    const roles = chat.getHistory().map(({ role }) => role)
    expect(roles.slice(0, 4)).toEqual(['user', 'model', 'user', 'model'])
  })
})

test('tokens are counted beforehand as they are counted afterwards', async () => {
  const contents = 'how long is this?'
  const { totalTokens } = await client().models.countTokens({ model: models.text, contents })
  const answer = await client().models.generateContent({ model: models.text, contents })
  expect(totalTokens).toBe(answer.usageMetadata!.promptTokenCount!)
})

test('contents become vectors', async () => {
  const { embeddings } = await client().models.embedContent({
    model: models.embedding,
    contents: ['first text', 'second text'],
    config: { outputDimensionality: 8 },
  })
  expect(embeddings!.map(({ values }) => values!.length)).toEqual([8, 8])
})

describe('an error', () => {
  test.each([
    ['a wrong token', tokens.unknown, {}, 401, 'UNAUTHENTICATED'],
    ['another address', tokens.elsewhere, {}, 403, 'PERMISSION_DENIED'],
    ['an empty account', tokens.broke, {}, 402, 'RESOURCE_EXHAUSTED'],
    ['an unknown model', tokens.usual, { model: 'nobody' }, 404, 'NOT_FOUND'],
    [
      'a search',
      tokens.usual,
      { config: { tools: [{ googleSearch: {} }] } },
      400,
      'INVALID_ARGUMENT',
    ],
  ] as const)(
    'for %s has the status its readers look for',
    async (_, token, more, status, word) => {
      const error = await thrownBy(() =>
        client(token).models.generateContent({
          model: models.text,
          contents: 'hi',
          ...more,
        } as never),
      )
      expect(error).toBeInstanceOf(ApiError)
      expect((error as ApiError).status).toBe(status)
      expect(JSON.parse((error as ApiError).message).error).toMatchObject({
        code: status,
        status: word,
      })
    },
  )
})
