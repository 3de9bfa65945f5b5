// A stream of the messages style on its way to the caller, split anywhere, and its usage.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  cut,
  named,
  places,
  readData,
  upstreamModel,
  watchStream,
  words,
} from '../text/test-watching.ts'
import { stream as style } from './stream.ts'

type Json = Record<string, unknown>

const begunUsage = { input_tokens: 10, cache_read_input_tokens: 100, output_tokens: 1 }
const counted = { inputTokens: 110, outputTokens: 7, cacheReadTokens: 100, cacheWriteTokens: 0 }

const start: Json = {
  type: 'message_start',
  message: { id: 'msg_1', model: upstreamModel, content: [], usage: begunUsage },
}
const block: Json = {
  type: 'content_block_start',
  index: 0,
  content_block: { type: 'tool_use', name: 'x', input: { model: 'up-model' } },
}
const delta = (text: string): Json => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text },
})
const ended = (usage?: unknown, stop_reason: string | null = 'end_turn'): Json => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  ...(usage !== undefined && { usage }),
})
const ending = ended({ output_tokens: 7 })
const stop: Json = { type: 'message_stop' }

const event = fc.oneof(
  { weight: 6, arbitrary: words.map(delta) },
  { weight: 1, arbitrary: fc.constant(block) },
  { weight: 1, arbitrary: fc.constant<Json>({ type: 'ping' }) },
  { weight: 1, arbitrary: words.map((thing): Json => ({ type: 'vendor_new', model: 'x', thing })) },
  { weight: 1, arbitrary: fc.constant(': keep-alive\n\n') },
  { weight: 1, arbitrary: fc.constant(ended({ output_tokens: 3 }, null)) },
)

const streams = fc
  .record({
    events: fc.array(event, { maxLength: 10 }),
    end: fc.constantFrom('\n', '\r\n'),
    spaced: fc.boolean(),
  })
  .map(({ events, end, spaced }) => {
    const all = [start, ...events, ending, stop]
    const text = all.map((each) => (typeof each === 'string' ? each : named(each, spaced))).join('')
    return { events: all, text: text.replaceAll('\n', end) }
  })

describe('any stream, cut anywhere,', () => {
  test('keeps every byte when the model has one name', () => {
    fc.assert(
      fc.property(streams, places, ({ text }, cuts) => {
        const seen = watchStream(style, cut(text, cuts))
        expect(seen.all).toBe(text)
        expect(seen.ending).toStartWith('event: message_stop')
        expect(seen.watcher.outcome).toBe('finished')
        expect(seen.watcher.reported.usage).toEqual(counted)
      }),
      { numRuns: 300 },
    )
  })

  test('has the caller’s name in its message and is the same otherwise', () => {
    const names = fc.constantFrom('own-name', 'with "quotes" and $&')
    fc.assert(
      fc.property(streams, places, names, ({ events, text }, cuts, restoreTo) => {
        const { all } = watchStream(style, cut(text, cuts), { restoreTo })
        const message = { ...(start['message'] as object), model: restoreTo }
        expect(readData(all)).toEqual(
          events.map((each) => {
            if (typeof each === 'string') return each.trimEnd()
            return each === start ? { ...start, message } : each
          }),
        )
      }),
      { numRuns: 300 },
    )
  })

  test('with another name differs in that name only, byte for byte', () => {
    const text = [start, block, delta('"model":"up-model"'), ending, stop]
      .map((each) => named(each))
      .join('')
    const { all } = watchStream(style, [Buffer.from(text)], { restoreTo: 'own' })
    expect(all).toBe(text.replace('"model":"up-model","content"', '"model":"own","content"'))
  })

  test('breaks off as a failure wherever it breaks before it has said why it stopped', () => {
    const text = named(start) + named(delta('one')) + named(ending) + named(stop)
    const bytes = Buffer.from(text)
    const finishedAt = bytes.indexOf('event: message_stop')
    for (let length = 0; length < finishedAt; length++) {
      const { watcher, passed } = watchStream(style, [bytes.subarray(0, length)])
      expect(watcher.outcome).toMatchObject({ code: 'upstream_error', upstreamRequestId: 'up_1' })
      expect(watcher.ending).toBeUndefined()
      expect(text).toStartWith(passed)
    }
  })
})

const watchAll = (...events: Json[]) =>
  watchStream(style, [Buffer.from(events.map((each) => named(each)).join(''))])

