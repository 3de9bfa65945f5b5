// The fields of a text request as one table for each style: the check of exact keys and the document
// both come from it. Whether the gateway reads a field today or an upstream bills by it, no variant of
// its name is let through. Here is how a table is made, and what the styles share.
import { type Keys, type KeyTable, keysOf, plain } from '../../http/body/exact-keys.ts'
import {
  anything,
  flag,
  object,
  open,
  orNull,
  type Schema,
  text,
  whole,
} from '../../http/schema.ts'
import { checkedFields } from './extra-fields.ts'

interface RequestField {
  /** The fields inside it; absent: nothing inside is read. */
  readonly keys?: KeyTable
  /** For documents; absent: they do not name it. */
  readonly schema?: Schema
  readonly isRequired?: true
}

/** True: not described, and not read inside. */
export type RequestFields = Readonly<Record<string, RequestField | true>>

const rowsOf = (fields: RequestFields): [string, RequestField][] =>
  Object.entries(fields).map(([name, row]) => [name, row === true ? {} : row])

export const keysIn = (fields: RequestFields): Keys =>
  keysOf(
    Object.fromEntries(rowsOf(fields).map(([name, { keys }]) => [name, keys ?? (true as const)])),
  )

/** Every other field is passed on. */
export function schemaOf(fields: RequestFields, more: Schema = {}): Schema {
  const described = rowsOf(fields).flatMap(([name, { schema, isRequired }]) =>
    schema === undefined ? [] : [[isRequired ? name : `${name}?`, schema] as const],
  )
  return object(Object.fromEntries(described), { ...open, ...more })
}

export const count = (description: string, max = Number.MAX_SAFE_INTEGER): Schema =>
  orNull(whole(1, max, description))

/** An object with at least a role; the rest is between the caller and the upstream. */
export const messageWith = (content: Schema): Schema =>
  object({ role: text('Who says it.'), 'content?': content }, open)

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

export const toolChoice: KeyTable = {
  ...plain('type', 'name', 'mode', 'tools', 'disable_parallel_tool_use', 'server_label'),
  function: plain('name'),
  custom: plain('name'),
  allowed_tools: plain('mode', 'tools'),
}

export const streamOptions: KeyTable = plain('include_usage', 'include_obfuscation')

export const thinking: KeyTable = plain('type', 'budget_tokens', 'display')

/** Fields of a call that every style checks. */
export const checked: RequestFields = plain(...checkedFields)

export const tools = {
  schema: anything('Functions the model may call; passed on.'),
  keys: tool,
}

/** What a call of any style may say besides what is its own. */
export const callFields: RequestFields = {
  stream: { schema: orNull(flag('Whether the answer comes as server-sent events.')) },
  ...checked,
  ...plain('temperature', 'top_p', 'top_k', 'seed', 'user', 'store', 'metadata', 'n'),
  ...plain('parallel_tool_calls', 'safety_identifier', 'prompt_cache_key', 'enable_thinking'),
  ...plain('prompt_cache_retention', 'thinking_budget', 'search_options', 'top_logprobs'),
  ...plain('include'),
  tools,
  tool_choice: { keys: toolChoice },
  stream_options: { keys: streamOptions },
  thinking: { keys: thinking },
}
