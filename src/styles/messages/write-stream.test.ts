// Streams and answers for callers of the messages style.
import { describe, expect, test } from 'bun:test'
import type { AnswerEvent, Block } from '../common/answer.ts'
import { AnswerSequence } from '../common/answer-sequence.ts'
import type { Conversation, Json } from '../common/conversation.ts'
import {
  dataOf,
  emptyConversation,
  envelopes,
  writeContext,
  written,
} from '../common/test-support.ts'
import { messages } from './index.ts'
import { messagesProblems } from './test-grammar.ts'

const usage = {
  inputTokens: 10,
  outputTokens: 4,
  cacheReadTokens: 3,
  cacheWriteTokens: 2,
  reasoningTokens: 1,
}

function recorded(work: (out: AnswerSequence) => void): AnswerEvent[] {
  const events: AnswerEvent[] = []
  const out = new AnswerSequence()
  out.emit = (event) => events.push(event)
  out.begin()
  work(out)
  return events
}

/** The content that a caller puts together from a stream; the answer without one must be the same. */
function contentOf(events: readonly AnswerEvent[], conversation: Conversation = emptyConversation) {
  const stream = written(messages.newWriter(writeContext(conversation)), events)
  expect(messagesProblems(stream)).toEqual([])
  const content: Record<string, unknown>[] = []
  const inputs: string[] = []
  for (const { content_block: block, delta, index } of dataOf(stream)) {
    const at = index as number
    if (block !== undefined) content[at] = { ...(block as Json) }
    const { text, thinking, signature, partial_json, citation } = (delta ?? {}) as Record<
      string,
      string
    >
    if (text !== undefined) content[at]!['text'] += text
    if (thinking !== undefined) content[at]!['thinking'] += thinking
    if (signature !== undefined) content[at]!['signature'] = signature
    if (partial_json !== undefined) inputs[at] = (inputs[at] ?? '') + partial_json
    if (citation !== undefined) content[at]!['citations'] = [citation]
  }
  for (const [at, input] of inputs.entries()) if (input) content[at]!['input'] = JSON.parse(input)
  const answer = messages.writeAnswer(events, writeContext(conversation))
  expect(content).toEqual(answer['content'] as never)
  return { content, stream, answer }
}

const call: Block = { kind: 'call', call: { id: 'i', name: 'f', freeForm: false } }

describe('a stream for a messages caller', () => {
  test('has all counts at its start and at its end', () => {
    const { stream, answer } = contentOf(recorded((out) => out.finish({ reason: 'end' }, usage)))
    const [first, last] = [dataOf(stream)[0]!, dataOf(stream).at(-2)!]
    expect(first).toMatchObject({
      message: {
        id: 'msg_abc',
        model: 'asked-model',
        usage: {
          input_tokens: 11,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: 0,
        },
      },
    })
    const counts = {
      input_tokens: 5,
      cache_creation_input_tokens: 2,
      cache_read_input_tokens: 3,
      output_tokens: 4,
      output_tokens_details: { thinking_tokens: 1 },
    }
    expect([last['usage'], answer['usage']]).toEqual([counts, counts])
  })

  test('has thinking, text and calls as blocks of their own, signed just before the end', () => {
    const { content } = contentOf(
      recorded((out) => {
        out.text('reasoning', 'a')
        out.text('reasoning', 'b')
        out.seal({ realm: 'r', data: 's' })
        out.text('text', 'c')
        out.cite({ url: 'https://a.example' })
        out.open(call)
        out.input('{"x":')
        out.input('1}')
        out.text('text', 'd')
        out.finish({ reason: 'end' }, usage)
      }),
    )
    expect(content).toMatchObject([
      { type: 'thinking', thinking: 'ab', signature: envelopes.wrap({ realm: 'r', data: 's' }) },
      { type: 'text', text: 'c', citations: [{ url: 'https://a.example' }] },
      { type: 'tool_use', id: 'i', name: 'f', input: { x: 1 } },
      { type: 'text', text: 'd' },
    ])
  })

  test('hides thinking that the caller did not want to see, and keeps it in the seal', () => {
    const events = recorded((out) => {
      out.text('reasoning', 'secret')
      out.seal({ realm: 'r', data: 's' })
      out.finish({ reason: 'end' }, usage)
    })
    const { content, stream } = contentOf(events, { ...emptyConversation, showReasoning: false })
    expect(stream).not.toContain('secret')
    expect(content[0]).toMatchObject({ thinking: '' })
    expect(envelopes.unwrap(String(content[0]!['signature']))).toEqual({
      realm: 'r',
      data: 's',
      text: 'secret',
    })
  })

  test('has withheld thinking as a block, and the seal of a call beside it', () => {
    const { content } = contentOf(
      recorded((out) => {
        out.open({ kind: 'reasoning', redacted: true })
        out.seal({ realm: 'r', data: 'x', redacted: true })
        out.open(call)
        out.seal({ realm: 'r', data: 'sig' })
        out.finish({ reason: 'calls' }, usage)
      }),
    )
    expect(content.map(({ type }) => type)).toEqual(['redacted_thinking', 'thinking', 'tool_use'])
    expect(envelopes.unwrap(String(content[1]!['signature']))).toEqual({
      realm: 'r',
      data: 'sig',
      itemId: 'i',
    })
    expect(content[2]).toMatchObject({ input: {} })
  })

  test('without a seal has an empty signature', () => {
    const { content } = contentOf(
      recorded((out) => {
        out.text('reasoning', 'a')
        out.finish({ reason: 'end' }, usage)
      }),
    )
    expect(content).toEqual([{ type: 'thinking', thinking: 'a', signature: '' }])
  })

  test.each<[Parameters<AnswerSequence['finish']>[0], Json]>([
    [{ reason: 'end' }, { stop_reason: 'end_turn', stop_sequence: null }],
    [{ reason: 'length' }, { stop_reason: 'max_tokens', stop_sequence: null }],
    [
      { reason: 'stop_sequence', sequence: '#' },
      { stop_reason: 'stop_sequence', stop_sequence: '#' },
    ],
    [{ reason: 'stop_sequence' }, { stop_reason: 'end_turn', stop_sequence: null }],
    [{ reason: 'filtered' }, { stop_reason: 'refusal', stop_details: { type: 'refusal' } }],
    [
      { reason: 'refusal', explanation: 'no' },
      { stop_reason: 'refusal', stop_details: { explanation: 'no' } },
    ],
  ])('that stops by %j says %j', (stop, expected) => {
    const { stream, answer } = contentOf(recorded((out) => out.finish(stop, usage)))
    expect(dataOf(stream).at(-2)!['delta']).toMatchObject(expected)
    expect(answer).toMatchObject(expected)
  })

  test('is alive with a ping, and has no end when it failed', () => {
    const writer = messages.newWriter(writeContext(emptyConversation))
    expect(writer.keepAlive()).toBe('event: ping\ndata: {"type":"ping"}\n\n')
    expect(writer.end()).toBe('')
  })
})

test('a call that the limit cut is left out of the answer, which says so', () => {
  const events = recorded((out) => {
    out.text('text', 'a')
    out.open(call)
    out.input('{"x":')
    out.finish({ reason: 'length' }, usage)
  })
  expect(messages.writeAnswer(events, writeContext(emptyConversation))).toMatchObject({
    content: [{ type: 'text', text: 'a' }],
    stop_reason: 'max_tokens',
  })
  const stream = written(messages.newWriter(writeContext(emptyConversation)), events)
  expect(messagesProblems(stream)).toEqual([])
})
