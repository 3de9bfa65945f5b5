// The keys of a chat-completions request.
import { keysOf, plain } from '../../http/body/exact-keys.ts'
import { callFields, message } from '../text/keys.ts'

export const chatKeys = keysOf({
  ...callFields,
  ...plain('max_tokens', 'max_completion_tokens', 'frequency_penalty', 'presence_penalty'),
  ...plain('logit_bias', 'logprobs', 'stop', 'modalities', 'reasoning_effort', 'verbosity'),
  ...plain('function_call', 'web_search_options', 'extra_body', 'repetition_penalty', 'best_of'),
  ...plain('echo', 'suffix', 'min_tokens', 'max_input_tokens'),
  messages: message,
  functions: plain('name', 'description', 'parameters'),
  response_format: {
    ...plain('type'),
    json_schema: plain('name', 'description', 'schema', 'strict'),
  },
  audio: plain('voice', 'format'),
  prediction: plain('type', 'content'),
})
