// The responses protocol as an upstream speaks it. Only an answer that is made in the background can be
// fetched, but a request may go on from any that did not say `store: false`.

import { isFault } from '../http/fields.ts'
import {
  type Answer,
  bearerKey,
  type Call,
  jsonAnswer,
  namedEvent,
  type ProtocolMaker,
  type Route,
} from '../protocol.ts'
import { answerText, failureOf } from '../text/answer-text.ts'
import { errorBody, errorObject } from '../text/error-object.ts'
import { PromptCache } from '../text/prompt.ts'
import { createSeals } from '../text/seals.ts'
import { layOutPrompt } from '../text/turns.ts'
import { BackgroundResponses, isBackground } from './background.ts'
import { Memory } from './memory.ts'

export const responses: ProtocolMaker = (settings) => {
  const cache = new PromptCache()
  const memory = new Memory(createSeals(settings.maker, 'responses'))
  const background = new BackgroundResponses(cache, memory, settings)
  return {
    protocol: 'responses',
    basePath: '/v1',
    delaySlows: 'answer',
    keepsRequests: true,
    idHeaders: ['x-request-id'],
    readKey: bearerKey,
    readUser: (fields) => fields['user'] ?? fields['safety_identifier'],
    errorBody,
    errorEvent: (fault, position) => {
      const { code, message, param } = errorObject(fault)
      return namedEvent({ type: 'error', ...{ code, message, param, sequence_number: position } })
        .wire
    },
    routes: [...textRoutes(cache, memory, background), ...idRoutes(background)],
    tasks: background,
  }
}

const textRoutes = (
  cache: PromptCache,
  memory: Memory,
  background: BackgroundResponses,
): Route[] => [
  {
    method: 'POST',
    path: /^\/v1\/responses$/,
    delaySlows: (fields) => (isBackground(fields) ? 'task' : 'answer'),
    answer: (call) =>
      isBackground(call.fields)
        ? background.create(call)
        : answerText(call, cache, memory.styleFor(call.key)),
  },
  {
    method: 'POST',
    path: /^\/v1\/responses\/input_tokens$/,
    answer: (call) => countInput(call, memory),
  },
]

const responsePath = /^\/v1\/responses\/(?<id>[^/]+)$/

const idRoutes = (background: BackgroundResponses): Route[] => [
  { method: 'GET', path: responsePath, answer: (call) => background.read(call) },
  { method: 'DELETE', path: responsePath, answer: (call) => background.remove(call) },
  {
    method: 'POST',
    path: /^\/v1\/responses\/(?<id>[^/]+)\/cancel$/,
    bodyOptional: true,
    answer: (call) => background.cancel(call),
  },
]

/** Counts only: nothing is kept, and the call log books no tokens. */
function countInput({ fields, directives, key }: Call, memory: Memory): Answer {
  const request = memory.styleFor(key).read(fields, directives)
  if (isFault(request)) return { kind: 'fault', fault: request }
  const fault = failureOf(directives)
  if (fault !== undefined) return { kind: 'fault', fault }
  const input_tokens = layOutPrompt(request.tools, request.turns).tokens
  return jsonAnswer({ object: 'response.input_tokens', input_tokens })
}
