// The fields of a responses request.
import { plain } from '../../http/body/exact-keys.ts'
import { anything, described, either, list, object, open, orNull, text } from '../../http/schema.ts'
import { modelField } from '../common/model-field.ts'
import { callFields, count, message, part, type RequestFields } from '../text/request-fields.ts'

const itemKeys = {
  ...message,
  ...plain('type', 'id', 'status', 'call_id', 'arguments', 'input', 'result', 'encrypted_content'),
  ...plain('queries', 'results', 'code', 'container_id', 'outputs', 'server_label', 'approve'),
  ...plain('approval_request_id', 'action', 'reason', 'phase'),
  output: part,
  summary: plain('type', 'text'),
}

const item = object(
  {
    'role?': anything('Who says it.'),
    'content?': anything('A text, or parts such as `{type: "input_text", text}`.'),
  },
  open,
)

export const responsesFields: RequestFields = {
  model: { schema: modelField, isRequired: true },
  input: {
    schema: described(
      orNull(either(text(), list(item))),
      'A text or a list of items; `prompt`, `previous_response_id` or `conversation` may stand in.',
    ),
    keys: itemKeys,
  },
  ...callFields,
  max_output_tokens: { schema: count('Most tokens of the answer.') },
  instructions: { schema: anything('What the model is told beforehand.') },
  background: {
    schema: described(
      orNull({ type: 'boolean' }),
      'Answer at once with `status: queued`; the response is fetched by its id. Not with `stream`.',
    ),
  },
  ...plain('max_tool_calls', 'previous_response_id', 'truncation', 'context_management'),
  conversation: { keys: plain('id') },
  prompt: { keys: plain('id', 'version', 'variables') },
  reasoning: { keys: plain('effort', 'summary', 'generate_summary') },
  text: {
    keys: {
      ...plain('verbosity'),
      format: plain('type', 'name', 'schema', 'strict', 'description'),
    },
  },
}
