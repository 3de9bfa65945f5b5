// The wire shapes of a chat answer: the completion object, the stream's events, the usage object.

import { asObject } from '../http/fields.ts'
import type { StreamEvent } from '../protocol.ts'
import { type Counted, type Draft, finishWord } from '../text/answer-text.ts'
import { type Choice, type FunctionCall, openingTokens } from '../text/plan-reply.ts'
import { mediaDetails, servedTier } from '../text/served.ts'
import { orderCalls } from '../text/stream-order.ts'

/** Cached and written tokens are inside prompt_tokens. */
function usageOf(counted: Counted) {
  const { inputTokens, outputTokens, reasoningTokens, cache } = counted
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
      ...mediaDetails(counted.inputMedia),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoningTokens,
      ...mediaDetails(counted.outputMedia),
    },
  }
}

const finishReasons = {
  stop: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  call: 'tool_calls',
  refusal: 'stop',
  filtered: 'content_filter',
} as const

const tierOf = ({ fields, directives }: Draft) => {
  const service_tier = servedTier(fields, directives)
  return service_tier === undefined ? {} : { service_tier }
}

const headOf = ({ model, reply, ...draft }: Draft, object: string) => ({
  id: `chatcmpl-${reply.hash.slice(0, 24)}`,
  object,
  created: reply.created,
  model,
  ...tierOf({ model, reply, ...draft }),
})

export function completion(draft: Draft): unknown {
  const choices = draft.reply.choices.map((choice, index) => ({
    index,
    message: messageOf(choice, draft),
    logprobs: null,
    finish_reason: finishWord(draft.directives, finishReasons, choice.finish) ?? null,
  }))
  const usage = draft.counted && { usage: usageOf(draft.counted) }
  return { ...headOf(draft, 'chat.completion'), choices, ...usage }
}

/** What a call takes, whole or in part. */
const named = ({ name, freeForm }: FunctionCall, text: string) =>
  freeForm ? { custom: { name, input: text } } : { function: { name, arguments: text } }

const callHead = (call: FunctionCall, text: string) => ({
  id: `call_${call.id}`,
  type: call.freeForm ? 'custom' : 'function',
  ...named(call, text),
})

function annotationsOf({ citation }: Choice) {
  if (citation === undefined) return {}
  const { quote, ...source } = citation
  const url_citation = { start_index: 0, end_index: quote.length, ...source }
  return { annotations: [{ type: 'url_citation', url_citation }] }
}

const shows = ({ directives: { redacted } }: Draft): boolean => !redacted

function messageOf(choice: Choice, draft: Draft): unknown {
  const { reasoning, tokens, calls, finish } = choice
  const text = tokens.join('')
  const isRefusal = finish === 'refusal'
  return {
    role: 'assistant',
    content: (calls.length > 0 && text === '') || isRefusal ? null : text,
    refusal: isRefusal ? text : null,
    ...(reasoning.length > 0 && shows(draft) && { reasoning_content: reasoning.join('') }),
    ...annotationsOf(choice),
    ...(calls.length > 0 && {
      tool_calls: calls.map((call) => callHead(call, call.tokens.join(''))),
    }),
  }
}

/** Role, one event per token, finish; the usage event only when it was asked for; [DONE]. */
export function* streamEvents(draft: Draft): Generator<StreamEvent> {
  const { reply, directives } = draft
  const head = JSON.stringify(headOf(draft, 'chat.completion.chunk')).slice(0, -1)
  const usage = streamUsage(draft)
  const chunk = (choices: string, place: Place, outputTokens = 0): StreamEvent => ({
    wire: `data: ${head},"choices":[${choices}]${usage(place, outputTokens)}}\n\n`,
    outputTokens,
  })
  let place: Place = 'first'
  for (const [index, choice] of reply.choices.entries()) {
    const choiceOf = (delta: unknown, finish: string | null) =>
      JSON.stringify({ index, delta, logprobs: null, finish_reason: finish })
    for (const [delta, outputTokens] of deltas(choice, draft)) {
      yield chunk(choiceOf(delta, null), place, outputTokens)
      place = 'middle'
    }
    const finish = finishWord(directives, finishReasons, choice.finish)
    const isLast = index === reply.choices.length - 1
    if (finish !== undefined) yield chunk(choiceOf({}, finish), isLast ? 'last' : 'middle')
  }
  if (usage('own') !== '') yield chunk('', 'own')
  if (!directives.noDone) yield { wire: 'data: [DONE]\n\n', outputTokens: 0 }
}

/** Where a chunk stands; `own` has nothing but the usage. */
type Place = 'first' | 'middle' | 'last' | 'own'

/** The end of a chunk: the usage where it belongs or where a directive puts it, null elsewhere. */
function streamUsage({ counted, fields, directives }: Draft) {
  const asked = asObject(fields['stream_options'])['include_usage'] === true
  if (!asked || counted === undefined) return () => ''
  const { usage: directed = 'own' } = directives
  let outputTokens = 0
  return (place: Place, handedOver = 0): string => {
    outputTokens += handedOver
    if (directed === 'every' && place !== 'own') {
      return `,"usage":${JSON.stringify(usageOf({ ...counted, outputTokens }))}`
    }
    if (place === directed) return `,"usage":${JSON.stringify(usageOf(counted))}`
    return place === 'own' ? '' : ',"usage":null'
  }
}

/** The deltas of one choice, each with the output tokens it hands over. */
function* deltas(choice: Choice, draft: Draft): Generator<[delta: unknown, outputTokens: number]> {
  const { reasoning, tokens, calls, finish } = choice
  yield [
    {
      role: 'assistant',
      content: calls.length === 0 || tokens.length > 0 ? '' : null,
      refusal: null,
    },
    0,
  ]
  if (shows(draft)) for (const token of reasoning) yield [{ reasoning_content: token }, 1]
  else if (reasoning.length > 0) yield [{}, reasoning.length]
  const field = finish === 'refusal' ? 'refusal' : 'content'
  for (const token of tokens) yield [{ [field]: token }, 1]
  if (choice.citation !== undefined) yield [annotationsOf(choice), 0]
  for (const step of orderCalls(calls, draft.directives)) {
    const { call, at: index } = step
    if (step.step === 'open') {
      yield [{ tool_calls: [{ index, ...callHead(call, '') }] }, openingTokens(call)]
    } else if (step.step === 'token') {
      const given = call.freeForm
        ? { custom: { input: step.token } }
        : { function: { arguments: step.token } }
      yield [{ tool_calls: [{ index, ...given }] }, 1]
    }
  }
}
