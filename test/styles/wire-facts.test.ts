// Facts that hold over styles: usage means the same on every wire, prefixes are stable, and a
// terminal coding tool's request is known field by field.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { chat } from '../../src/styles/chat/index.ts'
import { chatProblems } from '../../src/styles/chat/test-grammar.ts'
import type { AnswerEvent, AnswerUsage } from '../../src/styles/common/answer.ts'
import type { Json } from '../../src/styles/common/conversation.ts'
import type { Style } from '../../src/styles/common/style.ts'
import {
  emptyConversation,
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
import { responses } from '../../src/styles/responses/index.ts'

const styles: readonly Style[] = [chat, messages, responses]

const count = fc.nat(1_000_000)
const usage = fc.tuple(count, count, count, count, count).map(
  ([fresh, read, written, shown, reasoning]): AnswerUsage => ({
    inputTokens: fresh + read + written,
    outputTokens: shown + reasoning,
    cacheReadTokens: read,
    cacheWriteTokens: written,
    reasoningTokens: reasoning,
  }),
)

test.each(styles.map((style) => [style.name, style] as const))(
  'usage in the style %s is read as it was written',
  (_, style) => {
    fc.assert(
      fc.property(usage, (given) => {
        const events: AnswerEvent[] = [
          { type: 'begin' },
          { type: 'stop', reason: 'end' },
          { type: 'usage', usage: given },
        ]
        const answer = style.writeAnswer(events, writeContext(emptyConversation))
        expect(eventsOfAnswer(style, answer).at(-1)).toEqual({ type: 'usage', usage: given })
      }),
    )
  },
)

test.each<[string, Json, Partial<AnswerUsage>]>([
  [
    'cached tokens within the prompt',
    { prompt_tokens: 10, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 4 } },
    { inputTokens: 10, cacheReadTokens: 4 },
  ],
  [
    'tokens of a cache hit beside the details',
    { prompt_tokens: 10, completion_tokens: 2, prompt_cache_hit_tokens: 4 },
    { inputTokens: 10, cacheReadTokens: 4 },
  ],
  [
    'counts that overlap',
    {
      prompt_tokens: 10,
      completion_tokens: 2,
      prompt_tokens_details: { cached_tokens: 8, cache_write_tokens: 5 },
    },
    { inputTokens: 10, cacheReadTokens: 8, cacheWriteTokens: 2 },
  ],
])('chat usage with %s is consistent', (_, raw, expected) => {
  const choices = [{ message: { content: 'a' }, finish_reason: 'stop' }]
  expect(eventsOfAnswer(chat, { choices, usage: raw }).at(-1)).toMatchObject({ usage: expected })
})

describe('the same conversation one turn later', () => {
  const turns = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
    { role: 'user', content: [{ type: 'text', text: 'c' }] },
    { role: 'assistant', content: 'd' },
    { role: 'user', content: 'e' },
  ]

  test.each(styles.map((style) => [style.name, style] as const))(
    'has the same prefix for an upstream of the style %s',
    (_, style) => {
      const bodies = [3, 5].map((length) => {
        const { conversation } = readFields(messages, {
          system: 's',
          messages: turns.slice(0, length),
          max_tokens: 5,
        })
        const { request } = writeTo(style, conversation)
        return JSON.stringify([request['system'], request['messages'] ?? request['input']]).slice(
          0,
          -2,
        )
      })
      expect(bodies[1]!.startsWith(bodies[0]!)).toBe(true)
    },
  )
})

/** In the shape of what a terminal coding tool sends, with every field that it uses. */
const codingTool: Json = {
  model: 'm',
  max_tokens: 32_000,
  stream: true,
  thinking: { type: 'adaptive', display: 'omitted' },
  output_config: { effort: 'medium' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  metadata: { user_id: '{"device_id":"d","session_id":"s"}' },
  system: [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1; cch=abc;' },
    {
      type: 'text',
      text: 'You are a coding agent.',
      cache_control: { type: 'ephemeral', ttl: '1h' },
    },
  ],
  tools: [
    {
      name: 'Bash',
      description: 'Runs a command.',
      input_schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { command: { type: 'string' } },
        required: ['command'],
        additionalProperties: false,
      },
    },
    { name: `mcp__files__${'read_'.repeat(15)}`, input_schema: { type: 'object', properties: {} } },
  ],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'List files.' }] },
    { role: 'system', content: [{ type: 'text', text: 'The date is today.' }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: '', signature: 'of-elsewhere' },
        {
          type: 'tool_use',
          id: 'toolu_1',
          name: 'Bash',
          input: { command: 'ls' },
          caller: { type: 'direct' },
        },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [{ type: 'text', text: 'a.ts' }],
          is_error: false,
          cache_control: { type: 'ephemeral' },
        },
      ],
    },
  ],
}

test('the request of a coding tool is carried, and every loss has a name', () => {
  const { conversation, losses } = readFields(messages, codingTool)
  expect(losses).toEqual(['context_management'])
  const { request, losses: changed } = writeTo(chat, conversation, targetWith({}, { stream: true }))
  expect(changed).toEqual(['cache_control', 'messages', 'thinking.signature'])
  expect(request).toMatchObject({
    messages: [
      { role: 'system', content: 'You are a coding agent.' },
      {
        role: 'user',
        content: [{ text: 'List files.' }, { text: '<system>\nThe date is today.\n</system>' }],
      },
      { role: 'assistant', content: '', tool_calls: [{ id: 'toolu_1' }] },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'a.ts' },
    ],
    max_tokens: 32_000,
    reasoning_effort: 'medium',
    stream: true,
  })
  expect(JSON.stringify(request)).not.toContain('$schema')
})

const chunk = (delta: Json, finish_reason: unknown = null): Json => ({
  choices: [{ index: 0, delta, finish_reason }],
})
const chunks = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ reasoning_content: 'a' }),
  chunk({ content: 'b' }),
  chunk({ refusal: 'no' }),
  chunk({ tool_calls: [{ index: 0, id: 'i', function: { name: 'f', arguments: '' } }] }),
  chunk({ tool_calls: [{ index: 1, id: 'j', function: { name: 'g', arguments: '{}' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"x":1}' } }] }),
  chunk({}, 'stop'),
  chunk({}, 'length'),
]

test('whatever order an upstream sends its chunks in, callers get streams of their grammar', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...chunks)), (order) => {
      const events: AnswerEvent[] = []
      const reader = chat.newReader(readContext())
      for (const data of [...order, chunk({}, 'stop')]) {
        reader.read(data, undefined, (event) => events.push(event))
      }
      reader.end((event) => events.push(event))
      if (events.at(-1)?.type === 'fail') return
      const context = writeContext(emptyConversation)
      expect(chatProblems(written(chat.newWriter(context), events))).toEqual([])
      expect(messagesProblems(written(messages.newWriter(context), events))).toEqual([])
    }),
    { numRuns: 500 },
  )
})
