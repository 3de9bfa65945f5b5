// Why an answer ended, read from answers and streams of every style, in one vocabulary.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { TextCall } from '../../src/contract/requests.ts'
import { chatStyle } from '../../src/providers/chat/index.ts'
import { finishReasonFrom } from '../../src/providers/common/finish-reason.ts'
import { readAnswer as readGenerate } from '../../src/providers/generate/read-answer.ts'
import { stream as generateStream } from '../../src/providers/generate/stream.ts'
import { messagesStyle } from '../../src/providers/messages/index.ts'
import { responsesStyle } from '../../src/providers/responses/index.ts'
import { cut, places, watchStream } from '../../src/providers/text/test-watching.ts'
import { TextStreamWatcher } from '../../src/providers/text/watch-stream.ts'

type Json = Record<string, unknown>
const call = { model: 'up-model', wantsUsage: true, choices: 1 } as TextCall

const chatAnswer = (reason: unknown): Json => ({
  id: 'x',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: reason }],
  usage: { prompt_tokens: 5, completion_tokens: 7 },
})
const message = (reason: unknown): Json => ({
  id: 'm',
  content: [{ type: 'text', text: 'hi' }],
  stop_reason: reason,
  usage: { input_tokens: 5, output_tokens: 7 },
})
const response = (status: string, reason?: unknown, item: Json = { type: 'message' }): Json => ({
  id: 'r',
  status,
  output: [{ id: 'i', content: [], ...item }],
  ...(reason !== undefined && { incomplete_details: { reason } }),
  usage: { input_tokens: 5, output_tokens: 7 },
})
const generated = (reason: unknown, part: Json = { text: 'hi' }): Json => ({
  candidates: [{ index: 0, content: { parts: [part] }, finishReason: reason }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 7 },
})
const generateStyle = { readAnswer: readGenerate, stream: generateStream }
const called = { functionCall: { name: 'f', args: {} } }
const blocked = { promptFeedback: { blockReason: 'OTHER' } }

type Style = Pick<typeof chatStyle, 'readAnswer' | 'stream'>
const cases: [style: string, by: Style, answer: Json, reason: string | undefined][] = [
  ['chat', chatStyle, chatAnswer('stop'), 'stop'],
  ['chat', chatStyle, chatAnswer('length'), 'length'],
  ['chat', chatStyle, chatAnswer('tool_calls'), 'tool_calls'],
  ['chat', chatStyle, chatAnswer('function_call'), 'tool_calls'],
  ['chat', chatStyle, chatAnswer('content_filter'), 'content_filter'],
  ['chat', chatStyle, chatAnswer('insufficient_system_resource'), 'insufficient_system_resource'],
  ['messages', messagesStyle, message('end_turn'), 'stop'],
  ['messages', messagesStyle, message('max_tokens'), 'length'],
  ['messages', messagesStyle, message('tool_use'), 'tool_calls'],
  ['messages', messagesStyle, message('refusal'), 'content_filter'],
  ['messages', messagesStyle, message('pause_turn'), 'pause_turn'],
  ['responses', responsesStyle, response('completed'), 'stop'],
  ['responses', responsesStyle, response('incomplete', 'max_output_tokens'), 'length'],
  ['responses', responsesStyle, response('incomplete', 'content_filter'), 'content_filter'],
  [
    'responses',
    responsesStyle,
    response('completed', undefined, { type: 'function_call' }),
    'tool_calls',
  ],
  ['generate', generateStyle, generated('STOP'), 'stop'],
  ['generate', generateStyle, generated('STOP', called), 'tool_calls'],
  ['generate', generateStyle, generated('MAX_TOKENS'), 'length'],
  ['generate', generateStyle, generated('SAFETY'), 'content_filter'],
  ['generate', generateStyle, generated('MALFORMED_FUNCTION_CALL'), 'MALFORMED_FUNCTION_CALL'],
  ['generate', generateStyle, blocked, 'content_filter'],
]

describe('why an answer ended', () => {
  test.each(cases)('is read from one of the %s style', (_, style, answer, reason) => {
    const read = style.readAnswer(answer, call)
    if (read === undefined || 'failed' in read) throw new Error('no answer')
    expect(finishReasonFrom(read.finishReason)).toBe(reason)
  })

  test.each(cases)(
    'is read from a stream of the %s style, however it is cut',
    (_, style, answer, reason) => {
      const events = style.stream!.fromAnswer(answer)
      const eachAlone = events.map((event) => Buffer.from(event))
      expect(watchStream(style.stream!, eachAlone).watcher.finishReason()).toBe(reason)
      fc.assert(
        fc.property(places, (at) => {
          const { watcher } = watchStream(style.stream!, cut(events.join(''), at))
          expect([watcher.outcome, watcher.finishReason()]).toEqual(['finished', reason])
        }),
        { numRuns: 20 },
      )
    },
  )
})

