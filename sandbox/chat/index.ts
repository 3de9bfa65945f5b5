// The chat protocol as an upstream speaks it.

import { answerWith, fileBatchRoutes } from '../batches/file-batches.ts'
import { embeddings } from '../embeddings/index.ts'
import { anyKey, type Call, jsonAnswer, type ProtocolMaker } from '../protocol.ts'
import { responses } from '../responses/index.ts'
import { answerText, type TextStyle } from '../text/answer-text.ts'
import { plainErrorEvent, plainProtocol } from '../text/plain-protocol.ts'
import { PromptCache } from '../text/prompt.ts'
import { modelList } from './model-list.ts'
import { readChatRequest } from './request.ts'
import { strictFault } from './strict.ts'
import { completion, streamEvents } from './wire.ts'

const style: TextStyle = {
  read: readChatRequest,
  whole: completion,
  events: streamEvents,
  keepAlive: ': keep-alive\n\n',
  strictFault,
  stateFields: [],
}

export const chat: ProtocolMaker = (settings) => {
  const cache = new PromptCache()
  const answer = (call: Call) => answerText(call, cache, style)
  return {
    protocol: 'chat',
    ...plainProtocol,
    errorEvent: plainErrorEvent,
    routes: [
      {
        method: 'POST',
        path: /^\/v1\/chat\/completions$/,
        answer,
      },
      ...fileBatchRoutes(settings, {
        '/v1/chat/completions': answer,
        '/v1/responses': answerWith(responses(settings)),
        '/v1/embeddings': answerWith(embeddings(settings)),
      }),
      {
        method: 'GET',
        path: /^\/v1\/models$/,
        // Upstreams of the messages style have theirs at the same path.
        readKey: anyKey,
        answer: () => jsonAnswer(modelList),
      },
    ],
  }
}
