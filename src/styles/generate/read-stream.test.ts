// Answers of generate upstreams: whole and as streams, complete and broken.
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import type { AnswerEvent } from '../common/answer.ts'
import type { Json, Tool } from '../common/conversation.ts'
import { plainSeal } from '../common/envelope.ts'
import {
  block,
  call,
  eventProblem,
  joined,
  readAll,
  readContext,
  readWhole,
  realm,
  usage,
} from '../common/test-answers.ts'
import { generate } from './index.ts'
import { calling, chunk, lastChunk, stream, upstreamUsage, whole } from './test-upstream.ts'

const anyJson = fc.jsonValue({ maxDepth: 2 })

const tools: Tool[] = [
  { name: 'read_file', schema: {} },
  { name: 'apply_patch', freeForm: {} },
]
const read = (data: readonly Json[]) =>
  readAll(generate.newReader(readContext(generate, tools)), data)
const readAnswer = (answer: Json) => readWhole(generate, answer, tools)

const begin: AnswerEvent = { type: 'begin' }
const shown = { ...usage, cacheWriteTokens: 0 }
const stop = (
  reason: Extract<AnswerEvent, { type: 'stop' }>['reason'],
  fields: Json = {},
): AnswerEvent[] => [
  { type: 'stop', reason, ...fields },
  { type: 'usage', usage: shown },
]
const failed = (events: readonly AnswerEvent[]) => events.at(-1)?.type === 'fail'
const madeId = (ordinal: number) =>
  `call_${createHash('sha256').update(`r1 ${ordinal}`).digest('hex').slice(0, 16)}`

const expected: AnswerEvent[] = [
  begin,
  { type: 'open', index: 0, block: { kind: 'reasoning' } },
  { type: 'text', index: 0, text: 'Let me see.' },
  // Shown without a signature: it is known as the upstream's own when it comes back.
  { type: 'seal', index: 0, seal: { realm, data: plainSeal } },
  { type: 'close', index: 0 },
  ...block(1, { kind: 'text' }, 'Hello, wörld'),
  { type: 'open', index: 2, block: call(madeId(0), 'read_file') },
  { type: 'seal', index: 2, seal: { realm, data: 'sig==' } },
  { type: 'input', index: 2, text: '{"path":"a b"}' },
  { type: 'close', index: 2 },
  ...block(3, call('given', 'read_file'), '{}'),
  ...stop('calls'),
]

describe('an answer', () => {
  test('is the same whole, as a stream and as a list', () => {
    expect(joined(readAnswer(whole))).toEqual(expected)
    expect(joined(read(stream))).toEqual(expected)
    expect(joined(read([stream as unknown as Json]))).toEqual(expected)
    expect(eventProblem(expected)).toBeUndefined()
  })

  test('with names in the other spelling is the same', () => {
    const other = JSON.parse(
      JSON.stringify(stream)
        .replaceAll('thoughtSignature', 'thought_signature')
        .replaceAll('functionCall', 'function_call')
        .replaceAll('finishReason', 'finish_reason')
        .replaceAll('responseId', 'response_id')
        .replaceAll('usageMetadata', 'usage_metadata')
        .replaceAll('TokenCount', '_token_count')
        .replaceAll('toolUsePrompt', 'tool_use_prompt')
        .replaceAll('cachedContent', 'cached_content'),
    )
    expect(joined(read(other))).toEqual(expected)
  })

  test('counts thoughts beside the output and once', () => {
    expect(readAnswer(lastChunk([{ text: 'Hi' }])).at(-1)).toEqual({ type: 'usage', usage: shown })
    const total = upstreamUsage['totalTokenCount']
    expect(shown.inputTokens + shown.outputTokens).toBe(Number(total))
  })

  test('gives a seal on visible text to the reasoning before it, never to the text', () => {
    const parts = [
      { text: 'Hm', thought: true },
      { text: 'Hi', thoughtSignature: 'sig' },
    ]
    expect(readAnswer(lastChunk(parts))).toEqual([
      begin,
      { type: 'open', index: 0, block: { kind: 'reasoning' } },
      { type: 'text', index: 0, text: 'Hm' },
      { type: 'seal', index: 0, seal: { realm, data: 'sig' } },
      { type: 'close', index: 0 },
      ...block(1, { kind: 'text' }, 'Hi'),
      ...stop('end'),
    ])
    expect(readAnswer(lastChunk([{ text: 'Hi', thoughtSignature: 'sig' }]))).toEqual([
      begin,
      ...block(0, { kind: 'text' }, 'Hi'),
      ...stop('end'),
    ])
  })

  test('gives a call of a free-form tool its text', () => {
    expect(readAnswer(lastChunk([calling('apply_patch', { input: '*** Begin\n' })]))).toEqual([
      begin,
      ...block(0, call(madeId(0), 'apply_patch', true), '*** Begin\n'),
      ...stop('calls'),
    ])
  })

  test('has its sources, counted in letters', () => {
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
      groundingSupports: [
        { segment: { startIndex: 3, endIndex: 5, text: 'b' }, groundingChunkIndices: [0, 7] },
      ],
    }
    const events = readAnswer(lastChunk([{ text: 'üüb' }], 'STOP', { groundingMetadata }))
    expect(events.filter(({ type }) => type === 'cite')).toEqual([
      {
        type: 'cite',
        index: 0,
        citation: { url: 'https://a.example', title: 'A', start: 2, end: 3, quote: 'b' },
      },
    ])
    expect(eventProblem(events)).toBeUndefined()
  })
})

