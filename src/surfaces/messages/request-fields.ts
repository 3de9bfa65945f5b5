// The fields of a messages request, and of a count of its tokens.
import { plain } from '../../http/body/exact-keys.ts'
import { anything, list, whole } from '../../http/schema.ts'
import { modelField } from '../common/model-field.ts'
import {
  callFields,
  message,
  messageWith,
  part,
  type RequestFields,
  thinking,
  tools,
} from '../text/request-fields.ts'

/** What a count takes; the fields of an answer are not read. */
export const countFields: RequestFields = {
  model: { schema: modelField, isRequired: true },
  messages: {
    schema: list(messageWith(anything('A text, or a list of blocks.')), { minItems: 1 }),
    keys: message,
    isRequired: true,
  },
  system: { schema: anything('What the model is told beforehand.'), keys: part },
  tools,
}

export const messagesFields: RequestFields = {
  ...callFields,
  ...countFields,
  max_tokens: {
    schema: whole(1, Number.MAX_SAFE_INTEGER, 'Most tokens of the answer.'),
    isRequired: true,
  },
  thinking: {
    schema: anything('Passed on, as is every field that is not named here.'),
    keys: thinking,
  },
  ...plain('stop_sequences', 'context_management', 'output_config', 'inference_geo'),
  metadata: { keys: plain('user_id') },
  container: { keys: plain('id', 'skills') },
  mcp_servers: { keys: plain('type', 'url', 'name', 'authorization_token', 'tool_configuration') },
}
