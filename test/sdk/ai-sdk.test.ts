// The gateway through the AI SDK, by every provider package that fits one of its interfaces.
import { describe, expect, test } from 'bun:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  APICallError,
  type EmbeddingModel,
  embed,
  embedMany,
  generateText,
  isStepCount,
  type LanguageModel,
  Output,
  streamText,
  tool,
} from 'ai'
import { z } from 'zod'
import type { Interface } from '../../src/contract/catalog.ts'
import { requestIdShape } from '../support/read.ts'
import { expectPaid, models, picture, thrownBy, tokens, useStage } from './stage.ts'

const stage = useStage()

interface Settings {
  apiKey: string
  baseURL: string
}

const settings = (apiKey = tokens.usual): Settings => ({
  apiKey,
  baseURL: `${stage.gateway.url}/v1`,
})

const compatible = (given: Settings) =>
  createOpenAICompatible({
    name: 'gateway',
    includeUsage: true,
    supportsStructuredOutputs: true,
    ...given,
  })

interface Way {
  way: string
  used: Interface
  open(given: Settings, model: string): LanguageModel
}

const ways: Way[] = [
  {
    way: '@ai-sdk/openai-compatible',
    used: 'chat',
    open: (given, model) => compatible(given)(model),
  },
  {
    way: '@ai-sdk/openai',
    used: 'responses',
    open: (given, model) => createOpenAI(given)(model),
  },
  {
    way: '@ai-sdk/openai, chat',
    used: 'chat',
    open: (given, model) => createOpenAI(given).chat(model),
  },
  {
    way: '@ai-sdk/anthropic',
    used: 'messages',
    open: (given, model) => createAnthropic(given)(model),
  },
  {
    way: '@ai-sdk/anthropic, auth token',
    used: 'messages',
    open: ({ apiKey, baseURL }, model) => createAnthropic({ authToken: apiKey, baseURL })(model),
  },
]

const usual = { maxRetries: 0, maxOutputTokens: 200 }

/** The error of a call that must fail, as this SDK has it. */
async function failureOf(work: () => unknown): Promise<APICallError> {
  const error = await thrownBy(work)
  if (APICallError.isInstance(error)) return error
  throw error
}

