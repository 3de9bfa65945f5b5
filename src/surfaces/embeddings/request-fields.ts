// The fields of an embeddings request.
import { plain } from '../../http/body/exact-keys.ts'
import { described, either, list, number, orNull, text, word } from '../../http/schema.ts'
import { modelField } from '../common/model-field.ts'
import { checked, count, type RequestFields } from '../text/request-fields.ts'

/** More than any upstream takes at once; each has its own, smaller limit. */
export const maxInputs = 4_096
export const encodings = ['float', 'base64'] as const

const tokens = list(number(), { minItems: 1 })

export const embeddingsFields: RequestFields = {
  model: { schema: modelField, isRequired: true },
  input: {
    schema: described(
      either(
        text(undefined, { minLength: 1 }),
        tokens,
        list(either(text(), tokens), { minItems: 1, maxItems: maxInputs }),
      ),
      'A text, texts, or the same as numbered tokens.',
    ),
    isRequired: true,
  },
  encoding_format: {
    schema: orNull(word(encodings, 'How vectors are written; default `float`.')),
  },
  dimensions: { schema: count('How long the vectors are to be.') },
  ...checked,
  ...plain('user', 'text_type', 'instruct'),
}
