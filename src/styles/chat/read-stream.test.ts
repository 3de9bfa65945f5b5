// Streams of chat upstreams, as they are in the wild.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { AnswerEvent } from '../common/answer.ts'
import { collectAnswer } from '../common/collect-answer.ts'
import type { Json, Tool } from '../common/conversation.ts'
import { eventsOf, eventsOfAnswer, expectLegal, readContext } from '../common/test-support.ts'
import { ToolNames } from '../common/tool-names.ts'
import { chat } from './index.ts'
import { calls, chunk, end, stream, streams, usage } from './test-upstream.ts'

const read = (...chunks: Json[]): AnswerEvent[] => eventsOf(chat.newReader(readContext()), chunks)

/** `text:hello`, `call:f:{"x":1}`, …, and why it stopped. */
function outline(events: readonly AnswerEvent[]): string[] {
  const { blocks, stop } = collectAnswer(events)
  const failed = events.find(({ type }) => type === 'fail')
  return [
    ...blocks.map(({ block, text }) =>
      block.kind === 'call'
        ? `${block.call.id}:${block.call.name}:${text}`
        : `${block.kind}:${text}`,
    ),
    failed === undefined ? String(stop?.reason) : 'failed',
    ...events.flatMap((event) => (event.type === 'lost' ? [`lost ${event.what}`] : [])),
  ]
}

test('a call without an id gets another one in every answer', () => {
  const [one, other] = ['a', 'b'].map((id) =>
    outline(read({ ...calls({ index: 0, function: { name: 'f', arguments: '{}' } }), id }, end())),
  )
  expect(one).not.toEqual(other)
})

describe('a chat stream', () => {
  test.each(streams)('with %s', (_, chunks, expected) => {
    expect(outline(read(...chunks))).toEqual(expected)
  })

  test.each<[string, Json[]]>([
    ['after the finish reason', [end(), { choices: [], usage }]],
    ['in the finish chunk', [{ ...end(), usage }]],
    [
      'in every chunk, growing',
      [
        { ...chunk({ content: 'a' }), usage: { ...usage, completion_tokens: 1 } },
        { ...end(), usage },
        { choices: [], usage: null },
      ],
    ],
  ])('has its usage %s', (_, chunks) => {
    expect(read(...chunks).at(-1)).toEqual({
      type: 'usage',
      usage: {
        inputTokens: 10,
        outputTokens: 4,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
      },
    })
  })

  test('has citations on its text', () => {
    const url_citation = { url: 'https://a.example', title: 'A', start_index: 0, end_index: 1 }
    const events = read(
      chunk({ content: 'a' }),
      chunk({ annotations: [{ type: 'url_citation', url_citation }] }),
      end(),
    )
    expect(collectAnswer(events).blocks[0]!.citations).toEqual([
      { url: 'https://a.example', title: 'A', start: 0, end: 1 },
    ])
  })

  test('has seals on its reasoning and on its calls', () => {
    const detail = { type: 'reasoning.encrypted', data: 'x' }
    const events = read(
      chunk({ reasoning: 'a', reasoning_details: [{ type: 'reasoning.text', text: 'a' }] }),
      chunk({ reasoning_details: [detail] }),
      calls({
        index: 0,
        id: 'i',
        function: { name: 'f', arguments: '{}' },
        extra_content: { google: { thought_signature: 'sig' } },
      }),
      end('tool_calls'),
    )
    expect(collectAnswer(events).blocks.map(({ seal }) => seal)).toEqual([
      { realm: 'here', data: JSON.stringify([detail]) },
      { realm: 'here', data: 'sig' },
    ])
  })

  test('that hides its reasoning has a seal alone', () => {
    const detail = { type: 'reasoning.encrypted', data: 'x' }
    const events = read(chunk({ reasoning_details: [detail] }), chunk({ content: 'a' }), end())
    const { blocks } = collectAnswer(events)
    expect(blocks.map(({ block }) => block)).toEqual([
      { kind: 'reasoning', redacted: true },
      { kind: 'text' },
    ])
    expect(blocks[0]!.seal).toMatchObject({ redacted: true })
  })

  test('streams the first of its calls as it comes', () => {
    const events: AnswerEvent[] = []
    const reader = chat.newReader(readContext())
    const next = (data: Json) => reader.read(data, undefined, (event) => events.push(event))
    next(calls({ index: 0, id: 'i', function: { name: 'f', arguments: '{"x":' } }))
    expect(events.at(-1)).toEqual({ type: 'input', index: 0, text: '{"x":' })
    next(calls({ index: 1, id: 'j', function: { name: 'g', arguments: '{}' } }))
    expect(events).toHaveLength(3)
    next(calls({ index: 0, function: { arguments: '1}' } }))
    expect(events.at(-1)).toEqual({ type: 'input', index: 1, text: '{}' })
  })

  test('gives tools their own names, and free-form tools their text', () => {
    const name = `long_${'x'.repeat(80)}`
    const tools: Tool[] = [
      { name, namespace: 'space' },
      { name: 'patch', freeForm: {} },
    ]
    const names = new ToolNames(tools, chat.toolName)
    const sent = names.upstream(tools[0]!)
    const reader = chat.newReader(readContext({ names }))
    const events = eventsOf(reader, [
      calls({ index: 0, id: 'i', function: { name: sent, arguments: '{}' } }),
      calls({ index: 1, id: 'j', function: { name: 'patch', arguments: '{"input":"*** B' } }),
      calls({ index: 1, function: { arguments: 'egin\\n"}' } }),
      end('tool_calls'),
    ])
    expect(collectAnswer(events).blocks).toMatchObject([
      { block: { call: { name, namespace: 'space', freeForm: false } } },
      { block: { call: { name: 'patch', freeForm: true } }, text: '*** Begin\n' },
    ])
  })
})

