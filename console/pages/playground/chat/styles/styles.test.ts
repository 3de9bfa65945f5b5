import { expect, test } from 'bun:test'
import {
  type AnswerTurn,
  emptySetUp,
  type SetUp,
  type StyleName,
  type Turn,
} from '../conversation.ts'
import { styles } from './index.ts'
import type { Json } from './style.ts'

const png = 'data:image/png;base64,AAAA'
const setUp: SetUp = {
  ...emptySetUp,
  system: 'Be brief.',
  temperature: 0.5,
  top_p: 0.9,
  max_tokens: 50,
  stop: 'END\n',
  tools: '[{"type":"function","function":{"name":"sky","parameters":{"type":"object"}}}]',
  format: 'json_schema',
  schema: '{"type":"object"}',
  more: '{"seed":7}',
}
const call = { id: 'c1', name: 'sky', arguments: '{"city":"Rome"}' }
const answered = (style: StyleName): AnswerTurn => ({
  ...{ role: 'assistant', text: 'Let me see.', thinking: '', calls: [call], style },
})
const turns: Turn[] = [
  { role: 'user', text: 'What is this?', images: [png, 'https://up.example/a.png'] },
  answered('chat'),
  { role: 'tool', answers: [{ id: 'c1', name: 'sky', text: '{"sky":"clear"}' }] },
]
const body = (style: StyleName, effort?: string) =>
  styles[style].body('m', { ...setUp, ...(effort && { effort }) }, turns) as Record<string, Json>

test('chat: system prompt, images, calls and their results, parameters, other fields', () => {
  expect(body('chat', 'low')).toEqual({
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: png } },
          { type: 'image_url', image_url: { url: 'https://up.example/a.png' } },
        ],
      },
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'sky', arguments: call.arguments } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"sky":"clear"}' },
    ],
    ...{ max_tokens: 50, temperature: 0.5, top_p: 0.9, reasoning_effort: 'low', stop: ['END'] },
    tools: [{ type: 'function', function: { name: 'sky', parameters: { type: 'object' } } }],
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'answer', schema: { type: 'object' } },
    },
    ...{ stream: true, seed: 7 },
  } as unknown as Record<string, Json>)
})

test('responses: items, and no stop sequences, which the style does not have', () => {
  const sent = body('responses', 'low')
  expect(sent['input']).toEqual([
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'What is this?' },
        { type: 'input_image', image_url: png },
        { type: 'input_image', image_url: 'https://up.example/a.png' },
      ],
    },
    { role: 'assistant', content: 'Let me see.' },
    { type: 'function_call', call_id: 'c1', name: 'sky', arguments: call.arguments },
    { type: 'function_call_output', call_id: 'c1', output: '{"sky":"clear"}' },
  ] as unknown as Json)
  expect(sent).toMatchObject({ instructions: 'Be brief.', reasoning: { effort: 'low' }, seed: 7 })
  expect(sent).not.toHaveProperty('stop')
})

test('messages: blocks, and an output limit also where none is set', () => {
  const sent = body('messages', 'max')
  expect(sent['messages']).toEqual([
    {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        { type: 'image', source: { type: 'url', url: 'https://up.example/a.png' } },
        { type: 'text', text: 'What is this?' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Let me see.' },
        { type: 'tool_use', id: 'c1', name: 'sky', input: { city: 'Rome' } },
      ],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'c1', content: '{"sky":"clear"}' }],
    },
  ] as unknown as Json)
  expect(sent['output_config']).toEqual({
    effort: 'max',
    format: { type: 'json_schema', schema: { type: 'object' } },
  })
  const { max_tokens: _, ...unlimited } = setUp
  expect(styles.messages.body('m', unlimited, [])['max_tokens']).toBe(1_024)
})

