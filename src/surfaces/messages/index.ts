// Messages: JSON and stream, and how many tokens the input of a call would have.
import { Refusal } from '../../contract/errors.ts'
import { rateHeaders } from '../../http/rate-headers.ts'
import { answerRefusal } from '../../http/render-error.ts'
import { answerJson, type RequestContext } from '../../http/request-context.ts'
import { isObject } from '../../lib/json/parse.ts'
import type { Surface, SurfaceDeps } from '../common/surface.ts'
import { keysIn } from '../text/request-fields.ts'
import { type PlainShape, readCall, type TextShape, textSurface } from '../text/serve.ts'
import { messagesErrors } from './errors.ts'
import { parseCount, parseMessages } from './parse.ts'
import { messagesFields } from './request-fields.ts'

const shape: PlainShape = {
  name: 'messages',
  path: '/v1/messages',
  models: {
    translates: ['responses', 'chat', 'generate'],
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
  dialect: { errors: messagesErrors },
  // Readers of this style skip events without a name.
  errorEvent: (errorBody) => `event: error\ndata: ${errorBody}\n\n`,
}
const countShape: TextShape = { ...shape, parse: parseCount }

const text = textSurface(shape, async () => (await import('./operations.ts')).messagesOperations)

export const messages: Surface = {
  ...text,
  mount(app, deps) {
    text.mount(app, deps)
    app.post('/v1/messages/count_tokens', ({ env }) => serveCount(deps, env.context))
  },
}

/** Counted by an upstream that can count, else estimated and marked. */
async function serveCount({ api, limits }: SurfaceDeps, x: RequestContext): Promise<Response> {
  const asked = await readCall(countShape, api, limits, x).finally(() => x.releaseBody?.())
  if (asked instanceof Refusal) return answerRefusal(x, asked)
  const counted = await api.countInput(asked.ctx, asked.call)
  if (counted instanceof Refusal) return answerRefusal(x, counted)
  return answerJson(x, JSON.stringify({ input_tokens: counted.inputTokens }), 200, {
    ...rateHeaders(counted.rate),
    ...(counted.estimated && { 'x-gateway-estimated': 'true' }),
  })
}
