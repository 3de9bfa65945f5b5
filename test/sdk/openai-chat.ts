// What users of the `openai` package do with chat completions and the list of models.
import { describe, expect, test } from 'bun:test'
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources'
import { nanos, type RequestRow, requestIdShape, rowOf, until } from '../support/read.ts'
import {
  type Client,
  clientOf,
  failureOf,
  type OpenAIPackage,
  says,
  weather,
} from './openai-client.ts'
import { expectPaid, models, pictureUri, type Stage } from './stage.ts'

const model = models.text
const tools: ChatCompletionTool[] = [{ type: 'function', function: weather }]

export function describeModels(sdk: OpenAIPackage, stage: Stage): void {
  describe('models', () => {
    test('are listed and looked up', async () => {
      const client = clientOf(sdk, stage)
      const ids: string[] = []
      for await (const listed of client.models.list()) ids.push(listed.id)
      expect(ids).toEqual(['txta-embed', 'txta-plus', 'txta-vl-long', 'txta-vl-plus'])
      const { id, object, created, owned_by } = await client.models.retrieve(model)
      expect([id, object, typeof created, typeof owned_by]).toEqual([
        model,
        'model',
        'number',
        'string',
      ])
    })

    test('that are unknown are a NotFoundError', async () => {
      const error = await failureOf(sdk, () => clientOf(sdk, stage).models.retrieve('nope'))
      expect(error).toBeInstanceOf(sdk.NotFoundError)
      expect([error.status, error.code, error.param]).toEqual([404, 'model_not_found', 'model'])
      expect(error.requestID).toMatch(requestIdShape)
    })
  })
}

export function describeChat(sdk: OpenAIPackage, stage: Stage): void {
  describe('chat', () => {
    describeChatAnswers(sdk, stage)
    describeChatStreams(sdk, stage)
    describeChatTools(sdk, stage)
    describeToolRunner(sdk, stage)
    describeLeaving(sdk, stage)
  })
}

function describeChatAnswers(sdk: OpenAIPackage, stage: Stage): void {
  const create = (content: string, extra: object = {}) =>
    clientOf(sdk, stage).chat.completions.create({ model, messages: says(content), ...extra })

  test('gives a completion whose usage is what was charged', async () => {
    const answer = await create('[[sim:tokens=5]]')
    expect(answer.model).toBe(model)
    expect(answer.choices[0]?.finish_reason).toBe('stop')
    expect(answer.choices[0]?.message.content).toBeTruthy()
    expect(answer.usage?.completion_tokens).toBe(5)
    const { prompt_tokens: input, completion_tokens: output } = answer.usage!
    const row = await expectPaid(stage, answer._request_id, { input, output })
    expect(row.interface).toBe('chat')
  })

  test('gives several choices', async () => {
    const answer = await create('[[sim:tokens=5]]', { n: 3 })
    expect(answer.choices.map(({ index }) => index)).toEqual([0, 1, 2])
    expect(answer.usage?.completion_tokens).toBe(15)
  })

  test('looks at a picture', async () => {
    const answer = await clientOf(sdk, stage).chat.completions.create({
      model: models.vision,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'what is this?' },
            { type: 'image_url', image_url: { url: pictureUri } },
          ],
        },
      ],
    })
    expect(answer.choices[0]?.message.content).toContain('I saw 1 image')
  })

  test('answers in JSON when asked to', async () => {
    const answer = await create('json please', { response_format: { type: 'json_object' } })
    expect(typeof JSON.parse(answer.choices[0]!.message.content!)).toBe('object')
  })

  test('shows its reasoning', async () => {
    const answer = await create('think', { reasoning_effort: 'low' })
    const message = answer.choices[0]!.message as { reasoning_content?: string }
    expect(message.reasoning_content).toBeTruthy()
    expect(answer.usage?.completion_tokens_details?.reasoning_tokens).toBe(12)
  })
}

