// Chat completions: JSON and stream.
import { textSurface } from '../text/serve.ts'
import { chatKeys } from './keys.ts'
import { parseChat } from './parse.ts'

export const chat = textSurface(
  {
    name: 'chat',
    path: '/v1/chat/completions',
    models: {
      clientWords: ['openai'],
      question: { messages: [{ role: 'user', content: 'ping' }], max_tokens: 1 },
    },
    keys: chatKeys,
    parse: parseChat,
    errorEvent: (errorBody) => `data: ${errorBody}\n\n`,
  },
  async () => (await import('./operations.ts')).chatOperations,
)
