// Chunks whose form breaks clients are repaired wherever the network splits them; all others pass as the
// bytes that came.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cut, places, readData, watchStream } from '../text/test-watching.ts'
import { repairAnswer } from './repair.ts'
import { stream } from './stream.ts'

type Json = Record<string, unknown>

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'up-model' }
const chunk = (...choices: unknown[]): Json => ({ ...head, choices })
const said = (content: string, more: Json = { index: 0 }) =>
  chunk({ ...more, delta: { content }, finish_reason: null })
const calls = (...tool_calls: unknown[]) =>
  chunk({ index: 0, delta: { tool_calls }, finish_reason: null })
const begun = (index: number | undefined, id: string) => ({
  ...(index !== undefined && { index }),
  id,
  type: 'function',
  function: { name: 'look', arguments: '' },
})
const part = (index: number | undefined, text: string) => ({
  ...(index !== undefined && { index }),
  function: { arguments: text },
})
const last = chunk({ index: 0, delta: {}, finish_reason: 'stop' })
const usage = { ...chunk(), usage: { prompt_tokens: 5, completion_tokens: 7 } }

const write = (events: readonly unknown[], space = '') =>
  `${events.map((each) => `data: ${json(each, space)}\n\n`).join('')}data: [DONE]\n\n`
const json = (value: unknown, space: string) =>
  JSON.stringify(value).replaceAll('":', `":${space}`).replaceAll(',"', `,${space}"`)

/** What comes, and what the caller gets. */
const shapes: Record<string, [sent: unknown[], shown: unknown[]]> = {
  'choices are null': [[{ ...head, choices: null }], [chunk()]],
  'choices are missing': [[head], [chunk()]],
  'a choice is null': [[chunk(null)], [chunk()]],
  'a delta is null': [
    [chunk({ index: 0, delta: null, finish_reason: null })],
    [chunk({ index: 0, delta: {}, finish_reason: null })],
  ],
  'a delta is missing': [[chunk({ index: 0 })], [chunk({ index: 0, delta: {} })]],
  'a choice has no index': [
    [said('one', {}), said('two', {})],
    [said('one'), said('two')],
  ],
  'the index of a choice is null': [[said('one', { index: null })], [said('one')]],
  'a call has no index': [
    [calls(begun(undefined, 'a')), calls(part(undefined, '{}')), calls(begun(undefined, 'b'))],
    [calls(begun(0, 'a')), calls(part(0, '{}')), calls(begun(1, 'b'))],
  ],
  'a part of a call has no index': [
    [calls(begun(0, 'a')), calls(part(0, '{')), calls(part(undefined, '}'))],
    [calls(begun(0, 'a')), calls(part(0, '{')), calls(part(0, '}'))],
  ],
  'the choice of a call has no index': [
    [calls(begun(0, 'a')), calls(part(0, '{')), chunk({ delta: { tool_calls: [part(0, '}')] } })],
    [
      calls(begun(0, 'a')),
      calls(part(0, '{')),
      chunk({ index: 0, delta: { tool_calls: [part(0, '}')] } }),
    ],
  ],
  'choices are no list': [[{ ...head, choices: {} }], [chunk()]],
  'the index of a choice is a text': [[said('one', { index: '0' })], [said('one')]],
  'calls are no list': [
    [chunk({ index: 0, delta: { tool_calls: {} } })],
    [chunk({ index: 0, delta: { tool_calls: [] } })],
  ],
  'calls are numbered from one': [
    [calls(begun(1, 'a')), calls(part(1, '{}')), calls(begun(2, 'b')), calls(part(1, ' '))],
    [calls(begun(0, 'a')), calls(part(0, '{}')), calls(begun(1, 'b')), calls(part(0, ' '))],
  ],
  'a call has no type and no function': [
    [calls({ index: 0, id: 'a' }), calls(part(0, '{}'))],
    [
      calls({ index: 0, id: 'a', type: 'function', function: { name: '', arguments: '' } }),
      calls(part(0, '{}')),
    ],
  ],
  'arguments are an object': [
    [calls({ ...begun(0, 'a'), function: { name: 'look', arguments: { a: 1 } } })],
    [calls({ ...begun(0, 'a'), function: { name: 'look', arguments: '{"a":1}' } })],
  ],
  'two calls have one index': [
    [calls(begun(0, 'a')), calls(part(0, '{}')), calls(begun(0, 'b')), calls(part(0, '[]'))],
    [calls(begun(0, 'a')), calls(part(0, '{}')), calls(begun(1, 'b')), calls(part(1, '[]'))],
  ],
  'two calls in one chunk have one index, and another has the next': [
    [calls(begun(0, 'a'), begun(0, 'b')), calls(begun(1, 'c')), calls(part(1, '{}'))],
    [calls(begun(0, 'a'), begun(1, 'b')), calls(begun(2, 'c')), calls(part(2, '{}'))],
  ],
}

