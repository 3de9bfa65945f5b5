// What users of the `openai` package do with chat completions and the list of models.
import { describe, expect, test } from 'bun:test'
import type { ChatCompletionMessageParam } from 'openai/resources'
import { requestIdShape } from '../support/read.ts'
import { withholding } from './failures.ts'
import { clientOf, failureOf, type OpenAIPackage, says } from './openai-client.ts'
import {
  countsReasoning,
  expectPaid,
  modelNames,
  models,
  type Over,
  pictureUri,
  report,
  type Stage,
} from './stage.ts'

export function describeModels(sdk: OpenAIPackage, stage: Stage): void {
  describe('models', () => {
    test('are listed and looked up', async () => {
      const client = clientOf(sdk, stage)
      const ids: string[] = []
      for await (const listed of client.models.list()) ids.push(listed.id)
      expect(ids).toEqual(modelNames)
      const { id, object, created, owned_by } = await client.models.retrieve(models.text)
      expect([id, object, typeof created, typeof owned_by]).toEqual([
        models.text,
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

export function describeChat(sdk: OpenAIPackage, stage: Stage, over: Over): void {
  describe('chat', () => {
    describeAnswers(sdk, stage, over)
    describeEnds(sdk, stage, over)
    describeObjects(sdk, stage, over)
    describeStreams(sdk, stage, over)
  })
}

/** The package has no field for it, but passes on what it does not know. */
const shown = { reasoning_effort: 'low' as const, include_reasoning: true }

function describeAnswers(sdk: OpenAIPackage, stage: Stage, { model, wire }: Over): void {
  const create = (content: string, extra: object = {}) =>
    clientOf(sdk, stage).chat.completions.create({ model, messages: says(content), ...extra })

  test('gives a completion whose usage is what was charged', async () => {
    const answer = await create('[[sim:tokens=5]]')
    expect([answer.object, answer.model]).toEqual(['chat.completion', model])
    expect(answer.choices[0]?.finish_reason).toBe('stop')
    expect(answer.choices[0]?.message.content).toBeTruthy()
    const { prompt_tokens: input, completion_tokens: output, total_tokens } = answer.usage!
    expect([output, total_tokens]).toEqual([5, input + output])
    const row = await expectPaid(stage, answer._request_id, { input, output })
    expect(row.interface).toBe('chat')
  })

  test('is given instructions, which count', async () => {
    const plain = await create('hello [[sim:tokens=5]]')
    for (const role of ['system', 'developer'] as const) {
      const messages: ChatCompletionMessageParam[] = [
        { role, content: 'Be as brief as you can be.' },
        ...says('hello [[sim:tokens=5]]'),
      ]
      const answer = await create('', { messages })
      expect(answer.usage!.prompt_tokens).toBeGreaterThan(plain.usage!.prompt_tokens + 5)
      const { prompt_tokens: input, completion_tokens: output } = answer.usage!
      await expectPaid(stage, answer._request_id, { input, output })
    }
  })

  test('looks at a picture', async () => {
    const { choices } = await create('', {
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
    expect(choices[0]?.message.content).toContain('I saw 1 image')
  })

  test('shows its reasoning', async () => {
    const answer = await create('think [[sim:reasoning=12]]', shown)
    const message = answer.choices[0]!.message as { reasoning_content?: string }
    expect(message.reasoning_content).toBeTruthy()
    const counted = answer.usage?.completion_tokens_details?.reasoning_tokens
    expect(counted).toBe(countsReasoning(wire) ? 12 : 0)
  })
}

/** What only some upstreams can do is refused for the others, and the field is named. */
function describeEnds(sdk: OpenAIPackage, stage: Stage, { model, wire }: Over): void {
  const create = (content: string, extra: object) =>
    clientOf(sdk, stage).chat.completions.create({ model, messages: says(content), ...extra })
  const refusedFor = async (param: string, extra: object) => {
    const error = await failureOf(sdk, () => create('x', extra))
    expect(error).toBeInstanceOf(sdk.BadRequestError)
    expect(error.param).toBe(param)
  }

  test('says that the limit cut it', async () => {
    const { choices } = await create('[[sim:tokens=40]]', { max_completion_tokens: 16 })
    expect(choices[0]?.finish_reason).toBe('length')
  })

  test.each([...withholding])('says that it was withheld: %s', async (content) => {
    const { completions } = clientOf(sdk, stage).chat
    const request = { model, messages: says(content) }
    const whole = await completions.create(request)
    const streamed = await completions.stream(request).finalChatCompletion()
    const ends = [whole, streamed].map(({ choices: [choice] }) => [
      choice!.finish_reason,
      choice!.message.refusal ?? null,
    ])
    expect(ends[1]).toEqual(ends[0])
    const [reason, refusal] = ends[0]!
    expect(reason === 'content_filter' || Boolean(refusal)).toBe(true)
  })

  test('has several choices over chat only', async () => {
    if (wire !== 'chat') return refusedFor('n', { n: 3 })
    const answer = await create('[[sim:tokens=5]]', { n: 3 })
    expect(answer.choices.map(({ index }) => index)).toEqual([0, 1, 2])
    expect(answer.usage?.completion_tokens).toBe(15)
  })

  test('takes stop sequences where the upstream has them', async () => {
    if (wire === 'responses') return refusedFor('stop', { stop: ['END'] })
    const { choices } = await create('[[sim:tokens=5]]', { stop: ['END'] })
    expect(choices[0]?.finish_reason).toBe('stop')
  })
}

function describeObjects(sdk: OpenAIPackage, stage: Stage, { model }: Over): void {
  test('answers in JSON when asked to', async () => {
    const { choices } = await clientOf(sdk, stage).chat.completions.create({
      model,
      messages: says('json please'),
      response_format: { type: 'json_object' },
    })
    expect(typeof JSON.parse(choices[0]!.message.content!)).toBe('object')
  })

  test("gives an object of a schema, parsed by the SDK's own helper", async () => {
    const client = clientOf(sdk, stage)
    const request = {
      model,
      messages: says('a report please'),
      response_format: sdk.zod.zodResponseFormat(report, 'report'),
    }
    const whole = await client.chat.completions.parse(request)
    const { parsed, content } = whole.choices[0]!.message
    expect(parsed).toEqual(report.parse(JSON.parse(content!)))
    const { prompt_tokens: input, completion_tokens: output } = whole.usage!
    await expectPaid(stage, whole._request_id, { input, output })
    const streamed = await client.chat.completions.stream(request).finalChatCompletion()
    expect(streamed.choices[0]!.message.parsed).toEqual(parsed)
  })
}

function describeStreams(sdk: OpenAIPackage, stage: Stage, { model }: Over): void {
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

  test("is put together by the SDK's own accumulator", async () => {
    const stream = clientOf(sdk, stage).chat.completions.stream({
      model,
      messages: says('tell me [[sim:tokens=12]]'),
      stream_options: { include_usage: true },
    })
    let text = ''
    stream.on('content', (piece) => {
      text += piece
    })
    const { choices, usage } = await stream.finalChatCompletion()
    expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: text } })
    expect(usage?.completion_tokens).toBe(12)
  })

  test('streams its reasoning before its text', async () => {
    const stream = await clientOf(sdk, stage).chat.completions.create({
      model,
      messages: says('[[sim:reasoning=6]]'),
      ...shown,
      stream: true,
    })
    const kinds: string[] = []
    for await (const { choices } of stream) {
      const delta = choices[0]?.delta as { reasoning_content?: string; content?: string }
      if (delta?.reasoning_content) kinds.push('reasoning')
      else if (delta?.content) kinds.push('text')
    }
    expect(kinds.lastIndexOf('reasoning')).toBe(5)
    expect(kinds.indexOf('text')).toBe(6)
  })
}
