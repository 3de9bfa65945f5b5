// Answers for callers of the responses style: every stream follows the grammar, and ends with the
// response that a caller without a stream gets.
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
import { responses } from './index.ts'
import { eventsOf, responsesProblem } from './test-grammar.ts'

type Stop = Extract<AnswerEvent, { type: 'stop' }>

const begin: AnswerEvent = { type: 'begin' }
const end = (reason: Stop['reason'] = 'end', more: Partial<Stop> = {}): AnswerEvent[] => [
  { type: 'stop', reason, ...more },
  { type: 'usage', usage },
]
const seal = { realm, data: 'sealed==', text: 'Thinking…' }

const everything: AnswerEvent[] = [
  begin,
  { type: 'open', index: 0, block: { kind: 'reasoning' } },
  { type: 'text', index: 0, text: 'Think' },
  { type: 'text', index: 0, text: 'ing…' },
  { type: 'seal', index: 0, seal },
  { type: 'close', index: 0 },
  { type: 'open', index: 1, block: { kind: 'text' } },
  { type: 'text', index: 1, text: 'Hel' },
  { type: 'text', index: 1, text: 'lo "ü"\n' },
  { type: 'cite', index: 1, citation: { url: 'https://a.example', start: 0, end: 3 } },
  { type: 'close', index: 1 },
  ...block(2, call('c1', 'read_file'), '{"path":', '"a"}'),
  ...block(
    3,
    { kind: 'call', call: { id: 'c2', name: 'find', namespace: 'docs', freeForm: false } },
    '{}',
  ),
  ...block(4, call('c3', 'apply_patch', true), '*** Begin'),
  ...block(5, { kind: 'text' }, 'Done.'),
  ...end('calls'),
]

function written(events: readonly AnswerEvent[], context: Partial<WriteContext> = {}): string {
  const writer = responses.newWriter(writeContext(context))
  return events.map((event) => writer.write(event)).join('') + writer.end()
}

const whole = (events: readonly AnswerEvent[], context: Partial<WriteContext> = {}): Json =>
  responses.writeAnswer(events, writeContext(context))

const lastOf = (stream: string): Json => eventsOf(stream).at(-1)!['response'] as Json
const output = (response: Json) => response['output'] as Json[]

