// The keys of a responses request.
import { keysOf, plain } from '../../http/body/exact-keys.ts'
import { callFields, message, part } from '../text/keys.ts'

const item = {
  ...message,
  ...plain('type', 'id', 'status', 'call_id', 'arguments', 'input', 'result', 'encrypted_content'),
  ...plain('queries', 'results', 'code', 'container_id', 'outputs', 'server_label', 'approve'),
  ...plain('approval_request_id', 'action', 'reason', 'phase'),
  output: part,
  summary: plain('type', 'text'),
}

export const responsesKeys = keysOf({
  ...callFields,
  ...plain('instructions', 'max_output_tokens', 'max_tool_calls', 'previous_response_id'),
  ...plain('truncation', 'context_management'),
  input: item,
  conversation: plain('id'),
  prompt: plain('id', 'version', 'variables'),
  reasoning: plain('effort', 'summary', 'generate_summary'),
  text: {
    ...plain('verbosity'),
    format: plain('type', 'name', 'schema', 'strict', 'description'),
  },
})
