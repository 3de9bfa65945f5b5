// Whatever a reader does, the events are in order.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { AnswerEvent } from './answer.ts'
import { AnswerSequence, reportedError } from './answer-sequence.ts'
import { collectAnswer } from './collect-answer.ts'
import { expectLegal } from './test-support.ts'

function recorded(work: (out: AnswerSequence) => void): AnswerEvent[] {
  const events: AnswerEvent[] = []
  const out = new AnswerSequence()
  out.emit = (event) => events.push(event)
  work(out)
  expectLegal(events)
  return events
}

const call = { id: 'a', name: 'f', freeForm: false }

test('a change of kind closes the block, and no text opens none', () => {
  const events = recorded((out) => {
    out.text('text', '')
    out.text('reasoning', 'a')
    out.text('text', 'b')
    out.text('text', 'c')
    out.finish({ reason: 'end' }, undefined)
  })
  const { blocks } = collectAnswer(events)
  expect(blocks.map(({ block, text }) => [block.kind, text])).toEqual([
    ['reasoning', 'a'],
    ['text', 'bc'],
  ])
})

test.each([
  ['end', 'calls'],
  ['calls', 'calls'],
  ['stop_sequence', 'calls'],
  ['length', 'length'],
  ['filtered', 'filtered'],
] as const)('an answer with a call that says %s ends with %s', (given, reason) => {
  const events = recorded((out) => {
    out.openCall(call)
    out.finish({ reason: given }, undefined)
  })
  expect(events.at(-1)).toMatchObject({ type: 'stop', reason })
  expect(collectAnswer(events).blocks[0]!.text).toBe('{}')
})

test('an answer that announces calls and has none has ended', () => {
  const events = recorded((out) => out.finish({ reason: 'calls' }, undefined))
  expect(events.at(-1)).toEqual({ type: 'stop', reason: 'end' })
})

test('a call whose input is not JSON goes as it is, a loss unless the output was cut', () => {
  const broken = (reason: 'end' | 'length') =>
    recorded((out) => {
      out.openCall(call)
      out.input('{"a":')
      out.finish({ reason }, undefined)
    }).slice(-2)
  expect(broken('end')).toEqual([
    { type: 'lost', what: 'tool_arguments' },
    { type: 'stop', reason: 'calls' },
  ])
  expect(broken('length')).toMatchObject([{ type: 'close' }, { type: 'stop', reason: 'length' }])
})

test('a call without a name gets one that is legal everywhere', () => {
  const events = recorded((out) => {
    out.openCall({ ...call, name: '' })
    out.finish({ reason: 'calls' }, undefined)
  })
  expect(events).toContainEqual({ type: 'lost', what: 'tool_name' })
  expect(collectAnswer(events).blocks[0]!.block).toMatchObject({ call: { name: 'unnamed_tool' } })
})

test('an end that says nothing is a plain end of what was given, and of nothing a failure', () => {
  const vague = (text: string) =>
    recorded((out) => {
      out.text('text', text)
      out.finishVaguely(undefined)
    }).slice(-2)
  expect(vague('a')).toEqual([
    { type: 'lost', what: 'finish_reason' },
    { type: 'stop', reason: 'end' },
  ])
  expect(vague('')).toMatchObject([{ type: 'fail', error: { about: 'answer' } }])
})

test('the text of a free-form call is unwrapped', () => {
  const events = recorded((out) => {
    out.openCall({ ...call, freeForm: true })
    out.input('{"inp')
    out.input('ut":"*** Begin\\n"}')
    out.finish({ reason: 'calls' }, undefined)
  })
  expect(collectAnswer(events).blocks[0]!.text).toBe('*** Begin\n')
})

test('any order of steps gives a legal order of events', () => {
  const step = fc.constantFrom(
    (out: AnswerSequence) => out.begin(),
    (out: AnswerSequence) => out.text('text', 'a'),
    (out: AnswerSequence) => out.text('reasoning', 'b'),
    (out: AnswerSequence) => out.openCall(call),
    (out: AnswerSequence) => out.input('{}'),
    (out: AnswerSequence) => out.freeInput('x'),
    (out: AnswerSequence) => out.seal({ realm: 'r', data: 'd' }),
    (out: AnswerSequence) => out.cite({ url: 'https://a.example' }),
    (out: AnswerSequence) => out.close(),
    (out: AnswerSequence) => out.fail(reportedError('x')),
    (out: AnswerSequence) => out.finish({ reason: 'end' }, undefined),
  )
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      recorded((out) => {
        for (const each of steps) each(out)
        out.finish({ reason: 'end' }, undefined)
      })
    }),
  )
})

test.each<[unknown, string, string]>([
  [{ message: 'no', type: 'rate_limit_error' }, 'upstream_rate_limited', 'no'],
  [{ message: 'no', code: 'content_filter' }, 'content_policy_violation', 'no'],
  ['broken', 'upstream_error', 'broken'],
  [{ code: 500 }, 'upstream_error', 'the upstream reported an error in its answer'],
])('the error %j is %s', (error, code, message) => {
  expect(reportedError(error)).toEqual({ code, message } as never)
})
