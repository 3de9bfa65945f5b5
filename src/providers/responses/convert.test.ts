// Responses converted to streams, and streams to responses.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readEvents } from '../text/read-events.ts'
import type { Json } from '../text/style.ts'
import { responsesStyle } from './index.ts'
import { stream } from './stream.ts'

const text = fc.string({ unit: 'grapheme' })
const part = fc.oneof(
  fc.record({ type: fc.constant('output_text'), text, annotations: fc.constant([]) }),
  fc.record({ type: fc.constant('refusal'), refusal: text }),
)
const item = fc.oneof(
  fc.record({ type: fc.constant('message'), id: text, content: fc.array(part) }),
  fc.record({ type: fc.constant('function_call'), call_id: text, name: text, arguments: text }),
  fc.record({
    type: fc.constant('reasoning'),
    summary: fc.array(fc.record({ type: fc.constant('summary_text'), text })),
  }),
)
const answers = fc.record({
  id: fc.constant('resp_1'),
  object: fc.constant('response'),
  model: fc.constant('m'),
  status: fc.constantFrom('completed', 'incomplete'),
  output: fc.array(item, { maxLength: 4 }),
  usage: fc.record({ input_tokens: fc.nat(), x_details: fc.constant([{ x: 1 }]) }),
  error: fc.constant(null),
})

const eventsOf = (answer: Json): Json[] =>
  readEvents(responsesStyle, stream.fromAnswer(answer).join(''))!

describe('a response', () => {
  test('as a stream and gathered again is the same response', () => {
    fc.assert(
      fc.property(answers, (answer) => {
        expect(stream.toAnswer(eventsOf(answer))).toEqual(answer)
      }),
    )
  })

  test('as a stream is numbered from zero and named as its style wants', () => {
    fc.assert(
      fc.property(answers, (answer) => {
        const events = eventsOf(answer)
        expect(events.map(({ sequence_number }) => sequence_number)).toEqual(
          events.map((_, index) => index),
        )
        expect(events.at(-1)?.['type']).toBe(`response.${answer.status}`)
        const wire = stream.fromAnswer(answer)
        wire.forEach((event, index) => {
          expect(event).toStartWith(`event: ${events[index]?.['type']}\ndata: {`)
        })
      }),
      { numRuns: 30 },
    )
  })

  test('as a stream tells its text, its refusals and its items as they are', () => {
    const content = [
      { type: 'output_text', text: 'hello' },
      { type: 'refusal', refusal: 'no' },
    ]
    const events = eventsOf({
      status: 'completed',
      output: [{ type: 'message', id: 'i', content }],
    })
    const of = (type: string) => events.filter((event) => event['type'] === `response.${type}`)
    expect(of('output_text.delta')).toMatchObject([{ delta: 'hello', item_id: 'i' }])
    expect(of('content_part.added').map((event) => event['part'])).toEqual([
      { type: 'output_text', text: '' },
      { type: 'refusal', refusal: 'no' },
    ])
    expect(of('output_item.done')).toMatchObject([{ item: { content } }])
  })

  test.each<[Json]>([[{}], [{ output: 'x' }], [{ output: [5, { type: 'message' }] }]])(
    'as odd as %j does not throw',
    (answer) => {
      expect(stream.fromAnswer(answer).at(-1)).toContain('response.completed')
    },
  )
})

describe('a stream', () => {
  const done: Json = { type: 'response.completed', response: { id: 'r', output: [] } }

  test('is its last response, whatever follows', () => {
    const began = { type: 'response.created', response: { id: 'x' } }
    expect(stream.toAnswer([began, done, { type: 'ping' }])).toEqual({ id: 'r', output: [] })
  })

  test.each<[Json[]]>([
    [[]],
    [[{ type: 'response.created', response: { id: 'x' } }]],
    [[{ type: 'response.completed' }]],
    [[{ type: 'response.completed', response: 'x' }]],
  ])('%j gives no response', (events) => {
    expect(stream.toAnswer(events)).toBeUndefined()
  })

  test.each<[Json, unknown]>([
    [
      { type: 'error', code: 'x', message: 'boom' },
      { type: 'error', code: 'x', message: 'boom' },
    ],
    [{ type: 'error', error: { message: 'boom' } }, { message: 'boom' }],
    [{ error: { message: 'boom' } }, { message: 'boom' }],
    [{ type: 'response.failed', response: { error: { message: 'boom' } } }, { message: 'boom' }],
  ])('with %j is that error', (event, error) => {
    expect(stream.toAnswer([event, done])).toEqual({ error })
  })
})
