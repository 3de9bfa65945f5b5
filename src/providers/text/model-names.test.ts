// The caller's name for the model in plain events: the same as parsing each event would give, however
// the network splits the stream, and byte for byte the same elsewhere.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { restoreModel } from '../../lib/json/splice.ts'
import { Edits } from '../../lib/text/edits.ts'
import { ModelNames, ownName } from './model-names.ts'
import type { StreamStyle } from './style.ts'
import { cut, places, watchStream } from './test-watching.ts'

/** Unnamed events, each with the name of its model. */
const plainStyle: StreamStyle = {
  unread: { without: ['"error"', '[DONE]'] },
  marker: '[DONE]',
  read: () => 'pass',
  ending: () => undefined,
  textField: /"content":"([^"]*)"/g,
  fromAnswer: () => [],
  toAnswer: () => undefined,
}
const end = 'data: [DONE]\n\n'
const finish = '{"model":"up","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'

/** Objects as text, in which the place of the name is easy, hard, or missing. */
const objects = [
  '{"id":"1","model":"up-model","choices":[{"index":0,"delta":{"content":"hi"}}]}',
  '{"id":"1","model": "up-model","choices":[]}',
  '{"id":"1","model" :\t"up-model","choices":[]}',
  '{"choices":[{"delta":{"content":"a"}}],"model":"up-model"}',
  '{"choices":[{"delta":{"model":"inner"}}],"model":"up-model","z":{"a":1}}',
  '{"choices":[{"delta":{"model":"inner"}}]}',
  '{"choices":[{"delta":{"content":"say \\"model\\":\\"x\\" twice"}}],"model":"up-model"}',
  '{"choices":[{"delta":{"content":"\\\\"}}],"model":"up-model"}',
  '{"content":"a \\"model","model":"up-model"}',
  '{"type":"model","model":"up-model"}',
  '{"type":"model"}',
  '{"model":null,"choices":[]}',
  '{"model":{"name":"x"},"choices":[]}',
  '{"model":"a","model":"b","choices":[]}',
  '{"mod\\u0065l":"up-model","choices":[]}',
  '{"content":"\\u0041","model":"up-model"}',
  '{"model":"with \\"quotes\\"","choices":[]}',
  '{"id":"[{","model":"up-model","choices":[]}',
  '{"id":"ü€👩‍👩‍👧","model":"größer","choices":[{"delta":{"content":"你好"}}]}',
  '{"choices":[]}',
  '{"model":""}',
]

const names = ['own', 'with "quotes" and $&', 'größer 你好']

/** Restoring in a text may leave out the space before the name. */
const unspaced = (text: string): string => text.replaceAll(/"model"\s*:\s*/g, '"model":')

describe('plain events', () => {
  test('have the caller’s name where parsing would put it, and all other bytes as they came', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...objects), { maxLength: 12 }),
        fc.constantFrom(...names),
        places,
        (texts, name, at) => {
          const all = [...texts, finish]
          const stream = all.map((text) => `data: ${text}\n\n`).join('') + end
          const seen = watchStream(plainStyle, cut(stream, at), { restoreTo: name })
          const expected = all.map((text) => `data: ${restoreModel(text, name)}\n\n`).join('') + end
          expect(unspaced(seen.all)).toBe(unspaced(expected))
          expect(seen.watcher.events).toBe(all.length)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('that differ in their text alone pass as if each were read, whatever the text is and else differs', () => {
    const shapes = [
      (text: string) =>
        `{"id":"1","model":"up","choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":null}]}`,
      (text: string) =>
        `{"id":"1","model":"up","choices":[{"index":0,"delta":{"content":"${text}","model":"inner"}}]}`,
      (text: string) => `{"id":"1","model":"up","choices":[{"delta":{"reasoning":"${text}"}}]}`,
      (text: string) => `{"id":"1","model":"up","${text}":"z","choices":[]}`,
      (text: string) => `{"id":"1","model":"up","a":"${text}","b":"${text}"}`,
      (text: string) => `{"id":"1","model":"${text}","choices":[{"delta":{"content":"a"}}]}`,
    ]
    const someText = fc.oneof(
      fc.constantFrom(
        '',
        'a',
        'model',
        'mode',
        '\\n',
        '\\"model\\":\\"x',
        '\\\\',
        '\\u0041',
        '[DONE]',
      ),
      fc.constantFrom('你好', 'a}', '{', ',', 'error', 'data: {', 'x'.repeat(900)),
    )
    const run = fc.tuple(fc.constantFrom(...shapes), fc.array(someText, { maxLength: 8 }))
    fc.assert(
      fc.property(fc.array(run, { maxLength: 5 }), places, (runs, at) => {
        const all = [...runs.flatMap(([shape, some]) => some.map(shape)), finish]
        const stream = all.map((text) => `data: ${text}\n\n`).join('') + end
        const seen = watchStream(plainStyle, cut(stream, at), { restoreTo: 'own' })
        const expected = all.map((text) => `data: ${restoreModel(text, 'own')}\n\n`).join('') + end
        expect(seen.all).toBe(expected)
        expect(seen.watcher.events).toBe(all.length)
      }),
      { numRuns: 1_000 },
    )
  })

  test('are the same when the stream is cut at any byte', () => {
    const stream = [...objects, finish].map((text) => `data: ${text}\n\n`).join('') + end
    const whole = watchStream(plainStyle, [Buffer.from(stream)], { restoreTo: 'own' }).all
    for (let at = 1; at < Buffer.byteLength(stream); at++) {
      expect(watchStream(plainStyle, cut(stream, [at]), { restoreTo: 'own' }).all).toBe(whole)
    }
  })

  test('beside comments, other line ends and data on several lines', () => {
    const [plain] = objects as [string]
    const odd = [
      ': comment\n\n',
      `data: ${plain}\r\n\r\n`,
      `data: {"id":"1",\ndata: "model":"up-model"}\n\n`,
      `id: 7\ndata: ${plain}\n\n`,
      `data:${plain}\n\n`,
    ]
    for (const each of odd) {
      const stream = `data: ${plain}\n\n${each}data: ${plain}\n\ndata: ${finish}\n\n${end}`
      const { all } = watchStream(plainStyle, [Buffer.from(stream)], { restoreTo: 'own' })
      expect(all).not.toContain('up-model')
      expect(all.split('"own"').length - 1).toBe(each.startsWith(':') ? 3 : 4)
    }
  })

  test('of a style with two spellings have the name in the one that they use', () => {
    const style = { ...plainStyle, modelFields: ['modelVersion', 'model_version'] }
    const text = (field: string) => `data: {"candidates":[{"index":0}],"${field}":"up"}\n\n`
    const stream = text('modelVersion') + text('model_version')
    const { passed } = watchStream(style, [Buffer.from(stream)], { restoreTo: 'own' })
    expect(passed).toBe(stream.replaceAll('"up"', '"own"'))
    const both = 'data: {"modelVersion":"up","model_version":"up"}\n\n'
    const { passed: two } = watchStream(style, [Buffer.from(both)], { restoreTo: 'own' })
    expect(two).toBe(both.replaceAll('"up"', '"own"'))
  })
})

