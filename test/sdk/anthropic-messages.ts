// What users of the `@anthropic-ai/sdk` package do with messages and the list of models.
import { describe, expect, test } from 'bun:test'
import type { ContentBlock, Message } from '@anthropic-ai/sdk/resources/messages'
import { requestIdShape, rowOf } from '../support/read.ts'
import { type AnthropicPackage, asking, clientOf, failureOf } from './anthropic-client.ts'
import { withholding } from './failures.ts'
import {
  expectPaid,
  modelNames,
  models,
  type Over,
  picture,
  report,
  type SeenUsage,
  type Stage,
  tokens,
} from './stage.ts'

export const textIn = (content: readonly ContentBlock[]): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('')

/** What is read from and written to a cache is counted beside the rest. */
function paidFor({ usage }: Pick<Message, 'usage'>): SeenUsage {
  const cacheRead = usage.cache_read_input_tokens ?? 0
  const cacheWrite = usage.cache_creation_input_tokens ?? 0
  const input = usage.input_tokens + cacheRead + cacheWrite
  return { input, output: usage.output_tokens, cacheRead, cacheWrite }
}

export function describeMessages(sdk: AnthropicPackage, stage: Stage, over: Over): void {
  describe('messages', () => {
    describeAnswers(sdk, stage, over)
    describeObjects(sdk, stage, over)
    describeThinking(sdk, stage, over)
    describeStreams(sdk, stage, over)
    describeCounts(sdk, stage, over)
    describeCache(sdk, stage, over)
  })
}

function describeAnswers(sdk: AnthropicPackage, stage: Stage, { model }: Over): void {
  const credentials: [string, ConstructorParameters<AnthropicPackage['Anthropic']>[0]][] = [
    ['an API key', { apiKey: tokens.usual }],
    ['an auth token', { apiKey: null, authToken: tokens.usual }],
  ]
  test.each(credentials)('are answered to %s, and cost what they say', async (_, options) => {
    const answer = await clientOf(sdk, stage, options).messages.create(
      asking('[[sim:tokens=5]]', model),
    )
    expect([answer.type, answer.role, answer.model]).toEqual(['message', 'assistant', model])
    expect(answer.stop_reason).toBe('end_turn')
    expect(textIn(answer.content)).toBeTruthy()
    expect(answer.usage.output_tokens).toBe(5)
    const row = await expectPaid(stage, answer._request_id, paidFor(answer))
    expect(row.interface).toBe('messages')
  })

  test('look at a picture', async () => {
    const answer = await clientOf(sdk, stage).messages.create({
      model,
      max_tokens: 100,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: picture } },
            { type: 'text', text: 'what is this?' },
          ],
        },
      ],
    })
    expect(textIn(answer.content)).toContain('I saw 1 image')
  })

  test('say that the limit cut them', async () => {
    const request = { ...asking('[[sim:tokens=40]]', model), max_tokens: 16 }
    const client = clientOf(sdk, stage)
    expect((await client.messages.create(request)).stop_reason).toBe('max_tokens')
    const streamed = await client.messages.stream(request).finalMessage()
    expect(streamed.stop_reason).toBe('max_tokens')
  })

  test.each([...withholding])('say that they were withheld: %s', async (content) => {
    const { messages } = clientOf(sdk, stage)
    expect((await messages.create(asking(content, model))).stop_reason).toBe('refusal')
    const streamed = await messages.stream(asking(content, model)).finalMessage()
    expect(streamed.stop_reason).toBe('refusal')
  })

  test('stream with betas too', async () => {
    const final = await clientOf(sdk, stage)
      .beta.messages.stream({
        ...asking('[[sim:tokens=5]]', model),
        betas: ['unheard-of-2031-01-01'],
      })
      .finalMessage()
    expect(final.usage.output_tokens).toBe(5)
  })
}

function describeObjects(sdk: AnthropicPackage, stage: Stage, { model }: Over): void {
  test("are an object of a schema, parsed by the SDK's own helper", async () => {
    const client = clientOf(sdk, stage)
    const format = sdk.zod.zodOutputFormat(report)
    const request = { ...asking('a report please', model), output_config: { format } }
    const whole = await client.messages.parse(request)
    expect(whole.parsed_output).toEqual(report.parse(JSON.parse(textIn(whole.content))))
    const stream = client.messages.stream(request)
    const streamed = await stream.finalMessage()
    expect(streamed.parsed_output).toEqual(whole.parsed_output)
    await expectPaid(stage, stream.request_id, paidFor(streamed))
  })
}

function describeThinking(sdk: AnthropicPackage, stage: Stage, { model }: Over): void {
  test('show their thinking, and go on from it', async () => {
    const client = clientOf(sdk, stage)
    const request = {
      ...asking('think [[sim:reasoning=12]]', model),
      max_tokens: 2_000,
      thinking: { type: 'enabled' as const, budget_tokens: 1_024 },
    }
    const whole = await client.messages.create(request)
    const stream = client.messages.stream(request)
    let seen = ''
    stream.on('thinking', (piece) => {
      seen += piece
    })
    const streamed = await stream.finalMessage()
    for (const { content } of [whole, streamed]) {
      expect(content.map(({ type }) => type)).toEqual(['thinking', 'text'])
      const [thought] = content
      expect(thought?.type === 'thinking' && thought.thinking).toBe(seen)
      expect(thought?.type === 'thinking' && typeof thought.signature).toBe('string')
      const next = await client.messages.create({
        ...request,
        messages: [
          ...request.messages,
          { role: 'assistant', content },
          ...asking('and then? [[sim:tokens=20]]').messages,
        ],
      })
      expect(next.stop_reason).toBe('end_turn')
    }
  })
}

