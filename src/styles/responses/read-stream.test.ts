// Answers of responses upstreams: whole and as streams, complete and broken.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { AnswerEvent } from '../common/answer.ts'
import type { Json, Tool } from '../common/conversation.ts'
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
import { responses } from './index.ts'
import {
  answerOf,
  bare,
  callItem,
  customItem,
  itemEvents,
  messageItem,
  reasoningItem,
  streamOf,
} from './test-upstream.ts'

const anyJson = fc.jsonValue({ maxDepth: 2 })

const tools: Tool[] = [
  { name: 'read_file', schema: {} },
  { name: 'apply_patch', freeForm: {} },
]
const read = (data: readonly Json[], isCut = false) =>
  readAll(responses.newReader(readContext(responses, tools)), data, isCut)
const whole = (answer: Json) => readWhole(responses, answer, tools)

const stop = (reason: Extract<AnswerEvent, { type: 'stop' }>['reason']): AnswerEvent[] => [
  { type: 'stop', reason },
  { type: 'usage', usage },
]
const begin: AnswerEvent = { type: 'begin' }
const failed = (events: readonly AnswerEvent[]) => events.at(-1)?.type === 'fail'

const full = answerOf([
  reasoningItem,
  messageItem,
  callItem('c1', 'read_file', '{"path":"a b"}'),
  callItem('c2', 'read_file', ''),
  customItem,
])
const expected: AnswerEvent[] = [
  begin,
  { type: 'open', index: 0, block: { kind: 'reasoning' } },
  { type: 'text', index: 0, text: 'First thought.\n\nSecond thought.' },
  { type: 'seal', index: 0, seal: { realm, data: 'sealed==', itemId: 'rs_1' } },
  { type: 'close', index: 0 },
  { type: 'open', index: 1, block: { kind: 'text' } },
  { type: 'text', index: 1, text: 'Hello, wörld' },
  { type: 'cite', index: 1, citation: { url: 'https://a.example', title: 'A', start: 0, end: 5 } },
  { type: 'close', index: 1 },
  ...block(2, call('c1', 'read_file'), '{"path":"a b"}'),
  ...block(3, call('c2', 'read_file'), '{}'),
  ...block(4, call('c9', 'apply_patch', true), '*** Begin Patch\n'),
  ...stop('calls'),
]

describe('an answer', () => {
  test('is the same whole and as a stream', () => {
    expect(joined(whole(full))).toEqual(expected)
    expect(joined(read(streamOf(full)))).toEqual(expected)
    expect(eventProblem(expected)).toBeUndefined()
  })

  test('that comes only in the last event is read from there', () => {
    const [created, inProgress] = streamOf(full)
    const last = streamOf(full).at(-1)!
    expect(joined(read([created!, inProgress!, last]))).toEqual(expected)
  })

  test.each([
    ['reasoning before a message', [reasoningItem, messageItem], 'end'],
    ['a refusal', [{ type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }], 'refusal'],
    ['nothing', [], 'end'],
  ] as const)('with %s has its reason', (_, output, reason) => {
    const events = whole(answerOf(output))
    expect(events.find(({ type }) => type === 'stop')).toEqual({ type: 'stop', reason })
    expect(joined(read(streamOf(answerOf(output))))).toEqual(joined(events))
  })

  test.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'filtered'],
  ] as const)('that is incomplete because of %s says so', (reason, neutral) => {
    const answer = answerOf([messageItem], {
      status: 'incomplete',
      incomplete_details: { reason },
    })
    for (const events of [whole(answer), read(streamOf(answer))]) {
      expect(events.at(-2)).toEqual({ type: 'stop', reason: neutral })
    }
  })

  test('whose last call was cut keeps what came of it', () => {
    const answer = answerOf([callItem('c1', 'read_file', '{"path":"a')], {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    })
    expect(whole(answer)).toEqual([
      begin,
      ...block(0, call('c1', 'read_file'), '{"path":"a'),
      ...stop('length'),
    ])
  })

  test.each<[string, Json]>([
    ['the status in_progress', answerOf([messageItem], { status: 'in_progress' })],
    ['the status cancelled', answerOf([messageItem], { status: 'cancelled' })],
    ['an error', answerOf([], { status: 'failed', error: { code: 'x', message: 'no' } })],
    ['nothing', {}],
  ])('with %s is a failure', (_, answer) => {
    const events = whole(answer)
    expect(failed(events)).toBe(true)
    expect(eventProblem(events)).toBeUndefined()
  })

  test('without a status is complete', () => {
    const answer = answerOf([messageItem], { status: undefined })
    expect(whole(answer).at(-2)).toEqual({ type: 'stop', reason: 'end' })
  })

  const unnamed = { type: 'function_call', call_id: 'c', arguments: '{}' }
  test.each<[string, Json, string[]]>([
    ['an unknown reason', answerOf([messageItem], { status: 'incomplete' }), ['finish_reason']],
    [
      'another reason',
      answerOf([], { incomplete_details: { reason: 'interrupted' } }),
      ['finish_reason'],
    ],
    ['a call without a name', answerOf([unnamed]), ['tool_name']],
    ['broken arguments', answerOf([callItem('c1', 'read_file', '{"path":')]), ['tool_arguments']],
  ])('with %s ends well', (_, answer, losses) => {
    for (const events of [whole(answer), read(streamOf(answer))]) {
      expect([failed(events), eventProblem(events)]).toEqual([false, undefined])
      const lost = events.flatMap((event) => (event.type === 'lost' ? [event.what] : []))
      expect(lost).toEqual(losses as typeof lost)
    }
  })
})

