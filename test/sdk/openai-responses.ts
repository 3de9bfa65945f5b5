// What users of the `openai` package do with responses and embeddings.
import { describe, expect, test } from 'bun:test'
import type { FunctionTool, Response, ResponseInput } from 'openai/resources/responses/responses'
import { rowOf } from '../support/read.ts'
import { type Client, clientOf, type OpenAIPackage, says, weather } from './openai-client.ts'
import { expectPaid, models, pictureUri, type Stage } from './stage.ts'

const model = models.text
const tools: FunctionTool[] = [{ type: 'function', strict: null, ...weather }]

export function describeResponses(sdk: OpenAIPackage, stage: Stage): void {
  describe('responses', () => {
    describeAnswers(sdk, stage)
    describeStreams(sdk, stage)
    describeTools(sdk, stage)
  })
}

function describeAnswers(sdk: OpenAIPackage, stage: Stage): void {
  const inputs: [string, string | ResponseInput][] = [
    ['a text', '[[sim:tokens=7]]'],
    ['messages', says('[[sim:tokens=7]]')],
    ['parts', [{ role: 'user', content: [{ type: 'input_text', text: '[[sim:tokens=7]]' }] }]],
  ]
  test.each(inputs)('answer %s, and their usage is what was charged', async (_, input) => {
    const answer = await clientOf(sdk, stage).responses.create({ model, input })
    expect([answer.object, answer.status, answer.model]).toEqual(['response', 'completed', model])
    expect(answer.output_text).toBeTruthy()
    const { input_tokens, output_tokens } = answer.usage!
    expect(output_tokens).toBe(7)
    const paid = { input: input_tokens, output: output_tokens }
    expect((await expectPaid(stage, answer._request_id, paid)).interface).toBe('responses')
  })

  test('look at a picture', async () => {
    const answer = await clientOf(sdk, stage).responses.create({
      model: models.vision,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'what is this?' },
            { type: 'input_image', image_url: pictureUri, detail: 'auto' },
          ],
        },
      ],
    })
    expect(answer.output_text).toContain('I saw 1 image')
  })

  test('go on from an earlier one, by its id or by its items', async () => {
    const client = clientOf(sdk, stage)
    const first = await client.responses.create({ model, input: 'one two three [[sim:tokens=9]]' })
    const alone = await client.responses.create({ model, input: 'and then? [[sim:tokens=5]]' })
    const next = await client.responses.create({
      model,
      input: 'and then? [[sim:tokens=5]]',
      previous_response_id: first.id,
    })
    expect(next.previous_response_id).toBe(first.id)
    expect(next.usage!.input_tokens).toBeGreaterThan(alone.usage!.input_tokens + 9)
    const streamed = await client.responses
      .stream({ model, input: 'go on [[sim:tokens=5]]', previous_response_id: next.id })
      .finalResponse()
    expect(streamed.usage!.input_tokens).toBeGreaterThan(next.usage!.input_tokens)
    const again = await client.responses.create({
      model,
      input: [
        { type: 'item_reference', id: streamed.output[0]!.id! },
        ...(streamed.output as ResponseInput),
        { role: 'user', content: 'go on [[sim:tokens=5]]' },
      ],
    })
    expect(again.status).toBe('completed')
    const raw = first.id.replace(/_gw[0-9a-f]{44}$/, '')
    expect(raw).not.toBe(first.id)
    for (const id of [raw, 'resp_1', `${first.id}0`]) {
      const error = await client.responses
        .create({ model, input: 'x', previous_response_id: id })
        .catch((error: unknown) => error)
      expect(error).toMatchObject({ status: 404, param: 'previous_response_id' })
    }
  })

  test('show their reasoning', async () => {
    const answer = await clientOf(sdk, stage).responses.create({
      model,
      input: 'think',
      reasoning: { effort: 'low', summary: 'auto' },
    })
    const [thought] = answer.output
    expect(thought?.type === 'reasoning' && thought.summary[0]?.text).toBeTruthy()
    expect(answer.usage?.output_tokens_details.reasoning_tokens).toBe(12)
    expect(answer.output_text).toBeTruthy()
  })

  test('are JSON when asked to', async () => {
    const answer = await clientOf(sdk, stage).responses.create({
      model,
      input: 'json please',
      text: { format: { type: 'json_object' } },
    })
    expect(typeof JSON.parse(answer.output_text)).toBe('object')
  })

  test('say when the limit cut them', async () => {
    const answer = await clientOf(sdk, stage).responses.create({
      model,
      input: '[[sim:tokens=40]]',
      max_output_tokens: 16,
    })
    expect([answer.status, answer.incomplete_details?.reason]).toEqual([
      'incomplete',
      'max_output_tokens',
    ])
  })
}