function describeChatStreams(sdk: OpenAIPackage, stage: Stage): void {
  test.each([true, false])('streams the same text, with usage if asked: %p', async (asked) => {
    const client = clientOf(sdk, stage)
    const messages = says('tell me [[sim:tokens=12]]')
    const whole = await client.chat.completions.create({ model, messages })
    const { data: stream, request_id } = await client.chat.completions
      .create({
        model,
        messages,
        stream: true,
        ...(asked && { stream_options: { include_usage: true } }),
      })
      .withResponse()
    let text = ''
    const usages: (number | undefined)[] = []
    const finishes: string[] = []
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      const finish = chunk.choices[0]?.finish_reason
      if (finish != null) finishes.push(finish)
      if (chunk.usage != null) usages.push(chunk.usage.completion_tokens)
      if (!asked) expect(chunk.choices).toHaveLength(1)
    }
    expect(text).toBe(whole.choices[0]!.message.content!)
    expect(finishes).toEqual(['stop'])
    expect(usages).toEqual(asked ? [12] : [])
    await expectPaid(stage, request_id, { input: whole.usage!.prompt_tokens, output: 12 })
  })

  test('streams its reasoning before its text', async () => {
    const stream = await clientOf(sdk, stage).chat.completions.create({
      model,
      messages: says('[[sim:reasoning=6]]'),
      stream: true,
    })
    const kinds: string[] = []
    for await (const { choices } of stream) {
      const delta = choices[0]?.delta as { reasoning_content?: string; content?: string }
      if (delta.reasoning_content) kinds.push('reasoning')
      else if (delta.content) kinds.push('text')
    }
    expect(kinds.lastIndexOf('reasoning')).toBe(5)
    expect(kinds.indexOf('text')).toBe(6)
  })
}

function describeChatTools(sdk: OpenAIPackage, stage: Stage): void {
  const whole = async (client: Client, messages: ChatCompletionMessageParam[]) =>
    (await client.chat.completions.create({ model, messages, tools })).choices[0]!
  const streamed = async (client: Client, messages: ChatCompletionMessageParam[]) =>
    (await client.chat.completions.stream({ model, messages, tools }).finalChatCompletion())
      .choices[0]!

  test.each([
    ['whole', whole],
    ['streamed', streamed],
  ])('calls a tool and reads its result, %s', async (_, ask) => {
    const client = clientOf(sdk, stage)
    const messages: ChatCompletionMessageParam[] = says('how is the weather? [[sim:tool]]')
    const asked = await ask(client, messages)
    expect(asked.finish_reason).toBe('tool_calls')
    const [call] = asked.message.tool_calls ?? []
    if (call?.type !== 'function') throw new Error('no function was called')
    expect([call.function.name, JSON.parse(call.function.arguments)]).toEqual([
      'weather',
      { city: 'sandbox' },
    ])
    messages.push(asked.message, { role: 'tool', tool_call_id: call.id, content: 'sunny' })
    const told = await ask(client, messages)
    expect(told.finish_reason).toBe('stop')
    expect(told.message.content).toBeTruthy()
  })
}

function describeToolRunner(sdk: OpenAIPackage, stage: Stage): void {
  test.each([false, true])("lets the SDK's own runner call tools, streamed: %p", async (stream) => {
    const cities: string[] = []
    const runner = clientOf(sdk, stage).chat.completions.runTools({
      model,
      stream: stream as true,
      messages: says('how is the weather? [[sim:tool]]'),
      tools: [
        {
          type: 'function',
          function: {
            ...weather,
            parse: (given: string) => JSON.parse(given) as { city: string },
            function: ({ city }: { city: string }) => {
              cities.push(city)
              return 'sunny'
            },
          },
        },
      ],
    })
    expect(await runner.finalContent()).toBeTruthy()
    expect(cities).toEqual(['sandbox'])
  })
}

function describeLeaving(sdk: OpenAIPackage, stage: Stage): void {
  test('can be left half-way, and is paid for', async () => {
    const { data: stream, request_id } = await clientOf(sdk, stage)
      .chat.completions.create({
        model,
        messages: says('[[sim:tokens=50]] [[sim:chunk=10ms]]'),
        stream: true,
      })
      .withResponse()
    let seen = 0
    for await (const _ of stream) if (++seen === 3) stream.controller.abort()
    expect(seen).toBeLessThan(50)
    const row = await rowOf(stage.gateway, request_id!)
    expect(row.ending).toBe('caller_left')
    expect(row.usage?.output_tokens).toBe(50)
  })

  test('can be given up before it answers, and costs nothing', async () => {
    const leaving = new AbortController()
    const asked = clientOf(sdk, stage).chat.completions.create(
      { model, messages: says('[[sim:delay=900ms]]') },
      { signal: leaving.signal },
    )
    setTimeout(() => leaving.abort(), 100)
    expect(await failureOf(sdk, () => asked)).toBeInstanceOf(sdk.APIUserAbortError)
    const row = await until('the row of a call that was given up', async () => {
      const { body } = await stage.gateway.admin('GET', '/requests?limit=1')
      const [newest] = (body as { items: RequestRow[] }).items
      return newest?.ending === 'caller_left' && !newest.stream ? newest : undefined
    })
    expect(nanos(row.charge)).toBe(0n)
  })
}
