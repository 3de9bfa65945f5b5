// Responses: JSON, and a stream of typed events.
import { keysIn } from '../text/request-fields.ts'
import { textSurface } from '../text/serve.ts'
import { parseResponses } from './parse.ts'
import { responsesFields } from './request-fields.ts'

export const responses = textSurface(
  {
    name: 'responses',
    path: '/v1/responses',
    models: {
      translates: ['messages', 'chat', 'generate'],
      clientWords: ['openai-response'],
      question: { input: 'ping', max_output_tokens: 16 },
    },
    keys: keysIn(responsesFields),
    parse: parseResponses,
    opening: ({ prompt_cache_key: cacheKey, instructions, tools, input: turns }) => ({
      cacheKey,
      instructions,
      tools,
      turns,
    }),
    errorEvent,
  },
  async () => (await import('./operations.ts')).responsesOperations,
)

/** The style's own error event, with the gateway's error object for clients that look for one. */
function errorEvent(errorBody: string, events: number): string {
  const { error } = JSON.parse(errorBody) as { error: Record<string, unknown> }
  const { code, message, param } = error
  const data = { type: 'error', code, message, param, sequence_number: events, error }
  return `event: error\ndata: ${JSON.stringify(data)}\n\n`
}
