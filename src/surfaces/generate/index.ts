// The generate style: answers, streams, counts and embeddings of the model that the path names. Its
// paths lie beside those of long-running operations, which have the same errors and credentials.
import { Refusal } from '../../contract/errors.ts'
import type { Dialect } from '../../http/dialect.ts'
import { rateHeaders } from '../../http/rate-headers.ts'
import { answerRefusal } from '../../http/render-error.ts'
import { answerJson, type RequestContext } from '../../http/request-context.ts'
import type { Surface, SurfaceDeps } from '../common/surface.ts'
import { readCall, serve } from '../text/serve.ts'
import { callIn, countShape, shapes } from './shapes.ts'

const count = 'countTokens'

export const generate: Surface = {
  name: 'generate',
  interface: {
    kind: 'text',
    own: true,
    translates: ['responses', 'messages', 'chat'],
    clientWords: ['gemini'],
    methods: {
      text: ['generateContent', 'streamGenerateContent', count],
      embedding: ['embedContent', 'batchEmbedContents', count],
    },
    question: {
      contents: [{ role: 'user', parts: [{ text: 'ping' }] }],
      generationConfig: { maxOutputTokens: 1 },
    },
    questions: {
      embedding: { method: 'embedContent', fields: { content: { parts: [{ text: 'ping' }] } } },
    },
  },
  prefixes: [],
  operations: async () => (await import('./operations.ts')).generateOperations,
  mount(app, deps) {
    app.post('/vendorg/:version/models/:call', ({ env: { context: x } }, next) => {
      const { method } = callIn(x.path)
      const shape = shapes.get(method)
      if (shape === undefined && method !== count) return next()
      x.dialect = ownDialect(x.dialect)
      return shape === undefined ? serveCount(deps, x) : serve(shape, deps.api, deps.limits, x)
    })
  },
}

const dialects = new WeakMap<Dialect, Dialect>()

/** That of the paths, except for the name in the log. */
function ownDialect(usual: Dialect): Dialect {
  const known = dialects.get(usual)
  if (known !== undefined) return known
  const own = { ...usual, loggedAs: generate.name }
  dialects.set(usual, own)
  return own
}

async function serveCount({ api, limits }: SurfaceDeps, x: RequestContext): Promise<Response> {
  const asked = await readCall(countShape, api, limits, x).finally(() => x.releaseBody?.())
  if (asked instanceof Refusal) return answerRefusal(x, asked)
  const counted = await api.countInput(asked.ctx, asked.call)
  if (counted instanceof Refusal) return answerRefusal(x, counted)
  return answerJson(x, JSON.stringify({ totalTokens: counted.inputTokens }), 200, {
    ...rateHeaders(counted.rate),
    ...(counted.estimated && { 'x-gateway-estimated': 'true' }),
  })
}
