// The fields of a chat-completions request.
import { plain } from '../../http/body/exact-keys.ts'
import {
  anything,
  described,
  either,
  list,
  object,
  open,
  orNull,
  text,
  word,
} from '../../http/schema.ts'
import { modelField } from '../common/model-field.ts'
import {
  callFields,
  count,
  message,
  messageWith,
  type RequestFields,
  streamOptions,
  toolChoice,
} from '../text/request-fields.ts'

/** Far more answers than a caller needs from one call. */
export const maxChoices = 128

const content = either(
  text(),
  list(
    either(
      object({ type: word(['text']), text: text() }, open),
      object({ type: word(['image_url']), image_url: object({ url: text() }, open) }, open),
      anything('Other parts go to the upstream as they are.'),
    ),
  ),
  anything('Anything else goes to the upstream as it is.'),
)

const usageOption = anything('`true`: the stream ends with an event with the usage.')

export const chatFields: RequestFields = {
  model: { schema: modelField, isRequired: true },
  messages: {
    schema: list(messageWith(described(content, 'What it says.')), { minItems: 1 }),
    keys: message,
    isRequired: true,
  },
  ...callFields,
  stream_options: {
    schema: orNull(object({ 'include_usage?': usageOption }, open)),
    keys: streamOptions,
  },
  n: { schema: count('How many answers to give.', maxChoices) },
  max_tokens: { schema: count('Most tokens of one answer.') },
  max_completion_tokens: { schema: count('The same under its newer name, which wins.') },
  temperature: { schema: anything('Passed on, as is every field that is not named here.') },
  tool_choice: { schema: anything('Passed on.'), keys: toolChoice },
  response_format: {
    schema: anything('Passed on.'),
    keys: {
      ...plain('type'),
      json_schema: plain('name', 'description', 'schema', 'strict'),
    },
  },
  ...plain('frequency_penalty', 'presence_penalty', 'logit_bias', 'logprobs', 'stop'),
  ...plain('modalities', 'reasoning_effort', 'verbosity', 'function_call', 'web_search_options'),
  ...plain('extra_body', 'repetition_penalty', 'best_of', 'echo', 'suffix', 'min_tokens'),
  // Of the responses style, in place of messages.
  ...plain('max_input_tokens', 'input'),
  functions: { keys: plain('name', 'description', 'parameters') },
  audio: { keys: plain('voice', 'format') },
  prediction: { keys: plain('type', 'content') },
}