describe('a whole chat answer', () => {
  const message = {
    role: 'assistant',
    content: 'b',
    reasoning_content: 'a',
    tool_calls: [
      { id: 'i', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
      { id: 'j', type: 'function', function: { name: 'g', arguments: '' } },
    ],
  }

  test('is read in the order reasoning, text, calls', () => {
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    const events = eventsOfAnswer(chat, { choices, usage })
    expect(outline(events)).toEqual(['reasoning:a', 'text:b', 'i:f:{"x":1}', 'j:g:{}', 'calls'])
  })

  test.each<[string, Json]>([
    ['no choices', { choices: [] }],
    ['nothing', {}],
    ['an error', { error: { message: 'x' } }],
  ])('with %s fails', (_, answer) => {
    expect(eventsOfAnswer(chat, answer).at(-1)).toMatchObject({ type: 'fail' })
  })
})

test('any order, loss and change of chunks gives legal events', () => {
  const changed = fc
    .tuple(fc.constantFrom(...stream), fc.jsonValue(), fc.nat(60))
    .map(([data, value, at]) => {
      let place = at
      return JSON.parse(JSON.stringify(data), (_, each) => (place-- === 0 ? value : each))
    })
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...stream), changed)), (chunks) => {
      const events: AnswerEvent[] = []
      const reader = chat.newReader(readContext())
      for (const data of chunks) {
        if (typeof data === 'object' && data !== null && !Array.isArray(data)) {
          reader.read(data, undefined, (event) => events.push(event))
        }
      }
      reader.end((event) => events.push(event))
      expectLegal(events)
    }),
    { numRuns: 500 },
  )
})

test('any answer is read or fails', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('choices', 'usage', 'error', 'id'), fc.jsonValue()),
      (answer) => {
        eventsOfAnswer(chat, answer)
      },
    ),
  )
  const message = {
    content: fc.jsonValue(),
    tool_calls: fc.jsonValue(),
    reasoning: fc.jsonValue(),
    annotations: fc.jsonValue(),
  }
  fc.assert(
    fc.property(fc.record(message), (made) => {
      eventsOfAnswer(chat, { choices: [{ message: made, finish_reason: 'stop' }] })
    }),
  )
})
