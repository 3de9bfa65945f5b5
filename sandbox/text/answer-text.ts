// How any text protocol answers: read, plan, check the cache, count, write. A style reads the
// request and writes the answer in its own shapes; all that lies between is here.

import type { Directives } from '../http/directives.ts'
import { isFault, type Json } from '../http/fields.ts'
import { type Answer, type Call, type Fault, jsonAnswer, type StreamEvent } from '../protocol.ts'
import { type Callable, chooseTool } from './choose-tool.ts'
import { type Plannable, planReply, type Reply } from './plan-reply.ts'
import type { CacheUse, PromptCache } from './prompt.ts'
import { layOutPrompt } from './turns.ts'

export interface TextRequest extends Callable, Plannable {
  model: string
  stream: boolean
  /** `prompt_cache_key`, in the styles that have it. */
  cacheKey?: string | undefined
}

/** Usage before it has the protocol's names. The cache's tokens are inside `inputTokens`. */
export interface Counted {
  inputTokens: number
  outputTokens: number
  reasoningTokens: number
  cache: CacheUse
}

/** An answer that only lacks its shape. */
export interface Draft {
  model: string
  reply: Reply
  /** Undefined when the answer is not to tell. */
  counted: Counted | undefined
  fields: Json
}

export interface TextStyle {
  read(fields: Json): TextRequest | Fault
  whole(draft: Draft): unknown
  events(draft: Draft): Iterable<StreamEvent>
}

export function answerText(call: Call, cache: PromptCache, style: TextStyle): Answer {
  const { fields, directives } = call
  const request = style.read(fields)
  if (isFault(request)) return { kind: 'fault', fault: request }
  const tool = chooseTool(request, directives)
  if (isFault(tool)) return { kind: 'fault', fault: tool }
  const fault = failureOf(directives)
  if (fault !== undefined) return { kind: 'fault', fault }

  const { model } = request
  const prompt = layOutPrompt(request.tools, request.turns)
  const reply = planReply(request, tool, directives, fields)
  const { outputTokens, reasoningTokens } = reply
  const counted = {
    inputTokens: prompt.tokens,
    outputTokens,
    reasoningTokens,
    cache: cache.use(prompt, { key: call.key, model, cacheKey: request.cacheKey }),
  }
  const draft = { model, reply, counted: directives.noUsage ? undefined : counted, fields }
  if (request.stream) {
    return { kind: 'stream', promptTokens: prompt.tokens, events: style.events(draft) }
  }
  return jsonAnswer(style.whole(draft), {
    promptTokens: prompt.tokens,
    completionTokens: outputTokens,
  })
}

/** What `[[sim:fail]]` means where an answer is given at once. */
export function failureOf({ fail }: Directives): Fault | undefined {
  if (fail === undefined) return undefined
  if (fail !== 'content_policy') return { status: 500, message: 'The model failed to answer.' }
  const message = 'Input text data may contain inappropriate content.'
  return { status: 400, message, reason: 'content_policy' }
}
