// Responses: JSON, a stream of typed events, in the background, and how many tokens the input of a call would
// have.
import { responsesFailureText } from '../../styles/responses/failure-words.ts'
import { minOutputTokens } from '../../styles/responses/field-names.ts'
import type { Surface } from '../common/surface.ts'
import type { UsagePlace } from '../text/charge-in-answer.ts'
import { keysIn } from '../text/request-fields.ts'
import { type PlainShape, type TextShape, textSurface } from '../text/serve.ts'
import { serveCount } from '../text/serve-count.ts'
import { createInBackground, mountBackground } from './background.ts'
import { answerFailure, errorEvent } from './failed-event.ts'
import { parseCount, parseResponses } from './parse.ts'
import { responsesFields } from './request-fields.ts'

const usage: UsagePlace = {
  body: ['usage'],
  event: ['response', 'usage'],
  isFinal: ({ type }) => type === 'response.completed' || type === 'response.incomplete',
  sign: /"response\.(?:completed|incomplete)"/,
}

const shape: PlainShape = {
  name: 'responses',
  path: '/v1/responses',
  usage,
  later: createInBackground,
  models: {
    translates: { text: ['messages', 'chat', 'generate', 'converse'] },
    minOutputTokens,
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
  dialect: { errorText: responsesFailureText },
  errorEvent,
  answerFailure,
}
const countShape: TextShape = { ...shape, parse: parseCount }

const text = textSurface(shape, async () => (await import('./operations.ts')).responsesOperations)

export const responses: Surface = {
  ...text,
  mount(app, deps) {
    text.mount(app, deps)
    mountBackground(app, deps.api, usage)
    app.post('/v1/responses/input_tokens', ({ env }) =>
      serveCount(countShape, deps, env.context, (input_tokens) => ({
        object: 'response.input_tokens',
        input_tokens,
      })),
    )
  },
}
