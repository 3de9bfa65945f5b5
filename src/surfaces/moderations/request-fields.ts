// The fields of a moderation request.
import { plain } from '../../http/body/exact-keys.ts'
import { described, either, list, object, open, text, word } from '../../http/schema.ts'
import { modelField } from '../common/model-field.ts'
import { checked, type RequestFields } from '../text/request-fields.ts'

export const maxInputs = 4_096

const part = either(
  object({ type: word(['text']), text: text() }, open),
  object(
    {
      type: word(['image_url']),
      image_url: object({ url: text(undefined, { minLength: 1 }) }, open),
    },
    open,
  ),
)

export const moderationsFields: RequestFields = {
  model: { schema: modelField, isRequired: true },
  input: {
    schema: described(
      either(
        text(undefined, { minLength: 1 }),
        list(either(text(), part), { minItems: 1, maxItems: maxInputs }),
      ),
      'A text, texts, or parts that are texts and images.',
    ),
    keys: { ...plain('type', 'text'), image_url: plain('url') },
    isRequired: true,
  },
  ...checked,
  ...plain('user'),
}
