// Calls in the chat style over an upstream of the messages style, and the other way round.
import { describe, expect, test } from 'bun:test'
import { chat } from '../../src/styles/chat/index.ts'
import { chatProblems } from '../../src/styles/chat/test-grammar.ts'
import type { Json } from '../../src/styles/common/conversation.ts'
import {
  dataOf,
  eventsOf,
  eventsOfAnswer,
  readContext,
  readFields,
  targetWith,
  writeContext,
  writeTo,
  written,
} from '../../src/styles/common/test-support.ts'
import { messages } from '../../src/styles/messages/index.ts'
import { messagesProblems } from '../../src/styles/messages/test-grammar.ts'

const weather = {
  name: 'get_weather',
  description: 'Weather of a city.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

const messagesRequest = {
  model: 'm',
  max_tokens: 500,
  system: 'Be brief.',
  tools: [weather],
  tool_choice: { type: 'auto' },
  messages: [
    { role: 'user', content: 'Weather in Paris and Rome?' },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I ask.' },
        { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Paris' } },
        { type: 'tool_use', id: 'toolu_2', name: 'get_weather', input: { city: 'Rome' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_2', content: 'rain' },
        { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'sun' }] },
        { type: 'text', text: 'And?' },
      ],
    },
  ],
}

describe('a messages request over a chat upstream', () => {
  test('keeps instructions, text beside calls, calls and results', () => {
    const { conversation, losses } = readFields(messages, messagesRequest)
    expect(losses).toEqual([])
    const { request, losses: changed } = writeTo(chat, conversation)
    expect(changed).toEqual([])
    expect(request).toEqual({
      model: 'up-model',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Weather in Paris and Rome?' },
        {
          role: 'assistant',
          content: 'I ask.',
          tool_calls: [
            {
              id: 'toolu_1',
              type: 'function',
              function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
            },
            {
              id: 'toolu_2',
              type: 'function',
              function: { name: 'get_weather', arguments: '{"city":"Rome"}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'toolu_1', content: 'sun' },
        { role: 'tool', tool_call_id: 'toolu_2', content: 'rain' },
        { role: 'user', content: 'And?' },
      ],
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            description: 'Weather of a city.',
            parameters: weather.input_schema,
          },
        },
      ],
      tool_choice: 'auto',
      max_tokens: 500,
    })
  })

  test('comes back as it was when the chat request is read again', () => {
    const { conversation } = readFields(messages, messagesRequest)
    const { request } = writeTo(chat, conversation)
    const again = writeTo(messages, readFields(chat, request).conversation)
    expect(again.losses).toEqual([])
    expect(again.request).toEqual({
      model: 'up-model',
      max_tokens: 500,
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Weather in Paris and Rome?' }] },
        messagesRequest.messages[1]!,
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: 'sun' },
            { type: 'tool_result', tool_use_id: 'toolu_2', content: 'rain' },
            { type: 'text', text: 'And?' },
          ],
        },
      ],
      tools: [weather],
      tool_choice: { type: 'auto' },
    } as Json)
  })
})

const chunk = (delta: Json, finish_reason: string | null = null): Json => ({
  id: 'x',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
})

const call = (index: number, rest: Json): Json => chunk({ tool_calls: [{ index, ...rest }] })

const { conversation: asked } = readFields(messages, messagesRequest)

/** The stream of a messages caller, checked, and its answer without a stream, which must be the same. */
function asMessages(chunks: readonly Json[]) {
  const events = eventsOf(chat.newReader(readContext()), chunks)
  const stream = written(messages.newWriter(writeContext(asked)), events)
  expect(messagesProblems(stream)).toEqual([])
  const answer = messages.writeAnswer(events, writeContext(asked))
  return { stream, data: dataOf(stream), answer }
}