describe('a stream', () => {
  test('without a final event is a failure where there is nothing, else a plain end', () => {
    const data = streamOf(full)
    for (let length = 0; length < data.length; length++) {
      const events = read(data.slice(0, length))
      const isEmpty = !events.some(({ type }) => type === 'open')
      expect([length, failed(events), eventProblem(events)]).toEqual([length, isEmpty, undefined])
    }
  })

  test('of calls that grow at the same time gives one after the other', () => {
    const [one, two] = [
      callItem('c1', 'read_file', '{"a":1}'),
      callItem('c2', 'read_file', '{"b":2}'),
    ]
    const first = itemEvents(one, 0)
    const second = itemEvents(two, 1)
    const mixed = first.flatMap((event, at) => [event, second[at]!])
    const data = [...mixed, { type: 'response.completed', response: answerOf([one, two]) }]
    expect(joined(read(data))).toEqual([
      begin,
      ...block(0, call('c1', 'read_file'), '{"a":1}'),
      ...block(1, call('c2', 'read_file'), '{"b":2}'),
      ...stop('calls'),
    ])
  })

  test('with arguments only at the end of an item has them', () => {
    const item = callItem('c1', 'read_file', '{"a":1}')
    const done = {
      type: 'response.function_call_arguments.done',
      item_id: 'fc_c1',
      arguments: '{"a":1}',
    }
    const added = { type: 'response.output_item.added', output_index: 0, item: bare(item) }
    const completed = { type: 'response.completed', response: answerOf([]) }
    const events = [begin, ...block(0, call('c1', 'read_file'), '{"a":1}'), ...stop('calls')]
    expect(read([added, done, completed])).toEqual(events)
    const itemDone = { type: 'response.output_item.done', output_index: 0, item }
    expect(read([added, itemDone, completed])).toEqual(events)
  })

  test('whose events have other ids than its items goes by their index', () => {
    const data = streamOf(full).map((event, at) =>
      event['item_id'] === undefined ? event : { ...event, item_id: `random_${at}` },
    )
    expect(joined(read(data))).toEqual(expected)
  })

  test('whose events all have the index 0 goes by their ids', () => {
    const data = streamOf(full).map((event) =>
      event['output_index'] === undefined ? event : { ...event, output_index: 0 },
    )
    const [last] = data.splice(-1)
    const events = [...data, { ...last, response: answerOf([]) }]
    expect(joined(read(events))).toEqual(expected)
  })

  test('that announces an item with its text gives the text once', () => {
    const data = streamOf(answerOf([messageItem])).map((event) =>
      event['type'] === 'response.output_item.added' ? { ...event, item: messageItem } : event,
    )
    const texts = read(data).flatMap((event) => (event.type === 'text' ? [event.text] : []))
    expect(texts.join('')).toBe('Hello, wörld')
  })

  test('with a function call of a free-form tool gives its text', () => {
    const item = callItem('c1', 'apply_patch', '{"input":"*** Begin\\n"}')
    expect(read(streamOf(answerOf([item])))).toEqual([
      begin,
      ...block(0, call('c1', 'apply_patch', true), '*** Begin\n'),
      ...stop('calls'),
    ])
  })

  test.each<[Json, string]>([
    [{ type: 'error', code: 'rate_limit_exceeded', message: 'slow' }, 'upstream_rate_limited'],
    [{ type: 'error', error: { code: 'server_error', message: 'x' } }, 'upstream_error'],
    [
      { type: 'response.failed', response: { error: { code: 'content_filter', message: 'x' } } },
      'content_policy_violation',
    ],
    [{ error: 'broken' }, 'upstream_error'],
  ])('with %j fails', (event, code) => {
    const events = read([...streamOf(full).slice(0, 5), event, ...streamOf(full).slice(5)])
    expect(events.at(-1)).toMatchObject({ type: 'fail', error: { code } })
    expect(eventProblem(events)).toBeUndefined()
  })

  test('with events that are not known is read without them', () => {
    const data = streamOf(full).flatMap((event) => [
      event,
      { type: 'response.web_search_call.searching', output_index: 9 },
      { type: 'keepalive' },
      {},
    ])
    expect(joined(read(data))).toEqual(expected)
  })
})

