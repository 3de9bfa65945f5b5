// Streams as upstreams of the chat style send them.
import { callIdOf } from '../common/answer-sequence.ts'
import type { Json } from '../common/conversation.ts'

export const chunk = (delta: Json, finish_reason: unknown = null): Json => ({
  id: 'x',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
})
export const calls = (...tool_calls: Json[]): Json => chunk({ tool_calls })
export const end = (reason: unknown = 'stop'): Json => chunk({}, reason)
export const usage = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 }

/** What each has, its chunks, and what is read of them. */
export const streams: readonly [string, Json[], string[]][] = [
  [
    'text',
    [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'a' }),
      chunk({ content: 'b' }),
      end(),
    ],
    ['text:ab', 'end'],
  ],
  ['nothing', [chunk({ role: 'assistant', content: '' }), end()], ['end']],
  ['text in the last chunk', [chunk({ content: 'a' }, 'stop')], ['text:a', 'end']],
  ['text as a list', [chunk({ content: [{ type: 'text', text: 'a' }] }), end()], ['text:a', 'end']],
  [
    'reasoning under either name',
    [
      chunk({ reasoning_content: 'a' }),
      chunk({ reasoning: 'b', reasoning_content: null }),
      chunk({ content: 'c' }),
      end(),
    ],
    ['reasoning:ab', 'text:c', 'end'],
  ],
  [
    'reasoning as a list in the content',
    [
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'a' }] }] }),
      chunk({ content: 'b' }),
      end(),
    ],
    ['reasoning:a', 'text:b', 'end'],
  ],
  [
    'reasoning between texts',
    [
      chunk({ content: 'a' }),
      chunk({ reasoning_content: 'b' }),
      chunk({ content: 'c' }),
      calls({ index: 0, id: 'i', function: { name: 'f', arguments: '{}' } }),
      chunk({ content: 'd' }),
      end(),
    ],
    ['text:a', 'reasoning:b', 'text:c', 'i:f:{}', 'text:d', 'calls'],
  ],
  ['a refusal', [chunk({ refusal: 'no' }), end()], ['refusal:no', 'refusal']],
  ['a length stop', [chunk({ content: 'a' }), end('length')], ['text:a', 'length']],
  ['a filter', [end('content_filter')], ['filtered']],
  ['calls that never came', [chunk({ content: 'a' }), end('tool_calls')], ['text:a', 'end']],
  [
    'arguments with the name in one chunk, and stop',
    [calls({ index: 0, id: 'i', function: { name: 'f', arguments: '{"x":1}' } }), end()],
    ['i:f:{"x":1}', 'calls'],
  ],
  [
    'empty arguments first',
    [
      calls({ index: 0, id: 'i', function: { name: 'f', arguments: '' } }),
      calls({ index: 0, function: { arguments: '{"x":' } }),
      calls({ index: 0, function: { arguments: '1}' } }),
      end('tool_calls'),
    ],
    ['i:f:{"x":1}', 'calls'],
  ],
  [
    'calls side by side',
    [
      calls(
        { index: 0, id: 'i', function: { name: 'f' } },
        { index: 1, id: 'j', function: { name: 'g' } },
      ),
      calls({ index: 1, function: { arguments: '{"y":' } }),
      calls({ index: 0, function: { arguments: '{"x":' } }),
      calls({ index: 1, function: { arguments: '2}' } }),
      calls({ index: 0, function: { arguments: '1}' } }),
      end('tool_calls'),
    ],
    ['i:f:{"x":1}', 'j:g:{"y":2}', 'calls'],
  ],
  [
    'calls that all have the index 0',
    [
      calls({ index: 0, id: 'i', function: { name: 'f', arguments: '{"x":1}' } }),
      calls({ index: 0, id: 'j', function: { name: 'g', arguments: '{"y":2}' } }),
      end('tool_calls'),
    ],
    ['i:f:{"x":1}', 'j:g:{"y":2}', 'calls'],
  ],
  [
    'calls without an index',
    [
      calls({ id: 'i', function: { name: 'f', arguments: '{"x":' } }),
      calls({ function: { arguments: '1}' } }),
      calls({ id: 'j', function: { name: 'g', arguments: '{}' } }),
      end('tool_calls'),
    ],
    ['i:f:{"x":1}', 'j:g:{}', 'calls'],
  ],
  [
    'calls with the same id',
    [
      calls({ index: 0, id: 'i', function: { name: 'f', arguments: '{}' } }),
      calls({ index: 1, id: 'i', function: { name: 'g', arguments: '{}' } }),
      end('tool_calls'),
    ],
    ['i:f:{}', `${callIdOf('x undefined', 1)}:g:{}`, 'calls'],
  ],
  [
    'a name and an id that come late, twice and in parts',
    [
      calls({ index: 0, function: { name: 'get_' } }),
      calls({ index: 0, id: '', function: { name: 'weather' } }),
      calls({ index: 0, id: 'i', function: {} }),
      calls({ index: 0, id: 'i', function: { name: 'get_weather', arguments: '{}' } }),
      end('tool_calls'),
    ],
    ['i:get_weather:{}', 'calls'],
  ],
  [
    'a call without an id',
    [calls({ index: 0, function: { name: 'f', arguments: '{}' } }), end()],
    [`${callIdOf('x undefined', 0)}:f:{}`, 'calls'],
  ],
  [
    'arguments as an object',
    [calls({ index: 0, id: 'i', function: { name: 'f', arguments: { x: 1 } } }), end()],
    ['i:f:{"x":1}', 'calls'],
  ],
  [
    'a call of the first versions',
    [
      chunk({ function_call: { name: 'f', arguments: '{"x":' } }),
      chunk({ function_call: { arguments: '1}' } }),
      end('function_call'),
    ],
    [`${callIdOf('x undefined', 0)}:f:{"x":1}`, 'calls'],
  ],
  [
    'a call without a name',
    [calls({ index: 0, id: 'i', function: { arguments: '{}' } }), end()],
    ['i:unnamed_tool:{}', 'calls', 'lost tool_name'],
  ],
  [
    'arguments that are cut',
    [calls({ index: 0, id: 'i', function: { name: 'f', arguments: '{"x":' } }), end('tool_calls')],
    ['i:f:{"x":', 'calls', 'lost tool_arguments'],
  ],
  [
    'arguments that the limit cut',
    [calls({ index: 0, id: 'i', function: { name: 'f', arguments: '{"x":' } }), end('length')],
    ['i:f:{"x":', 'length'],
  ],
  ['no finish reason', [chunk({ content: 'a' })], ['text:a', 'end', 'lost finish_reason']],
  [
    'an unknown finish reason',
    [chunk({ content: 'a' }), end('bored')],
    ['text:a', 'end', 'lost finish_reason'],
  ],
  ['no event at all', [], ['failed']],
  [
    'an error as an object',
    [chunk({ content: 'a' }), { error: { message: 'x' } }, end()],
    ['text:a', 'failed'],
  ],
  ['an error as a text', [{ error: 'x' }], ['failed']],
  [
    'a second choice',
    [{ choices: [{ index: 1, delta: { content: 'a' } }] }],
    ['failed', 'lost choices'],
  ],
]

/** A stream with every kind of part. */
export const stream: readonly Json[] = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ reasoning_content: 'a' }),
  chunk({ content: 'b' }),
  calls({ index: 0, id: 'i', type: 'function', function: { name: 'f', arguments: '' } }),
  calls({ index: 1, id: 'j', type: 'function', function: { name: 'g', arguments: '{}' } }),
  calls({ index: 0, function: { arguments: '{"x":1}' } }),
  end('tool_calls'),
  { choices: [], usage },
]
