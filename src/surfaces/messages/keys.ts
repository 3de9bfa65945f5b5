// The keys of a messages request.
import { keysOf, plain } from '../../http/body/exact-keys.ts'
import { callFields, message, part } from '../text/keys.ts'

export const messagesKeys = keysOf({
  ...callFields,
  ...plain('max_tokens', 'stop_sequences', 'context_management', 'output_config', 'inference_geo'),
  messages: message,
  system: part,
  metadata: plain('user_id'),
  container: plain('id', 'skills'),
  mcp_servers: plain('type', 'url', 'name', 'authorization_token', 'tool_configuration'),
})
