// The fields of a chat request: what the reader knows of it, and how a caller names what is lost.
import type { FieldNames, Json } from '../common/conversation.ts'
import type { Losses } from '../common/losses.ts'
import type { NeutralValues } from '../common/neutral.ts'

/** Settings that the style does not have. */
export const lackedSettings = ['topK'] as const

export const fieldNames: FieldNames = {
  system: 'messages',
  turns: 'messages',
  tools: 'tools',
  toolStrict: 'tools.function.strict',
  toolFreeForm: 'tools.custom',
  toolChoice: 'tool_choice',
  parallelCalls: 'parallel_tool_calls',
  maxOutputTokens: 'max_completion_tokens',
  stop: 'stop',
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  seed: 'seed',
  format: 'response_format',
  effort: 'reasoning_effort',
  choices: 'n',
  logprobs: 'logprobs',
  logitBias: 'logit_bias',
  cache: 'cache_control',
  reasoning: 'messages.reasoning_content',
  refusal: 'messages.refusal',
  image: 'messages.content.image_url',
  document: 'messages.content.file',
  audio: 'messages.content.input_audio',
  video: 'messages.content.video_url',
  result: 'messages.content',
  isError: 'messages.content',
}

/** The same with the names that this request uses where there are several. */
export function fieldNamesOf(fields: Json): FieldNames {
  const limit = fields['max_completion_tokens'] == null ? 'max_tokens' : 'max_completion_tokens'
  const effort = effortFields.find((name) => fields[name] != null) ?? fieldNames.effort
  return { ...fieldNames, maxOutputTokens: limit, effort }
}

const effortFields = [
  'reasoning_effort',
  'reasoning',
  'thinking',
  'thinking_budget',
  'enable_thinking',
] as const

const names = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** Fields that are read, and hints that mean nothing to another style. */
export const requestFields = names(`
  model messages stream stream_options tools tool_choice parallel_tool_calls functions function_call
  max_tokens max_completion_tokens stop temperature top_p top_k presence_penalty frequency_penalty
  seed response_format reasoning_effort reasoning thinking enable_thinking thinking_budget n logprobs
  top_logprobs logit_bias verbosity prompt_cache_key user safety_identifier store
  metadata prompt_cache_options prompt_cache_retention service_tier prediction modalities
  include_reasoning client_metadata web_search_options audio
`)

/** They ask for work of the upstream, or for output, that no other style gives. */
export const refusedFields = ['web_search_options', 'audio'] as const

/** Fields with values that mean nothing; some of them only upstreams of this style know. */
export const neutralFields: NeutralValues = {
  messages: 'never',
  web_search_options: 'never',
  audio: 'never',
  presence_penalty: [0],
  frequency_penalty: [0],
  repetition_penalty: [1],
  length_penalty: [1],
  top_k: [0, -1],
  min_p: [0],
  n: [1],
  best_of: [1],
  logprobs: [false],
  top_logprobs: [0],
  logit_bias: [0],
  stop: [''],
  store: [false],
  echo: [false],
  use_beam_search: [false],
  ignore_eos: [false],
}

export const messageFields = names(`
  role content tool_calls tool_call_id function_call refusal reasoning_content reasoning
  reasoning_details audio annotations prefix partial
`)

/** Fields of the objects inside, by their place. */
const innerFields = {
  'messages.content.': names(`
    type text image_url input_audio file video_url refusal cache_control prompt_cache_breakpoint
  `),
  'messages.content.image_url.': names('url detail'),
  'messages.content.video_url.': names('url detail'),
  'messages.content.input_audio.': names('data format'),
  'messages.content.file.': names('file_data filename file_id'),
  'cache_control.': names('type ttl'),
  'prompt_cache_breakpoint.': names('mode'),
  'messages.tool_calls.': names('id index type function custom extra_content'),
  'messages.tool_calls.function.': names('name arguments'),
  'messages.tool_calls.custom.': names('name input'),
  'tools.': names('type function custom cache_control'),
  'tools.function.': names('name description parameters strict'),
  'tools.custom.': names('name description format'),
  'tools.custom.format.': names('type grammar definition syntax'),
  'tool_choice.': names('type function custom allowed_tools mode tools name'),
  'response_format.': names('type json_schema'),
  'response_format.json_schema.': names('name description schema strict'),
  'reasoning.': names('effort max_tokens enabled exclude summary'),
  'thinking.': names('type budget_tokens'),
} as const

/** Names fields of an object inside of a request that are not read. */
export function loseUnknown(holder: Json, place: keyof typeof innerFields, losses: Losses): void {
  losses.addUnknown(holder, innerFields[place], place)
}
