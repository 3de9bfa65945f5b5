// Chat answers converted to streams, and streams to answers.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { dataOf } from '../../lib/http/sse.ts'
import { readEvents } from '../text/read-events.ts'
import type { Json } from '../text/style.ts'
import { fromAnswer, toAnswer } from './convert.ts'
import { chatStyle } from './index.ts'

const text = fc.string({ unit: 'grapheme' })
const tool = fc.record({
  id: fc.uuid(),
  type: fc.constant('function'),
  function: fc.record({ name: text, arguments: text }),
})
const message = fc.record(
  {
    role: fc.constant('assistant'),
    content: fc.option(text),
    reasoning_content: text,
    tool_calls: fc.array(tool, { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: ['role', 'content'] },
)
const logprobs = fc.option(
  fc.record({ content: fc.array(fc.record({ token: text, logprob: fc.integer() })) }),
)
const answers = fc
  .record({
    choices: fc.array(
      fc.record({ message, logprobs, finish_reason: fc.constantFrom('stop', 'tool_calls') }),
      { minLength: 1, maxLength: 4 },
    ),
    usage: fc.record({ prompt_tokens: fc.nat(), completion_tokens: fc.nat() }),
  })
  .map(({ choices, usage }) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    system_fingerprint: 'fp',
    choices: choices.map((choice, index) => ({ index, ...choice })),
    usage,
  }))

const gather = (events: readonly string[]) => toAnswer(readEvents(chatStyle, events.join('')) ?? [])
const chunk = (...choices: unknown[]): Json => ({ id: 'x', choices })
const piece = (delta: unknown, finish_reason: unknown = null) => ({
  index: 0,
  delta,
  finish_reason,
})

describe('an answer', () => {
  test('as a stream and gathered again is the same answer', () => {
    fc.assert(
      fc.property(answers, (answer) => {
        expect(gather(fromAnswer(answer))).toEqual(answer)
      }),
    )
  })

  test('as a stream ends in the marker, numbers its tools and names its chunks', () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
    const said = { role: 'assistant', content: null, tool_calls: [call, call] }
    const events = fromAnswer({ id: 'x', choices: [{ index: 0, message: said }] })
    expect(events.at(-1)).toBe('data: [DONE]\n\n')
    const chunks = events.slice(0, -1).map((each) => JSON.parse(dataOf(each)!))
    expect(chunks.map(({ object }) => object)).toEqual(chunks.map(() => 'chat.completion.chunk'))
    expect(chunks[0].choices[0].delta.tool_calls.map((each: Json) => each['index'])).toEqual([0, 1])
    expect(chunks.at(-1).choices[0].finish_reason).toBe('stop')
  })

  test.each<[Json]>([[{}], [{ choices: null }], [{ choices: ['x', 5] }], [{ choices: [{}] }]])(
    'as odd as %j does not throw',
    (answer) => {
      expect(fromAnswer(answer).at(-1)).toBe('data: [DONE]\n\n')
    },
  )
})

describe('a stream', () => {
  test('is gathered choice by choice and piece by piece', () => {
    const gathered = toAnswer([
      { id: 'x', model: 'm', object: 'chat.completion.chunk', choices: [] },
      chunk({ index: 1, delta: { role: 'assistant', content: 'b1' } }),
      chunk({ index: 0, delta: { content: 'a1' } }, { index: 1, delta: { content: 'b2' } }),
      chunk({ index: 1, delta: {}, finish_reason: 'length' }),
      chunk({ index: 0, delta: { content: 'a2' }, finish_reason: 'stop' }),
      { choices: [], usage: { prompt_tokens: 1 } },
    ])
    const said = (content: string) => ({ role: 'assistant', content })
    expect(gathered).toEqual({
      id: 'x',
      model: 'm',
      object: 'chat.completion',
      choices: [
        { index: 0, message: said('a1a2'), logprobs: null, finish_reason: 'stop' },
        { index: 1, message: said('b1b2'), logprobs: null, finish_reason: 'length' },
      ],
      usage: { prompt_tokens: 1 },
    })
  })

  const callsIn = (...pieces: unknown[]) => {
    const events = pieces.map((tool_calls) => chunk(piece({ tool_calls })))
    const gathered = toAnswer([...events, chunk(piece({}, 'tool_calls'))]) ?? {}
    const [choice] = gathered['choices'] as { message: { tool_calls: unknown } }[]
    return choice?.message.tool_calls
  }

  test('keeps the id of a tool whose later pieces have an empty one', () => {
    expect(
      callsIn(
        [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }],
        [{ index: 0, id: '', function: { arguments: '{"x"' } }],
        [{ index: 0, id: null, function: { name: null, arguments: ':1}' } }],
      ),
    ).toEqual([{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }])
  })

  test('keeps tools apart whose pieces are mixed, come out of order, or have no place', () => {
    const made = (id: string, given: string) => ({
      id,
      type: 'function',
      function: { name: '', arguments: given },
    })
    expect(
      callsIn(
        [{ index: 1, ...made('b', 'b1') }],
        [{ index: 0, ...made('a', 'a1') }],
        [{ index: 1, function: { arguments: 'b2' } }],
      ),
    ).toEqual([made('b', 'b1b2'), made('a', 'a1')])
    expect(
      callsIn([made('a', 'a1'), made('b', 'b1')], [{ function: { arguments: 'b2' } }]),
    ).toEqual([made('a', 'a1'), made('b', 'b1b2')])
  })

  test.each<[string, Json[]]>([
    ['nothing', []],
    ['no choice', [{ id: 'x', choices: [] }]],
    ['a choice that goes on', [chunk(piece({ content: 'a' }))]],
    ['one of two that goes on', [chunk(piece({}, 'stop'), { index: 1, delta: { content: 'b' } })]],
  ])('with %s gives no answer', (_, events) => {
    expect(toAnswer(events)).toBeUndefined()
  })

  test('with an error in it is that error', () => {
    const failed = { error: { message: 'boom' } }
    expect(toAnswer([chunk(piece({}, 'stop')), failed])).toBe(failed)
  })

  test('events of other kinds have no choices', () => {
    const other = { type: 'ping' }
    expect(toAnswer([other])).toBeUndefined()
    expect(toAnswer([chunk(piece({ content: 'Hi' }, 'stop')), other])).toMatchObject({
      choices: [{ message: { content: 'Hi' } }],
    })
  })

  test('of any shape does not throw', () => {
    const odd = fc.record(
      { choices: fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue())), usage: fc.jsonValue() },
      { requiredKeys: [] },
    )
    const deltas = fc.array(fc.jsonValue()).map((tool_calls) => chunk(piece({ tool_calls })))
    fc.assert(
      fc.property(fc.array(fc.oneof(odd, deltas)), (events) => {
        const gathered = toAnswer([...events, chunk(piece({}, 'stop'))])
        expect(gathered === undefined || 'choices' in gathered).toBe(true)
      }),
    )
  })
})