describe('a chat stream for a messages caller', () => {
  test('with reasoning, text and calls side by side is strictly sequential', () => {
    const { data, answer } = asMessages([
      chunk({ role: 'assistant', content: '' }),
      chunk({ reasoning_content: 'Hm.' }),
      chunk({ content: 'I ' }),
      chunk({ content: 'ask.' }),
      call(0, { id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
      call(1, { id: 'b', type: 'function', function: { name: 'g', arguments: '' } }),
      call(0, { function: { arguments: '{"x":' } }),
      call(1, { function: { arguments: '{"y":2}' } }),
      call(0, { function: { arguments: '1}' } }),
      chunk({}, 'tool_calls'),
      { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } },
    ])
    const kinds = data.flatMap(({ content_block: block }) =>
      block ? [(block as Json)['type']] : [],
    )
    expect(kinds).toEqual(['thinking', 'text', 'tool_use', 'tool_use'])
    expect(answer).toMatchObject({
      id: 'msg_abc',
      model: 'asked-model',
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text: 'I ask.' },
        { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
        { type: 'tool_use', id: 'b', name: 'g', input: { y: 2 } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 10, output_tokens: 5 },
    })
  })

  test('that says stop after a call says tool_use, and begins with the call', () => {
    const { data, answer } = asMessages([
      call(0, { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }),
      chunk({}, 'stop'),
    ])
    expect(data[1]).toMatchObject({ index: 0, content_block: { type: 'tool_use', id: 'a' } })
    expect(answer).toMatchObject({ stop_reason: 'tool_use', content: [{ input: { x: 1 } }] })
  })
})

const messagesStream: Json[] = [
  { type: 'message_start', message: { usage: { input_tokens: 7, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'I ask.' } },
  { type: 'content_block_stop', index: 1 },
  {
    type: 'content_block_start',
    index: 2,
    content_block: { type: 'tool_use', id: 't', name: 'f', input: {} },
  },
  {
    type: 'content_block_delta',
    index: 2,
    delta: { type: 'input_json_delta', partial_json: '{"x"' },
  },
  {
    type: 'content_block_delta',
    index: 2,
    delta: { type: 'input_json_delta', partial_json: ':1}' },
  },
  { type: 'content_block_stop', index: 2 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
]

describe('a messages stream for a chat caller', () => {
  const fields = { stream_options: { include_usage: true } }
  const { conversation } = readFields(chat, { messages: [{ role: 'user', content: 'x' }] })

  test('counts calls from 0 and gives each part its field', () => {
    const events = eventsOf(messages.newReader(readContext()), messagesStream)
    const stream = written(chat.newWriter(writeContext(conversation, fields)), events)
    expect(chatProblems(stream)).toEqual([])
    const deltas = dataOf(stream).flatMap(({ choices }) =>
      (choices as Json[]).map(({ delta, finish_reason }) => finish_reason ?? delta),
    )
    expect(deltas).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'Hm.' },
      { content: 'I ask.' },
      {
        tool_calls: [
          { index: 0, id: 't', type: 'function', function: { name: 'f', arguments: '' } },
        ],
      },
      { tool_calls: [{ index: 0, function: { arguments: '{"x"' } }] },
      { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] },
      'tool_calls',
    ])
    expect(dataOf(stream).at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 7, completion_tokens: 9, total_tokens: 16 },
    })
  })

  test('is the same as the answer without a stream', () => {
    const streamed = eventsOf(messages.newReader(readContext()), messagesStream)
    const whole = eventsOfAnswer(messages, {
      type: 'message',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
        { type: 'text', text: 'I ask.' },
        { type: 'tool_use', id: 't', name: 'f', input: { x: 1 } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 7, output_tokens: 9 },
    })
    const context = writeContext(conversation)
    expect(chat.writeAnswer(streamed, context)).toEqual(chat.writeAnswer(whole, context))
    expect(chat.writeAnswer(whole, context)).toEqual({
      id: 'chatcmpl-abc',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'asked-model',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'I ask.',
            refusal: null,
            reasoning_content: 'Hm.',
            tool_calls: [
              { id: 't', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
            ],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 7,
        completion_tokens: 9,
        total_tokens: 16,
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    })
  })

  test('gives its thinking back to the upstream that made it, and to no other', () => {
    const caller = readFields(chat, {
      messages: [{ role: 'user', content: 'x' }],
      reasoning: { effort: 'low' },
    }).conversation
    const events = eventsOf(messages.newReader(readContext()), messagesStream)
    const answer = chat.writeAnswer(events, writeContext(caller))
    const { message } = (answer['choices'] as Json[])[0] as { message: Json }
    const next = readFields(chat, {
      messages: [
        { role: 'user', content: 'x' },
        message,
        { role: 'tool', tool_call_id: 't', content: 'y' },
      ],
    })
    const back = writeTo(messages, next.conversation)
    expect(back.losses).toEqual([])
    expect((back.request['messages'] as Json[])[1]).toEqual({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
        { type: 'text', text: 'I ask.' },
        { type: 'tool_use', id: 't', name: 'f', input: { x: 1 } },
      ],
    })
    const elsewhere = writeTo(messages, next.conversation, targetWith({}, { realm: 'there' }))
    expect(elsewhere.losses).toEqual(['messages.reasoning_content'])
    expect(JSON.stringify(elsewhere.request)).not.toContain('Hm.')
  })
})
