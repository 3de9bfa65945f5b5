// The gateway through LangChain: chat models of both vendors' packages over upstreams of every style,
// and embeddings.
import { describe, expect, test } from 'bun:test'
import { ChatAnthropic } from '@langchain/anthropic'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import {
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
  type UsageMetadata,
} from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { z } from 'zod'
import type { Interface } from '../../src/contract/catalog.ts'
import { listAll, type RequestRow, requestIdShape } from '../support/read.ts'
import { type Failing, refusals, statusInMessages, upstreamFailures } from './failures.ts'
import {
  expectLoop,
  expectPaid,
  models,
  overs,
  pictureUri,
  report,
  thrownBy,
  tokens,
  toolLoops,
  useStage,
  weather,
  weatherIn,
} from './stage.ts'

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
async function newestRequest(model: string): Promise<RequestRow> {
  const { body } = await stage.gateway.admin('GET', `/requests?model=${model}&limit=1`)
  return (body as { items: RequestRow[] }).items[0]!
}

const usageOf = (message: { usage_metadata?: unknown }): UsageMetadata =>
  message.usage_metadata as UsageMetadata

const weatherTool = tool(async ({ city }) => weatherIn(city), {
  name: weather.name,
  description: weather.description,
  schema: z.object({ city: z.string() }),
})

const pairs = ways.flatMap((way) => overs.map((over) => ({ ...way, ...over })))

describe.each(pairs)('$way over $wire', ({ used, wire, model, ...way }) => {
  const open = (options: Options = {}) => way.open({ model, ...options })

  test('answers, and its usage is what was charged', async () => {
    const answer = await open().invoke('[[sim:tokens=7]]')
    expect(answer.text).toBeTruthy()
    const { input_tokens: input, output_tokens: output } = usageOf(answer)
    expect(output).toBe(7)
    const { request_id } = await newestRequest(model)
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
    const exact = usageOf(whole).input_tokens
    // Of a messages stream it takes the count at the start, which is an estimate after translation.
    if (used !== 'messages' || wire === 'messages') expect(input).toBe(exact)
    await expectPaid(stage, (await newestRequest(model)).request_id, { input: exact, output })
  })

  test('calls tools and reads their results', async () => {
    const bound = open().bindTools([weatherTool])
    const messages: BaseMessage[] = [new HumanMessage(toolLoops[0])]
    const cities: string[] = []
    for (;;) {
      const answer = await bound.invoke(messages)
      if (!answer.tool_calls?.length) return expectLoop(cities, answer.text)
      messages.push(answer)
      for (const { id, args } of answer.tool_calls) {
        cities.push(args['city'])
        const content = weatherIn(args['city'])
        messages.push(new ToolMessage({ content, tool_call_id: id! }))
      }
    }
  })

  test('looks at a picture', async () => {
    const answer = await open().invoke([
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
    const chat: BaseChatModel = open()
    const given = await chat.withStructuredOutput(report).invoke('a report please')
    expect(given).toEqual(report.parse(given))
  })

  test.each([...upstreamFailures])('fails for $what with the request id', (failing) => {
    const status = used === 'messages' ? statusInMessages(failing.status) : failing.status
    return expectFailure(open, { ...failing, status })
  })

  test('fails when its stream breaks', async () => {
    let text = ''
    const error = await thrownBy(async () => {
      const stream = await open().stream('[[sim:tokens=30]] [[sim:cut=12]]')
      for await (const chunk of stream) text += chunk.text
    })
    expect(text).not.toBe('')
    expect((error as Error).message).toMatch(/req_[0-9a-f]{32}/)
  })
})

describe.each(ways)('$way', ({ open }) => {
  test.each([...refusals])('fails for $what with $status and the request id', (failing) =>
    expectFailure(open, failing),
  )

  test('tries again by itself, over every upstream', async () => {
    const calls = await stage.countCalls(() =>
      Promise.all(
        overs.map(({ model }) =>
          thrownBy(() => open({ model, maxRetries: 1 }).invoke('[[sim:status=503]]')),
        ),
      ),
    )
    expect(calls).toBe(2 * overs.length)
  })
})

async function expectFailure(
  open: Way['open'],
  { status, token, model, content = 'x' }: Failing,
): Promise<void> {
  const options = { ...(token && { apiKey: token }), ...(model && { model }) }
  const error = (await thrownBy(() => open(options).invoke(content))) as FailedCall
  expect(error).toBeInstanceOf(Error)
  expect(error.status).toBe(status)
  expect(error.message).toMatch(/\(req_[0-9a-f]{32}\)/)
  if (error.requestID !== undefined) expect(error.requestID).toMatch(requestIdShape)
}

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
