// Messages: JSON and stream, and how many tokens the input of a call would have.
import { isObject } from '../../lib/json/parse.ts'
import { messagesFailureText } from '../../styles/messages/failure-words.ts'
import type { Surface } from '../common/surface.ts'
import { keysIn } from '../text/request-fields.ts'
import { type PlainShape, type TextShape, textSurface } from '../text/serve.ts'
import { serveCount } from '../text/serve-count.ts'
import { messagesErrors } from './errors.ts'
import { parseCount, parseMessages } from './parse.ts'
import { messagesFields } from './request-fields.ts'

const shape: PlainShape = {
  name: 'messages',
  path: '/v1/messages',
  usage: {
    body: ['usage'],
    event: ['usage'],
    isFinal: ({ type }) => type === 'message_delta',
    sign: /"message_delta"/,
  },
  models: {
    translates: { text: ['responses', 'chat', 'generate', 'converse'] },
    clientWords: ['anthropic'],
    question: { messages: [{ role: 'user', content: 'ping' }], max_tokens: 1 },
  },
  keys: keysIn(messagesFields),
  parse: parseMessages,
  opening: ({ metadata, system: instructions, tools, messages: turns }) => ({
    // Claude Code puts the id of its session into it.
    userId: isObject(metadata) ? metadata['user_id'] : undefined,
    instructions,
    tools,
    turns,
  }),
  dialect: { errors: messagesErrors, errorText: messagesFailureText },
  // Readers of this style skip events without a name.
  errorEvent: (errorBody) => `event: error\ndata: ${errorBody}\n\n`,
}
const countShape: TextShape = { ...shape, parse: parseCount }

const text = textSurface(shape, async () => (await import('./operations.ts')).messagesOperations)

export const messages: Surface = {
  ...text,
  mount(app, deps) {
    text.mount(app, deps)
    app.post('/v1/messages/count_tokens', ({ env }) =>
      serveCount(countShape, deps, env.context, (input_tokens) => ({ input_tokens })),
    )
  },
}