function describeStreams(sdk: AnthropicPackage, stage: Stage, { model }: Over): void {
  test('stream to the same final message as without a stream', async () => {
    const client = clientOf(sdk, stage)
    const request = asking('tell me [[sim:tokens=12]] [[sim:reasoning=4]]', model)
    const whole = await client.messages.create(request)
    const stream = client.messages.stream(request)
    const types: string[] = []
    for await (const { type } of stream) types.push(type)
    const final = await stream.finalMessage()
    expect([types[0], types.at(-1)]).toEqual(['message_start', 'message_stop'])
    expect(textIn(final.content as ContentBlock[])).toBe(textIn(whole.content))
    const kinds = (content: readonly { type: string }[]) => content.map(({ type }) => type)
    expect(kinds(final.content)).toEqual(kinds(whole.content))
    expect(final.stop_reason).toBe('end_turn')
    expect(final.usage.output_tokens).toBe(12)
    await expectPaid(stage, stream.request_id, paidFor(final))
  })
}

function describeCounts(sdk: AnthropicPackage, stage: Stage, { model, wire }: Over): void {
  /** Upstreams of the other styles do not count; the gateway estimates. */
  const isExact = wire === 'messages'
  const betas = ['unheard-of-2031-01-01']

  test('are counted beforehand, also with betas', async () => {
    const client = clientOf(sdk, stage)
    const { max_tokens, ...request } = asking('how long is this?', model)
    const countable = { ...request, system: 'Be brief.' }
    const counted = await client.messages.countTokens(countable)
    const beta = await client.beta.messages.countTokens({ ...countable, betas })
    expect(beta.input_tokens).toBe(counted.input_tokens)
    const answer = await client.messages.create({ ...countable, max_tokens })
    if (isExact) expect(counted.input_tokens).toBe(answer.usage.input_tokens)
    expect(counted.input_tokens).toBeGreaterThan(0)
  })
}

function describeCache(sdk: AnthropicPackage, stage: Stage, { model, wire }: Over): void {
  const marked = () => ({
    ...asking('[[sim:tokens=5]]', model),
    system: [
      {
        type: 'text' as const,
        text: `Answer as version ${sdk.Anthropic.name} ${crypto.randomUUID()} would.`,
        cache_control: { type: 'ephemeral' as const },
      },
    ],
  })

  if (wire !== 'messages') {
    test('say that a mark for the cache was left out', async () => {
      const { data, request_id } = await clientOf(sdk, stage)
        .messages.create(marked())
        .withResponse()
      expect(data.usage.cache_creation_input_tokens).toBe(0)
      const row = await rowOf(stage.gateway, request_id!)
      expect(row.translation_losses).toEqual(['cache_control'])
    })
    return
  }
  test('are cached up to a mark: written once, read afterwards, both paid for', async () => {
    const client = clientOf(sdk, stage)
    const request = marked()
    for (const kept of ['cacheWrite', 'cacheRead'] as const) {
      const answer = await client.messages.create(request)
      const seen = paidFor(answer)
      expect(seen.cacheWrite! > 0).toBe(kept === 'cacheWrite')
      expect(seen.cacheRead! > 0).toBe(kept === 'cacheRead')
      await expectPaid(stage, answer._request_id, seen)
    }
  })
}

/** What is the same whatever the upstream speaks, or concerns upstreams of this style only. */
export function describeRest(sdk: AnthropicPackage, stage: Stage): void {
  test('betas nobody has heard of reach the upstream', async () => {
    const betas = ['unheard-of-2031-01-01', 'stranger-still-2032-02-02']
    const client = clientOf(sdk, stage)
    const answer = await client.beta.messages.create({ ...asking('hi', models.recorded), betas })
    expect(answer.content[0]).toMatchObject({ type: 'text', text: 'Noted.' })
    const { headers, path } = stage.recorded.calls.at(-1)!
    expect(path).toBe('/v1/messages')
    expect(headers.get('anthropic-beta')?.split(',')).toEqual(betas)
    expect(headers.get('anthropic-version')).toMatch(/^\d{4}-\d\d-\d\d$/)
  })

  describe('models', () => {
    test('are listed and looked up', async () => {
      const client = clientOf(sdk, stage)
      const ids: string[] = []
      for await (const listed of client.models.list({ limit: 1000 })) ids.push(listed.id)
      expect(ids).toEqual(modelNames)
      const one = await client.models.retrieve(models.text)
      expect([one.id, one.type]).toEqual([models.text, 'model'])
      expect(one.display_name).toBeTruthy()
      expect(Date.parse(one.created_at)).toBeGreaterThan(0)
      const { data } = await client.beta.models.list({ betas: ['unheard-of-2031-01-01'] })
      expect(data.map(({ id }) => id)).toContain(models.text)
    })

    test('that are unknown are a NotFoundError', async () => {
      const error = await failureOf(sdk, () => clientOf(sdk, stage).models.retrieve('nope'))
      expect(error).toBeInstanceOf(sdk.NotFoundError)
      expect(error.requestID).toMatch(requestIdShape)
    })
  })
}