function describeStreams(sdk: OpenAIPackage, stage: Stage): void {
  test('stream typed events up to the whole response', async () => {
    const { data: stream, request_id } = await clientOf(sdk, stage)
      .responses.create({ model, input: '[[sim:tokens=9]] [[sim:reasoning=3]]', stream: true })
      .withResponse()
    const types: string[] = []
    let text = ''
    let last: Response | undefined
    for await (const event of stream) {
      expect(event.sequence_number).toBe(types.length)
      types.push(event.type)
      if (event.type === 'response.output_text.delta') text += event.delta
      if (event.type === 'response.completed') last = event.response
    }
    expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed'])
    expect(types).toContain('response.reasoning_summary_text.delta')
    const message = last?.output.find(({ type }) => type === 'message')
    const part = message?.type === 'message' ? message.content[0] : undefined
    expect(part?.type === 'output_text' && part.text).toBe(text)
    const { input_tokens: input, output_tokens: output } = last!.usage!
    expect(output).toBe(9)
    await expectPaid(stage, request_id, { input, output })
  })

  test('stream to the same final response as without a stream', async () => {
    const client = clientOf(sdk, stage)
    const input = 'tell me'
    const streamed = await client.responses.stream({ model, input }).finalResponse()
    const whole = await client.responses.create({ model, input })
    expect(streamed.output_text).toBe(whole.output_text)
    expect(streamed.usage?.output_tokens).toBe(whole.usage!.output_tokens)
  })

  test('can be left half-way, and are paid for', async () => {
    const { data: stream, request_id } = await clientOf(sdk, stage)
      .responses.create({ model, input: '[[sim:tokens=50]] [[sim:chunk=10ms]]', stream: true })
      .withResponse()
    let seen = 0
    for await (const _ of stream) if (++seen === 6) stream.controller.abort()
    expect(seen).toBeLessThan(50)
    const row = await rowOf(stage.gateway, request_id!)
    expect([row.ending, row.usage?.output_tokens]).toEqual(['caller_left', 50])
  })
}

function describeTools(sdk: OpenAIPackage, stage: Stage): void {
  type Ask = (client: Client, input: ResponseInput) => Promise<Response>
  const ways: [string, Ask][] = [
    ['whole', (client, input) => client.responses.create({ model, input, tools })],
    [
      'streamed',
      (client, input) => client.responses.stream({ model, input, tools }).finalResponse(),
    ],
  ]
  test.each(ways)('call a tool and read its result, %s', async (_, ask) => {
    const client = clientOf(sdk, stage)
    const input: ResponseInput = says('how is the weather? [[sim:tool]]')
    const asked = await ask(client, input)
    const call = asked.output.find((item) => item.type === 'function_call')
    expect([call?.name, JSON.parse(call?.arguments ?? 'null')]).toEqual([
      'weather',
      { city: 'sandbox' },
    ])
    const { call_id, name, arguments: given } = call!
    input.push(
      { type: 'function_call', call_id, name, arguments: given },
      { type: 'function_call_output', call_id, output: 'sunny' },
    )
    const told = await ask(client, input)
    expect(told.output.map(({ type }) => type)).toEqual(['message'])
    expect(told.output_text).toBeTruthy()
  })
}

export function describeEmbeddings(sdk: OpenAIPackage, stage: Stage): void {
  describe('embeddings', () => {
    const model = models.embedding

    test('are the same vectors in base64, which is the default, and as numbers', async () => {
      const client = clientOf(sdk, stage)
      const input = ['one', 'two']
      const usual = await client.embeddings.create({ model, input })
      const floats = await client.embeddings.create({ model, input, encoding_format: 'float' })
      expect(usual.data.map(({ index, embedding }) => [index, embedding.length])).toEqual([
        [0, 1024],
        [1, 1024],
      ])
      for (const [i, { embedding }] of usual.data.entries()) {
        expect(Array.from(Float32Array.from(floats.data[i]!.embedding))).toEqual([...embedding])
      }
      const paid = { input: usual.usage.prompt_tokens, output: 0 }
      const row = await expectPaid(stage, usual._request_id, paid)
      expect([row.interface, row.model]).toEqual(['embeddings', model])
    })

    test('have as many dimensions as asked for', async () => {
      const { data } = await clientOf(sdk, stage).embeddings.create({
        model,
        input: 'one',
        dimensions: 64,
      })
      expect(data[0]?.embedding).toHaveLength(64)
    })

    test('take lists of token numbers', async () => {
      const { data, usage } = await clientOf(sdk, stage).embeddings.create({
        model,
        input: [
          [1, 2, 3],
          [4, 5],
        ],
      })
      expect([data.length, usage.prompt_tokens]).toEqual([2, 5])
    })
  })
}
