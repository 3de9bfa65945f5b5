// The wire shapes of a chat answer: the completion object, the stream's events, the usage object.

import { asObject } from '../http/fields.ts'
import type { StreamEvent } from '../protocol.ts'
import type { Counted, Draft } from '../text/answer-text.ts'
import { type Choice, type FunctionCall, openingTokens } from '../text/plan-reply.ts'

/** Cached and written tokens are inside prompt_tokens. */
function usageOf({ inputTokens, outputTokens, reasoningTokens, cache }: Counted) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: {
      cached_tokens: cache.cachedTokens,
      ...(cache.by === 'key' && { cache_write_tokens: cache.createdTokens }),
      ...(cache.by === 'marks' && {
        cache_creation_input_tokens: cache.createdTokens,
        cache_creation: { ephemeral_5m_input_tokens: cache.createdTokens },
        cache_type: 'ephemeral',
      }),
    },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  }
}

const finishReasons = { stop: 'stop', length: 'length', call: 'tool_calls' } as const

const headOf = ({ model, reply }: Draft, object: string) => ({
  id: `chatcmpl-${reply.hash.slice(0, 24)}`,
  object,
  created: reply.created,
  model,
})

export function completion(draft: Draft): unknown {
  const choices = draft.reply.choices.map((choice, index) => ({
    index,
    message: messageOf(choice),
    logprobs: null,
    finish_reason: finishReasons[choice.finish],
  }))
  const usage = draft.counted && { usage: usageOf(draft.counted) }
  return { ...headOf(draft, 'chat.completion'), choices, ...usage }
}

const callId = ({ id }: FunctionCall): string => `call_${id}`

function messageOf({ reasoning, tokens, call }: Choice): unknown {
  const message = {
    role: 'assistant',
    content: tokens.join(''),
    refusal: null,
    ...(reasoning.length > 0 && { reasoning_content: reasoning.join('') }),
  }
  if (call === undefined) return message
  const called = { name: call.name, arguments: call.tokens.join('') }
  const toolCall = { id: callId(call), type: 'function', function: called }
  return { ...message, content: null, tool_calls: [toolCall] }
}

/** Role, one event per token, finish; the usage event only when it was asked for; [DONE]. */
export function* streamEvents(draft: Draft): Generator<StreamEvent> {
  const same = JSON.stringify(headOf(draft, 'chat.completion.chunk')).slice(0, -1)
  const asked = asObject(draft.fields['stream_options'])['include_usage'] === true
  const usage = asked && draft.counted !== undefined ? usageOf(draft.counted) : undefined
  const tail = usage === undefined ? '' : ',"usage":null'
  const event = (index: number, delta: unknown, outputTokens: number, finish?: string) => {
    const choice = { index, delta, logprobs: null, finish_reason: finish ?? null }
    const wire = `data: ${same},"choices":[${JSON.stringify(choice)}]${tail}}\n\n`
    return { wire, outputTokens }
  }
  for (const [index, choice] of draft.reply.choices.entries()) {
    for (const [delta, outputTokens] of deltas(choice)) yield event(index, delta, outputTokens)
    yield event(index, {}, 0, finishReasons[choice.finish])
  }
  if (usage !== undefined) {
    yield {
      wire: `data: ${same},"choices":[],"usage":${JSON.stringify(usage)}}\n\n`,
      outputTokens: 0,
    }
  }
  yield { wire: 'data: [DONE]\n\n', outputTokens: 0 }
}

/** The deltas of one choice, each with the output tokens it hands over. */
function* deltas(choice: Choice): Generator<[delta: unknown, outputTokens: number]> {
  const { reasoning, tokens, call } = choice
  yield [{ role: 'assistant', content: call === undefined ? '' : null, refusal: null }, 0]
  for (const token of reasoning) yield [{ reasoning_content: token }, 1]
  for (const token of tokens) yield [{ content: token }, 1]
  if (call === undefined) return
  const opened = { name: call.name, arguments: '' }
  const toolCall = { index: 0, id: callId(call), type: 'function', function: opened }
  yield [{ tool_calls: [toolCall] }, openingTokens(call)]
  for (const token of call.tokens) {
    yield [{ tool_calls: [{ index: 0, function: { arguments: token } }] }, 1]
  }
}
