// The messages style as callers speak it.
import type { PlainShape } from '../text/serve.ts'
import { messagesErrors } from './errors.ts'
import { messagesKeys } from './keys.ts'
import { parseMessages } from './parse.ts'

export const messagesShape: PlainShape = {
  name: 'messages',
  path: '/v1/messages',
  models: {
    clientWords: ['anthropic'],
    question: { messages: [{ role: 'user', content: 'ping' }], max_tokens: 1 },
  },
  keys: messagesKeys,
  parse: parseMessages,
  dialect: { errors: messagesErrors },
  // Readers of this style skip events without a name.
  errorEvent: (errorBody) => `event: error\ndata: ${errorBody}\n\n`,
}