describe.each(ways)('$way', ({ used, open }) => {
  const text = (apiKey?: string) => open(settings(apiKey), models.text)

  test('generates a text whose usage is what was charged', async () => {
    const {
      text: said,
      usage,
      finishReason,
      response,
    } = await generateText({
      ...usual,
      model: text(),
      prompt: '[[sim:tokens=7]]',
    })
    expect(said).toBeTruthy()
    expect([finishReason, usage.outputTokens]).toEqual(['stop', 7])
    const row = await expectPaid(stage, response.headers?.['x-request-id'], {
      input: usage.inputTokens!,
      output: usage.outputTokens!,
    })
    expect(row.interface).toBe(used)
  })

  test('streams the same text, with usage and the reason it ended', async () => {
    const asked = { ...usual, model: text(), prompt: 'tell me [[sim:tokens=12]]' }
    const whole = await generateText(asked)
    const stream = streamText(asked)
    let said = ''
    for await (const piece of stream.textStream) said += piece
    expect(said).toBe(whole.text)
    expect(await stream.finishReason).toBe('stop')
    const { inputTokens, outputTokens } = await stream.usage
    expect([inputTokens, outputTokens]).toEqual([whole.usage.inputTokens, 12])
    const { headers } = await stream.response
    await expectPaid(stage, headers?.['x-request-id'], { input: inputTokens!, output: 12 })
  })

  const asksForTools = () => {
    const cities: string[] = []
    const weather = tool({
      description: 'How the weather is in a city',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => {
        cities.push(city)
        return 'sunny'
      },
    })
    const asked = {
      ...usual,
      model: text(),
      tools: { weather },
      stopWhen: isStepCount(3),
      prompt: 'how is the weather? [[sim:tool]]',
    }
    return { asked, cities }
  }

  test('runs a tool and answers with its result', async () => {
    const { asked, cities } = asksForTools()
    const { text: said, steps } = await generateText(asked)
    expect(cities).toEqual(['sandbox'])
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop'])
    expect(said).toBeTruthy()
  })

  test('runs a tool in a stream', async () => {
    const { asked, cities } = asksForTools()
    const stream = streamText(asked)
    expect(await stream.text).toBeTruthy()
    expect(cities).toEqual(['sandbox'])
    expect(await stream.finishReason).toBe('stop')
  })

  test('looks at a picture', async () => {
    const { text: said } = await generateText({
      ...usual,
      model: open(settings(), models.vision),
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'what is this?' },
            { type: 'file', mediaType: 'image/png', data: picture },
          ],
        },
      ],
    })
    expect(said).toContain('I saw 1 image')
  })

  test('gives an object of a schema', async () => {
    const { output } = await generateText({
      ...usual,
      model: text(),
      output: Output.object({ schema: z.object({ answer: z.string() }) }),
      prompt: 'an object please',
    })
    expect(output.answer).toBeTruthy()
  })

  const failing: [string, number, string, string][] = [
    ['an unknown token', 401, tokens.unknown, 'x'],
    ['an empty account', 402, tokens.broke, 'x'],
    ['refused content', 400, tokens.usual, '[[sim:fail=content_policy]]'],
    ['a rate limit', 429, tokens.usual, '[[sim:status=429]]'],
    ['an upstream that fails', 502, tokens.usual, '[[sim:status=500]]'],
  ]
  test.each(failing)('fails for %s with %d and the request id', async (_, status, key, prompt) => {
    const error = await failureOf(() => generateText({ ...usual, model: text(key), prompt }))
    const id = error.responseHeaders?.['x-request-id']
    expect(id).toMatch(requestIdShape)
    expect(error.statusCode).toBe(status)
    expect(error.message).toEndWith(`(${id})`)
    expect(error.isRetryable).toBe(status === 429 || status >= 500)
  })

  test('fails for an unknown model', async () => {
    const error = await failureOf(() =>
      generateText({ ...usual, model: open(settings(), 'nope'), prompt: 'x' }),
    )
    expect(error.statusCode).toBe(404)
    expect(error.message).toStartWith("model 'nope'")
  })

  test('reports an error inside a stream after the text before it', async () => {
    const stream = streamText({
      ...usual,
      model: text(),
      prompt: '[[sim:tokens=30]] [[sim:cut=12]]',
      onError: () => {},
    })
    const parts: string[] = []
    let wrong: unknown
    for await (const part of stream.fullStream) {
      parts.push(part.type)
      if (part.type === 'error') wrong = part.error
    }
    expect(parts).toContain('text-delta')
    expect(parts.indexOf('error')).toBeGreaterThan(parts.lastIndexOf('text-delta'))
    expect(said(wrong)).toMatch(/req_[0-9a-f]{32}/)
  })
})

/** Some providers hand on the error's text, others its object. */
const said = (error: unknown): string =>
  error instanceof Error ? `${error.message} ${String(error.cause)}` : JSON.stringify(error)

describe('retries', () => {
  test('after a failure ask once more when one is allowed', async () => {
    const model = compatible(settings())(models.text)
    const calls = await stage.countCalls(() =>
      thrownBy(() => generateText({ model, maxRetries: 1, prompt: '[[sim:status=429]]' })),
    )
    expect(calls).toBe(2)
  })
})

describe.each([
  ['@ai-sdk/openai-compatible', () => compatible(settings()).embeddingModel(models.embedding)],
  ['@ai-sdk/openai', () => createOpenAI(settings()).embeddingModel(models.embedding)],
] as [string, () => EmbeddingModel][])('embeddings of %s', (_, open) => {
  test('of one text cost what they say', async () => {
    const { embedding, usage, response } = await embed({ model: open(), value: 'one' })
    expect(embedding).toHaveLength(1024)
    const paid = { input: usage.tokens, output: 0 }
    const id = response?.headers?.['x-request-id']
    expect((await expectPaid(stage, id, paid)).interface).toBe('embeddings')
  })

  test('of many texts are those of each', async () => {
    const model = open()
    const { embeddings } = await embedMany({ model, values: ['one', 'two', 'three'] })
    const { embedding } = await embed({ model, value: 'two' })
    expect(embeddings).toHaveLength(3)
    expect(embeddings[1]).toEqual(embedding)
  })
})
