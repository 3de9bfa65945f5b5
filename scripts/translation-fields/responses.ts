// One request for each field of the responses style.
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

const user = (...parts: object[]) => ({
  role: 'user',
  content: [{ type: 'input_text', text: 'Hm' }, ...parts],
})
const part = (...parts: object[]) => ({ input: [user(...parts)] })
const said = { role: 'assistant', content: 'A' }
const after = (...items: object[]) => ({ input: [user(), ...items, user()] })
const weather = { type: 'function', name: 'weather', parameters: schema, strict: false }
const tools = [weather]
const twoTools = [weather, { ...weather, name: 'clock' }]
const choose = (choice: unknown) => ({
  fields: { tools: twoTools, tool_choice: choice },
  beside: { tools: twoTools },
})
const call = { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"A"}' }
const output = (value: unknown) => ({ type: 'function_call_output', call_id: 'c1', output: value })
const format = (more: object) => ({ text: { format: { type: 'json_schema', name: 'n', ...more } } })

const besideEffort = (fields: object) => ({
  fields: { ...fields, reasoning: { effort: 'high' } },
  beside: { reasoning: { effort: 'high' } },
})
const marked = ['A', 'B', 'C', 'D', 'E'].map((text) => ({
  type: 'input_text',
  text,
  prompt_cache_breakpoint: { mode: 'explicit' },
}))

export const base = { model: 'm', input: [user()] }

export const probes: Probes = {
  instructions: { fields: { instructions: 'Obey' } },
  'input (instructions between turns)': {
    fields: after(said, { role: 'developer', content: 'Obey' }),
    beside: after(said),
  },
  'input (begun answer)': { fields: { input: [user(), said] } },
  'input.input_image': {
    fields: part({ type: 'input_image', image_url: imageUrl }),
    beside: part(),
  },
  'input.input_image (data)': {
    fields: part({ type: 'input_image', image_url: `data:image/png;base64,${pixel}` }),
    beside: part(),
  },
  'input.input_file': {
    fields: part({ type: 'input_file', file_data: `data:application/pdf;base64,${document}` }),
    beside: part(),
  },
  'input.input_file.filename': {
    fields: part({
      type: 'input_file',
      filename: 'a.pdf',
      file_data: `data:application/pdf;base64,${document}`,
    }),
    beside: part(),
  },
  'input.input_file (URL)': {
    fields: part({ type: 'input_file', file_url: 'https://files.example/one.pdf' }),
    beside: part(),
  },
  'input.input_file.file_id': {
    fields: part({ type: 'input_file', file_id: 'file-1' }),
    beside: part(),
  },
  'input.input_audio': {
    fields: part({ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }),
    beside: part(),
  },
  'input.prompt_cache_breakpoint': {
    fields: {
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Hm', prompt_cache_breakpoint: { mode: 'explicit' } },
          ],
        },
      ],
    },
  },
  'input.prompt_cache_breakpoint (more than four)': {
    fields: { input: [{ role: 'user', content: marked }] },
  },
  'input.refusal': {
    fields: after({ role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] }),
    beside: after(said),
  },
  'input.reasoning': {
    fields: after(
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Let me see' }] },
      said,
    ),
    beside: after(said),
  },
  'input.reasoning.encrypted_content': {
    fields: after({ type: 'reasoning', summary: [], encrypted_content: 'c2VhbA==' }, said),
    beside: after(said),
  },
  'input.function_call': { fields: after(call, output('Sun')), beside: after(said) },
  'input.function_call_output (image)': {
    fields: after(
      call,
      output([{ type: 'input_image', image_url: `data:image/png;base64,${pixel}` }]),
    ),
    beside: after(call, output('Sun')),
  },
  'input.item_reference': {
    fields: after({ type: 'item_reference', id: 'msg_1' }),
    beside: after(said),
  },
  'input.additional_tools': {
    fields: { input: [{ type: 'additional_tools', tools }, user()] },
    beside: part(),
  },
  tools: { fields: { tools } },
  'tools.strict': { fields: { tools: [{ ...weather, strict: true }] }, beside: { tools } },
  'tools.custom': {
    fields: {
      tools: [
        {
          type: 'custom',
          name: 'patch',
          format: { type: 'grammar', syntax: 'lark', definition: grammar },
        },
      ],
    },
  },
  'tools.namespace': {
    fields: { tools: [{ type: 'namespace', name: 'maps', tools }] },
  },
  'tools.web_search': { fields: { tools: [{ type: 'web_search' }] } },
  tool_choice: choose('required'),
  'tool_choice (one tool)': choose({ type: 'function', name: 'clock' }),
  'tool_choice (allowed_tools)': choose({
    type: 'allowed_tools',
    mode: 'auto',
    tools: [{ type: 'function', name: 'clock' }],
  }),
  parallel_tool_calls: { fields: { tools, parallel_tool_calls: false }, beside: { tools } },
  ...alone({ max_output_tokens: 100, temperature: 0.5 }),
  'temperature (above 1)': { fields: { temperature: 1.5 } },
  ...alone({ top_p: 0.9, presence_penalty: 0.5, frequency_penalty: 0.5, top_logprobs: 2 }),
  'temperature (beside effort)': besideEffort({ temperature: 0.5 }),
  'top_p (beside effort)': besideEffort({ top_p: 0.5 }),
  'text.format (json_object)': { fields: { text: { format: { type: 'json_object' } } } },
  'text.format': { fields: format({ schema, strict: true }) },
  'text.format (open schema)': { fields: format({ schema: openSchema, strict: true }) },
  'text.verbosity': { fields: { text: { verbosity: 'low' } } },
  'reasoning.effort': { fields: { reasoning: { effort: 'high' } } },
  'reasoning.effort (minimal)': { fields: { reasoning: { effort: 'minimal' } } },
  'reasoning.effort (none)': { fields: { reasoning: { effort: 'none' } } },
  'reasoning.effort (xhigh)': { fields: { reasoning: { effort: 'xhigh' } } },
  'reasoning.summary': { fields: { reasoning: { summary: 'auto' } } },
  ...alone({
    include: ['reasoning.encrypted_content'],
    previous_response_id: 'resp_1',
    conversation: 'conv_1',
    prompt: { id: 'pmpt_1' },
    background: true,
    store: true,
    truncation: 'auto',
    context_management: [{ type: 'compaction' }],
    service_tier: 'priority',
    prompt_cache_key: 'k',
    prompt_cache_options: {},
    prompt_cache_retention: '24h',
    user: 'u-1',
    safety_identifier: 'u-1',
    metadata: { a: 'b' },
    client_metadata: { a: 'b' },
    max_tool_calls: 3,
    stream_options: {},
    image: 'ignored',
  }),
  'any other field': { fields: { x_other: 1 } },
}
