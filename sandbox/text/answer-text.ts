// How any text protocol answers: read, plan, check the cache, count, write. A style reads the
// request and writes the answer in its own shapes; all that lies between is here.

import type { Directives } from '../http/directives.ts'
import { isFault, type Json } from '../http/fields.ts'
import {
  type Answer,
  type Call,
  contextLength,
  type Fault,
  jsonAnswer,
  type StreamEvent,
} from '../protocol.ts'
import { type Callable, chooseCalls } from './choose-calls.ts'
import { type Finish, type Plannable, planReply, type Reply } from './plan-reply.ts'
import type { CacheUse, PromptCache } from './prompt.ts'
import { type MediaTokens, mediaOf } from './served.ts'
import { unknownState } from './state-ids.ts'
import { withKeepAlives } from './stream-order.ts'
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
  /** Those that are sound or images, where a directive says so. */
  inputMedia: MediaTokens | undefined
  outputMedia: MediaTokens | undefined
}

/** An answer that only lacks its shape. */
export interface Draft {
  model: string
  reply: Reply
  /** Undefined when the answer is not to tell. */
  counted: Counted | undefined
  fields: Json
  directives: Directives
}

export interface TextStyle {
  read(fields: Json, directives: Directives): TextRequest | Fault
  whole(draft: Draft): unknown
  events(draft: Draft): Iterable<StreamEvent>
  /** Between events, it only shows that the connection is alive. */
  keepAlive: string
  /** Fields of a request that name what the upstream keeps. */
  stateFields: readonly string[]
  /** What it refuses although the sandbox could read it. */
  strictFault(fields: Json): Fault | undefined
}

export function answerText(call: Call, cache: PromptCache, style: TextStyle): Answer {
  const { fields, directives } = call
  const broken = directives.strict ? style.strictFault(fields) : undefined
  if (broken !== undefined) return { kind: 'fault', fault: broken }
  const request = style.read(fields, directives)
  if (isFault(request)) return { kind: 'fault', fault: request }
  const wanted = chooseCalls(request, directives)
  if (isFault(wanted)) return { kind: 'fault', fault: wanted }
  const fault = unknownState(fields, style.stateFields, request.turns) ?? failureOf(directives)
  if (fault !== undefined) return { kind: 'fault', fault }

  const { model, cacheKey } = request
  const prompt = layOutPrompt(request.tools, request.turns)
  const reply = planReply(request, wanted, directives, fields, call.nowMs)
  const { outputTokens, reasoningTokens } = reply
  const counted = {
    inputTokens: prompt.tokens,
    outputTokens,
    reasoningTokens,
    cache: cache.use(prompt, { key: call.key, model, cacheKey }),
    inputMedia: mediaOf(prompt.tokens, directives.audioTokens, directives.imageTokens),
    outputMedia: mediaOf(
      outputTokens - reasoningTokens,
      directives.outputAudioTokens,
      directives.outputImageTokens,
    ),
  }
  const told = directives.noUsage ? undefined : counted
  const draft = { model, reply, counted: told, fields, directives }
  const promptTokens = prompt.tokens
  if (request.stream) {
    const { keepAliveEvents: every } = directives
    const plain = style.events(draft)
    const events = every === undefined ? plain : withKeepAlives(plain, style.keepAlive, every)
    return { kind: 'stream', promptTokens, events }
  }
  return jsonAnswer(style.whole(draft), { promptTokens, completionTokens: outputTokens })
}

/** The protocol's word for why an answer ended: undefined when it is not to say, or any other word. */
export function finishWord(
  { finish: directed }: Directives,
  words: Readonly<Record<Finish, string>>,
  finish: Finish,
): string | undefined {
  if (directed === 'none') return undefined
  return directed === undefined || directed === 'filtered' ? words[finish] : directed
}

/** What `[[sim:fail]]` means where an answer is given at once. */
export function failureOf({ fail }: Directives): Fault | undefined {
  if (fail === undefined) return undefined
  if (fail === 'context_length') {
    const message = `This model's maximum context length is 128000 tokens. However, your messages resulted in 128001 tokens.`
    return { status: 400, message, code: contextLength }
  }
  if (fail !== 'content_policy') return { status: 500, message: 'The model failed to answer.' }
  const message = 'Input text data may contain inappropriate content.'
  return { status: 400, message, reason: 'content_policy' }
}