test('a read is passed on without a copy where no name is longer than the one that it replaces', () => {
  const restored = (text: string) => {
    const read = Buffer.from(text)
    const edits = new Edits()
    const found = new ModelNames(ownName(['model'], 'own'), read, edits)
    expect(found.findOdd(0, read.length, { events: 0 })).toBe(-1)
    const out = edits.apply(read, read.length)!
    return { text: out.toString(), isSame: out.buffer === read.buffer }
  }
  const event = (model: string) => `data: {"id":"1","model":"${model}","choices":[]}\n\n`
  const none = 'data: {"choices":[]}\n\n'
  expect(restored(none)).toEqual({ text: none, isSame: true })
  const long = event('upstream') + none + event('upstream')
  expect(restored(long)).toEqual({ text: long.replaceAll('upstream', 'own'), isSame: true })
  const short = event('up') + none
  expect(restored(short)).toEqual({ text: short.replaceAll('"up"', '"own"'), isSame: false })
})

test('an event around a text that is no single line is not passed with those around others', () => {
  const event = (text: string) => `data: {"model":"up","a":"${text}","b":1}\n\n`
  const alike = ['a', 'bc', 'd', 'e'].map(event).join('')
  for (const text of ['f\n', 'f\ndata: g', 'f\n\n', 'f"', 'f","c":"g']) {
    const read = Buffer.from(alike + event(text))
    const names = new ModelNames(ownName(['model'], 'own'), read, new Edits())
    expect(names.findOdd(0, alike.length, { events: 0 })).toBe(-1)
    const seen = { events: 0 }
    expect(names.passFramed(0, read.length, seen)).toBe(alike.length)
    expect(seen.events).toBe(4)
  }
})

test('events that differ in a key are searched for what must be parsed', () => {
  const event = (key: string) => `data: {"model":"up","${key}":{"message":"no"}}\n\n`
  const read = Buffer.from(['a', 'bc', 'd', 'error'].map(event).join(''))
  const names = new ModelNames(ownName(['model'], 'own'), read, new Edits())
  expect(names.findOdd(0, read.length, { events: 0 })).toBe(-1)
  expect(names.passFramed(0, read.length, { events: 0 })).toBe(0)
})

test('edits give the same in place and in a copy', () => {
  const edit = fc.record({
    gap: fc.nat(20),
    length: fc.nat(80),
    bytes: fc.uint8Array({ maxLength: 80 }),
  })
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 6 }), fc.nat(20), fc.nat(5), (list, rest, more) => {
      const edits = new Edits()
      let [at, expected] = [0, [] as Uint8Array[]]
      const size = list.reduce((sum, { gap, length }) => sum + gap + length, rest)
      const read = Buffer.from(Uint8Array.from({ length: size + more }, (_, i) => i % 251))
      for (const { gap, length, bytes } of list) {
        expected.push(Buffer.from(read.subarray(at, at + gap)), bytes)
        edits.replace(at + gap, at + gap + length, bytes)
        at += gap + length
      }
      expected = [...expected, Buffer.from(read.subarray(at, size))]
      const whole = Buffer.concat(expected)
      const out = edits.apply(read, size)
      expect(out === undefined ? '' : out.toString('hex')).toBe(whole.toString('hex'))
      expect(out === undefined).toBe(whole.length === 0)
    }),
  )
})
