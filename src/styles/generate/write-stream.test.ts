// Answers for callers of the generate style: every stream follows the grammar, and its parts add up to
// the answer that a caller without a stream gets.
import { describe, expect, test } from 'bun:test'
import type { AnswerEvent } from '../common/answer.ts'
import type { Json } from '../common/conversation.ts'
import type { WriteContext } from '../common/style.ts'
import {
  block,
  call,
  conversation,
  envelopes,
  realm,
  usage,
  writeContext,
} from '../common/test-answers.ts'
import { generate } from './index.ts'
import { answersOf, generateProblem } from './test-grammar.ts'

type Stop = Extract<AnswerEvent, { type: 'stop' }>

const begin: AnswerEvent = { type: 'begin' }
const end = (reason: Stop['reason'] = 'end', more: Partial<Stop> = {}): AnswerEvent[] => [
  { type: 'stop', reason, ...more },
  { type: 'usage', usage },
]
const seal = { realm, data: 'sealed==', text: 'Thinking…' }
const signature = envelopes.wrap(seal)
const reasoning: AnswerEvent[] = [
  { type: 'open', index: 0, block: { kind: 'reasoning' } },
  { type: 'text', index: 0, text: 'Think' },
  { type: 'text', index: 0, text: 'ing…' },
  { type: 'seal', index: 0, seal },
  { type: 'close', index: 0 },
]
const everything: AnswerEvent[] = [
  begin,
  ...reasoning,
  ...block(1, call('c1', 'read_file'), '{"path":', '"a"}'),
  ...block(2, { kind: 'text' }, 'Hel', 'lo'),
  ...block(3, call('c2', 'read_file'), '{"big":12345678901234567890}'),
  ...end('calls'),
]

function written(events: readonly AnswerEvent[], context: Partial<WriteContext> = {}): string {
  const writer = generate.newWriter(writeContext(context))
  return events.map((event) => writer.write(event)).join('') + writer.end()
}

const whole = (events: readonly AnswerEvent[], context: Partial<WriteContext> = {}): Json =>
  generate.writeAnswer(events, writeContext(context))

const candidateOf = (answer: Json = {}) => (answer['candidates'] as Json[])[0]!
const partsOf = (answer: Json | undefined) =>
  ((candidateOf(answer)['content'] as Json | undefined)?.['parts'] ?? []) as Json[]

describe('an answer', () => {
  test('follows the grammar', () => {
    expect(generateProblem(written(everything))).toBeUndefined()
  })

  test('has its parts, and reasoning is sealed on the part that follows', () => {
    const text = JSON.stringify(partsOf(whole(everything)))
    expect(text).toContain('12345678901234567890')
    expect(JSON.parse(text)).toMatchObject([
      { text: 'Thinking…', thought: true },
      {
        functionCall: { id: 'c1', name: 'read_file', args: { path: 'a' } },
        thoughtSignature: signature,
      },
      { text: 'Hello' },
      { functionCall: { id: 'c2', name: 'read_file' } },
    ])
  })

  test('has the same parts in a stream', () => {
    const answers = answersOf(written(everything))
    const texts = answers.flatMap(partsOf).map((part) => part['text'] ?? '')
    expect(texts.join('')).toBe('Thinking…Hello')
    expect(candidateOf(answers.at(-1))['finishReason']).toBe('STOP')
  })

  test('hides reasoning from a caller that did not ask for it, but not its seal', () => {
    const hidden = { conversation: conversation() }
    const events = [begin, ...reasoning, ...block(1, { kind: 'text' }, 'Hi'), ...end()]
    expect(partsOf(whole(events, hidden))).toEqual([{ text: 'Hi', thoughtSignature: signature }])
    expect(generateProblem(written(events, hidden))).toBeUndefined()
  })

  test('that ends with reasoning carries its seal at the end', () => {
    const events = [begin, ...reasoning, ...end('length')]
    expect(partsOf(whole(events)).at(-1)).toEqual({ text: '', thoughtSignature: signature })
    expect(generateProblem(written(events))).toBeUndefined()
  })

  test('counts reasoning beside the output', () => {
    expect(whole(everything)['usageMetadata']).toEqual({
      promptTokenCount: 100,
      candidatesTokenCount: 30,
      totalTokenCount: 140,
      cachedContentTokenCount: 60,
      thoughtsTokenCount: 10,
    })
  })

  test('names its sources, counted in bytes', () => {
    const events: AnswerEvent[] = [
      begin,
      { type: 'open', index: 0, block: { kind: 'text' } },
      { type: 'text', index: 0, text: 'üüb' },
      { type: 'cite', index: 0, citation: { url: 'https://a.example', start: 2, end: 3 } },
      { type: 'close', index: 0 },
      ...end(),
    ]
    expect(candidateOf(whole(events))['groundingMetadata']).toEqual({
      groundingChunks: [{ web: { uri: 'https://a.example' } }],
      groundingSupports: [
        { segment: { startIndex: 4, endIndex: 5, text: 'b' }, groundingChunkIndices: [0] },
      ],
    })
  })
})

describe('an end', () => {
  test.each([
    ['end', 'STOP'],
    ['stop_sequence', 'STOP'],
    ['length', 'MAX_TOKENS'],
    ['filtered', 'SAFETY'],
    ['refusal', 'SAFETY'],
  ] as const)('because of %s has the word %s', (reason, word) => {
    const events = [begin, ...block(0, { kind: 'text' }, 'Hi'), ...end(reason)]
    expect(candidateOf(whole(events))['finishReason']).toBe(word)
    expect(generateProblem(written(events))).toBeUndefined()
  })

  test('without output is still an answer', () => {
    const events = [begin, ...end('filtered', { explanation: 'Not this.' })]
    expect(candidateOf(whole(events))).toMatchObject({ finishMessage: 'Not this.' })
    expect(generateProblem(written(events))).toBeUndefined()
  })

  test('leaves out a call that was cut', () => {
    const events = [begin, ...block(0, call('c1', 'f'), '{"a":'), ...end('length')]
    expect(partsOf(whole(events))).toEqual([])
    expect(generateProblem(written(events))).toBeUndefined()
  })

  test('with a failure is an error', () => {
    const error = { code: 'upstream_rate_limited' as const, message: 'slow' }
    for (const before of [[], everything.slice(0, 9)]) {
      const writer = generate.newWriter(writeContext())
      const events: AnswerEvent[] = [...before, { type: 'fail', error }]
      const stream = events.map((event) => writer.write(event)).join('')
      expect(generateProblem(stream)).toBeUndefined()
      expect(answersOf(stream).at(-1)).toEqual({
        error: { code: 429, message: 'slow', status: 'RESOURCE_EXHAUSTED' },
      })
    }
  })

  test('may come after signs of life', () => {
    const writer = generate.newWriter(writeContext())
    const stream = everything.map((event) => writer.write(event) + writer.keepAlive()).join('')
    expect(generateProblem((stream + writer.end()).trimStart())).toBeUndefined()
  })
})
