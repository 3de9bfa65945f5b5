// The fields of a form with a sound file.
import { type KeyTable, keysOf, plain } from '../../http/body/exact-keys.ts'
import {
  bytes,
  described,
  either,
  list,
  object,
  open,
  type Schema,
  text,
  word,
} from '../../http/schema.ts'
import { modelField } from '../common/model-field.ts'
import { checkedFields } from '../text/extra-fields.ts'

export const maxFileBytes = 25 * 1024 * 1024

const plainFormats = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const

/** The formats of each call; only a transcription tells speakers apart. */
export const formats = {
  transcriptions: [...plainFormats, 'diarized_json'],
  translations: plainFormats,
} as const
export type Method = keyof typeof formats

/** These may come more than once. */
export const lists: ReadonlySet<string> = new Set([
  ...['timestamp_granularities', 'include', 'languages', 'keywords'],
  ...['known_speaker_names', 'known_speaker_references'],
])

const keys: Record<string, KeyTable | true> = {
  ...plain(
    'file',
    'model',
    'prompt',
    'response_format',
    'temperature',
    'stream',
    'language',
    'user',
  ),
  ...plain(...lists, ...checkedFields),
  chunking_strategy: plain('type', 'prefix_padding_ms', 'threshold'),
}
export const formKeys = keysOf(keys)

const shared = {
  file: bytes(`The sound: wav, mp3, flac, ogg, webm, m4a or mp4, at most ${maxFileBytes} bytes.`),
  model: modelField,
  'prompt?': text('Words that help to understand; passed on.'),
  'temperature?': text('A number from 0 to 1.'),
}

const many = (description: string): Schema => described(list(text()), description)

export const schemas: Readonly<Record<Method, Schema>> = {
  transcriptions: object(
    {
      ...shared,
      'response_format?': word(formats.transcriptions, 'Default `json`.'),
      'language?': text('The language that is spoken.'),
      'stream?': word(['true', 'false'], 'Whether the text comes as events.'),
      'timestamp_granularities[]?': many('`word` and `segment`; passed on.'),
      'include[]?': many('Passed on.'),
      'chunking_strategy?': either(text(), object({ type: text() }, open)),
    },
    open,
  ),
  translations: object(
    { ...shared, 'response_format?': word(formats.translations, 'Default `json`.') },
    open,
  ),
}
