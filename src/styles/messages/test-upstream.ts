// Streams as upstreams of the messages style send them.
import type { Json } from '../common/conversation.ts'

export const begin: Json = {
  type: 'message_start',
  message: {
    usage: {
      input_tokens: 5,
      cache_read_input_tokens: 3,
      cache_creation_input_tokens: 2,
      output_tokens: 1,
    },
  },
}
export const start = (index: number, content_block: Json): Json => ({
  type: 'content_block_start',
  index,
  content_block,
})
export const delta = (index: number, change: Json): Json => ({
  type: 'content_block_delta',
  index,
  delta: change,
})
export const stop = (index: number): Json => ({ type: 'content_block_stop', index })
export const end = (stop_reason: unknown, rest: Json = {}): Json => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null, ...rest },
  usage: { output_tokens: 9 },
})
const over: Json = { type: 'message_stop' }

const textBlock = (index: number, text: string): Json[] => [
  start(index, { type: 'text', text: '' }),
  delta(index, { type: 'text_delta', text }),
  stop(index),
]
const callBlock = (index: number, ...inputs: string[]): Json[] => [
  start(index, { type: 'tool_use', id: `t${index}`, name: 'f', input: {} }),
  ...inputs.map((partial_json) => delta(index, { type: 'input_json_delta', partial_json })),
  stop(index),
]

/** What each has, its events, and what is read of them. */
export const streams: readonly [string, Json[], string[]][] = [
  ['text', [begin, ...textBlock(0, 'a'), end('end_turn'), over], ['text:a', 'end']],
  ['nothing', [begin, end('end_turn'), over], ['end']],
  [
    'an empty block',
    [begin, start(0, { type: 'text', text: '' }), stop(0), end('end_turn'), over],
    ['end'],
  ],
  [
    'text in the start of a block',
    [begin, start(0, { type: 'text', text: 'a' }), stop(0), end('end_turn')],
    ['text:a', 'end'],
  ],
  [
    'two texts',
    [begin, ...textBlock(0, 'a'), ...textBlock(1, 'b'), end('end_turn')],
    ['text:a', 'text:b', 'end'],
  ],
  ['a ping', [begin, { type: 'ping' }, ...textBlock(0, 'a'), end('end_turn')], ['text:a', 'end']],
  [
    'calls',
    [begin, ...callBlock(0, '{"x"', ':1}'), ...callBlock(1), end('tool_use')],
    ['t0:f:{"x":1}', 't1:f:{}', 'calls'],
  ],
  [
    'an empty first input',
    [begin, ...callBlock(0, '', '{}'), end('tool_use')],
    ['t0:f:{}', 'calls'],
  ],
  [
    'the whole input in the start',
    [
      begin,
      start(0, { type: 'tool_use', id: 'i', name: 'f', input: { x: 1 } }),
      stop(0),
      end('tool_use'),
    ],
    ['i:f:{"x":1}', 'calls'],
  ],
  [
    'a call and another reason',
    [begin, ...callBlock(0, '{}'), end('end_turn')],
    ['t0:f:{}', 'calls'],
  ],
  [
    'a call that the limit cut',
    [begin, ...callBlock(0, '{"x'), end('max_tokens')],
    ['t0:f:{"x', 'length'],
  ],
  [
    'a call that is cut',
    [begin, ...callBlock(0, '{"x'), end('tool_use')],
    ['t0:f:{"x', 'calls', 'lost tool_arguments'],
  ],
  [
    'a full context',
    [begin, ...textBlock(0, 'a'), end('model_context_window_exceeded')],
    ['text:a', 'length'],
  ],
  ['a refusal', [begin, end('refusal')], ['refusal']],
  [
    'a pause',
    [begin, ...textBlock(0, 'a'), end('pause_turn')],
    ['text:a', 'end', 'lost finish_reason'],
  ],
  [
    'an unknown reason',
    [begin, ...textBlock(0, 'a'), end('bored')],
    ['text:a', 'end', 'lost finish_reason'],
  ],
  ['no reason', [begin, ...textBlock(0, 'a'), over], ['text:a', 'end', 'lost finish_reason']],
  ['no message_stop', [begin, ...textBlock(0, 'a'), end('end_turn')], ['text:a', 'end']],
  [
    'an error',
    [
      begin,
      ...textBlock(0, 'a'),
      { type: 'error', error: { type: 'overloaded_error', message: 'x' } },
    ],
    ['text:a', 'failed'],
  ],
  ['an error without a type', [{ error: { message: 'x' } }], ['failed']],
  [
    'no block stop',
    [begin, start(0, { type: 'text', text: 'a' }), ...callBlock(1, '{}'), end('tool_use')],
    ['text:a', 't1:f:{}', 'calls'],
  ],
  [
    'a block that the upstream ran',
    [begin, start(0, { type: 'server_tool_use', id: 'x' }), stop(0), end('end_turn')],
    ['end', 'lost content'],
  ],
  [
    'a call without a name',
    [begin, start(0, { type: 'tool_use', id: 'x', input: {} }), end('tool_use')],
    ['x:unnamed_tool:{}', 'calls', 'lost tool_name'],
  ],
  [
    'input outside of a call',
    [begin, delta(0, { type: 'input_json_delta', partial_json: '{}' }), end('tool_use')],
    ['end', 'lost tool_arguments'],
  ],
  ['nothing at all', [], ['failed']],
]

/** A stream with every kind of block. */
export const stream: readonly Json[] = [
  begin,
  start(0, { type: 'thinking', thinking: '', signature: '' }),
  delta(0, { type: 'thinking_delta', thinking: 'a' }),
  delta(0, { type: 'signature_delta', signature: 's' }),
  stop(0),
  ...textBlock(1, 'b'),
  ...callBlock(2, '{"x":', '1}'),
  end('tool_use'),
  over,
]
