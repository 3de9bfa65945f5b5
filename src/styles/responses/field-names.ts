// What this style calls its fields, and which of them say nothing about the answer.
import type { FieldNames, Json } from '../common/conversation.ts'
import type { Losses } from '../common/losses.ts'
import type { NeutralValues } from '../common/neutral.ts'

/** Upstreams refuse a lower limit of the output. */
export const minOutputTokens = 16
/** Settings that the style does not have. */
export const lackedSettings = ['topK', 'presencePenalty', 'frequencyPenalty', 'seed'] as const

export const fieldNames: FieldNames = {
  system: 'instructions',
  turns: 'input',
  tools: 'tools',
  toolStrict: 'tools.strict',
  toolFreeForm: 'tools.custom',
  toolChoice: 'tool_choice',
  parallelCalls: 'parallel_tool_calls',
  maxOutputTokens: 'max_output_tokens',
  stop: 'stop',
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  seed: 'seed',
  format: 'text.format',
  effort: 'reasoning.effort',
  choices: 'n',
  logprobs: 'top_logprobs',
  logitBias: 'logit_bias',
  cache: 'prompt_cache_breakpoint',
  reasoning: 'reasoning.encrypted_content',
  refusal: 'refusal',
  image: 'input_image',
  document: 'input_file',
  audio: 'input_audio',
  video: 'input_video',
  result: 'function_call_output',
  isError: 'is_error',
}

/** Fields with values that mean nothing. */
export const neutralFields: NeutralValues = {
  input: 'never',
  presence_penalty: [0],
  frequency_penalty: [0],
  top_logprobs: [0],
  store: [false],
  n: [1],
}

/** Fields that are read into the conversation. */
export const readFields = [
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'top_logprobs',
  'presence_penalty',
  'frequency_penalty',
  'text',
  'reasoning',
  'include',
  'prompt_cache_key',
  'user',
  'safety_identifier',
] as const

/** Fields that the gateway itself uses, and hints that change nothing elsewhere. */
export const ignoredFields = [
  'model',
  'stream',
  'stream_options',
  'metadata',
  'client_metadata',
  'prompt_cache_options',
  'prompt_cache_retention',
  'max_tool_calls',
  'image',
] as const

const names = (text: string): ReadonlySet<string> => new Set(text.split(' '))
const message = names('type role content id status phase')
const output = names('type id call_id output status name')

/** Fields of objects inside, by what they are. Ids and states are of the upstream that made them. */
const innerFields = {
  message,
  reasoning: names('type id summary content encrypted_content status'),
  function_call: names('type id call_id name arguments namespace status'),
  custom_tool_call: names('type id call_id name input namespace status'),
  tool_search_call: names('type id call_id arguments execution status'),
  tool_search_output: names('type id call_id tools execution status'),
  function_call_output: output,
  custom_tool_call_output: output,
  additional_tools: names('type id role tools'),
  text: names('type text annotations logprobs prompt_cache_breakpoint'),
  refusal: names('type refusal'),
  input_image: names('type image_url detail file_id prompt_cache_breakpoint'),
  input_file: names('type file_data file_url file_id filename detail prompt_cache_breakpoint'),
  input_audio: names('type input_audio data format prompt_cache_breakpoint'),
  prompt_cache_breakpoint: names('mode'),
  'tools.namespace': names('type name description tools'),
  'tools.format': names('type grammar syntax definition'),
  tool_choice: names('type name namespace mode tools'),
  'text.format': names('type name description schema strict'),
  'text.settings': names('format verbosity'),
  'reasoning.settings': names('effort summary generate_summary context'),
} as const

type InnerKind = keyof typeof innerFields

export const isInnerKind = (kind: string): kind is InnerKind => Object.hasOwn(innerFields, kind)

/** Names fields of an object inside of a request that are not read. */
export function loseUnknown(holder: Json, kind: InnerKind, losses: Losses): void {
  losses.addUnknown(holder, innerFields[kind], `${kind.replace('.settings', '')}.`)
}

/** Fields that say where the rest of the conversation is kept. */
export const stateFields = ['previous_response_id', 'conversation', 'prompt'] as const
