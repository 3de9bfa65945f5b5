// A responses stream on its way to the caller, split anywhere, compared with an independent parser.
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

const usage = { input_tokens: 9, output_tokens: 4, total_tokens: 13, x_more: 'kept' }
const counted = { inputTokens: 9, outputTokens: 4, cacheReadTokens: 0, cacheWriteTokens: 0 }
const tools = [{ type: 'function', parameters: { properties: { model: { type: 'string' } } } }]

const response = (status: string, more: Json = {}): Json => ({
  id: 'resp_1',
  status,
  metadata: { model: 'a note' },
  model: upstreamModel,
  tools,
  output: [{ type: 'message', content: [{ type: 'output_text', text: '"model":"up-model"' }] }],
  ...more,
})
const created: Json = { type: 'response.created', response: response('in_progress') }
const delta = (text: string): Json => ({ type: 'response.output_text.delta', delta: text })
const done: Json = { type: 'response.completed', response: response('completed', { usage }) }

const event = fc.oneof(
  { weight: 6, arbitrary: words.map(delta) },
  { weight: 1, arbitrary: fc.constant(created) },
  { weight: 1, arbitrary: fc.constant<Json>({ type: 'response.in_progress', response: null }) },
  { weight: 1, arbitrary: words.map((item): Json => ({ type: 'vendor.new', model: 'x', item })) },
  { weight: 1, arbitrary: fc.constant(': keep-alive\n\n') },
  { weight: 1, arbitrary: fc.constant('event: ping\n\n') },
)

const streams = fc
  .record({
    events: fc.array(event, { maxLength: 10 }),
    last: fc.constantFrom('response.completed', 'response.incomplete'),
    end: fc.constantFrom('\n', '\r\n'),
    spaced: fc.boolean(),
  })
  .map(({ events, last, end, spaced }) => {
    const all = [created, ...events, { ...done, type: last }]
    const text = all.map((each) => (typeof each === 'string' ? each : named(each, spaced))).join('')
    return { events: all, text: text.replaceAll('\n', end) }
  })

const restored = (each: Json | string, name: string): unknown => {
  if (typeof each === 'string') return each.trimEnd()
  const inner = each['response']
  return typeof inner === 'object' && inner !== null
    ? { ...each, response: { ...inner, model: name } }
    : each
}

describe('any stream, cut anywhere,', () => {
  test('keeps every byte when the model has one name', () => {
    fc.assert(
      fc.property(streams, places, ({ text }, cuts) => {
        const { all, ending, watcher } = watchStream(style, cut(text, cuts))
        expect(all).toBe(text)
        expect(ending).toMatch(/^event: response\.(completed|incomplete)\r?\n/)
        expect(watcher.outcome).toBe('finished')
        expect(watcher.reported).toEqual({ usage: counted, raw: usage })
      }),
      { numRuns: 300 },
    )
  })

  test('has the caller’s name in its responses and is the same otherwise', () => {
    const names = fc.constantFrom('own-name', 'with "quotes" and $&')
    fc.assert(
      fc.property(streams, places, names, ({ events, text }, cuts, restoreTo) => {
        const { all, watcher } = watchStream(style, cut(text, cuts), { restoreTo })
        expect(readData(all)).toEqual(events.map((each) => restored(each, restoreTo)))
        expect(watcher.outcome).toBe('finished')
      }),
      { numRuns: 300 },
    )
  })

  test('with another name differs in that name only, byte for byte', () => {
    const text = named(created) + named(delta('x "model"')) + named(done)
    const { all } = watchStream(style, [Buffer.from(text)], { restoreTo: 'own' })
    expect(all).toBe(text.replaceAll('"model":"up-model","tools"', '"model":"own","tools"'))
  })

  test('has the caller’s name also where its data stands on several lines', () => {
    const text = [
      'event: response.created',
      'data: {"type":"response.created",',
      'data: "response":{"id":1,"output":[],"a":{"model":"up-model"},',
      'data: "model":"up-model"}}\n\n',
    ].join('\n')
    const { passed } = watchStream(style, [Buffer.from(text)], { restoreTo: 'own' })
    expect(readData(passed)).toEqual([
      {
        type: 'response.created',
        response: { id: 1, output: [], a: { model: 'up-model' }, model: 'own' },
      },
    ])
    expect(watchStream(style, [Buffer.from(text)]).passed).toBe(text)
  })

  test('breaks off as a failure wherever it breaks', () => {
    const text = named(created) + named(delta('one')) + named(done)
    const bytes = Buffer.from(text)
    for (let length = 0; length < bytes.length - 3; length++) {
      const { watcher, passed } = watchStream(style, [bytes.subarray(0, length)])
      expect(watcher.outcome).toMatchObject({ code: 'upstream_error', upstreamRequestId: 'up_1' })
      expect(watcher.ending).toBeUndefined()
      expect(text).toStartWith(passed)
    }
  })
})