describe('a stream in any order and size of events', () => {
  test('whose texts are cut anywhere is the same', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat(4)), (sizes) => {
        const data = streamOf(full).flatMap((event) => {
          const { delta } = event
          return typeof delta === 'string'
            ? cut(delta, sizes).map((each) => ({ ...event, delta: each }))
            : [event]
        })
        expect(joined(read(data))).toEqual(expected)
      }),
      { numRuns: 50 },
    )
  })

  test('whose items grow at the same time gives them in the order in which they began', () => {
    const items = full['output'] as Json[]
    const [completed] = streamOf(full).slice(-1)
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat()), (picks) => {
        const waiting = items.map((item, index) => itemEvents(item, index))
        const data = waiting.map((events) => events.shift()!)
        for (let open = waiting; open.length > 0; ) {
          const events = open[picks.next().value! % open.length]!
          data.push(events.shift()!)
          open = open.filter((each) => each.length > 0)
        }
        expect(joined(read([...data, completed!]))).toEqual(expected)
      }),
      { numRuns: 100 },
    )
  })

  function cut(text: string, sizes: Iterator<number>): string[] {
    const letters: string[] = []
    for (let at = 0; at < text.length; ) {
      const size = sizes.next().value ?? 1
      letters.push(text.slice(at, at + size))
      at += size
    }
    return letters
  }
})

describe('whatever an upstream sends', () => {
  const junk = fc.oneof(
    fc.constant(null),
    fc.integer(),
    fc.string(),
    fc.constant([]),
    fc.constant({}),
    fc.constant([null, 5]),
    fc.constant({ type: 'function_call' }),
  )
  const change = fc.record({ at: fc.nat(), key: fc.nat(), value: junk, drop: fc.boolean() })

  test('the events are legal and nothing is thrown', () => {
    const data = streamOf(full)
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 6 }),
        fc.shuffledSubarray(data),
        (changes, part) => {
          const mutated = part.map((event) => structuredClone(event)) as Record<string, unknown>[]
          for (const { at, key, value, drop } of changes) {
            const event = mutated[at % Math.max(1, mutated.length)]
            if (event === undefined) continue
            const holders = [event, event['item'], event['response']].filter(
              (each) => typeof each === 'object' && each !== null,
            ) as Record<string, unknown>[]
            const holder = holders[key % holders.length]!
            const name = Object.keys(holder)[key % Math.max(1, Object.keys(holder).length)]
            if (name === undefined) continue
            if (drop) delete holder[name]
            else holder[name] = value
          }
          expect(eventProblem(read(mutated))).toBeUndefined()
        },
      ),
      { numRuns: 400 },
    )
  })

  test('a whole answer of any kind is read', () => {
    fc.assert(
      fc.property(anyJson, junk, (value, other) => {
        const answer = { ...answerOf([]), output: value, usage: other } as Json
        expect(eventProblem(whole(answer))).toBeUndefined()
        expect(eventProblem(whole(answerOf([value as Json, messageItem])))).toBeUndefined()
      }),
    )
  })
})
