// One request for each field of the chat style.
import {
  alone,
  document,
  grammar,
  imageUrl,
  openSchema,
  type Probes,
  pixel,
  schema,
} from './samples.ts'

const user = (content: unknown) => ({ role: 'user', content })
const part = (...parts: object[]) => ({
  messages: [user([{ type: 'text', text: 'Hm' }, ...parts])],
})
const weather = { name: 'weather', description: 'The weather.', parameters: schema }
const tools = [{ type: 'function', function: weather }]
const twoTools = [...tools, { type: 'function', function: { ...weather, name: 'clock' } }]
const call = {
  id: 'c1',
  type: 'function',
  function: { name: 'weather', arguments: '{"city":"A"}' },
}
const after = (answer: object, ...more: object[]) => ({
  messages: [user('Hm'), { role: 'assistant', ...answer }, ...more, user('Go on')],
})
const choose = (choice: unknown) => ({
  fields: { tools: twoTools, tool_choice: choice },
  beside: { tools: twoTools },
})

const besideEffort = (fields: object) => ({
  fields: { ...fields, reasoning_effort: 'high' },
  beside: { reasoning_effort: 'high' },
})
const mark = { cache_control: { type: 'ephemeral' } }
const marked = ['A', 'B', 'C', 'D', 'E'].map((text) => ({ type: 'text', text, ...mark }))

export const base = { model: 'm', messages: [user('Hm')] }

export const probes: Probes = {
  'messages (system, developer)': {
    fields: { messages: [{ role: 'developer', content: 'Obey' }, user('Hm')] },
  },
  'messages (instructions between turns)': {
    fields: {
      messages: [
        user('Hm'),
        { role: 'assistant', content: 'A' },
        { role: 'system', content: 'Obey' },
        user('B'),
      ],
    },
    beside: after({ content: 'A' }),
  },
  'messages (begun answer)': {
    fields: { messages: [user('Hm'), { role: 'assistant', content: 'It is' }] },
  },
  'messages.content.image_url': {
    fields: part({ type: 'image_url', image_url: { url: imageUrl } }),
    beside: part(),
  },
  'messages.content.image_url (data)': {
    fields: part({ type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } }),
    beside: part(),
  },
  'messages.content.file': {
    fields: part({ type: 'file', file: { file_data: `data:application/pdf;base64,${document}` } }),
    beside: part(),
  },
  'messages.content.file.filename': {
    fields: part({
      type: 'file',
      file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${document}` },
    }),
    beside: part(),
  },
  'messages.content.file.file_id': {
    fields: part({ type: 'file', file: { file_id: 'file-1' } }),
    beside: part(),
  },
  'messages.content.input_audio': {
    fields: part({ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }),
    beside: part(),
  },
  'messages.content.video_url': {
    fields: part({ type: 'video_url', video_url: { url: 'https://videos.example/one.mp4' } }),
    beside: part(),
  },
  'messages.content.cache_control': {
    fields: {
      messages: [user([{ type: 'text', text: 'Hm', cache_control: { type: 'ephemeral' } }])],
    },
  },
  'messages.content.cache_control (more than four)': {
    fields: { messages: [user(marked)] },
  },
  'messages.name': { fields: { messages: [{ ...user('Hm'), name: 'Ann' }] } },
  'messages.reasoning_content': {
    fields: after({ content: 'A', reasoning_content: 'Let me see' }),
    beside: after({ content: 'A' }),
  },
  'messages.refusal': {
    fields: after({ content: null, refusal: 'No.' }),
    beside: after({ content: 'A' }),
  },
  'messages.tool_calls': {
    fields: after(
      { content: '', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'Sun' },
    ),
    beside: after({ content: 'A' }),
  },
  tools: { fields: { tools } },
  'tools.function.strict': {
    fields: { tools: [{ type: 'function', function: { ...weather, strict: true } }] },
    beside: { tools },
  },
  'tools.custom': {
    fields: {
      tools: [
        {
          type: 'custom',
          custom: {
            name: 'patch',
            format: { type: 'grammar', grammar: { definition: grammar, syntax: 'lark' } },
          },
        },
      ],
    },
  },
  tool_choice: choose('required'),
  'tool_choice (one tool)': choose({ type: 'function', function: { name: 'clock' } }),
  'tool_choice (allowed_tools)': choose({
    type: 'allowed_tools',
    allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'clock' } }] },
  }),
  parallel_tool_calls: { fields: { tools, parallel_tool_calls: false }, beside: { tools } },
  functions: { fields: { functions: [weather] } },
  function_call: {
    fields: { functions: [weather], function_call: { name: 'weather' } },
    beside: { functions: [weather] },
  },
  ...alone({ max_tokens: 100, max_completion_tokens: 100, stop: ['END'] }),
  'max_tokens (below 16)': { fields: { max_tokens: 5 } },
  'max_completion_tokens (below 16)': { fields: { max_completion_tokens: 5 } },
  'stop (white space)': { fields: { stop: ['\n'] } },
  ...alone({ temperature: 0.5 }),
  'temperature (above 1)': { fields: { temperature: 1.5 } },
  ...alone({ top_p: 0.9, top_k: 40, presence_penalty: 0.5, frequency_penalty: 0.5, seed: 7 }),
  'temperature (beside effort)': besideEffort({ temperature: 0.5 }),
  'top_p (beside effort)': besideEffort({ top_p: 0.5 }),
  'top_k (beside effort)': besideEffort({ top_k: 3 }),
  'response_format (json_object)': { fields: { response_format: { type: 'json_object' } } },
  response_format: {
    fields: {
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } },
    },
  },
  'response_format (open schema)': {
    fields: {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'n', schema: openSchema, strict: true },
      },
    },
  },
  ...alone({ reasoning_effort: 'high' }),
  'reasoning_effort (minimal)': { fields: { reasoning_effort: 'minimal' } },
  'reasoning_effort (none)': { fields: { reasoning_effort: 'none' } },
  'reasoning_effort (xhigh)': { fields: { reasoning_effort: 'xhigh' } },
  ...alone({
    reasoning: { effort: 'high' },
    thinking: { type: 'enabled', budget_tokens: 2_000 },
    thinking_budget: 2_000,
    enable_thinking: true,
    include_reasoning: false,
    n: 2,
    logprobs: true,
  }),
  top_logprobs: { fields: { logprobs: true, top_logprobs: 2 } },
  ...alone({
    logit_bias: { '50256': -100 },
    verbosity: 'low',
    prompt_cache_key: 'k',
    prompt_cache_options: {},
    prompt_cache_retention: '24h',
    user: 'u-1',
    safety_identifier: 'u-1',
    metadata: { a: 'b' },
    client_metadata: { a: 'b' },
    store: true,
    service_tier: 'priority',
    prediction: { type: 'content', content: 'A' },
    modalities: ['text', 'audio'],
    audio: { voice: 'a', format: 'wav' },
    web_search_options: {},
    stream_options: { include_usage: true },
  }),
  'any other field': { fields: { x_other: 1 } },
}
