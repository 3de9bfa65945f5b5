// Keys that the text styles share: what stands in the content of a message. Whether the gateway reads
// a field today or an upstream bills by it, no variant of its name is let through.
import { type KeyTable, plain } from '../../http/body/exact-keys.ts'
import { checkedFields } from './refuse-extras.ts'

const source: KeyTable = plain('type', 'media_type', 'data', 'url', 'file_id', 'content')
const address: KeyTable = plain('url', 'detail', 'fps', 'max_frames')
const cacheControl: KeyTable = plain('type', 'ttl')

const partFields: Record<string, KeyTable | true> = {
  ...plain('type', 'text', 'thinking', 'signature', 'data', 'refusal', 'detail', 'id', 'name'),
  ...plain('tool_use_id', 'is_error', 'input', 'file_id', 'file_data', 'file_url', 'filename'),
  ...plain('title', 'context', 'citations', 'annotations', 'logprobs', 'image', 'video', 'audio'),
  image_url: address,
  video_url: address,
  audio_url: address,
  input_audio: plain('data', 'format', 'url'),
  file: plain('file_id', 'file_data', 'filename', 'url'),
  source,
  cache_control: cacheControl,
}
// The result of a tool holds parts again.
partFields['content'] = partFields

/** One part of a list, or all of them. */
export const part: KeyTable = partFields

const named: KeyTable = plain('name', 'arguments', 'description', 'parameters', 'strict')

const toolCall: KeyTable = {
  ...plain('id', 'type', 'index'),
  function: named,
  custom: plain('name', 'input'),
}

/** A message of a conversation. */
export const message: KeyTable = {
  ...plain('role', 'name', 'tool_call_id', 'refusal', 'reasoning_content', 'prefix', 'partial'),
  content: part,
  tool_calls: toolCall,
  function_call: named,
  audio: plain('id'),
}

/** A tool as any of the styles declares it; what its schema says is the caller's own. */
const tool: KeyTable = {
  ...plain('type', 'name', 'description', 'parameters', 'input_schema', 'strict', 'format'),
  ...plain('max_uses', 'allowed_domains', 'blocked_domains', 'search_context_size', 'filters'),
  ...plain('vector_store_ids', 'max_num_results', 'ranking_options', 'user_location'),
  ...plain('server_label', 'server_url', 'connector_id', 'authorization', 'require_approval'),
  ...plain('server_description', 'headers', 'allowed_tools', 'display_width', 'display_height'),
  ...plain('environment', 'background', 'model', 'quality', 'size', 'input_fidelity', 'n'),
  ...plain('output_format', 'partial_images', 'input_image_mask', 'moderation', 'web_search'),
  function: named,
  custom: plain('name', 'description', 'format'),
  container: plain('type', 'file_ids', 'id', 'memory_limit'),
  cache_control: cacheControl,
}

const toolChoice: KeyTable = {
  ...plain('type', 'name', 'mode', 'tools', 'disable_parallel_tool_use', 'server_label'),
  function: plain('name'),
  custom: plain('name'),
  allowed_tools: plain('mode', 'tools'),
}

const streamOptions: KeyTable = plain('include_usage', 'include_obfuscation')

/** What a call of any style may say besides what is its own. */
export const callFields = {
  ...plain(...checkedFields),
  ...plain('model', 'stream', 'temperature', 'top_p', 'top_k', 'seed', 'user', 'store', 'metadata'),
  ...plain('service_tier', 'parallel_tool_calls', 'safety_identifier', 'prompt_cache_key'),
  ...plain('prompt_cache_retention', 'enable_thinking', 'thinking_budget', 'enable_search'),
  ...plain('search_options', 'top_logprobs', 'n', 'background', 'include'),
  tools: tool,
  tool_choice: toolChoice,
  stream_options: streamOptions,
  thinking: plain('type', 'budget_tokens', 'display'),
} as const satisfies KeyTable