describe.each(Object.entries(shapes))('%s', (_, [sent, shown]) => {
  test.each([
    ['the same', undefined],
    ['another', 'own'],
  ])('is repaired behind any split where the model has %s name', (_name, name) => {
    const around = (events: unknown[]) => [said('Hi'), said(' you'), ...events, last, usage]
    const expected = around(shown).map((each) => ({
      ...(each as Json),
      ...(name !== undefined && { model: name }),
    }))
    const isRepaired = (at: number[], space: string) => {
      const pieces = cut(write(around(sent), space), at)
      const { watcher, passed, ending } = watchStream(stream, pieces, { restoreTo: name })
      expect(readData(passed)).toEqual(expected)
      expect(ending).toBe('data: [DONE]\n\n')
      expect(watcher.outcome).toBe('finished')
      expect(watcher.reported.usage).toMatchObject({ inputTokens: 5, outputTokens: 7 })
      expect(watcher.finishReason()).toBe('stop')
      expect(watcher.events).toBe(expected.length)
    }
    fc.assert(fc.property(places, fc.constantFrom('', ' '), isRepaired), { numRuns: 60 })
  })
})

test('in any order, among events of any length, no event is left as it was', () => {
  const isIndex = (value: unknown) => typeof value === 'number'
  const isSound = ({ choices }: Json) =>
    Array.isArray(choices) &&
    choices.every(
      ({ index, delta }) =>
        isIndex(index) &&
        Object.keys(delta).every(
          (key) =>
            key !== 'tool_calls' || delta.tool_calls.every((call: Json) => isIndex(call['index'])),
        ),
    )
  const all = [...Object.values(shapes).flatMap(([sent]) => sent), said('a'), said('b"\\'), last]
  const events = fc.array(
    fc.record({ event: fc.constantFrom(...(all as Json[])), id: fc.string({ maxLength: 60 }) }),
  )
  const areSound = (
    some: { event: Json; id: string }[],
    at: number[],
    name: string | undefined,
  ) => {
    const text = write(some.map(({ event, id }) => ({ ...event, id })))
    const { passed, watcher } = watchStream(stream, cut(text, at), { restoreTo: name })
    expect(watcher.outcome).toBe('finished')
    expect((readData(passed) as Json[]).filter((each) => !isSound(each))).toEqual([])
  }
  const names = fc.constantFrom(undefined, 'own')
  fc.assert(fc.property(events, places, names, areSound), { numRuns: 300 })
})

test('events that are no objects are left out, and named as a loss', () => {
  for (const [sent, losses] of [
    ['null', ['answer.content']],
    ['[]', ['answer.content']],
    ['{"a"', ['answer.content']],
    ['{"choices":[}', ['answer.content']],
    [json(said('b'), ''), undefined],
  ] as const) {
    const text = `data: ${json(said('a'), '')}\n\ndata: ${sent}\n\n${write([last])}`
    const { watcher, passed } = watchStream(stream, [Buffer.from(text)])
    expect(watcher.losses as unknown).toEqual(losses)
    expect(readData(passed)).toHaveLength(losses === undefined ? 3 : 2)
  }
})

test('sound streams pass as the bytes that came', () => {
  const events = [
    chunk({ index: 0, delta: { role: 'assistant', content: '' } }),
    said('"index"'),
    said('"choices":null'),
    { ...chunk({ delta: { content: 'delta' }, finish_reason: null, index: 0 }) },
    chunk({ index: 0, delta: { content: null, reasoning_content: 'so' } }),
    calls(begun(0, 'a')),
    calls(part(0, '{"a":')),
    calls(part(0, '1}')),
    calls(begun(1, 'b')),
    calls(part(1, '{"tool_calls":[{}]}')),
    calls(part(0, ' '), part(1, ' ')),
    last,
    usage,
  ]
  const text = write(events, ' ')
  const isSame = (at: number[]) => expect(watchStream(stream, cut(text, at)).all).toBe(text)
  fc.assert(fc.property(places, isSame), { numRuns: 100 })
})

describe('whole answers', () => {
  const message = { role: 'assistant', content: 'Hi' }
  test('a choice without an index or a message gets one', () => {
    expect(
      repairAnswer({ choices: [{ message }, { message: null, finish_reason: 'stop' }, null] }),
    ).toEqual({
      choices: [
        { index: 0, message },
        { index: 1, message: { role: 'assistant', content: null }, finish_reason: 'stop' },
      ],
    })
  })

  test('others stay the same', () => {
    for (const answer of [{ choices: [{ index: 0, message }] }, { choices: null }, { note: 1 }]) {
      expect(repairAnswer(answer)).toBe(answer)
    }
  })
})
