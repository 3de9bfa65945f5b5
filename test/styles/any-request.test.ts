// Requests of any content are read or refused, and what was read is written or refused: nothing throws.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Refusal } from '../../src/contract/errors.ts'
import { chat } from '../../src/styles/chat/index.ts'
import type { Json } from '../../src/styles/common/conversation.ts'
import { Losses } from '../../src/styles/common/losses.ts'
import type { Style } from '../../src/styles/common/style.ts'
import { envelopes, targetWith } from '../../src/styles/common/test-support.ts'
import { ToolNames } from '../../src/styles/common/tool-names.ts'
import { generate } from '../../src/styles/generate/index.ts'
import { messages } from '../../src/styles/messages/index.ts'
import { responses } from '../../src/styles/responses/index.ts'

const schema = { type: 'object', properties: { a: { type: 'string' } } }

const chatRequest: Json = {
  model: 'm',
  messages: [
    { role: 'system', content: 'a' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'b' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
        { type: 'file', file: { file_data: 'AA' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'c',
      tool_calls: [{ id: 'i', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'i', content: 'd' },
    { role: 'developer', content: 'e' },
    { role: 'user', content: 'f' },
  ],
  tools: [
    { type: 'function', function: { name: 'f', parameters: schema, strict: true } },
    {
      type: 'custom',
      custom: {
        name: 'g',
        format: { type: 'grammar', grammar: { definition: 'x', syntax: 'lark' } },
      },
    },
  ],
  tool_choice: {
    type: 'allowed_tools',
    allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
  },
  response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
  reasoning: { effort: 'low' },
  stop: ['x'],
  temperature: 1,
}

const messagesRequest: Json = {
  model: 'm',
  max_tokens: 50,
  system: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'b' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'c', signature: 's' },
        { type: 'tool_use', id: 'i', name: 'f', input: { a: 'b' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'i',
          content: [{ type: 'text', text: 'd' }],
          is_error: true,
        },
      ],
    },
  ],
  tools: [{ name: 'f', input_schema: schema, cache_control: { type: 'ephemeral' } }],
  tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
  thinking: { type: 'enabled', budget_tokens: 2000 },
  output_config: { effort: 'low', format: { type: 'json_schema', schema } },
  metadata: { user_id: 'u' },
}

/** The request with some of its values replaced. */
const changed = (request: Json) =>
  fc
    .array(fc.tuple(fc.nat(120), fc.oneof(fc.jsonValue(), fc.constant(undefined))), {
      maxLength: 3,
    })
    .map((changes) => {
      let at = 0
      const places = new Map(changes)
      const value = JSON.parse(JSON.stringify(request), (_, each) => {
        const place = at++
        return places.has(place) ? places.get(place) : each
      })
      return (
        typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
      ) as Json
    })

const upstreams: readonly Style[] = [chat, messages, responses, generate]

test.each<[string, Style, Json]>([
  ['chat', chat, chatRequest],
  ['messages', messages, messagesRequest],
])('a %s request of any content is written for every style or refused', (_, style, request) => {
  fc.assert(
    fc.property(changed(request), fc.boolean(), (fields, plain) => {
      const read = style.readRequest({ fields, body: '', envelopes }, new Losses())
      if (read instanceof Refusal) {
        expect([400, typeof read.extras.param]).toEqual([read.status, 'string'])
        return
      }
      const target = targetWith(
        plain ? { reasoning: 'budget', outputSchema: false, autoCache: true } : {},
      )
      for (const upstream of upstreams) {
        const names = new ToolNames(read.tools, upstream.toolName)
        const made = upstream.writeRequest(read, target, names, new Losses())
        if (!(made instanceof Refusal)) JSON.stringify(made)
      }
    }),
    { numRuns: 600 },
  )
})
