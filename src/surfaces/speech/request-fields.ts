// The fields of a speech request.
import { plain } from '../../http/body/exact-keys.ts'
import { described, either, number, object, open, orNull, text, word } from '../../http/schema.ts'
import { modelField } from '../common/model-field.ts'
import { checked, type RequestFields } from '../text/request-fields.ts'

/** In Unicode code points. */
export const maxCharacters = 4_096
export const speechFormats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const
export const streamFormats = ['audio', 'sse'] as const
export const speeds = { min: 0.25, max: 4 } as const

export const speechFields: RequestFields = {
  model: { schema: modelField, isRequired: true },
  input: {
    schema: text('The text to speak.', { minLength: 1, maxLength: maxCharacters }),
    isRequired: true,
  },
  voice: {
    schema: described(
      either(
        text(undefined, { minLength: 1 }),
        object({ id: text(undefined, { minLength: 1 }) }, open),
      ),
      'A voice of the upstream, by its name or its id.',
    ),
    keys: plain('id'),
    isRequired: true,
  },
  response_format: { schema: orNull(word(speechFormats, 'The kind of file; default `mp3`.')) },
  speed: { schema: orNull(number(speeds.min, speeds.max, 'Default 1.')) },
  stream_format: {
    schema: orNull(word(streamFormats, 'The file itself, or events with pieces of it.')),
  },
  instructions: { schema: orNull(text('How to speak; passed on.')) },
  ...checked,
  ...plain('user', 'language'),
}