const watchText = (text: string) => watchStream(style, [Buffer.from(text)])

describe('the final event', () => {
  test('waits for the charge, and nothing after it passes', () => {
    const { passed, ending, watcher } = watchText(named(created) + named(done) + named(created))
    expect([passed, ending]).toEqual([named(created), named(done)])
    expect(watcher.take(Buffer.from(named(delta('late'))))).toBeUndefined()
  })

  test('may lack its last line ends', () => {
    const { ending, watcher } = watchText(named(done).trimEnd())
    expect([ending, watcher.outcome]).toEqual([named(done), 'finished'])
  })

  test.each<[string, unknown]>([
    ['missing', undefined],
    ['null', null],
    ['absurd', { input_tokens: -1, output_tokens: 2.5 }],
  ])('with usage that is %s leaves the counting to others', (_, given) => {
    const bare = { ...done, response: response('completed', { usage: given }) }
    const { watcher } = watchText(named(delta('x'.repeat(40))) + named(bare))
    expect([watcher.outcome, watcher.reported.usage]).toEqual(['finished', undefined])
    expect(watcher.countOutputTokens()).toBe(10)
  })
})

test('output is counted in spaced JSON too', () => {
  const text = 'data: {"type": "response.output_text.delta", "delta": "four"}\n\n'
  expect(watchText(text.repeat(10)).watcher.countOutputTokens()).toBe(10)
})

describe('a failure', () => {
  test.each<[unknown, string, string]>([
    [{ type: 'error', code: 'x', message: 'boom' }, 'upstream_error', 'boom'],
    [{ type: 'error', error: { message: 'boom' } }, 'upstream_error', 'boom'],
    [{ error: { message: 'boom' } }, 'upstream_error', 'boom'],
    [
      { type: 'error', code: 'rate_limit_exceeded', message: 'slow' },
      'upstream_rate_limited',
      'slow',
    ],
    [
      { type: 'response.failed', response: { error: { code: 'content_filter', message: 'no' } } },
      'content_policy_violation',
      'no',
    ],
    [
      { type: 'response.failed', response: { error: null } },
      'upstream_error',
      'the upstream reported an error in its stream',
    ],
  ])('%j ends the stream and is not passed on', (data, code, message) => {
    const text = named(delta('hi')) + named(data as Json) + named(done)
    const { watcher, all } = watchText(text)
    expect(watcher.outcome).toMatchObject({ code, message, upstreamRequestId: 'up_1' } as object)
    expect(all).toBe(named(delta('hi')))
  })

  test('is not what an event with an empty error is', () => {
    const text = named({ type: 'response.created', response: { error: null }, error: null })
    expect(watchText(text + named(done)).watcher.outcome).toBe('finished')
  })

  test('is an event that should be the last and is no JSON', () => {
    const { watcher } = watchText('event: x\ndata: {"type":"response.completed"\n\n')
    expect(watcher.outcome).toMatchObject({ code: 'upstream_invalid_response' })
  })
})

test('ids are marked in every event, wherever packets are cut', () => {
  const item = { id: 'msg_1', type: 'message', content: [] }
  const whole = { id: 'resp_1', output: [item], usage: { input_tokens: 1, output_tokens: 1 } }
  const events: Json[] = [
    { type: 'response.created', response: { id: 'resp_1', output: [] } },
    { type: 'response.output_item.added', item },
    { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'resp_1 "msg_1"' },
    { type: 'response.output_text.done', item_id: 'msg_1', text: '{"id":"msg_1"}' },
    { type: 'response.output_item.done', item },
    { type: 'response.completed', response: whole },
  ]
  const wire = events.map((each) => named(each)).join('')
  const expected = wire.replaceAll(/("(?:id|item_id)":"(?:msg|resp)_1)"/g, '$1_mark"')
  const markFor = () => '_mark'
  for (let cut = 1; cut < wire.length; cut++) {
    const pieces = [Buffer.from(wire.slice(0, cut)), Buffer.from(wire.slice(cut))]
    expect(watchStream(style, pieces, { markFor }).all).toBe(expected)
  }
})
