// The embeddings interface as documents describe it; the request comes from the table that the parser uses.

import type { Operation } from '../../http/operation.ts'
import {
  described,
  either,
  list,
  named,
  number,
  object,
  open,
  text,
  whole,
  word,
} from '../../http/schema.ts'
import { textOperation, tokenCount } from '../text/operations.ts'
import { schemaOf } from '../text/request-fields.ts'
import { embeddingsFields } from './request-fields.ts'

const embeddingsRequest = named('EmbeddingsRequest', schemaOf(embeddingsFields))

const vectors = named(
  'Embeddings',
  object(
    {
      object: word(['list']),
      data: list(
        object(
          {
            object: word(['embedding']),
            index: whole(0),
            embedding: described(
              either(list(number()), text()),
              'Numbers, or as `base64` the bytes of 32-bit floats.',
            ),
          },
          open,
        ),
      ),
      model: text(),
      'usage?': object(
        { prompt_tokens: tokenCount('Input.'), total_tokens: tokenCount('All.') },
        open,
      ),
    },
    open,
  ),
)

export const embeddingsOperations: readonly Operation[] = [
  textOperation({
    id: 'createEmbeddings',
    path: '/v1/embeddings',
    tag: 'Text',
    summary: 'Turn texts into vectors',
    description: 'In the encoding that is asked for, whatever the upstream speaks.',
    body: embeddingsRequest,
    examples: {
      texts: { model: 'txta-embed', input: ['first text', 'second text'], dimensions: 8 },
      base64: { model: 'txta-embed', input: 'one text', encoding_format: 'base64' },
    },
    answer: vectors,
  }),
]
