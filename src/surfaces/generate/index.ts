// The generate style: answers, streams, counts and embeddings of the model that the path names. Its
// paths lie beside those of long-running operations, which have the same errors and credentials.
import type { Dialect } from '../../http/dialect.ts'
import { generateFailureText } from '../../styles/generate/failure-words.ts'
import type { Surface } from '../common/surface.ts'
import { serve } from '../text/serve.ts'
import { serveCount } from '../text/serve-count.ts'
import { callIn, countShape, shapes } from './shapes.ts'

const count = 'countTokens'

export const generate: Surface = {
  name: 'generate',
  interface: {
    kind: 'text',
    own: true,
    translates: { text: ['responses', 'messages', 'chat', 'converse'], embedding: ['embeddings'] },
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
      return shape === undefined
        ? serveCount(countShape, deps, x, (totalTokens) => ({ totalTokens }))
        : serve(shape, deps.api, deps.limits, x)
    })
  },
}

const dialects = new WeakMap<Dialect, Dialect>()

/** That of the paths, except for the name in the log and the words of failures. */
function ownDialect(usual: Dialect): Dialect {
  const known = dialects.get(usual)
  if (known !== undefined) return known
  const own = { ...usual, loggedAs: generate.name, errorText: generateFailureText }
  dialects.set(usual, own)
  return own
}
