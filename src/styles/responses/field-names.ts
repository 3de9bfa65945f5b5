// What this style calls its fields, and which of them say nothing about the answer.
import type { FieldNames } from '../common/conversation.ts'

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

/** Fields that say where the rest of the conversation is kept. */
export const stateFields = ['previous_response_id', 'conversation', 'prompt'] as const
