// A field that a reader does not know is named as lost, wherever in a request it stands.
import { expect, test } from 'bun:test'
import type { Json, StyleName } from '../../src/styles/common/conversation.ts'
import { readRequest } from '../../src/styles/common/test-requests.ts'
import { styles } from '../../src/styles/index.ts'

const schema = { type: 'object', properties: { a: { type: 'string' } } }
const image = 'data:image/png;base64,AAAA'
const mark = { type: 'ephemeral' }

const requests: Record<StyleName, Json> = {
  chat: {
    model: 'm',
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'a', cache_control: mark }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'b', prompt_cache_breakpoint: { mode: 'explicit' } },
          { type: 'image_url', image_url: { url: image, detail: 'low' } },
          { type: 'file', file: { file_data: 'AAAA', filename: 'a.pdf' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
          { type: 'video_url', video_url: { url: 'https://a.example/a.mp4' } },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'refusal', refusal: 'no' }],
        tool_calls: [
          { id: 'i', type: 'function', function: { name: 'f', arguments: '{}' } },
          { id: 'j', type: 'custom', custom: { name: 'g', input: '' } },
        ],
      },
      { role: 'tool', tool_call_id: 'i', content: 'd' },
      { role: 'tool', tool_call_id: 'j', content: [{ type: 'text', text: 'd' }] },
    ],
    tools: [
      { type: 'function', function: { name: 'f', parameters: schema } },
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
    stream_options: { include_usage: true },
  },
  responses: {
    model: 'm',
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'a' }] },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'b', prompt_cache_breakpoint: { mode: 'explicit' } },
          { type: 'input_image', image_url: image, detail: 'auto' },
          { type: 'input_file', file_data: 'AAAA', filename: 'a.pdf' },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        ],
      },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'c' }],
        status: 'completed',
      },
      {
        type: 'message',
        id: 'msg_1',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'd', annotations: [], logprobs: [] }],
      },
      { type: 'function_call', id: 'fc_1', call_id: 'i', name: 'f', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'j', name: 'g', input: '' },
      { type: 'function_call_output', call_id: 'i', output: [{ type: 'input_text', text: 'd' }] },
      { type: 'custom_tool_call_output', call_id: 'j', output: 'd' },
    ],
    tools: [
      { type: 'function', name: 'f', parameters: schema },
      { type: 'custom', name: 'g', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
      {
        type: 'namespace',
        name: 's',
        tools: [{ type: 'function', name: 'h', parameters: schema }],
      },
    ],
    tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
    text: { format: { type: 'json_schema', name: 'n', schema }, verbosity: 'low' },
    reasoning: { effort: 'low', summary: 'auto' },
  },
  messages: {
    model: 'm',
    max_tokens: 50,
    system: [{ type: 'text', text: 'a', cache_control: mark }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'b' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } },
          { type: 'image', source: { type: 'url', url: 'https://a.example/a.png' } },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } },
          {
            type: 'document',
            source: { type: 'content', content: [{ type: 'text', text: 'x' }] },
          },
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
          { type: 'tool_result', tool_use_id: 'i', content: [{ type: 'text', text: 'd' }] },
        ],
      },
    ],
    tools: [{ name: 'f', input_schema: schema, cache_control: mark }],
    tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    thinking: { type: 'adaptive', display: 'omitted' },
    output_config: { effort: 'low', format: { type: 'json_schema', schema } },
    metadata: { user_id: 'u' },
  },
  generate: {
    systemInstruction: { parts: [{ text: 'a' }] },
    contents: [
      {
        role: 'user',
        parts: [
          { text: 'b' },
          { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
          { fileData: { mimeType: 'image/png', fileUri: 'https://a.example/a.png' } },
        ],
      },
      {
        role: 'model',
        parts: [
          { text: 'c', thought: true },
          { functionCall: { id: 'i', name: 'f', args: { a: 'b' } } },
        ],
      },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: 'i',
              name: 'f',
              response: { result: 'd' },
              parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
            },
          },
        ],
      },
    ],
    tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: schema }] }],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
    generationConfig: {
      thinkingConfig: { thinkingLevel: 'LOW' },
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    },
  },
}

/** Carried whole, whatever is in it; or of the gateway's own use. */
const whole = new Set(['parameters', 'schema', 'input_schema', 'input', 'args', 'response'])
const free = new Set([...whole, 'parametersJsonSchema', 'responseJsonSchema'])
const unread = new Set(['metadata', 'stream_options', 'summary'])

type Path = readonly (string | number)[]

/** The places of all objects in a request. */
function objectsIn(value: unknown, path: Path = []): Path[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => objectsIn(each, [...path, index]))
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).filter(
    ([name, each]) => !unread.has(name) && (!free.has(name) || Array.isArray(each)),
  )
  return [path, ...inner.flatMap(([name, each]) => objectsIn(each, [...path, name]))]
}

function withUnknown(request: Json, path: Path): Json {
  const copy = structuredClone(request)
  // biome-ignore lint/suspicious/noExplicitAny: a place in a body of any shape
  const place = path.reduce((holder: any, step) => holder[step], copy)
  place['xunknown'] = 1
  return copy
}

test.each(Object.values(styles))('$name: an unknown field is named', (style) => {
  const request = requests[style.name]
  expect(readRequest(style, request)).toMatchObject({ losses: [], param: undefined })
  const silent = objectsIn(request).filter((path) => {
    const { losses, param } = readRequest(style, withUnknown(request, path))
    return param === undefined && !losses.some((name) => name.endsWith('xunknown'))
  })
  expect(silent.map((path) => path.join('.'))).toEqual([])
})

test('generate: an unknown field is named as it was written', () => {
  const { losses } = readRequest(styles.generate, {
    contents: [{ role: 'user', parts: [{ text: 'a' }], odd_turn: 1 }],
    generation_config: { top_k: 3, odd_setting: 1, oddSetting2: 1 },
    tools: [{ function_declarations: [{ name: 'f', odd_mark: 1 }] }],
    odd_field: 1,
    oddField2: 1,
  })
  const odd = losses.filter((name) => /odd/.test(name))
  expect(odd).toEqual([
    'contents.odd_turn',
    'generationConfig.oddSetting2',
    'generationConfig.odd_setting',
    'oddField2',
    'odd_field',
    'tools.functionDeclarations.odd_mark',
  ])
  const contents = [{ role: 'user', parts: [{ text: 'a', odd_part: 1 }] }]
  expect(readRequest(styles.generate, { contents }).param).toBe('contents[0].parts[0].odd_part')
})
