// The wire shapes of a responses answer: the response object, its output items, its usage.

import { asList, asObject } from '../http/fields.ts'
import type { Counted, Draft } from '../text/answer-text.ts'
import type { Choice } from '../text/plan-reply.ts'

/** Where an item stands; a cut answer leaves its last item incomplete. */
type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** Cached and written tokens are inside input_tokens, reasoning inside output_tokens. */
const usageOf = ({ inputTokens, outputTokens, reasoningTokens, cache }: Counted) => ({
  input_tokens: inputTokens,
  input_tokens_details: {
    cached_tokens: cache.cachedTokens,
    cache_write_tokens: cache.createdTokens,
  },
  output_tokens: outputTokens,
  output_tokens_details: { reasoning_tokens: reasoningTokens },
  total_tokens: inputTokens + outputTokens,
})

/** An answer has exactly one choice in this protocol. */
export const choiceOf = ({ reply }: Draft): Choice => reply.choices[0]!

export const wasCut = (draft: Draft): boolean => choiceOf(draft).finish === 'length'

export function finalResponse(draft: Draft): Record<string, unknown> {
  const cut = wasCut(draft)
  return {
    ...responseOf(draft, cut ? 'incomplete' : 'completed', outputOf(draft)),
    completed_at: cut ? null : draft.reply.created,
    incomplete_details: cut ? { reason: 'max_output_tokens' } : null,
    usage: draft.counted && usageOf(draft.counted),
  }
}

export const openResponse = (draft: Draft): Record<string, unknown> =>
  responseOf(draft, 'in_progress', [])

/** What the caller set comes back; what it left out comes back as its default. */
function responseOf({ model, reply, fields }: Draft, status: ItemStatus, output: unknown[]) {
  const { reasoning, text } = fields
  return {
    id: `resp_${reply.hash.slice(0, 32)}`,
    object: 'response',
    created_at: reply.created,
    status,
    completed_at: null,
    background: false,
    access_programs: null,
    error: null,
    incomplete_details: null,
    instructions: fields['instructions'] ?? null,
    max_output_tokens: fields['max_output_tokens'] ?? null,
    max_tool_calls: fields['max_tool_calls'] ?? null,
    model,
    output,
    parallel_tool_calls: fields['parallel_tool_calls'] ?? true,
    previous_response_id: fields['previous_response_id'] ?? null,
    prompt_cache_key: fields['prompt_cache_key'] ?? null,
    reasoning: { effort: null, summary: null, ...asObject(reasoning) },
    safety_identifier: fields['safety_identifier'] ?? null,
    service_tier: 'default',
    store: fields['store'] ?? true,
    temperature: fields['temperature'] ?? 1,
    text: { format: { type: 'text' }, ...asObject(text) },
    tool_choice: fields['tool_choice'] ?? 'auto',
    tools: asList(fields['tools']),
    top_logprobs: fields['top_logprobs'] ?? 0,
    top_p: fields['top_p'] ?? 1,
    truncation: fields['truncation'] ?? 'disabled',
    usage: null,
    user: fields['user'] ?? null,
    metadata: fields['metadata'] ?? {},
  }
}

export interface Item {
  id: string
  type: string
}

/** Reasoning, then a function call or a message; none of the latter when the limit left no room. */
function outputOf(draft: Draft): unknown[] {
  const { reasoning, tokens, call } = choiceOf(draft)
  const end = wasCut(draft) ? 'incomplete' : 'completed'
  const items: Item[] = []
  if (reasoning.length > 0) items.push(reasoningItem(draft, thoughtStatus(draft), reasoning))
  if (call !== undefined) items.push(callItem(draft, 'completed', call.tokens))
  else if (hasMessage(draft)) items.push(messageItem(draft, end, tokens))
  return items
}

export const hasMessage = (draft: Draft): boolean => {
  const { tokens, finish } = choiceOf(draft)
  return finish === 'stop' || (finish === 'length' && tokens.length > 0)
}

export const thoughtStatus = (draft: Draft): ItemStatus =>
  wasCut(draft) && !hasMessage(draft) ? 'incomplete' : 'completed'

export const outputText = (tokens: readonly string[]) => ({
  type: 'output_text',
  annotations: [],
  logprobs: [],
  text: tokens.join(''),
})

export const summaryText = (tokens: readonly string[]) => ({
  type: 'summary_text',
  text: tokens.join(''),
})

/** `tokens` is undefined for an item that has just been opened; so it is below. */
export const messageItem = (draft: Draft, status: ItemStatus, tokens?: readonly string[]) => ({
  id: `msg_${draft.reply.hash.slice(0, 32)}`,
  type: 'message',
  status,
  role: 'assistant',
  content: tokens === undefined ? [] : [outputText(tokens)],
})

export function reasoningItem(draft: Draft, status: ItemStatus, tokens?: readonly string[]) {
  const { reply, fields } = draft
  const sealed = asList(fields['include']).includes('reasoning.encrypted_content')
  return {
    id: `rs_${reply.hash.slice(0, 32)}`,
    type: 'reasoning',
    status,
    summary: tokens === undefined ? [] : [summaryText(tokens)],
    ...(sealed && { encrypted_content: Buffer.from(reply.hash, 'hex').toString('base64') }),
  }
}

export function callItem(draft: Draft, status: ItemStatus, tokens?: readonly string[]) {
  const { id, name } = choiceOf(draft).call!
  return {
    id: `fc_${draft.reply.hash.slice(0, 32)}`,
    type: 'function_call',
    status,
    call_id: `call_${id}`,
    name,
    arguments: tokens?.join('') ?? '',
  }
}