test('generate: parts, with the model in the path', () => {
  const sent = body('generate', 'LOW')
  expect(sent['contents']).toEqual([
    {
      role: 'user',
      parts: [
        { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
        { fileData: { fileUri: 'https://up.example/a.png' } },
        { text: 'What is this?' },
      ],
    },
    {
      role: 'model',
      parts: [
        { text: 'Let me see.' },
        { functionCall: { id: 'c1', name: 'sky', args: { city: 'Rome' } } },
      ],
    },
    {
      role: 'user',
      parts: [{ functionResponse: { id: 'c1', name: 'sky', response: { sky: 'clear' } } }],
    },
  ] as unknown as Json)
  expect(sent['generationConfig']).toEqual({
    ...{ maxOutputTokens: 50, temperature: 0.5, topP: 0.9, stopSequences: ['END'] },
    thinkingConfig: { thinkingLevel: 'LOW' },
    ...{ responseMimeType: 'application/json', responseJsonSchema: { type: 'object' } },
  })
  expect(styles.generate.path('a/b', true)).toEndWith('/a%2Fb:streamGenerateContent?alt=sse')
})

const gateway = { charge: '0.0000196', currency: 'CNY' }
const streams: Readonly<Record<StyleName, readonly Json[]>> = {
  chat: [
    { choices: [{ delta: { role: 'assistant', content: 'Let ', reasoning_content: 'hm' } }] },
    { choices: [{ delta: { content: 'me see.' } }] },
    {
      choices: [
        {
          delta: { tool_calls: [{ index: 0, id: 'c1', function: { name: 'sky', arguments: '' } }] },
        },
      ],
    },
    {
      choices: [
        { delta: { tool_calls: [{ index: 0, function: { arguments: '{"city":"Rome"}' } }] } },
      ],
    },
    { choices: [], usage: { prompt_tokens: 5, completion_tokens: 7, gateway } },
  ],
  responses: [
    { type: 'response.reasoning_summary_text.delta', delta: 'hm' },
    { type: 'response.output_text.delta', delta: 'Let me see.' },
    {
      type: 'response.completed',
      response: {
        output: [
          { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
          { type: 'message', content: [{ type: 'output_text', text: 'Let me see.' }] },
          { type: 'function_call', call_id: 'c1', name: 'sky', arguments: '{"city":"Rome"}' },
        ],
        usage: { input_tokens: 5, output_tokens: 7, gateway },
      },
    },
  ],
  messages: [
    { type: 'message_start', message: { usage: { input_tokens: 5, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 's' } },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Let me see.' } },
    {
      ...{ type: 'content_block_start', index: 2 },
      content_block: { type: 'tool_use', id: 'c1', name: 'sky', input: {} },
    },
    {
      ...{ type: 'content_block_delta', index: 2 },
      delta: { type: 'input_json_delta', partial_json: '{"city":"Rome"}' },
    },
    { type: 'content_block_stop', index: 2 },
    { type: 'message_delta', delta: {}, usage: { output_tokens: 7, gateway } },
  ],
  generate: [
    { candidates: [{ content: { parts: [{ text: 'hm', thought: true }] } }] },
    { candidates: [{ content: { parts: [{ text: 'Let ' }] } }] },
    { candidates: [{ content: { parts: [{ text: 'me see.' }] } }] },
    {
      candidates: [
        {
          content: { parts: [{ functionCall: { id: 'c1', name: 'sky', args: { city: 'Rome' } } }] },
        },
      ],
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 7, gateway },
    },
  ],
}

for (const [name, events] of Object.entries(streams) as [StyleName, readonly Json[]][]) {
  test(`${name}: events add up to text, thinking, calls, tokens and the charge`, () => {
    const fold = styles[name].fold()
    const answer = events.map(fold).at(-1)!
    const { native, ...told } = answer
    expect(told).toEqual({
      ...{ text: 'Let me see.', thinking: 'hm', calls: [call] },
      ...{ tokens: { input: 5, output: 7 }, charge: '0.0000196' },
    })
    // What came in this style goes back as it came.
    const turn: AnswerTurn = { ...answered(name), native }
    const sent = JSON.stringify(styles[name].body('m', emptySetUp, [turn]))
    expect(sent).toContain(JSON.stringify(native).slice(1, -1))
    if (name === 'messages') expect(sent).toContain('"signature":"s"')
  })
}

test('a failed answer is not sent again', () => {
  const failed: Turn = { ...answered('chat'), isFailed: true }
  expect(styles.chat.body('m', emptySetUp, [failed])['messages']).toEqual([])
})

test('an error within a stream is told, with what came before it', () => {
  const error = { message: 'cut off' }
  const ends: Readonly<Record<StyleName, Json>> = {
    chat: { error },
    responses: { type: 'error', message: 'cut off' },
    messages: { type: 'error', error },
    generate: { error },
  }
  for (const [name, end] of Object.entries(ends) as [StyleName, Json][]) {
    const fold = styles[name].fold()
    fold(streams[name][1]!)
    expect([name, fold(end).error]).toEqual([name, 'cut off'])
  }
})
