// The wire shapes of a responses answer: the response object, its output items, its usage.

import { asList, asObject } from '../http/fields.ts'
import { type Counted, type Draft, finishWord } from '../text/answer-text.ts'
import type { Choice, FunctionCall } from '../text/plan-reply.ts'
import type { Seals } from '../text/seals.ts'
import { mediaDetails, servedTier } from '../text/served.ts'

/** Where an item stands; a cut answer leaves its last item incomplete. */
type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

/** Cached and written tokens are inside input_tokens, reasoning inside output_tokens. */
const usageOf = ({ inputTokens, outputTokens, reasoningTokens, cache, ...counted }: Counted) => ({
  input_tokens: inputTokens,
  input_tokens_details: {
    cached_tokens: cache.cachedTokens,
    cache_write_tokens: cache.createdTokens,
    ...mediaDetails(counted.inputMedia),
  },
  output_tokens: outputTokens,
  output_tokens_details: {
    reasoning_tokens: reasoningTokens,
    ...mediaDetails(counted.outputMedia),
  },
  total_tokens: inputTokens + outputTokens,
})

/** An answer has exactly one choice in this protocol. */
export const choiceOf = ({ reply }: Draft): Choice => reply.choices[0]!

const reasons = {
  stop: '',
  stop_sequence: '',
  length: 'max_output_tokens',
  call: '',
  refusal: '',
  filtered: 'content_filter',
} as const

/** Why an answer is incomplete, empty for one that is complete; undefined: it never says. */
export const cutReason = (draft: Draft): string | undefined =>
  finishWord(draft.directives, reasons, choiceOf(draft).finish)

export const wasCut = (draft: Draft): boolean => cutReason(draft) !== ''

export function finalResponse(draft: Draft, seals: Seals): Record<string, unknown> {
  const reason = cutReason(draft)
  const status = reason === '' ? 'completed' : reason === undefined ? 'in_progress' : 'incomplete'
  const isToldFirst = draft.directives.usage === 'first' && draft.fields['stream'] === true
  return {
    ...responseOf(draft, status, outputOf(draft, seals)),
    completed_at: status === 'completed' ? draft.reply.created : null,
    incomplete_details: status === 'incomplete' ? { reason } : null,
    usage: isToldFirst ? null : draft.counted && usageOf(draft.counted),
  }
}

export const openResponse = (draft: Draft): Record<string, unknown> => ({
  ...responseOf(draft, 'in_progress', []),
  ...(draft.directives.usage === 'first' &&
    draft.counted !== undefined && { usage: usageOf(draft.counted) }),
})

/** What the caller set comes back; what it left out comes back as its default. */
function responseOf(
  { model, reply, fields, directives }: Draft,
  status: ItemStatus,
  output: unknown[],
) {
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
    service_tier: servedTier(fields, directives) ?? 'default',
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

/** Reasoning, then function calls or a message; none of the latter when the limit left no room. */
function outputOf(draft: Draft, seals: Seals): Item[] {
  const { reasoning, calls, tokens } = choiceOf(draft)
  const end = wasCut(draft) ? 'incomplete' : 'completed'
  const items: Item[] = []
  if (reasoning.length > 0) items.push(reasoningItem(draft, seals, thoughtStatus(draft), reasoning))
  if (hasMessage(draft)) items.push(messageItem(draft, end, tokens))
  return [...items, ...calls.map((call) => callItem(call, 'completed', call.tokens))]
}

export const hasMessage = (draft: Draft): boolean => {
  const { tokens, finish, calls } = choiceOf(draft)
  return tokens.length > 0 || (calls.length === 0 && finish !== 'length')
}

export const thoughtStatus = (draft: Draft): ItemStatus =>
  wasCut(draft) && !hasMessage(draft) ? 'incomplete' : 'completed'

/** The only part of a message: what the model says, or that it refuses to. */
export function contentPart(draft: Draft, tokens: readonly string[]) {
  const text = tokens.join('')
  const annotations = tokens.length === 0 ? [] : annotationsOf(draft)
  return choiceOf(draft).finish === 'refusal'
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', annotations, logprobs: [], text }
}

export function annotationsOf(draft: Draft): object[] {
  const { citation } = choiceOf(draft)
  if (citation === undefined) return []
  const { quote, ...source } = citation
  return [{ type: 'url_citation', start_index: 0, end_index: quote.length, ...source }]
}

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
  content: tokens === undefined ? [] : [contentPart(draft, tokens)],
})

/** A seal says of which item it is, and which call came after it. */
export function reasoningItem(
  draft: Draft,
  seals: Seals,
  status: ItemStatus,
  tokens?: readonly string[],
) {
  const { reply, fields, directives } = draft
  const isSealed = asList(fields['include']).includes('reasoning.encrypted_content')
  const id = `rs_${reply.hash.slice(0, 32)}`
  const [call] = choiceOf(draft).calls
  const claims = { item: id, call: call === undefined ? '' : callId(call) }
  return {
    id,
    type: 'reasoning',
    status,
    summary: tokens === undefined || directives.redacted ? [] : [summaryText(tokens)],
    ...(isSealed && { encrypted_content: seals.make(claims) }),
  }
}

const callId = ({ id }: FunctionCall): string => `call_${id}`

export function callItem(call: FunctionCall, status: ItemStatus, tokens?: readonly string[]) {
  const { id, name, namespace, freeForm } = call
  const text = tokens?.join('') ?? ''
  return {
    id: `${freeForm ? 'ctc' : 'fc'}_${id}`,
    type: freeForm ? 'custom_tool_call' : 'function_call',
    status,
    call_id: callId(call),
    name,
    ...(namespace !== undefined && { namespace }),
    ...(freeForm ? { input: text } : { arguments: text }),
  }
}
