// Streams of upstreams of the messages style, as they are in the wild.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { AnswerEvent } from '../common/answer.ts'
import { collectAnswer } from '../common/collect-answer.ts'
import type { Json } from '../common/conversation.ts'
import { parseExact } from '../common/exact-json.ts'
import { eventsOf, eventsOfAnswer, expectLegal, readContext } from '../common/test-support.ts'
import { ToolNames } from '../common/tool-names.ts'
import { messages } from './index.ts'
import { begin, delta, end, start, stop, stream, streams } from './test-upstream.ts'

const read = (...events: Json[]): AnswerEvent[] =>
  eventsOf(messages.newReader(readContext()), events)

function outline(events: readonly AnswerEvent[]): string[] {
  const { blocks, stop: why } = collectAnswer(events)
  const failed = events.find(({ type }) => type === 'fail')
  return [
    ...blocks.map(({ block, text }) =>
      block.kind === 'call'
        ? `${block.call.id}:${block.call.name}:${text}`
        : `${block.kind}:${text}`,
    ),
    failed === undefined ? String(why?.reason) : 'failed',
    ...events.flatMap((event) => (event.type === 'lost' ? [`lost ${event.what}`] : [])),
  ]
}

describe('a messages stream', () => {
  test.each(streams)('with %s', (_, events, expected) => {
    expect(outline(read(...events))).toEqual(expected)
  })

  test('has usage as totals, of which later ones count', () => {
    const nulls = { ...end('end_turn'), usage: { output_tokens: 9, input_tokens: null } }
    expect(read(begin, nulls).at(-1)).toEqual({
      type: 'usage',
      usage: {
        inputTokens: 10,
        outputTokens: 9,
        cacheReadTokens: 3,
        cacheWriteTokens: 2,
        reasoningTokens: 0,
      },
    })
  })

  test('seals its thinking with the exact text; a later signature replaces an earlier one', () => {
    const events = read(
      begin,
      start(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'a' }),
      delta(0, { type: 'thinking_delta', thinking: 'b' }),
      delta(0, { type: 'signature_delta', signature: 'old' }),
      delta(0, { type: 'signature_delta', signature: 'new' }),
      stop(0),
      start(1, { type: 'redacted_thinking', data: 'x' }),
      stop(1),
      start(2, { type: 'thinking', thinking: '' }),
      delta(2, { type: 'signature_delta', signature: 'hidden' }),
      stop(2),
      end('end_turn'),
    )
    expect(collectAnswer(events).blocks).toEqual([
      {
        block: { kind: 'reasoning' },
        text: 'ab',
        citations: [],
        seal: { realm: 'here', data: 'new', text: 'ab' },
      },
      {
        block: { kind: 'reasoning', redacted: true },
        text: '',
        citations: [],
        seal: { realm: 'here', data: 'x', redacted: true },
      },
      {
        block: { kind: 'reasoning' },
        text: '',
        citations: [],
        seal: { realm: 'here', data: 'hidden', text: '' },
      },
    ])
  })

  test('says which sequence stopped it, and why it refused', () => {
    expect(read(begin, end('stop_sequence', { stop_sequence: '###' }))[1]).toEqual({
      type: 'stop',
      reason: 'stop_sequence',
      sequence: '###',
    })
    const stop_details = { type: 'refusal', category: 'cyber', explanation: 'no' }
    expect(read(begin, end('refusal', { stop_details }))[1]).toEqual({
      type: 'stop',
      reason: 'refusal',
      explanation: 'no',
    })
  })

  test('has citations with an address', () => {
    const events = read(
      begin,
      start(0, { type: 'text', text: 'a', citations: [] }),
      delta(0, {
        type: 'citations_delta',
        citation: {
          type: 'web_search_result_location',
          url: 'https://a.example',
          title: 'A',
          cited_text: 'q',
        },
      }),
      delta(0, { type: 'citations_delta', citation: { type: 'char_location', cited_text: 'q' } }),
      stop(0),
      end('end_turn'),
    )
    expect(collectAnswer(events).blocks[0]!.citations).toEqual([
      { url: 'https://a.example', title: 'A', quote: 'q' },
    ])
  })

  test('gives an answer that came as the input of a tool as text', () => {
    const names = new ToolNames([], messages.toolName)
    names.answerTool = 'json_answer'
    const events = eventsOf(messages.newReader(readContext({ names })), [
      begin,
      start(0, { type: 'tool_use', id: 'i', name: 'json_answer', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"x":' }),
      delta(0, { type: 'input_json_delta', partial_json: '1}' }),
      stop(0),
      end('tool_use'),
    ])
    expect(outline(events)).toEqual(['text:{"x":1}', 'end'])
    const content = [{ type: 'tool_use', id: 'i', name: 'json_answer', input: { x: 1 } }]
    const whole = eventsOfAnswer(
      messages,
      { content, stop_reason: 'tool_use' },
      readContext({ names }),
    )
    expect(outline(whole)).toEqual(['text:{"x":1}', 'end'])
  })
})

test('numbers in the calls of a whole answer are kept as they are', () => {
  const input = '{"b":12345678901234567890,"a":0.1234567890123456789}'
  const body = `{"content":[{"type":"tool_use","id":"i","name":"f","input":${input}}],"stop_reason":"tool_use"}`
  expect(outline(eventsOfAnswer(messages, parseExact(body) as Json))).toEqual([
    `i:f:${input}`,
    'calls',
  ])
})

test('a whole answer that is an error, or not whole, fails', () => {
  for (const answer of [
    {},
    { content: [] },
    { type: 'error', error: { message: 'x' } },
    { error: {} },
  ]) {
    expect(eventsOfAnswer(messages, answer).at(-1)).toMatchObject({ type: 'fail' })
  }
})

test('any order, loss and change of events gives legal events', () => {
  const changed = fc
    .tuple(fc.constantFrom(...stream), fc.jsonValue(), fc.nat(40))
    .map(([data, value, at]) => {
      let place = at
      return JSON.parse(JSON.stringify(data), (_, each) => (place-- === 0 ? value : each))
    })
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...stream), changed)), (events) => {
      const emitted: AnswerEvent[] = []
      const reader = messages.newReader(readContext())
      for (const data of events) {
        if (typeof data === 'object' && data !== null && !Array.isArray(data)) {
          reader.read(data, undefined, (event) => emitted.push(event))
        }
      }
      reader.end((event) => emitted.push(event))
      expectLegal(emitted)
    }),
    { numRuns: 500 },
  )
})

test('any answer is read or fails', () => {
  const fields = {
    content: fc.jsonValue(),
    stop_reason: fc.constantFrom('end_turn', 'x', null),
    usage: fc.jsonValue(),
  }
  fc.assert(fc.property(fc.record(fields), (answer) => void eventsOfAnswer(messages, answer)))
})