describe('an end', () => {
  test.each([
    ['STOP', 'end'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'filtered'],
    ['RECITATION', 'filtered'],
    ['PROHIBITED_CONTENT', 'filtered'],
    ['OTHER', 'end'],
    ['LANGUAGE', 'end'],
  ] as const)('with the word %s is %s', (word, reason) => {
    const events = readAnswer(lastChunk([{ text: 'Hi' }], word))
    expect(events.at(-2)).toEqual({ type: 'stop', reason })
  })

  test.each([
    ['MALFORMED_FUNCTION_CALL', [{ text: 'Hi' }]],
    ['UNEXPECTED_TOOL_CALL', [{ text: 'Hi' }]],
    ['SOMETHING_NEW', [{ text: 'Hi' }]],
    ['toString', [{ text: 'Hi' }]],
    ['OTHER', []],
    ['FINISH_REASON_UNSPECIFIED', []],
  ] as const)('with the word %s after %j is a plain end, with a loss', (word, parts) => {
    const events = readAnswer(lastChunk(parts, word))
    expect([failed(events), eventProblem(events)]).toEqual([false, undefined])
    expect(events).toContainEqual({ type: 'lost', what: 'finish_reason' })
    expect(events.at(-2)).toEqual({ type: 'stop', reason: 'end' })
  })

  test('without a reason is a failure where there is nothing, else a plain end', () => {
    for (let length = 0; length < stream.length; length++) {
      const events = read(stream.slice(0, length))
      const isEmpty = !events.some(({ type }) => type === 'open')
      expect([length, failed(events), eventProblem(events)]).toEqual([length, isEmpty, undefined])
    }
  })

  test('of a question that was refused says why', () => {
    const promptFeedback = { blockReason: 'PROHIBITED_CONTENT', blockReasonMessage: 'Not this.' }
    expect(readAnswer({ promptFeedback, usageMetadata: upstreamUsage })).toEqual([
      begin,
      ...stop('filtered', { explanation: 'Not this.' }),
    ])
  })

  test.each<[Json, string]>([
    [{ error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'x' } }, 'upstream_rate_limited'],
    [{ error: { code: 500, message: 'x' } }, 'upstream_error'],
  ])('with %j is a failure', (data, code) => {
    const events = read([...stream.slice(0, 3), data, ...stream.slice(3)])
    expect(events.at(-1)).toMatchObject({ type: 'fail', error: { code } })
    expect(eventProblem(events)).toBeUndefined()
  })

  test.each<[Json, string]>([
    [chunk([{ inlineData: { mimeType: 'image/png', data: '' } }]), 'content'],
    [chunk([{ functionCall: { args: {} } }]), 'tool_name'],
  ])('with %j ends well, with a loss', (data, what) => {
    const events = read([...stream.slice(0, 3), data, ...stream.slice(3)])
    expect(events).toContainEqual({ type: 'lost', what } as AnswerEvent)
    expect([failed(events), eventProblem(events)]).toEqual([false, undefined])
  })
})

test('whatever an upstream sends, the events are legal and nothing is thrown', () => {
  const parts = fc.array(
    fc.oneof(
      fc.constantFrom(...(stream as Json[]).flatMap((each) => partsOf(each))),
      anyJson,
      fc.record({ text: fc.anything(), thought: fc.boolean() }),
      fc.record({ functionCall: fc.dictionary(fc.constantFrom('name', 'args', 'id'), anyJson) }),
    ),
  )
  const answers = fc.array(
    fc.oneof(
      fc.constantFrom(...stream),
      anyJson,
      parts.map((each) => chunk(each as Json[])),
      parts.map((each) => lastChunk(each as Json[])),
      fc.record({ candidates: anyJson, usageMetadata: anyJson }),
    ),
    { maxLength: 8 },
  )
  fc.assert(
    fc.property(answers, (data) => {
      expect(eventProblem(read(data as Json[]))).toBeUndefined()
    }),
    { numRuns: 500 },
  )
})

const partsOf = (answer: Json): Json[] => {
  const [candidate] = answer['candidates'] as { content: { parts: Json[] } }[]
  return candidate!.content.parts
}
