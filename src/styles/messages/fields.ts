// The fields of a messages request: what the reader knows of it, and how a caller names what is lost.
import type { FieldNames, Json } from '../common/conversation.ts'
import type { Losses } from '../common/losses.ts'
import type { NeutralValues } from '../common/neutral.ts'

/** Settings that the style does not have. */
export const lackedSettings = ['presencePenalty', 'frequencyPenalty', 'seed'] as const
export const maxTemperature = 1

export const fieldNames: FieldNames = {
  system: 'system',
  turns: 'messages',
  tools: 'tools',
  toolStrict: 'tools.strict',
  toolFreeForm: 'tools',
  toolChoice: 'tool_choice',
  parallelCalls: 'tool_choice.disable_parallel_tool_use',
  maxOutputTokens: 'max_tokens',
  stop: 'stop_sequences',
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  seed: 'seed',
  format: 'output_config.format',
  effort: 'thinking',
  choices: 'n',
  logprobs: 'logprobs',
  logitBias: 'logit_bias',
  cache: 'cache_control',
  reasoning: 'thinking.signature',
  refusal: 'messages',
  image: 'messages.content.image',
  document: 'messages.content.document',
  audio: 'messages.content',
  video: 'messages.content',
  result: 'tool_result.content',
  isError: 'is_error',
}

/** Effort without a word about thinking is a field of its own. */
export const fieldNamesOf = ({ thinking }: Json): FieldNames =>
  thinking == null ? { ...fieldNames, effort: 'output_config.effort' } : fieldNames

/** They ask for work of the upstream that no other style gives. */
export const refusedFields = ['mcp_servers', 'container'] as const

const names = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** Fields that are read, and hints that mean nothing to another style. */
export const requestFields = names(`
  model messages system tools tool_choice max_tokens stop_sequences temperature top_p top_k thinking
  output_config output_format metadata stream service_tier cache_control betas speed inference_geo
  anthropic_version mcp_servers container
`)

/** Fields with values that mean nothing. */
export const neutralFields: NeutralValues = {
  messages: 'never',
  container: 'never',
  top_k: [0],
  stop_sequences: [''],
}

/** Fields of other objects inside, by their place. */
const innerFields = {
  'source.': names('type media_type data url content file_id'),
  'tool_choice.': names('type name disable_parallel_tool_use'),
  'thinking.': names('type budget_tokens display'),
  'output_config.': names('effort format'),
  'output_config.format.': names('type schema'),
} as const

/** Names fields of an object inside of a request that are not read. */
export function loseUnknown(holder: Json, place: keyof typeof innerFields, losses: Losses): void {
  losses.addUnknown(holder, innerFields[place], place)
}

export const blockFields: Readonly<Record<string, ReadonlySet<string>>> = {
  text: names('type text cache_control'),
  image: names('type source cache_control'),
  document: names('type source title cache_control'),
  tool_use: names('type id name input cache_control caller'),
  tool_result: names('type tool_use_id content is_error cache_control'),
  thinking: names('type thinking signature cache_control'),
  redacted_thinking: names('type data cache_control'),
  tool_reference: names('type tool_name cache_control'),
}

/** `eager_input_streaming` and `defer_loading: false` change nothing for the caller. */
export const toolFields = names(`
  type name description input_schema strict cache_control eager_input_streaming
`)
