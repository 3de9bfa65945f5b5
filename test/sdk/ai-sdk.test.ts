// The gateway through the AI SDK, by every provider package that fits one of its interfaces, over
// upstreams of every style.
import { describe, expect, test } from 'bun:test'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { type EmbeddingModel, embed, embedMany, generateText, streamText } from 'ai'
import { requestIdShape } from '../support/read.ts'
import { describeObjects } from './ai-objects.ts'
import { describeTools } from './ai-tools.ts'
import { type Asking, compatible, failureOf, settingsOf, type Way, ways } from './ai-ways.ts'
import {
  breaking,
  type Failing,
  refusals,
  statusInMessages,
  tries,
  upstreamFailures,
  withholding,
} from './failures.ts'
import {
  countsReasoning,
  expectPaid,
  models,
  type Over,
  overs,
  picture,
  thrownBy,
  tokens,
  useStage,
} from './stage.ts'

const stage = useStage()

const modelOf = ({ open, base }: Way, model: string, token?: string) =>
  open(settingsOf(stage, token, base), model)

const usual = { maxRetries: 0, maxOutputTokens: 200 }
const idIn = (headers: Record<string, string> | undefined) => headers?.['x-gateway-request-id']

describe.each([...ways])('$way', (way) => {
  describe.each([...overs])('over $wire', (over) => {
    const providerOptions = way.options?.(over) ?? {}
    const asking = () => ({ ...usual, providerOptions, model: modelOf(way, over.model) })
    describeTexts(way, over, asking)
    describeTools(stage, way, over, asking)
    describeObjects(way, asking)

    test.each([...upstreamFailures])('fails for $what, with its status and id', (failing) =>
      expectFailure(way, { model: over.model, ...failing }),
    )
  })

  test.each([...refusals])('fails for $what, with its status and id', (failing) =>
    expectFailure(way, failing),
  )
})

