// Chat completions: JSON and stream.
import { isObject } from '../../lib/json/parse.ts'
import { chatFailureText } from '../../styles/chat/failure-words.ts'
import { keysIn } from '../text/request-fields.ts'
import { textSurface } from '../text/serve.ts'
import { parseLongChat } from './parse.ts'
import { chatFields } from './request-fields.ts'

export const chat = textSurface(
  {
    name: 'chat',
    path: '/v1/chat/completions',
    usage: {
      body: ['usage'],
      event: ['usage'],
      isFinal: ({ usage }) => isObject(usage),
      sign: /"usage"\s*:\s*\{|\[DONE\]/,
      marker: '[DONE]',
    },
    models: {
      translates: { text: ['responses', 'messages', 'generate', 'converse'] },
      clientWords: ['openai'],
      // Upstreams with the newer name have models that reason before they answer.
      question: ({ maxTokensField = 'max_tokens' }) => ({
        messages: [{ role: 'user', content: 'ping' }],
        [maxTokensField]: maxTokensField === 'max_tokens' ? 1 : 16,
      }),
    },
    keys: keysIn(chatFields),
    parse: parseLongChat,
    opening: ({ prompt_cache_key: cacheKey, tools, messages: turns }) => ({
      cacheKey,
      tools,
      turns,
    }),
    dialect: { errorText: chatFailureText },
    errorEvent: (errorBody) => `data: ${errorBody}\n\n`,
  },
  async () => (await import('./operations.ts')).chatOperations,
)
