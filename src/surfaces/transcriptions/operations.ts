// Transcriptions as documents describe them.
import { type Operation, rateNames, workRefusals } from '../../http/operation.ts'
import { either, named, number, object, open, type Schema, text, word } from '../../http/schema.ts'
import { streamError } from '../text/operations.ts'
import { type Method, schemas } from './request-fields.ts'

const usage = object({ type: word(['duration', 'tokens']), 'seconds?': number(0) }, open)
const written = named(
  'Transcription',
  object({ text: text(), 'duration?': number(0, undefined, 'Seconds.'), 'usage?': usage }, open),
)
const event = named(
  'TranscriptionEvent',
  either(
    object({ type: word(['transcript.text.delta']), delta: text() }, open),
    object({ type: word(['transcript.text.segment']), text: text() }, open),
    object({ type: word(['transcript.text.done']), text: text(), 'usage?': usage }, open),
    streamError(),
  ),
)

const stream = {
  schema: text('Server-sent events; each `data:` is JSON as described.'),
  events: { schema: event },
}

const operation = (
  method: Method,
  of: Pick<Operation, 'id' | 'summary' | 'description'>,
  body: Schema,
): Operation => ({
  ...of,
  method: 'post',
  path: `/v1/audio/${method}`,
  tag: 'Audio',
  credential: 'token',
  body: { content: { 'multipart/form-data': { schema: body } }, required: true },
  answers: [
    {
      status: 200,
      description: 'The text, in the format that was asked for.',
      headers: rateNames,
      content: {
        'application/json': { schema: written },
        'text/plain': { schema: text() },
        ...(method === 'transcriptions' && { 'text/event-stream': stream }),
      },
    },
  ],
  refusals: workRefusals,
})

export const transcriptionsOperations: readonly Operation[] = [
  operation(
    'transcriptions',
    {
      id: 'createTranscription',
      summary: 'Write down what is said in a sound file',
      description: 'As JSON, as a text, as subtitles, or as events with `stream: true`.',
    },
    named('TranscriptionForm', schemas.transcriptions),
  ),
  operation(
    'translations',
    {
      id: 'createTranslation',
      summary: 'Write down in English what is said in a sound file',
      description: 'As JSON, as a text or as subtitles.',
    },
    named('TranslationForm', schemas.translations),
  ),
]
