// A stream of the generate style on its way to the caller, split anywhere: its last event is held
// back, and without a finish reason it is no answer.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cut, places, readData, upstreamModel, watchStream, words } from '../text/test-watching.ts'
import { stream as style } from './stream.ts'

type Json = Record<string, unknown>

const usage = (candidates: number, thoughts = 0) => ({
  promptTokenCount: 10,
  candidatesTokenCount: candidates,
  ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
  totalTokenCount: 10 + candidates + thoughts,
})
const counted = { inputTokens: 10, outputTokens: 9, cacheReadTokens: 0, cacheWriteTokens: 0 }

const chunk = (text: string, more: Json = {}, choice: Json = {}): Json => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...choice }],
  modelVersion: upstreamModel,
  ...more,
})
const end = chunk('bye', { usageMetadata: usage(7, 2) }, { finishReason: 'STOP' })
const event = (data: Json, newline = '\r\n'): string =>
  `data: ${JSON.stringify(data)}${newline}${newline}`
const streamOf = (events: Json[], newline?: string) =>
  events.map((each) => event(each, newline)).join('')
const watch = (text: string, more = {}) => watchStream(style, [Buffer.from(text)], more)

test('the last event is held back until its charge, and bytes are as they came', () => {
  const text = streamOf([chunk('a'), chunk('b'), end])
  const { watcher, passed, ending } = watch(text)
  expect(passed).toBe(streamOf([chunk('a'), chunk('b')]))
  expect(ending).toBe(event(end))
  expect(watcher.outcome).toBe('finished')
  expect(watcher.reported.usage).toEqual({ ...counted, reasoningTokens: 2 })
})

test('whatever the texts and wherever it is cut, the caller reads the same', () => {
  const event_ = fc.oneof(
    words.map((text) => chunk(text)),
    words.map((text) => chunk(text, { usageMetadata: usage(1) })),
  )
  fc.assert(
    fc.property(
      fc.array(event_, { maxLength: 8 }),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      places,
      (events, newline, renamed, at) => {
        const text = streamOf([...events, end], newline)
        const restoreTo = renamed ? 'own' : undefined
        const { watcher, all, ending } = watchStream(style, cut(text, at), { restoreTo })
        const named = [...events, end].map((each) => ({
          ...each,
          modelVersion: restoreTo ?? upstreamModel,
        }))
        expect(readData(all)).toEqual(named)
        expect(readData(ending)).toEqual([named.at(-1)!])
        expect([watcher.outcome, watcher.reported.usage]).toMatchObject(['finished', counted])
      },
    ),
    { numRuns: 200 },
  )
})