function describeTexts({ used, reasons }: Way, { wire }: Over, asking: Asking): void {
  test('generates a text whose usage is what was charged', async () => {
    const { text, usage, finishReason, response } = await generateText({
      ...asking(),
      system: 'Be brief.',
      prompt: '[[sim:tokens=7]]',
    })
    expect(text).toBeTruthy()
    expect([finishReason, usage.outputTokens]).toEqual(['stop', 7])
    expect(usage.totalTokens).toBe(usage.inputTokens! + 7)
    const paid = { input: usage.inputTokens!, output: usage.outputTokens! }
    expect((await expectPaid(stage, idIn(response.headers), paid)).interface).toBe(used)
  })

  test('streams the same text, with usage and the reason it ended', async () => {
    const asked = { ...asking(), prompt: 'tell me [[sim:tokens=12]]' }
    const whole = await generateText(asked)
    const stream = streamText(asked)
    let said = ''
    for await (const piece of stream.textStream) said += piece
    expect(said).toBe(whole.text)
    expect(await stream.finishReason).toBe('stop')
    const { inputTokens, outputTokens } = await stream.usage
    expect([inputTokens, outputTokens]).toEqual([whole.usage.inputTokens, 12])
    const { headers } = await stream.response
    await expectPaid(stage, idIn(headers), { input: inputTokens!, output: 12 })
  })

  test('says that the limit cut it', async () => {
    const asked = { ...asking(), maxOutputTokens: 16, prompt: '[[sim:tokens=40]]' }
    expect((await generateText(asked)).finishReason).toBe('length')
    expect(await streamText(asked).finishReason).toBe('length')
  })

  test.each([...withholding])('says that it was withheld: %s', async (prompt) => {
    const asked = { ...asking(), prompt }
    expect((await generateText(asked)).finishReason).toBe('content-filter')
    expect(await streamText(asked).finishReason).toBe('content-filter')
  })

  test('looks at a picture', async () => {
    const { text } = await generateText({
      ...asking(),
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
    expect(text).toContain('I saw 1 image')
  })

  test('shows its reasoning where it can, and goes on from it', async () => {
    const user = { role: 'user' as const, content: 'think [[sim:tokens=20]] [[sim:reasoning=12]]' }
    const { providerOptions, ...plain } = asking()
    const asked = {
      ...plain,
      maxOutputTokens: 2_000,
      providerOptions: reasons ?? providerOptions,
    }
    const whole = await generateText({ ...asked, messages: [user] })
    const stream = streamText({ ...asked, messages: [user] })
    for (const answer of [whole, stream]) {
      expect(Boolean(await answer.reasoningText)).toBe(reasons !== undefined)
      const { reasoningTokens = 0 } = (await answer.usage).outputTokenDetails
      expect(reasoningTokens).toBe(countsReasoning(wire) ? 12 : 0)
      const { messages } = await answer.response
      const next = await generateText({ ...asked, messages: [user, ...messages, user] })
      expect(next.text).toBeTruthy()
    }
  })

  test.each(breaking)('reports an error inside a stream after the text (%s)', async (how) => {
    const stream = streamText({
      ...asking(),
      prompt: `[[sim:tokens=30]] [[sim:${how}]]`,
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
}

/** Some providers hand on the error's text, others its object. */
const said = (error: unknown): string =>
  error instanceof Error ? `${error.message} ${String(error.cause)}` : JSON.stringify(error)

async function expectFailure(
  way: Way,
  { status, token, model = models.text, content = 'x' }: Failing,
): Promise<void> {
  const error = await failureOf(() =>
    generateText({ ...usual, model: modelOf(way, model, token), prompt: content }),
  )
  const id = idIn(error.responseHeaders)
  expect(id).toMatch(requestIdShape)
  expect(error.statusCode).toBe(way.used === 'messages' ? statusInMessages(status) : status)
  expect(error.message).toEndWith(`(${id})`)
  expect(error.isRetryable).toBe(status === 429 || status >= 500)
}

/** Over every upstream at the same time, because all of it takes time. */
describe('a call over every upstream', () => {
  const all = ways.flatMap((way) => overs.map(({ model }) => modelOf.bind(null, way, model)))

  test('ends when its user leaves', async () => {
    const errors = await Promise.all(
      all.map((open) =>
        thrownBy(() =>
          generateText({
            model: open(),
            maxRetries: 0,
            prompt: '[[sim:delay=900ms]]',
            abortSignal: AbortSignal.timeout(200),
          }),
        ),
      ),
    )
    for (const error of errors) expect((error as Error).name).toBe('TimeoutError')
  })

  test.each(tries.slice(0, 1))('is tried again after %s (%s): %d calls', async (_, how, wanted) => {
    const calls = await stage.countCalls(() =>
      Promise.all(
        all.map((open) =>
          thrownBy(() => generateText({ model: open(), maxRetries: 1, prompt: `[[sim:${how}]]` })),
        ),
      ),
    )
    expect(calls).toBe(wanted * all.length)
  })
})

test('an answer that is not kept is refused by its id, with the way to send it', async () => {
  const model = createOpenAI(settingsOf(stage))(overs[0]!.model)
  const user = { role: 'user' as const, content: 'hello' }
  const { response } = await generateText({ ...usual, model, messages: [user] })
  const messages = [user, ...response.messages, user]
  const error = await failureOf(() => generateText({ ...usual, model, messages }))
  expect(error.statusCode).toBe(404)
  expect(error.message).toContain("'store': false")
})

test('a token is taken as an auth token, too', async () => {
  const { apiKey: authToken, baseURL } = settingsOf(stage, tokens.usual)
  const model = createAnthropic({ authToken, baseURL })(models.text)
  expect((await generateText({ ...usual, model, prompt: 'hello' })).text).toBeTruthy()
})

describe.each([
  [
    '@ai-sdk/openai-compatible',
    () => compatible(settingsOf(stage)).embeddingModel(models.embedding),
  ],
  ['@ai-sdk/openai', () => createOpenAI(settingsOf(stage)).embeddingModel(models.embedding)],
] as [string, () => EmbeddingModel][])('embeddings of %s', (_, open) => {
  test('of one text cost what they say', async () => {
    const { embedding, usage, response } = await embed({ model: open(), value: 'one' })
    expect(embedding).toHaveLength(1024)
    const paid = { input: usage.tokens, output: 0 }
    const row = await expectPaid(stage, idIn(response?.headers), paid)
    expect(row.interface).toBe('embeddings')
  })

  test('of many texts are those of each', async () => {
    const model = open()
    const { embeddings } = await embedMany({ model, values: ['one', 'two', 'three'] })
    const { embedding } = await embed({ model, value: 'two' })
    expect(embeddings).toHaveLength(3)
    expect(embeddings[1]).toEqual(embedding)
  })
})
