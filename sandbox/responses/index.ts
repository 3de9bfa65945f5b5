// The responses protocol as an upstream speaks it. An answer cannot be fetched again, but a request
// may go on from it, unless it said `store: false`.

import { bearerKey, namedEvent, type ProtocolMaker } from '../protocol.ts'
import { answerText } from '../text/answer-text.ts'
import { errorBody, errorObject } from '../text/error-object.ts'
import { PromptCache } from '../text/prompt.ts'
import { createSeals } from '../text/seals.ts'
import { Memory } from './memory.ts'

export const responses: ProtocolMaker = ({ maker }) => {
  const cache = new PromptCache()
  const memory = new Memory(createSeals(maker, 'responses'))
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
    routes: [
      {
        method: 'POST',
        path: /^\/v1\/responses$/,
        answer: (call) => answerText(call, cache, memory.styleFor(call.key)),
      },
    ],
  }
}
