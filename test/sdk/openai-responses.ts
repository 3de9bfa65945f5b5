// What users of the `openai` package do with responses.
import { describe, expect, test } from 'bun:test'
import type { Response, ResponseInput } from 'openai/resources/responses/responses'
import { withholding } from './failures.ts'
import { clientOf, failureOf, type OpenAIPackage, says } from './openai-client.ts'
import { countsReasoning, expectPaid, type Over, pictureUri, report, type Stage } from './stage.ts'

export function describeResponses(sdk: OpenAIPackage, stage: Stage, over: Over): void {
  describe('responses', () => {
    describeAnswers(sdk, stage, over)
    describeObjects(sdk, stage, over)
    describeHistory(sdk, stage, over)
    describeStreams(sdk, stage, over)
  })
}

const paidFor = ({ usage }: Response) => ({
  input: usage!.input_tokens,
  output: usage!.output_tokens,
})

function describeAnswers(sdk: OpenAIPackage, stage: Stage, { model, wire }: Over): void {
  const inputs: [string, string | ResponseInput][] = [
    ['a text', '[[sim:tokens=7]]'],
    ['messages', says('[[sim:tokens=7]]')],
    ['parts', [{ role: 'user', content: [{ type: 'input_text', text: '[[sim:tokens=7]]' }] }]],
  ]
  test.each(inputs)('answer %s, and their usage is what was charged', async (_, input) => {
    const answer = await clientOf(sdk, stage).responses.create({ model, input })
    expect([answer.object, answer.status, answer.model]).toEqual(['response', 'completed', model])
    expect(answer.output_text).toBeTruthy()
    const { input_tokens, output_tokens, total_tokens } = answer.usage!
    expect([output_tokens, total_tokens]).toEqual([7, input_tokens + 7])
    const row = await expectPaid(stage, answer._request_id, paidFor(answer))
    expect(row.interface).toBe('responses')
  })

  test('are given instructions, which count', async () => {
    const client = clientOf(sdk, stage)
    const request = { model, input: 'hello [[sim:tokens=5]]' }
    const plain = await client.responses.create(request)
    const instructions = 'Be as brief as you can be.'
    const answer = await client.responses.create({ ...request, instructions })
    expect(answer.instructions).toBe(instructions)
    expect(answer.usage!.input_tokens).toBeGreaterThan(plain.usage!.input_tokens + 5)
    await expectPaid(stage, answer._request_id, paidFor(answer))
  })

  test('look at a picture', async () => {
    const answer = await clientOf(sdk, stage).responses.create({
      model,
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

  test('show their reasoning', async () => {
    const answer = await clientOf(sdk, stage).responses.create({
      model,
      input: 'think [[sim:reasoning=12]]',
      reasoning: { effort: 'low', summary: 'auto' },
    })
    const [thought] = answer.output
    expect(thought?.type === 'reasoning' && thought.summary[0]?.text).toBeTruthy()
    const counted = answer.usage?.output_tokens_details.reasoning_tokens
    expect(counted).toBe(countsReasoning(wire) ? 12 : 0)
    expect(answer.output_text).toBeTruthy()
  })

  test.each([...withholding])('say that they were withheld: %s', async (input) => {
    const client = clientOf(sdk, stage)
    const whole = await client.responses.create({ model, input })
    const streamed = await client.responses.stream({ model, input }).finalResponse()
    expect(endOf(streamed)).toBe(endOf(whole))
    expect(endOf(whole)).toMatch(/^(?:refusal|incomplete content_filter)$/)
  })

  test('say when the limit cut them', async () => {
    const request = { model, input: '[[sim:tokens=40]]', max_output_tokens: 16 }
    const client = clientOf(sdk, stage)
    const whole = await client.responses.create(request)
    const streamed = await client.responses.stream(request).finalResponse()
    for (const { status, incomplete_details } of [whole, streamed]) {
      expect([status, incomplete_details?.reason]).toEqual(['incomplete', 'max_output_tokens'])
    }
  })
}

/** A refusal is a part of the message where the upstream says that it is one. */
const endOf = ({ status, incomplete_details, output }: Response) => {
  const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []))
  const isRefused = parts.some(({ type }) => type === 'refusal')
  return isRefused ? 'refusal' : `${status} ${incomplete_details?.reason}`
}

function describeObjects(sdk: OpenAIPackage, stage: Stage, { model }: Over): void {
  test('are JSON when asked to', async () => {
    const answer = await clientOf(sdk, stage).responses.create({
      model,
      input: 'json please',
      text: { format: { type: 'json_object' } },
    })
    expect(typeof JSON.parse(answer.output_text)).toBe('object')
  })

  test("give an object of a schema, parsed by the SDK's own helper", async () => {
    const client = clientOf(sdk, stage)
    const format = sdk.zod.zodTextFormat(report, 'report')
    const request = { model, input: 'a report please', text: { format } }
    const whole = await client.responses.parse(request)
    expect(whole.output_parsed).toEqual(report.parse(JSON.parse(whole.output_text)))
    await expectPaid(stage, whole._request_id, paidFor(whole))
    const streamed = await client.responses.stream(request).finalResponse()
    expect(streamed.output_parsed).toEqual(whole.output_parsed)
  })
}

function describeHistory(sdk: OpenAIPackage, stage: Stage, { model, wire }: Over): void {
  test('go on from the items of an earlier one, with its reasoning', async () => {
    const client = clientOf(sdk, stage)
    const include = ['reasoning.encrypted_content' as const]
    const reasoning = { effort: 'low', summary: 'auto' } as const
    const request = { model, include, reasoning, store: false }
    const first = await client.responses
      .stream({ ...request, input: 'one two three [[sim:tokens=9]]' })
      .finalResponse()
    const next = await client.responses.create({
      ...request,
      input: [
        ...says('one two three [[sim:tokens=9]]'),
        ...(first.output as ResponseInput),
        ...says('go on [[sim:tokens=5]]'),
      ],
    })
    expect(next.status).toBe('completed')
    expect(next.usage!.input_tokens).toBeGreaterThan(first.usage!.input_tokens)
  })

  if (wire === 'responses') describeState(sdk, stage, model)
  else {
    test('cannot go on by an id, because nothing is kept', async () => {
      const client = clientOf(sdk, stage)
      const first = await client.responses.create({ model, input: 'hello' })
      const error = await failureOf(sdk, () =>
        client.responses.create({ model, input: 'x', previous_response_id: first.id }),
      )
      expect(error).toBeInstanceOf(sdk.NotFoundError)
      expect(error.param).toBe('previous_response_id')
      expect(error.message).toContain("'store': false")
    })
  }
}

function describeState(sdk: OpenAIPackage, stage: Stage, model: string): void {
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
}

function describeStreams(sdk: OpenAIPackage, stage: Stage, { model }: Over): void {
  test('stream typed events up to the whole response', async () => {
    const { data: stream, request_id } = await clientOf(sdk, stage)
      .responses.create({
        model,
        input: '[[sim:tokens=9]] [[sim:reasoning=3]]',
        reasoning: { summary: 'auto' },
        stream: true,
      })
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
    expect(last!.usage!.output_tokens).toBe(9)
    await expectPaid(stage, request_id, paidFor(last!))
  })

  test('stream to the same final response as without a stream', async () => {
    const client = clientOf(sdk, stage)
    const input = 'tell me'
    const streamed = await client.responses.stream({ model, input }).finalResponse()
    const whole = await client.responses.create({ model, input })
    expect(streamed.output_text).toBe(whole.output_text)
    expect(streamed.usage?.output_tokens).toBe(whole.usage!.output_tokens)
  })
}
