// The wire shapes of a chat answer: the completion object, the stream's events, the usage object.
import type { CacheUse } from '../prompt.ts'
import type { StreamEvent } from '../protocol.ts'
import { type Choice, type Reply, tokensOf } from './reply.ts'

/** Cached and written tokens are inside prompt_tokens. */
export function usageOf(promptTokens: number, outputTokens: number, cache: CacheUse) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: outputTokens,
    total_tokens: promptTokens + outputTokens,
    prompt_tokens_details: {
      cached_tokens: cache.cachedTokens,
      ...(cache.explicit && {
        cache_creation_input_tokens: cache.createdTokens,
        cache_creation: { ephemeral_5m_input_tokens: cache.createdTokens },
        cache_type: 'ephemeral',
      }),
    },
    completion_tokens_details: { reasoning_tokens: 0 },
  }
}

export type ChatUsage = ReturnType<typeof usageOf>

export function completion(reply: Reply, usage: ChatUsage | undefined): unknown {
  const { id, created, model } = reply
  const choices = reply.choices.map((choice, index) => ({
    index,
    message: messageOf(choice),
    logprobs: null,
    finish_reason: choice.finishReason,
  }))
  return { id, object: 'chat.completion', created, model, choices, ...(usage && { usage }) }
}

function messageOf({ tokens, toolCall }: Choice): unknown {
  const message = { role: 'assistant', content: tokens.join(''), refusal: null }
  if (toolCall === undefined) return message
  const { id, ...called } = toolCall
  return { ...message, content: null, tool_calls: [{ id, type: 'function', function: called }] }
}

/** Role, one event per token, finish; the usage event only when `usage` is given; [DONE]. */
export function* streamEvents(
  { id, created, model, choices }: Reply,
  usage: ChatUsage | undefined,
): Generator<StreamEvent> {
  const same = JSON.stringify({ id, object: 'chat.completion.chunk', created, model }).slice(0, -1)
  const tail = usage === undefined ? '' : ',"usage":null'
  const event = (index: number, delta: unknown, outputTokens: number, finish?: string) => {
    const choice = { index, delta, logprobs: null, finish_reason: finish ?? null }
    const wire = `data: ${same},"choices":[${JSON.stringify(choice)}]${tail}}\n\n`
    return { wire, outputTokens }
  }
  for (const [index, choice] of choices.entries()) {
    for (const [delta, outputTokens] of deltas(choice)) yield event(index, delta, outputTokens)
    yield event(index, {}, 0, choice.finishReason)
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
  const { tokens, toolCall } = choice
  if (toolCall === undefined) {
    yield [{ role: 'assistant', content: '', refusal: null }, 0]
    for (const token of tokens) yield [{ content: token }, 1]
    return
  }
  const { id, name, arguments: given } = toolCall
  const opened = { index: 0, id, type: 'function', function: { name, arguments: '' } }
  yield [{ role: 'assistant', content: null, tool_calls: [opened] }, 0]
  const filled = { index: 0, function: { arguments: given } }
  yield [{ tool_calls: [filled] }, tokensOf(choice)]
}
