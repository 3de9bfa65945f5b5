// Reranking: documents in the order in which they answer a query.
import { keysIn } from '../text/request-fields.ts'
import { textSurface } from '../text/serve.ts'
import { parseRerank } from './parse.ts'
import { rerankFields } from './request-fields.ts'

export const rerank = textSurface(
  {
    name: 'rerank',
    path: '/v1/rerank',
    usage: { body: ['usage'], event: ['usage'], isFinal: () => false, sign: /$^/ },
    models: {
      kind: 'rerank',
      clientWords: ['jina-rerank'],
      question: { query: 'ping', documents: ['ping'] },
    },
    keys: keysIn(rerankFields),
    parse: parseRerank,
    errorEvent: (errorBody) => `data: ${errorBody}\n\n`,
  },
  async () => (await import('./operations.ts')).rerankOperations,
)