const line = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const chunk = (reason: unknown, index = 0, more: Json = {}): string =>
  line({
    id: 'x',
    model: 'up-model',
    choices: [{ index, delta: { content: 'a' }, finish_reason: reason }],
    ...more,
  })
const usage = { prompt_tokens: 5, completion_tokens: 7 }
const usageOnly = line({ choices: [], usage })
const done = 'data: [DONE]\n\n'

function reasonOf(packets: readonly string[], more: Partial<TextCall> = {}): string | undefined {
  const watcher = new TextStreamWatcher(
    chatStyle.stream!,
    { ...call, ...more },
    { model: 'up-model' },
    undefined,
  )
  for (const packet of packets) watcher.take(Buffer.from(packet))
  watcher.close()
  return watcher.finishReason()
}

describe('a chat stream', () => {
  const many = Array.from({ length: 50 }, () => chunk(null))
  test.each<[string, string[], string | undefined]>([
    ['in packets of its own', [...many, chunk('length'), usageOnly, done], 'length'],
    ['in one packet', [[...many, chunk('length'), usageOnly, done].join('')], 'length'],
    ['without usage', [...many, chunk('length'), done], 'length'],
    ['without usage and marker', [...many, chunk('length')], 'length'],
    ['with usage beside the reason', [chunk(null), chunk('length', 0, { usage }), done], 'length'],
    [
      'with usage in every event',
      [chunk(null, 0, { usage }), chunk('length', 0, { usage }), done],
      'length',
    ],
    [
      'with a comment after it',
      [chunk('length'), ': keep-alive\n\n', `: x\n\n${usageOnly}`, done],
      'length',
    ],
    ['with an empty chunk after it', [chunk('length') + chunk(null), usageOnly, done], 'length'],
    [
      'with an empty word while it goes on',
      [chunk(''), chunk('length') + usageOnly + done],
      'length',
    ],
    ['that never says it', [chunk(null), usageOnly, done], undefined],
    [
      'whose text quotes it',
      [line({ choices: [{ delta: { content: '"finish_reason":"x"' } }] }), usageOnly, done],
      undefined,
    ],
  ])('%s', (_, packets, reason) => {
    expect(reasonOf(packets)).toBe(reason)
    expect(reasonOf(packets, { model: 'own-name' })).toBe(reason)
    expect(reasonOf(packets, { wantsUsage: false })).toBe(reason)
  })

  test('of several choices says that of the first', () => {
    const packets = [chunk(null), chunk('length'), chunk('stop', 1), usageOnly, done]
    expect(reasonOf([packets.join('')], { choices: 2 })).toBe('length')
    const both = line({
      choices: [
        { index: 1, finish_reason: 'stop' },
        { index: 0, finish_reason: 'length' },
      ],
    })
    expect(reasonOf([both, usageOnly, done], { choices: 2 })).toBe('length')
  })

  test('that broke off has none', () => {
    const { watcher } = watchStream(chatStyle.stream!, [Buffer.from(chunk(null))])
    expect(watcher.finishReason()).toBeUndefined()
  })
})

describe('a word of an upstream that is not known', () => {
  test.each<[unknown, string | undefined]>([
    ['x'.repeat(900), 'x'.repeat(40)],
    ['bad\u0000\u001b[31m', 'bad'],
    ['<script>', undefined],
    ['a b', 'a'],
    ['出错', undefined],
    ['', undefined],
    [7, undefined],
    [{ stop: 1 }, undefined],
    [['stop'], undefined],
    [true, undefined],
    ['__proto__', '__proto__'],
  ])('%j is cut to what is safe, in answers and in streams', (word, shown) => {
    const read = chatStyle.readAnswer(chatAnswer(word), call)
    expect(read !== undefined && 'reported' in read && finishReasonFrom(read.finishReason)).toBe(
      shown as string,
    )
    expect(reasonOf([chunk(word), usageOnly, done])).toBe(shown)
    expect(reasonOf([chunk(word), usageOnly, done], { choices: 2 })).toBe(shown)
  })
})
