// What users of the `@anthropic-ai/sdk` package do with messages and the list of models.
import { describe, expect, test } from 'bun:test'
import type {
  ContentBlock,
  Message,
  MessageParam,
  Tool,
} from '@anthropic-ai/sdk/resources/messages'
import { requestIdShape, rowOf } from '../support/read.ts'
import {
  type AnthropicPackage,
  asking,
  type Client,
  clientOf,
  failureOf,
} from './anthropic-client.ts'
import { expectPaid, models, picture, type Stage, tokens } from './stage.ts'

const weather = {
  name: 'weather',
  description: 'How the weather is in a city',
  input_schema: {
    type: 'object' as const,
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
}
const tools: Tool[] = [weather]

const textIn = (content: readonly ContentBlock[]): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('')

export function describeMessages(sdk: AnthropicPackage, stage: Stage): void {
  describe('messages', () => {
    describeAnswers(sdk, stage)
    describeStreams(sdk, stage)
    describeTools(sdk, stage)
    describeCache(sdk, stage)
    describeBetas(sdk, stage)
    describeBetaCalls(sdk, stage)
  })
}

function describeAnswers(sdk: AnthropicPackage, stage: Stage): void {
  const credentials: [string, ConstructorParameters<AnthropicPackage['Anthropic']>[0]][] = [
    ['an API key', { apiKey: tokens.usual }],
    ['an auth token', { apiKey: null, authToken: tokens.usual }],
  ]
  test.each(credentials)('are answered to %s, and cost what they say', async (_, options) => {
    const answer = await clientOf(sdk, stage, options).messages.create(asking('[[sim:tokens=5]]'))
    expect([answer.type, answer.role, answer.model]).toEqual(['message', 'assistant', models.text])
    expect(answer.stop_reason).toBe('end_turn')
    expect(textIn(answer.content)).toBeTruthy()
    const { input_tokens: input, output_tokens: output } = answer.usage
    expect(output).toBe(5)
    const row = await expectPaid(stage, answer._request_id, { input, output })
    expect(row.interface).toBe('messages')
  })

  test('look at a picture', async () => {
    const answer = await clientOf(sdk, stage).messages.create({
      model: models.vision,
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

  test('show their thinking, signed', async () => {
    const answer = await clientOf(sdk, stage).messages.create({
      ...asking('think'),
      max_tokens: 2_000,
      thinking: { type: 'enabled', budget_tokens: 1_024 },
    })
    expect(answer.content.map(({ type }) => type)).toEqual(['thinking', 'text'])
    const [thought] = answer.content
    expect(thought?.type === 'thinking' && thought.thinking).toBeTruthy()
    expect(thought?.type === 'thinking' && thought.signature).toBeTruthy()
  })

  test('are counted beforehand as they are counted afterwards', async () => {
    const client = clientOf(sdk, stage)
    const { max_tokens, ...countable } = { ...asking('how long is this?'), system: 'Be brief.' }
    const counted = await client.messages.countTokens(countable)
    const answer = await client.messages.create({ ...countable, max_tokens })
    expect(counted.input_tokens).toBe(answer.usage.input_tokens)
  })
}

function describeStreams(sdk: AnthropicPackage, stage: Stage): void {
  test('stream to the same final message as without a stream', async () => {
    const client = clientOf(sdk, stage)
    const request = asking('tell me [[sim:tokens=12]] [[sim:reasoning=4]]')
    const whole = await client.messages.create(request)
    const stream = client.messages.stream(request)
    const types: string[] = []
    for await (const { type } of stream) types.push(type)
    const final = await stream.finalMessage()
    expect([types[0], types.at(-1)]).toEqual(['message_start', 'message_stop'])
    expect(final.content as ContentBlock[]).toEqual(whole.content)
    expect(final.stop_reason).toBe('end_turn')
    const { input_tokens: input, output_tokens: output } = final.usage
    expect(output).toBe(12)
    await expectPaid(stage, stream.request_id, { input, output })
  })

  test('can be left half-way, and are paid for', async () => {
    const stream = clientOf(sdk, stage).messages.stream(
      asking('[[sim:tokens=50]] [[sim:chunk=10ms]]'),
    )
    let seen = 0
    const error = await failureOf(sdk, async () => {
      for await (const _ of stream) if (++seen === 6) stream.abort()
    })
    expect(error).toBeInstanceOf(sdk.APIUserAbortError)
    const row = await rowOf(stage.gateway, stream.request_id!)
    expect([row.ending, row.usage?.output_tokens]).toEqual(['caller_left', 50])
  })
}

function describeTools(sdk: AnthropicPackage, stage: Stage): void {
  const { messages: _, ...usual } = asking('')
  type Ask = (client: Client, messages: MessageParam[]) => Promise<Message>
  const ways: [string, Ask][] = [
    ['whole', (client, messages) => client.messages.create({ ...usual, messages, tools })],
    [
      'streamed',
      (client, messages) => client.messages.stream({ ...usual, messages, tools }).finalMessage(),
    ],
  ]
  test.each(ways)('call a tool and read its result, %s', async (_, ask) => {
    const client = clientOf(sdk, stage)
    const messages: MessageParam[] = asking('how is the weather? [[sim:tool]]').messages
    const asked = await ask(client, messages)
    expect(asked.stop_reason).toBe('tool_use')
    const call = asked.content.find((block) => block.type === 'tool_use')
    expect([call?.name, call?.input]).toEqual(['weather', { city: 'sandbox' }])
    messages.push(
      { role: 'assistant', content: asked.content },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: call!.id, content: 'sunny' }],
      },
    )
    const told = await ask(client, messages)
    expect(told.stop_reason).toBe('end_turn')
    expect(textIn(told.content)).toBeTruthy()
  })
}

function describeCache(sdk: AnthropicPackage, stage: Stage): void {
  test('are cached up to a mark: written once, read afterwards, both paid for', async () => {
    const client = clientOf(sdk, stage)
    const request = {
      ...asking('[[sim:tokens=5]]'),
      system: [
        {
          type: 'text' as const,
          text: `Answer as version ${sdk.Anthropic.name} ${crypto.randomUUID()} would.`,
          cache_control: { type: 'ephemeral' as const },
        },
      ],
    }
    for (const kept of ['cacheWrite', 'cacheRead'] as const) {
      const { usage, _request_id } = await client.messages.create(request)
      const written = usage.cache_creation_input_tokens ?? 0
      const read = usage.cache_read_input_tokens ?? 0
      expect(written > 0).toBe(kept === 'cacheWrite')
      expect(read > 0).toBe(kept === 'cacheRead')
      await expectPaid(stage, _request_id, {
        input: usage.input_tokens + written + read,
        output: usage.output_tokens,
        cacheRead: read,
        cacheWrite: written,
      })
    }
  })
}

function describeBetas(sdk: AnthropicPackage, stage: Stage): void {
  test('reach the upstream with betas nobody has heard of', async () => {
    const betas = ['unheard-of-2031-01-01', 'stranger-still-2032-02-02']
    const client = clientOf(sdk, stage)
    const answer = await client.beta.messages.create({
      ...asking('hello'),
      model: models.recorded,
      betas,
    })
    expect(answer.content[0]).toMatchObject({ type: 'text', text: 'Noted.' })
    const { headers, path } = stage.recorded.calls.at(-1)!
    expect(path).toBe('/v1/messages')
    expect(headers.get('anthropic-beta')?.split(',')).toEqual(betas)
    expect(headers.get('anthropic-version')).toMatch(/^\d{4}-\d\d-\d\d$/)
  })

  test('stream with betas too', async () => {
    const final = await clientOf(sdk, stage)
      .beta.messages.stream({ ...asking('[[sim:tokens=5]]'), betas: ['unheard-of-2031-01-01'] })
      .finalMessage()
    expect(final.usage.output_tokens).toBe(5)
  })
}

/** The part of the SDK that is called beta asks with `?beta=true`. */
function describeBetaCalls(sdk: AnthropicPackage, stage: Stage): void {
  const betas = ['unheard-of-2031-01-01']

  test('are counted with betas, and models listed', async () => {
    const client = clientOf(sdk, stage)
    const { max_tokens: _, ...countable } = asking('how long is this?')
    const usual = await client.messages.countTokens(countable)
    const beta = await client.beta.messages.countTokens({ ...countable, betas })
    expect(beta.input_tokens).toBe(usual.input_tokens)
    const { data } = await client.beta.models.list({ betas })
    expect(data.map(({ id }) => id)).toContain(models.text)
  })

  test("let the SDK's own runner call tools", async () => {
    const inputs: unknown[] = []
    const runner = clientOf(sdk, stage).beta.messages.toolRunner({
      ...asking('how is the weather? [[sim:tool]]'),
      betas,
      tools: [
        {
          ...weather,
          parse: (input: unknown) => input,
          run: (input: unknown) => {
            inputs.push(input)
            return 'sunny'
          },
        },
      ],
    })
    expect((await runner.runUntilDone()).stop_reason).toBe('end_turn')
    expect(inputs).toEqual([{ city: 'sandbox' }])
  })
}

export function describeModels(sdk: AnthropicPackage, stage: Stage): void {
  describe('models', () => {
    test('are listed and looked up', async () => {
      const client = clientOf(sdk, stage)
      const ids: string[] = []
      for await (const listed of client.models.list({ limit: 1000 })) ids.push(listed.id)
      expect(ids).toEqual(['txta-embed', 'txta-plus', 'txta-vl-long', 'txta-vl-plus'])
      const one = await client.models.retrieve(models.text)
      expect([one.id, one.type]).toEqual([models.text, 'model'])
      expect(one.display_name).toBeTruthy()
      expect(Date.parse(one.created_at)).toBeGreaterThan(0)
    })

    test('that are unknown are a NotFoundError', async () => {
      const error = await failureOf(sdk, () => clientOf(sdk, stage).models.retrieve('nope'))
      expect(error).toBeInstanceOf(sdk.NotFoundError)
      expect(error.requestID).toMatch(requestIdShape)
    })
  })
}