describe('an answer', () => {
  test('follows the grammar and ends with the whole response', () => {
    const stream = written(everything)
    expect(responsesProblem(stream)).toBeUndefined()
    expect(lastOf(stream)).toEqual(whole(everything))
  })

  test('has its items as clients know them', () => {
    const response = whole(everything)
    expect(output(response)).toEqual([
      {
        id: 'rs_abc123_0',
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Thinking…' }],
        encrypted_content: envelopes.wrap(seal),
      },
      {
        id: 'msg_abc123_1',
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [
          {
            type: 'output_text',
            text: 'Hello "ü"\n',
            annotations: [
              {
                type: 'url_citation',
                url: 'https://a.example',
                title: 'https://a.example',
                start_index: 0,
                end_index: 3,
              },
            ],
            logprobs: [],
          },
        ],
      },
      {
        id: 'fc_abc123_2',
        type: 'function_call',
        status: 'completed',
        call_id: 'c1',
        name: 'read_file',
        arguments: '{"path":"a"}',
      },
      {
        id: 'fc_abc123_3',
        type: 'function_call',
        status: 'completed',
        call_id: 'c2',
        name: 'find',
        namespace: 'docs',
        arguments: '{}',
      },
      {
        id: 'ctc_abc123_4',
        type: 'custom_tool_call',
        status: 'completed',
        call_id: 'c3',
        name: 'apply_patch',
        input: '*** Begin',
      },
      {
        id: 'msg_abc123_5',
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Done.', annotations: [], logprobs: [] }],
      },
    ])
    expect(response).toMatchObject({
      id: 'resp_abc123',
      model: 'caller-model',
      status: 'completed',
    })
  })

  test('has the call of a search for tools as an item of its own', () => {
    const tools = [{ name: 'tool_search', search: true as const, schema: {} }]
    const context = { conversation: conversation({ tools }) }
    const events = [
      begin,
      ...block(0, call('c1', 'tool_search'), '{"query":', '"docs"}'),
      ...end('calls'),
    ]
    const stream = written(events, context)
    expect(responsesProblem(stream)).toBeUndefined()
    expect(lastOf(stream)).toEqual(whole(events, context))
    expect(output(lastOf(stream))).toEqual([
      {
        id: 'tsc_abc123_0',
        type: 'tool_search_call',
        status: 'completed',
        call_id: 'c1',
        execution: 'client',
        arguments: { query: 'docs' },
      },
    ])
    expect(output(whole(events))).toMatchObject([{ type: 'function_call' }])
  })

  test('has complete token counts', () => {
    expect(whole(everything)['usage']).toEqual({
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60, cache_write_tokens: 20 },
      output_tokens: 40,
      output_tokens_details: { reasoning_tokens: 10 },
      total_tokens: 140,
    })
  })

  test('repeats the request of the caller, with defaults', () => {
    const fields = {
      instructions: 'Be short.',
      tools: [{ type: 'function', name: 'f' }],
      reasoning: { effort: 'low' },
      text: { format: { type: 'json_object' }, verbosity: 'low' },
      temperature: 0,
      metadata: null,
      store: true,
    }
    expect(whole([begin, ...end()], { fields })).toMatchObject({
      instructions: 'Be short.',
      tools: fields.tools,
      reasoning: { effort: 'low', summary: null },
      text: fields.text,
      temperature: 0,
      metadata: {},
      store: false,
      parallel_tool_calls: true,
      tool_choice: 'auto',
      top_p: 1,
      truncation: 'disabled',
      error: null,
      incomplete_details: null,
    })
    expect(whole([begin, ...end()])['text']).toEqual({ format: { type: 'text' } })
  })

  test('shows a seal only to a caller that asked for it', () => {
    const response = whole(everything, { conversation: conversation() })
    expect(output(response)[0]).not.toHaveProperty('encrypted_content')
  })

  test('with reasoning that shows no text has an item without a summary', () => {
    const events: AnswerEvent[] = [
      begin,
      { type: 'open', index: 0, block: { kind: 'reasoning', redacted: true } },
      { type: 'seal', index: 0, seal },
      { type: 'close', index: 0 },
      ...block(1, { kind: 'text' }, 'Hi'),
      ...end(),
    ]
    expect(responsesProblem(written(events))).toBeUndefined()
    expect(output(whole(events))[0]).toMatchObject({ type: 'reasoning', summary: [] })
  })
})

