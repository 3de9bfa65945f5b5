// Embeddings: texts in, vectors out, in the encoding that was asked for.
import { keysIn } from '../text/request-fields.ts'
import { textSurface } from '../text/serve.ts'
import { parseEmbeddings } from './parse.ts'
import { embeddingsFields } from './request-fields.ts'

export const embeddings = textSurface(
  {
    name: 'embeddings',
    path: '/v1/embeddings',
    usage: { body: ['usage'], event: ['usage'], isFinal: () => false, sign: /$^/ },
    models: {
      kind: 'embedding',
      translates: { embedding: ['generate'] },
      clientWords: ['embeddings'],
      question: { input: ['ping'] },
    },
    keys: keysIn(embeddingsFields),
    parse: parseEmbeddings,
    errorEvent: (errorBody) => `data: ${errorBody}\n\n`,
  },
  async () => (await import('./operations.ts')).embeddingsOperations,
)
