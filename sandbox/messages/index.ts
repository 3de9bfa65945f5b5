// The messages protocol as an upstream speaks it. Any version and any beta is served alike.

import { messageBatchRoutes } from '../batches/message-batches.ts'
import { asObject, isFault } from '../http/fields.ts'
import {
  type Answer,
  bearerKey,
  type Call,
  jsonAnswer,
  namedEvent,
  type ProtocolMaker,
} from '../protocol.ts'
import { answerText, failureOf, type TextStyle } from '../text/answer-text.ts'
import { PromptCache } from '../text/prompt.ts'
import { createSeals, type Seals } from '../text/seals.ts'
import { layOutPrompt } from '../text/turns.ts'
import { sealFault } from './check-seals.ts'
import { messagesError } from './errors.ts'
import { readCountable, readMessagesRequest } from './request.ts'
import { strictFault } from './strict.ts'
import { streamEvents, wholeMessage } from './wire.ts'

const styleWith = (seals: Seals): TextStyle => ({
  read: (fields) => sealFault(fields, seals) ?? readMessagesRequest(fields),
  whole: (draft) => wholeMessage(draft, seals),
  events: (draft) => streamEvents(draft, seals),
  keepAlive: namedEvent({ type: 'ping' }).wire,
  strictFault,
  stateFields: ['container'],
})

export const messages: ProtocolMaker = (settings) => {
  const { maker } = settings
  const cache = new PromptCache()
  const style = styleWith(createSeals(maker, 'messages'))
  return {
    protocol: 'messages',
    // A channel's address for this protocol has no version in it.
    basePath: '',
    delaySlows: 'answer',
    keepsRequests: true,
    idHeaders: ['request-id', 'x-request-id'],
    readKey: (headers) => headers.get('x-api-key') ?? bearerKey(headers),
    readUser: (fields) => asObject(fields['metadata'])['user_id'],
    errorBody: (fault, id) => ({ ...messagesError(fault), request_id: id }),
    errorEvent: (fault) => namedEvent(messagesError(fault)).wire,
    routes: [
      {
        method: 'POST',
        path: /^\/v1\/messages$/,
        answer: (call) => answerText(call, cache, style),
      },
      { method: 'POST', path: /^\/v1\/messages\/count_tokens$/, answer: countInput },
      ...messageBatchRoutes(settings, (call) => answerText(call, cache, style), messagesError),
    ],
  }
}

/** Counts only: nothing is cached, and the call log books no tokens. */
function countInput({ fields, directives }: Call): Answer {
  const request = readCountable(fields)
  if (isFault(request)) return { kind: 'fault', fault: request }
  const fault = failureOf(directives)
  if (fault !== undefined) return { kind: 'fault', fault }
  return jsonAnswer({ input_tokens: layOutPrompt(request.tools, request.turns).tokens })
}