describe('an end', () => {
  const text = [begin, ...block(0, { kind: 'text' }, 'Hi')]

  test.each([
    ['length', 'max_output_tokens'],
    ['filtered', 'content_filter'],
  ] as const)('because of %s is incomplete, and so is the last item', (reason, word) => {
    const events = [...text, ...end(reason)]
    const stream = written(events)
    expect(responsesProblem(stream)).toBeUndefined()
    expect(lastOf(stream)).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: word },
      output: [{ status: 'incomplete' }],
    })
  })

  test('with a refusal has a part of that kind', () => {
    const events = [begin, ...block(0, { kind: 'refusal' }, 'No', '.'), ...end('refusal')]
    expect(responsesProblem(written(events))).toBeUndefined()
    expect(output(whole(events))).toMatchObject([
      { status: 'completed', content: [{ type: 'refusal', refusal: 'No.' }] },
    ])
  })

  test('with a refusal without a word is a filter that withheld the answer', () => {
    const stream = written([...text, ...end('refusal')])
    expect(responsesProblem(stream)).toBeUndefined()
    expect(lastOf(stream)).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
    })
  })

  test('with the seal of a call has it behind the call, and only for callers that return it', () => {
    const [open, input, close] = block(0, call('c1', 'f'), '{}')
    const events: AnswerEvent[] = [
      begin,
      open!,
      input!,
      { type: 'seal', index: 0, seal },
      close!,
      ...block(1, call('c2', 'f'), '{}'),
      ...end('calls'),
    ]
    const stream = written(events)
    expect(responsesProblem(stream)).toBeUndefined()
    const types = output(lastOf(stream)).map(({ type }) => type)
    expect(types).toEqual(['function_call', 'reasoning', 'function_call'])
    const sealed = envelopes.unwrap(String(output(lastOf(stream))[1]!['encrypted_content']))
    expect(sealed).toEqual({ ...seal, itemId: 'c1' })
    expect(output(whole(events, { conversation: conversation() }))).toHaveLength(2)
  })

  test('with a refusal without text explains it', () => {
    const events = [...text, ...end('refusal', { explanation: 'Not this.' })]
    const stream = written(events)
    expect(responsesProblem(stream)).toBeUndefined()
    expect(output(lastOf(stream))[1]).toMatchObject({
      content: [{ type: 'refusal', refusal: 'Not this.' }],
    })
  })

  test.each([
    ['length', 'response.completed', { incomplete_details: { reason: 'max_output_tokens' } }],
    ['filtered', 'response.failed', { error: { code: 'invalid_prompt' } }],
  ] as const)('because of %s is %s for a coding tool', (reason, type, fields) => {
    const stream = written([...text, ...end(reason)], { codingTool: true })
    expect(responsesProblem(stream)).toBeUndefined()
    expect(eventsOf(stream).at(-1)).toMatchObject({ type, response: fields })
  })

  test('with a refusal is text for a coding tool', () => {
    const events = [begin, ...block(0, { kind: 'refusal' }, 'No.'), ...end('refusal')]
    const stream = written(events, { codingTool: true })
    expect(responsesProblem(stream)).toBeUndefined()
    expect(lastOf(stream)).toMatchObject({
      status: 'completed',
      output: [{ content: [{ type: 'output_text', text: 'No.' }] }],
    })
  })

  test.each([
    ['upstream_error', 'broken', 'server_error'],
    ['upstream_rate_limited', 'slow down', 'rate_limit_exceeded'],
    ['content_policy_violation', 'no', 'invalid_prompt'],
    ['context_length_exceeded', 'prompt is too long: 9 > 8', 'context_length_exceeded'],
    ['upstream_invalid_request', 'no such field', 'invalid_prompt'],
  ] as const)('with the failure %s is the last event', (code, message, word) => {
    for (const before of [[], [begin], text.slice(0, 3)]) {
      const writer = responses.newWriter(writeContext())
      const events: AnswerEvent[] = [...before, { type: 'fail', error: { code, message } }]
      const stream = events.map((event) => writer.write(event)).join('')
      expect(responsesProblem(stream)).toBeUndefined()
      expect(lastOf(stream)).toMatchObject({ status: 'failed', error: { code: word, message } })
    }
  })

  test('may come after signs of life, which are numbered events', () => {
    const writer = responses.newWriter(writeContext())
    const [first, ...rest] = [...text, ...end()]
    const stream =
      writer.write(first!) +
      writer.keepAlive() +
      rest
        .map((event) => writer.write(event) + (event.type === 'close' ? writer.keepAlive() : ''))
        .join('') +
      writer.end()
    expect(responsesProblem(stream)).toBeUndefined()
    expect(eventsOf(stream).filter(({ type }) => type === 'response.in_progress')).toHaveLength(3)
  })
})

test('the checker of the grammar finds what is wrong', () => {
  const good = eventsOf(written(everything))
  const text = (events: readonly Json[]) =>
    events
      .map((event, sequence_number) => {
        const data = JSON.stringify({ ...event, sequence_number })
        return `event: ${event['type']}\ndata: ${data}\n\n`
      })
      .join('')
  expect(responsesProblem(text(good))).toBeUndefined()
  const needed = good.filter(
    ({ type }) =>
      type !== 'response.in_progress' && type !== 'response.output_text.annotation.added',
  )
  for (const left of needed) {
    const others = good.filter((event) => event !== left)
    expect([left['type'], responsesProblem(text(others))]).not.toEqual([left['type'], undefined])
  }
})
