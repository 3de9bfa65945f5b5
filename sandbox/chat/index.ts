// The chat protocol as an upstream speaks it. Decides; the wire shapes are in wire.ts.

import { PromptCache } from '../prompt.ts'
import { type Answer, type Ask, bearerKey, jsonAnswer, type ProtocolMaker } from '../protocol.ts'
import { chatErrorBody } from './errors.ts'
import { layOutPrompt } from './prompt.ts'
import { planReply } from './reply.ts'
import { readChatRequest } from './request.ts'
import { completion, streamEvents, usageOf } from './wire.ts'

export const chat: ProtocolMaker = () => {
  const cache = new PromptCache()
  return {
    protocol: 'chat',
    basePath: '/v1',
    delaySlows: 'answer',
    readKey: bearerKey,
    errorBody: chatErrorBody,
    routes: [
      {
        method: 'POST',
        path: /^\/v1\/chat\/completions$/,
        answer: (ask) => answer(ask, cache),
      },
    ],
  }
}

function answer(ask: Ask, cache: PromptCache): Answer {
  const request = readChatRequest(ask.fields)
  if ('status' in request) return { kind: 'fault', fault: request }
  const { fail, noUsage, outputTokens } = ask.directives
  if (fail === 'content_policy') {
    const message = 'Input text data may contain inappropriate content.'
    return { kind: 'fault', fault: { status: 400, message, reason: 'content_policy' } }
  }
  if (fail !== undefined) {
    return { kind: 'fault', fault: { status: 500, message: 'The model failed to answer.' } }
  }
  const prompt = layOutPrompt(request.messages)
  const reply = planReply(request, outputTokens)
  const cacheUse = cache.use(prompt, `${ask.key} ${request.model}`)
  const usage = noUsage ? undefined : usageOf(prompt.tokens, reply.outputTokens, cacheUse)
  if (!request.stream) {
    return jsonAnswer(completion(reply, usage), {
      promptTokens: prompt.tokens,
      completionTokens: reply.outputTokens,
    })
  }
  const events = streamEvents(reply, request.includeUsage ? usage : undefined)
  return { kind: 'stream', promptTokens: prompt.tokens, events }
}