describe('the end', () => {
  test('needs no blank line', () => {
    const { watcher, ending } = watch(streamOf([chunk('a'), end]).trimEnd())
    expect([watcher.outcome, readData(ending)]).toEqual(['finished', [end]])
  })

  test('may be followed by usage', () => {
    const bare = chunk('bye', {}, { finishReason: 'STOP' })
    const last = { usageMetadata: usage(9), modelVersion: upstreamModel }
    const { watcher, passed, ending } = watch(streamOf([chunk('a'), bare, last]))
    expect(watcher.outcome).toBe('finished')
    expect(watcher.reported.usage).toMatchObject(counted)
    expect(readData(passed)).toEqual([chunk('a'), bare])
    expect(readData(ending)).toEqual([last])
  })

  test('is the last event, where every one of them has a finish reason', () => {
    const each = ['a', 'b', 'c'].map((text, i) =>
      chunk(text, { usageMetadata: usage(3 * (i + 1)) }, { finishReason: 'STOP' }),
    )
    const { watcher, all, ending } = watch(streamOf(each))
    expect(readData(all)).toEqual(each)
    expect(readData(ending)).toEqual([each[2]])
    expect(watcher.reported.usage).toMatchObject(counted)
  })

  test('is the finish reason, whatever comes behind it', () => {
    for (const restoreTo of [undefined, 'own']) {
      const text = streamOf([chunk('a'), end, chunk('more'), chunk('and more')])
      const { watcher, all } = watch(text, { restoreTo })
      const named = { modelVersion: restoreTo ?? upstreamModel }
      expect(readData(all)).toEqual([chunk('a', named), { ...end, ...named }])
      expect([watcher.outcome, watcher.reported.usage]).toMatchObject(['finished', counted])
    }
  })

  test('counts after the finish reason, although the connection breaks', () => {
    const { watcher, ending } = watch(streamOf([chunk('a'), end]), { close: false })
    expect(watcher.outcome).toBeUndefined()
    watcher.break()
    expect([watcher.outcome, ending]).toEqual(['finished', ''])
    expect(Buffer.from(watcher.ending!).toString()).toBe(event(end))
  })

  test('is a failure without a finish reason', () => {
    const usageOnly = chunk('b', { usageMetadata: usage(7) })
    for (const events of [[], [chunk('a')], [chunk('a'), usageOnly]]) {
      const { watcher, ending } = watch(streamOf(events))
      expect([watcher.outcome, ending]).toMatchObject([{ code: 'upstream_error' }, ''])
    }
    const { watcher } = watch(streamOf([chunk('a')]), { close: false })
    watcher.break()
    expect(watcher.outcome).toMatchObject({ code: 'upstream_error', begun: true })
  })

  test('of a refused request has no candidates', () => {
    const blocked = {
      promptFeedback: { blockReason: 'SAFETY' },
      usageMetadata: { promptTokenCount: 10, totalTokenCount: 10 },
    }
    const { watcher, passed, ending } = watch(streamOf([blocked]))
    expect([watcher.outcome, passed, readData(ending)]).toEqual(['finished', '', [blocked]])
    expect(watcher.reported.usage).toEqual({ ...counted, outputTokens: 0 })
  })

  test('of several candidates comes when all have stopped', () => {
    const of = (index: number, finishReason?: string) => ({
      candidates: [
        { index, content: { parts: [{ text: 'x' }] }, ...(finishReason && { finishReason }) },
      ],
    })
    const both = [of(0), of(1), of(0, 'STOP'), of(1, 'STOP')]
    expect(watch(streamOf(both)).watcher.outcome).toBe('finished')
    const { watcher } = watch(streamOf([{ ...of(1), usageMetadata: usage(1) }, of(0, 'STOP')]))
    expect(watcher.outcome).toMatchObject({ code: 'upstream_error' })
  })
})

test('an error in the stream is a failure, and the end that was held back is not sent', () => {
  const error = { error: { code: 503, status: 'UNAVAILABLE', message: 'overloaded' } }
  const { watcher, all } = watch(streamOf([chunk('a'), error]))
  expect(watcher.outcome).toMatchObject({ code: 'overloaded', message: 'overloaded' })
  expect(readData(all)).toEqual([chunk('a')])
  expect(watch(streamOf([chunk('a'), end, error])).all).toBe(event(chunk('a')))
})

test('without usage the text is counted, that of the last event too', () => {
  const last = chunk('one two three', {}, { finishReason: 'STOP' })
  for (const text of [streamOf([last]), streamOf([last]).trimEnd()]) {
    const { watcher } = watch(text)
    expect(watcher.reported.usage).toBeUndefined()
    expect(watcher.countOutputTokens()).toBeGreaterThanOrEqual(3)
  }
})

test('usage before the end says nothing about the output', () => {
  const { watcher } = watch(streamOf([chunk('a', { usageMetadata: usage(1) })]), { close: false })
  expect(watcher.reported.usage).toEqual({ ...counted, outputTokens: undefined } as never)
})

test('usage of an earlier event counts where the last one has none, also for a caller that leaves', () => {
  const bare = { usageMetadata: usage(7, 2), modelVersion: upstreamModel }
  const last = chunk('bye', {}, { finishReason: 'STOP' })
  const events = [chunk('a', { usageMetadata: usage(1) }), chunk('b'), bare, chunk('c'), last]
  const { watcher } = watch(streamOf(events))
  expect(watcher.reported.usage).toEqual({ ...counted, reasoningTokens: 2 })
  for (const more of [{}, { close: false }]) {
    const first = chunk('a', { usageMetadata: { ...usage(1), cachedContentTokenCount: 4 } })
    const left = watch(streamOf([first, chunk('b', { usageMetadata: usage(2) })]), more)
    expect(left.watcher.reported.usage).toMatchObject({ inputTokens: 10, outputTokens: undefined })
  }
})
