// Embeddings: texts in, vectors out, in the encoding that was asked for.
import { textSurface } from '../text/serve.ts'
import { embeddingsKeys } from './keys.ts'
import { parseEmbeddings } from './parse.ts'

export const embeddings = textSurface(
  {
    name: 'embeddings',
    path: '/v1/embeddings',
    models: {
      kind: 'embedding',
      clientWords: ['embeddings'],
      question: { input: ['ping'] },
    },
    keys: embeddingsKeys,
    parse: parseEmbeddings,
    errorEvent: (errorBody) => `data: ${errorBody}\n\n`,
  },
  async () => (await import('./operations.ts')).embeddingsOperations,
)
