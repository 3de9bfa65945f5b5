// The speech interface as documents describe it; the request comes from the table that the parser uses.
import { json, type Operation, rateNames, workRefusals } from '../../http/operation.ts'
import { bytes, either, named, object, open, text, word } from '../../http/schema.ts'
import { streamError, tokenCount } from '../text/operations.ts'
import { schemaOf } from '../text/request-fields.ts'
import { speechFields } from './request-fields.ts'

const event = named(
  'SpeechEvent',
  either(
    object(
      { type: word(['speech.audio.delta']), audio: text('A piece of the file in base64.') },
      open,
    ),
    object(
      {
        type: word(['speech.audio.done']),
        'usage?': object(
          { input_tokens: tokenCount('Input.'), output_tokens: tokenCount('Output.') },
          open,
        ),
      },
      open,
    ),
    streamError(),
  ),
)

export const speechOperations: readonly Operation[] = [
  {
    id: 'createSpeech',
    method: 'post',
    path: '/v1/audio/speech',
    tag: 'Audio',
    summary: 'Speak a text',
    description: 'The answer is a file, or events with `stream_format: sse`.',
    credential: 'token',
    body: {
      content: json(named('SpeechRequest', schemaOf(speechFields)), {
        mp3: { model: 'ttsa-plus', input: 'Good morning.', voice: 'alloy' },
        wav: {
          model: 'ttsa-plus',
          input: 'Hi.',
          voice: 'alloy',
          response_format: 'wav',
          speed: 1.5,
        },
        events: { model: 'ttsa-plus', input: 'Hi.', voice: { id: 'alloy' }, stream_format: 'sse' },
      }),
      required: true,
    },
    answers: [
      {
        status: 200,
        description: 'The sound.',
        headers: rateNames,
        content: {
          'audio/mpeg': { schema: bytes() },
          'audio/wav': { schema: bytes() },
          'text/event-stream': {
            schema: text('Server-sent events; each `data:` is JSON as described.'),
            events: { schema: event },
          },
        },
      },
    ],
    refusals: workRefusals,
  },
]
