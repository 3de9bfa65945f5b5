// Messages converted to streams, and streams to messages.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readEvents } from '../text/read-events.ts'
import type { Json } from '../text/style.ts'
import { fromAnswer, toAnswer } from './convert.ts'
import { messagesStyle } from './index.ts'

const text = fc.string({ unit: 'grapheme' })
/** As after a round trip through JSON, which has no -0 and no other kind of key. */
const json = fc
  .dictionary(fc.constantFrom('a', 'b', 'input', 'partial_json'), fc.jsonValue())
  .map((value) => JSON.parse(JSON.stringify(value)) as object)
const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text, citations: fc.constant(null) }),
  fc.record({ type: fc.constant('thinking'), thinking: text, signature: text }),
  fc.record({ type: fc.constant('thinking'), thinking: text }),
  fc.record({ type: fc.constant('redacted_thinking'), data: text }),
  fc.record({ type: fc.constant('tool_use'), id: text, name: text, input: json }),
)
const answers = fc.record({
  id: fc.constant('msg_1'),
  type: fc.constant('message'),
  role: fc.constant('assistant'),
  model: fc.constant('m'),
  content: fc.array(block, { maxLength: 5 }),
  stop_reason: fc.constantFrom('end_turn', 'tool_use', 'max_tokens'),
  stop_sequence: fc.option(text),
  usage: fc.record({ input_tokens: fc.nat(), output_tokens: fc.nat() }),
})

const eventsOf = (answer: Json): Json[] => readEvents(messagesStyle, fromAnswer(answer).join(''))!
const start: Json = { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 5 } } }
const stopped: Json = {
  type: 'message_delta',
  delta: { stop_reason: 'end_turn' },
  usage: { output_tokens: 7 },
}
const begun = (index: number, content_block: Json): Json => ({
  type: 'content_block_start',
  index,
  content_block,
})
const more = (index: number, delta: Json): Json => ({ type: 'content_block_delta', index, delta })

describe('a message', () => {
  test('as a stream and gathered again is the same message', () => {
    fc.assert(
      fc.property(answers, (answer) => {
        expect(toAnswer(eventsOf(answer))).toEqual(answer)
      }),
    )
  })

  test('as a stream has the events of its style in their order, each with its name', () => {
    const content = [{ type: 'text', text: 'hi' }]
    const events = fromAnswer({ id: 'x', content, stop_reason: 'end_turn', usage: {} })
    expect(events.map((event) => /^event: (\w+)\ndata: \{"type":"\1"/.exec(event)?.[1])).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
  })

  test.each<[Json]>([[{}], [{ content: 'x' }], [{ content: [5, null] }]])(
    'as odd as %j does not throw',
    (answer) => {
      expect(fromAnswer(answer).at(-1)).toContain('message_stop')
    },
  )
})

describe('a stream', () => {
  const contentOf = (...events: Json[]) => toAnswer([start, ...events, stopped])?.['content']

  test('is gathered block by block, usage merged', () => {
    const gathered = toAnswer([
      start,
      begun(0, { type: 'text', text: '' }),
      { type: 'ping' },
      more(0, { type: 'text_delta', text: 'a' }),
      begun(1, { type: 'tool_use', input: {} }),
      more(1, { type: 'input_json_delta', partial_json: '' }),
      more(1, { type: 'input_json_delta', partial_json: '{"a":' }),
      more(0, { type: 'text_delta', text: 'b' }),
      more(1, { type: 'input_json_delta', partial_json: '[1]}' }),
      more(0, { type: 'citations_delta', citation: { cited_text: 'c' } }),
      stopped,
    ])
    expect(gathered).toEqual({
      id: 'msg_1',
      content: [
        { type: 'text', text: 'ab', citations: [{ cited_text: 'c' }] },
        { type: 'tool_use', input: { a: [1] } },
      ],
      stop_reason: 'end_turn',
      usage: { input_tokens: 5, output_tokens: 7 },
    })
  })

  test.each([
    ['', {}],
    ['{}', {}],
    ['{"a":1}', { a: 1 }],
  ])('whose tool gets %j has that input, also without an end of the block', (given, input) => {
    const events = [
      begun(0, { type: 'tool_use', input: {} }),
      more(0, { type: 'input_json_delta', partial_json: given }),
    ]
    expect(contentOf(...events)).toEqual([{ type: 'tool_use', input }])
    expect(contentOf(...events, { type: 'content_block_stop', index: 0 })).toEqual([
      { type: 'tool_use', input },
    ])
  })

  test.each(['{"a":', '{"a":1}}', 'x', '"', '{"a":1} {'])(
    'whose tool gets %j, which is no JSON, gives no message rather than half a call',
    (given) => {
      const events = [
        begun(0, { type: 'tool_use', input: {} }),
        more(0, { type: 'input_json_delta', partial_json: given }),
        { type: 'content_block_stop', index: 0 },
      ]
      expect(contentOf(...events)).toBeUndefined()
    },
  )

  test.each<[string, Json[]]>([
    ['nothing', []],
    ['no beginning', [stopped]],
    ['no end', [start]],
    ['an end without a reason', [start, { type: 'message_delta', delta: { stop_reason: null } }]],
  ])('with %s gives no message', (_, events) => {
    expect(toAnswer(events)).toBeUndefined()
  })

  test('with an error in it is that error', () => {
    const error = { type: 'overloaded_error', message: 'busy' }
    expect(toAnswer([start, { type: 'error', error }, stopped])).toEqual({ error })
    expect(toAnswer([{ error }])).toEqual({ error })
  })

  test('of any shape does not throw', () => {
    const odd = fc.record(
      {
        type: fc.constantFrom('content_block_start', 'content_block_delta', 'message_delta', 'x'),
        index: fc.jsonValue(),
        content_block: fc.jsonValue(),
        delta: fc.oneof(fc.jsonValue(), fc.record({ partial_json: text, citation: json })),
        usage: fc.jsonValue(),
      },
      { requiredKeys: ['type'] },
    )
    fc.assert(
      fc.property(fc.array(odd), (events) => {
        const gathered = toAnswer([start, ...events, stopped])
        expect(gathered === undefined || Array.isArray(gathered['content'])).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})
