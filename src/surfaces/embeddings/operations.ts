// The embeddings interface as documents tell of it. The parser decides; a test keeps the two together.

import type { Operation } from '../../http/operation.ts'
import {
  described,
  either,
  list,
  named,
  number,
  object,
  open,
  orNull,
  text,
  whole,
  word,
} from '../../http/schema.ts'
import { modelField } from '../common/model-field.ts'
import { countField, textOperation, tokenCount } from '../text/operations.ts'
import { encodings, maxInputs } from './parse.ts'

const tokens = list(number(), { minItems: 1 })

export const embeddingsRequest = named(
  'EmbeddingsRequest',
  object(
    {
      model: modelField,
      input: described(
        either(
          text(undefined, { minLength: 1 }),
          tokens,
          list(either(text(), tokens), { minItems: 1, maxItems: maxInputs }),
        ),
        'A text, texts, or the same as numbered tokens.',
      ),
      'encoding_format?': orNull(word(encodings, 'How vectors are written; default `float`.')),
      'dimensions?': countField('How long the vectors are to be.'),
    },
    open,
  ),
)

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
