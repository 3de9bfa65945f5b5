// One request for each field of the messages style.
import { alone, document, imageUrl, openSchema, type Probes, pixel, schema } from './samples.ts'

const user = (...blocks: object[]) => ({
  role: 'user',
  content: [{ type: 'text', text: 'Hm' }, ...blocks],
})
const part = (...blocks: object[]) => ({ messages: [user(...blocks)] })
const said = { type: 'text', text: 'A' }
const after = (answer: object[], ...blocks: object[]) => ({
  messages: [
    user(),
    { role: 'assistant', content: answer },
    { role: 'user', content: [...blocks, said] },
  ],
})
const mark = { cache_control: { type: 'ephemeral' } }
const weather = { name: 'weather', description: 'The weather.', input_schema: schema }
const tools = [weather]
const use = { type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'A' } }
const result = (more: object) => ({
  type: 'tool_result',
  tool_use_id: 'c1',
  content: 'Sun',
  ...more,
})
const png = { type: 'base64', media_type: 'image/png', data: pixel }
const choose = (choice: unknown) => ({ fields: { tools, tool_choice: choice }, beside: { tools } })

export const base = { model: 'm', max_tokens: 100, messages: [user()] }

export const probes: Probes = {
  system: { fields: { system: 'Obey' } },
  'messages (instructions between turns)': {
    fields: {
      messages: [
        user(),
        { role: 'assistant', content: 'A' },
        { role: 'system', content: 'Obey' },
        user(),
      ],
    },
    beside: after([said]),
  },
  'messages (begun answer)': {
    fields: { messages: [user(), { role: 'assistant', content: 'It is' }] },
  },
  'messages.content.image': { fields: part({ type: 'image', source: png }), beside: part() },
  'messages.content.image (URL)': {
    fields: part({ type: 'image', source: { type: 'url', url: imageUrl } }),
    beside: part(),
  },
  'messages.content.document (PDF)': {
    fields: part({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: document },
    }),
    beside: part(),
  },
  'messages.content.document (text)': {
    fields: part({
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'Text' },
    }),
    beside: part(),
  },
  'messages.content.document.title': {
    fields: part({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: document },
      title: 'A',
    }),
    beside: part(),
  },
  'messages.content.document (file)': {
    fields: part({ type: 'document', source: { type: 'file', file_id: 'file_1' } }),
    beside: part(),
  },
  'messages.content.document.citations': {
    fields: part({
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'Text' },
      citations: { enabled: true },
    }),
    beside: part({
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'Text' },
    }),
  },
  'messages.content.thinking': {
    fields: after([{ type: 'thinking', thinking: 'Let me see', signature: 'c2VhbA==' }, said]),
    beside: after([said]),
  },
  'messages.content.redacted_thinking': {
    fields: after([{ type: 'redacted_thinking', data: 'c2VhbA==' }, said]),
    beside: after([said]),
  },
  'messages.content.tool_use': { fields: after([use], result({})), beside: after([said]) },
  'messages.content.tool_result.is_error': {
    fields: after([use], result({ is_error: true })),
    beside: after([use], result({})),
  },
  'messages.content.tool_result (image)': {
    fields: after([use], result({ content: [{ type: 'image', source: png }] })),
    beside: after([use], result({})),
  },
  'messages.content.server_tool_use': {
    fields: after([{ type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }, said]),
    beside: after([said]),
  },
  cache_control: { fields: mark },
  'messages.content.cache_control': {
    fields: { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hm', ...mark }] }] },
  },
  tools: { fields: { tools } },
  'tools.strict': { fields: { tools: [{ ...weather, strict: true }] }, beside: { tools } },
  'tools.cache_control': { fields: { tools: [{ ...weather, ...mark }] }, beside: { tools } },
  'tools.defer_loading': {
    fields: { tools: [{ ...weather, defer_loading: true }] },
    beside: { tools },
  },
  'tools.input_examples': {
    fields: { tools: [{ ...weather, input_examples: [{ city: 'A' }] }] },
    beside: { tools },
  },
  'tools (run by the upstream)': {
    fields: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
  },
  tool_choice: choose({ type: 'any' }),
  'tool_choice (one tool)': choose({ type: 'tool', name: 'weather' }),
  'tool_choice.disable_parallel_tool_use': choose({
    type: 'auto',
    disable_parallel_tool_use: true,
  }),
  'max_tokens (below 16)': { fields: { max_tokens: 5 } },
  ...alone({ max_tokens: 200, stop_sequences: ['END'], temperature: 0.5, top_p: 0.9, top_k: 40 }),
  'thinking (adaptive)': {
    fields: { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
  },
  thinking: {
    fields: { max_tokens: 4_000, thinking: { type: 'enabled', budget_tokens: 2_000 } },
    beside: { max_tokens: 4_000 },
  },
  'thinking (disabled)': { fields: { thinking: { type: 'disabled' } } },
  'output_config.effort': { fields: { output_config: { effort: 'high' } } },
  'output_config.effort (max)': { fields: { output_config: { effort: 'max' } } },
  'output_config.format': {
    fields: { output_config: { format: { type: 'json_schema', schema } } },
  },
  'output_config.format (open schema)': {
    fields: { output_config: { format: { type: 'json_schema', schema: openSchema } } },
  },
  output_format: { fields: { output_format: { type: 'json_schema', schema } } },
  ...alone({
    metadata: { user_id: 'u-1' },
    service_tier: 'auto',
    speed: 'fast',
    betas: ['a'],
    inference_geo: 'eu',
    anthropic_version: '2023-06-01',
    mcp_servers: [{ type: 'url', url: 'https://mcp.example', name: 'a' }],
    container: 'c1',
    context_management: { edits: [] },
  }),
  'any other field': { fields: { x_other: 1 } },
}
