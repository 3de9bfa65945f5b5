// The chat protocol as an upstream speaks it.

import { anyKey, jsonAnswer, type ProtocolMaker } from '../protocol.ts'
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

export const chat: ProtocolMaker = () => {
  const cache = new PromptCache()
  return {
    protocol: 'chat',
    ...plainProtocol,
    errorEvent: plainErrorEvent,
    routes: [
      {
        method: 'POST',
        path: /^\/v1\/chat\/completions$/,
        answer: (call) => answerText(call, cache, style),
      },
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
