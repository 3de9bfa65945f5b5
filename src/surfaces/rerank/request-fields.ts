// The fields of a rerank request.
import { plain } from '../../http/body/exact-keys.ts'
import { described, either, flag, list, object, open, orNull, text } from '../../http/schema.ts'
import { modelField } from '../common/model-field.ts'
import { checked, count, type RequestFields } from '../text/request-fields.ts'

export const maxDocuments = 10_000

export const rerankFields: RequestFields = {
  model: { schema: modelField, isRequired: true },
  query: { schema: text('What is looked for.', { minLength: 1 }), isRequired: true },
  documents: {
    schema: described(
      list(either(text(), object({ text: text() }, open)), { minItems: 1, maxItems: maxDocuments }),
      'Texts to put in order; results name them by their index.',
    ),
    keys: plain('text'),
    isRequired: true,
  },
  top_n: { schema: count('At most so many results. Default: one for each document.') },
  return_documents: { schema: orNull(flag('Whether results have their document.')) },
  max_tokens_per_doc: { schema: count('What is longer is cut; passed on.') },
  ...checked,
  ...plain('user', 'truncation'),
}
