// The gateway through LangChain: chat models of both vendors' packages, and embeddings.
import { describe, expect, test } from 'bun:test'
import { ChatAnthropic } from '@langchain/anthropic'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import {
  type AIMessageChunk,
  HumanMessage,
  ToolMessage,
  type UsageMetadata,
} from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { z } from 'zod'
import type { Interface } from '../../src/contract/catalog.ts'
import { listAll, type RequestRow, requestIdShape } from '../support/read.ts'
import { expectPaid, models, pictureUri, thrownBy, tokens, useStage } from './stage.ts'

const stage = useStage()

interface Options {
  model?: string
  apiKey?: string
  maxRetries?: number
}

const usual = { maxRetries: 0, model: models.text, apiKey: tokens.usual }
const openAi = (options: Options, useResponsesApi: boolean) =>
  new ChatOpenAI({
    ...usual,
    useResponsesApi,
    maxTokens: 200,
    configuration: { baseURL: `${stage.gateway.url}/v1` },
    ...options,
  })

interface Way {
  way: string
  used: Interface
  open(options?: Options): ChatOpenAI | ChatAnthropic
}

const ways: Way[] = [
  { way: 'ChatOpenAI', used: 'chat', open: (options = {}) => openAi(options, false) },
  {
    way: 'ChatOpenAI over responses',
    used: 'responses',
    open: (options = {}) => openAi(options, true),
  },
  {
    way: 'ChatAnthropic',
    used: 'messages',
    open: (options = {}) =>
      new ChatAnthropic({
        ...usual,
        maxTokens: 200,
        anthropicApiUrl: stage.gateway.url,
        ...options,
      }),
  },
]

/** LangChain shows no headers, so the newest row is taken. */
async function newestRequest(): Promise<RequestRow> {
  const { body } = await stage.gateway.admin('GET', '/requests?limit=1')
  return (body as { items: RequestRow[] }).items[0]!
}

const usageOf = (message: { usage_metadata?: unknown }): UsageMetadata =>
  message.usage_metadata as UsageMetadata

const weather = tool(async () => 'sunny', {
  name: 'weather',
  description: 'How the weather is in a city',
  schema: z.object({ city: z.string() }),
})

describe.each(ways)('$way', ({ used, open }) => {
  test('answers, and its usage is what was charged', async () => {
    const answer = await open().invoke('[[sim:tokens=7]]')
    expect(answer.text).toBeTruthy()
    const { input_tokens: input, output_tokens: output } = usageOf(answer)
    expect(output).toBe(7)
    const { request_id } = await newestRequest()
    expect((await expectPaid(stage, request_id, { input, output })).interface).toBe(used)
  })

  test('streams its text with usage', async () => {
    const prompt = 'tell me [[sim:tokens=12]]'
    const whole = await open().invoke(prompt)
    let gathered: AIMessageChunk | undefined
    const pieces: string[] = []
    for await (const chunk of await open().stream(prompt)) {
      if (chunk.text !== '') pieces.push(chunk.text)
      gathered = gathered === undefined ? chunk : gathered.concat(chunk)
    }
    expect(pieces).toHaveLength(12)
    expect(gathered?.text).toBe(pieces.join(''))
    const { input_tokens: input, output_tokens: output } = usageOf(gathered!)
    expect(output).toBe(12)
    expect(input).toBe(usageOf(whole).input_tokens)
    await expectPaid(stage, (await newestRequest()).request_id, { input, output })
  })

  test('calls a tool and reads its result', async () => {
    const model = open().bindTools([weather])
    const question = new HumanMessage('how is the weather? [[sim:tool]]')
    const asked = await model.invoke([question])
    const [call] = asked.tool_calls ?? []
    expect([call?.name, call?.args]).toEqual(['weather', { city: 'sandbox' }])
    const result = new ToolMessage({ content: 'sunny', tool_call_id: call!.id! })
    const told = await model.invoke([question, asked, result])
    expect(told.tool_calls).toEqual([])
    expect(told.text).toBeTruthy()
  })

  test('looks at a picture', async () => {
    const answer = await open({ model: models.vision }).invoke([
      new HumanMessage({
        content: [
          { type: 'text', text: 'what is this?' },
          { type: 'image_url', image_url: { url: pictureUri } },
        ],
      }),
    ])
    expect(answer.text).toContain('I saw 1 image')
  })

  test('gives an object of a schema', async () => {
    const schema = z.object({ answer: z.string() })
    const model: BaseChatModel = open()
    const given = await model.withStructuredOutput(schema).invoke('an object please')
    expect(given.answer).toBeTruthy()
  })

  const failing: [string, number, Options, string][] = [
    ['an unknown token', 401, { apiKey: tokens.unknown }, 'x'],
    ['an empty account', 402, { apiKey: tokens.broke }, 'x'],
    ['an unknown model', 404, { model: 'nope' }, 'x'],
    ['refused content', 400, {}, '[[sim:fail=content_policy]]'],
    ['a rate limit', 429, {}, '[[sim:status=429]]'],
    ['an upstream that fails', 502, {}, '[[sim:status=500]]'],
  ]
  test.each(failing)(
    'fails for %s with %d and the request id',
    async (_, status, options, text) => {
      const error = (await thrownBy(() => open(options).invoke(text))) as FailedCall
      expect(error).toBeInstanceOf(Error)
      expect(error.status).toBe(status)
      expect(error.message).toMatch(/\(req_[0-9a-f]{32}\)/)
      if (error.requestID !== undefined) expect(error.requestID).toMatch(requestIdShape)
    },
  )

  test('fails when its stream breaks', async () => {
    let text = ''
    const error = await thrownBy(async () => {
      const stream = await open().stream('[[sim:tokens=30]] [[sim:cut=12]]')
      for await (const chunk of stream) text += chunk.text
    })
    expect(text).not.toBe('')
    expect((error as Error).message).toMatch(/req_[0-9a-f]{32}/)
  })

  test('tries again by itself', async () => {
    const model = open({ maxRetries: 1 })
    const calls = await stage.countCalls(() => thrownBy(() => model.invoke('[[sim:status=503]]')))
    expect(calls).toBe(2)
  })
})

interface FailedCall extends Error {
  status: number
  requestID?: string
}

describe('OpenAIEmbeddings', () => {
  const open = (dimensions?: number) =>
    new OpenAIEmbeddings({
      apiKey: tokens.usual,
      model: models.embedding,
      maxRetries: 0,
      configuration: { baseURL: `${stage.gateway.url}/v1` },
      ...(dimensions !== undefined && { dimensions }),
    })

  test('embeds a query and documents alike', async () => {
    const documents = await open().embedDocuments(['one', 'two'])
    expect(documents.map(({ length }) => length)).toEqual([1024, 1024])
    expect(await open().embedQuery('two')).toEqual(documents[1]!)
  })

  test('takes a number of dimensions, and is charged', async () => {
    expect(await open(64).embedQuery('three')).toHaveLength(64)
    const [row] = await listAll<RequestRow>(stage.gateway, `/requests?model=${models.embedding}`)
    expect(row?.interface).toBe('embeddings')
    await expectPaid(stage, row!.request_id, { input: row!.usage!.input_tokens, output: 0 })
  })
})
