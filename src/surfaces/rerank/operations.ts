// The rerank interface as documents describe it; the request comes from the table that the parser uses.
import type { Operation } from '../../http/operation.ts'
import { list, named, number, object, open, text, whole } from '../../http/schema.ts'
import { textOperation } from '../text/operations.ts'
import { schemaOf } from '../text/request-fields.ts'
import { rerankFields } from './request-fields.ts'

const ranked = named(
  'RankedDocuments',
  object(
    {
      id: text(),
      model: text(),
      results: list(
        object({
          index: whole(0, undefined, 'Of the document in the request.'),
          relevance_score: number(),
          'document?': object({ text: text() }),
        }),
      ),
      usage: object({ search_units: whole(0, undefined, 'Searches.') }, open),
    },
    open,
  ),
)

export const rerankOperations: readonly Operation[] = [
  textOperation({
    id: 'rerankDocuments',
    path: '/v1/rerank',
    tag: 'Rerank and moderation',
    summary: 'Put documents in the order of a query',
    description: 'The best document comes first. With `return_documents`, results have their text.',
    body: named('RerankRequest', schemaOf(rerankFields)),
    examples: {
      texts: {
        model: 'rnka-plus',
        query: 'capital of France',
        documents: ['Berlin is a city.', 'Paris is the capital of France.'],
        top_n: 1,
        return_documents: true,
      },
      objects: { model: 'rnka-plus', query: 'tea', documents: [{ text: 'green tea' }] },
    },
    answer: ranked,
  }),
]
