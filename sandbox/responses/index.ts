// The responses protocol as an upstream speaks it. Nothing is stored: an answer cannot be fetched
// again, and a request has to bring its whole conversation.
import { answerText, type TextStyle } from '../answer-text.ts'
import { errorBody, errorObject } from '../error-object.ts'
import { PromptCache } from '../prompt.ts'
import { bearerKey, namedEvent, type ProtocolMaker } from '../protocol.ts'
import { streamEvents } from './events.ts'
import { readResponsesRequest } from './request.ts'
import { finalResponse } from './wire.ts'

const style: TextStyle = { read: readResponsesRequest, whole: finalResponse, events: streamEvents }

export const responses: ProtocolMaker = () => {
  const cache = new PromptCache()
  return {
    protocol: 'responses',
    basePath: '/v1',
    delaySlows: 'answer',
    idHeaders: ['x-request-id'],
    readKey: bearerKey,
    readUser: (fields) => fields['user'] ?? fields['safety_identifier'],
    errorBody,
    errorEvent: (fault, position) => {
      const { code, message, param } = errorObject(fault)
      return namedEvent({ type: 'error', ...{ code, message, param, sequence_number: position } })
        .wire
    },
    routes: [
      {
        method: 'POST',
        path: /^\/v1\/responses$/,
        answer: (ask) => answerText(ask, cache, style),
      },
    ],
  }
}