describe('the end', () => {
  test('waits for the charge, and nothing after it passes', () => {
    const seen = watchAll(start, ending, stop, delta('late'))
    expect([seen.passed, seen.ending]).toEqual([named(start) + named(ending), named(stop)])
  })

  test('is supplied when only the last event is missing', () => {
    const seen = watchAll(start, delta('hi'), ending)
    expect([seen.watcher.outcome, seen.ending]).toEqual(['finished', named(stop)])
  })

  test('is not supplied when the message has not said why it stopped', () => {
    const seen = watchAll(start, delta('hi'), ended({ output_tokens: 7 }, null))
    expect(seen.watcher.outcome).toMatchObject({ code: 'upstream_error' })
    expect(seen.ending).toBe('')
  })
})

describe('usage', () => {
  const usageOf = (first: unknown, ...later: unknown[]) =>
    watchAll(
      { type: 'message_start', message: { usage: first } },
      ...later.map((usage) => ended(usage)),
      stop,
    ).watcher.reported

  test('is that of the first event with what later ones know better', () => {
    const { usage, raw } = usageOf(
      { input_tokens: 1, output_tokens: 1, service_tier: 'x' },
      { input_tokens: 10, cache_creation_input_tokens: 500, cache_read_input_tokens: 1000 },
      { output_tokens: 3 },
      { output_tokens: 8, input_tokens: null },
    )
    expect(usage).toEqual({
      inputTokens: 1510,
      outputTokens: 8,
      cacheReadTokens: 1000,
      cacheWriteTokens: 500,
    })
    expect(raw).toMatchObject({ input_tokens: 10, output_tokens: 8, service_tier: 'x' })
  })

  test('of the output stays known when a later event does not repeat it', () => {
    expect(usageOf({ input_tokens: 5 }, { output_tokens: 8 }, { input_tokens: 6 }).usage).toEqual({
      inputTokens: 6,
      outputTokens: 8,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    })
  })

  test.each<[string, unknown, unknown]>([
    ['the first event counts it', { input_tokens: 5, output_tokens: 9 }, undefined],
    ['later ones leave it out', { input_tokens: 5, output_tokens: 9 }, { input_tokens: 6 }],
    ['later ones say null', { input_tokens: 5, output_tokens: 9 }, { output_tokens: null }],
    ['it is negative', { input_tokens: 5 }, { output_tokens: -1 }],
    ['it is no object', { input_tokens: 5, output_tokens: 9 }, 'much'],
  ])('is that of the input alone when of the output %s', (_, first, later) => {
    const { usage } = usageOf(first, later)
    expect(usage?.inputTokens).toBeGreaterThanOrEqual(5)
    expect(usage?.outputTokens).toBeUndefined()
  })

  test('is that of the output alone when the input is unknown', () => {
    const { usage } = usageOf(undefined, { output_tokens: 3 })
    expect([usage?.inputTokens, usage?.outputTokens]).toEqual([undefined, 3])
    expect(usageOf(undefined, { input_tokens: -1 }).usage).toBeUndefined()
  })

  test('may come in the other spelling', () => {
    const { usage } = usageOf({ prompt_tokens: 10 }, { completion_tokens: 3 })
    expect([usage?.inputTokens, usage?.outputTokens]).toEqual([10, 3])
  })

  test('that is missing can be counted, thinking and tools included', () => {
    const piece = (field: string): Json => ({ type: 'x', delta: { [field]: 'x'.repeat(400) } })
    const seen = watchAll(piece('text'), piece('thinking'), piece('partial_json'))
    expect(seen.watcher.countOutputTokens()).toBe(300)
    const spaced = Buffer.from('data: {"delta": {"text": "four"}}\n\n')
    expect(watchStream(style, [spaced]).watcher.countOutputTokens()).toBe(1)
  })
})

describe('a failure', () => {
  test.each<[unknown, string, string]>([
    [{ type: 'error', error: { type: 'overloaded_error', message: 'busy' } }, 'overloaded', 'busy'],
    [
      { type: 'error', error: { type: 'rate_limit_error', message: 'slow' } },
      'upstream_rate_limited',
      'slow',
    ],
    [{ error: { message: 'boom' } }, 'upstream_error', 'boom'],
    [{ type: 'error', message: 'boom' }, 'upstream_error', 'boom'],
    [{ type: 'error' }, 'upstream_error', 'the upstream reported an error in its stream'],
  ])('%j ends the stream and is not passed on', (data, code, message) => {
    const seen = watchAll(start, data as Json, ending, stop)
    expect(seen.watcher.outcome).toMatchObject({
      code,
      message,
      upstreamRequestId: 'up_1',
    } as object)
    expect(seen.all).toBe(named(start))
  })

  test('is an event of meaning that is no JSON', () => {
    const broken = Buffer.from('event: message_delta\ndata: {"type":"message_delta","us\n\n')
    const { watcher } = watchStream(style, [broken])
    expect(watcher.outcome).toMatchObject({ code: 'upstream_invalid_response' })
  })
})
