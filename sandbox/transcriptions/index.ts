// The transcriptions protocol as an upstream speaks it: it hears nothing, and says how long the sound was.
import { asObject, asText, invalid, isFault, type Json, missing } from '../http/fields.ts'
import {
  type Answer,
  type Call,
  type Fault,
  jsonAnswer,
  type ProtocolMaker,
  type StreamEvent,
} from '../protocol.ts'
import { failureOf } from '../text/answer-text.ts'
import { plainErrorEvent, plainProtocol } from '../text/plain-protocol.ts'

const formats = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json']
/** Of a file that cannot be measured. */
const bytesPerSecond = 16_000

export const transcriptions: ProtocolMaker = () => ({
  protocol: 'transcriptions',
  ...plainProtocol,
  errorEvent: plainErrorEvent,
  routes: ['transcriptions', 'translations'].map((method) => ({
    method: 'POST',
    path: new RegExp(`^/v1/audio/${method}$`),
    takesForms: true,
    answer: (call) => answer(call, method === 'translations'),
  })),
})

function answer({ fields, directives }: Call, isTranslation: boolean): Answer {
  const request = readRequest(fields)
  if (isFault(request)) return { kind: 'fault', fault: request }
  const fault = failureOf(directives)
  if (fault !== undefined) return { kind: 'fault', fault }
  const { seconds, format, isStream } = request
  const text = `The sandbox has heard ${seconds.toFixed(2)} seconds of sound.`
  const usage = directives.noUsage ? undefined : { type: 'duration', seconds }
  if (isStream && !isTranslation && format.endsWith('json')) {
    return { kind: 'stream', promptTokens: 0, events: eventsOf(text, usage) }
  }
  if (format.endsWith('json')) {
    return jsonAnswer({
      text,
      ...(format === 'verbose_json' && verbose(text, seconds, isTranslation)),
      ...(usage && { usage }),
    })
  }
  return {
    kind: 'whole',
    contentType: 'text/plain; charset=utf-8',
    body: plainText(format, text, seconds),
  }
}

const verbose = (text: string, duration: number, isTranslation: boolean) => ({
  task: isTranslation ? 'translate' : 'transcribe',
  language: 'english',
  duration,
  segments: [{ id: 0, seek: 0, start: 0, end: duration, text }],
})

function* eventsOf(text: string, usage: object | undefined): Iterable<StreamEvent> {
  const event = (value: object): StreamEvent => ({
    wire: `data: ${JSON.stringify(value)}\n\n`,
    outputTokens: 1,
  })
  for (const delta of text.split(/(?<= )/)) yield event({ type: 'transcript.text.delta', delta })
  yield event({ type: 'transcript.text.done', text, ...(usage && { usage }) })
}

function plainText(format: string, text: string, seconds: number): string {
  if (format === 'text') return `${text}\n`
  const end = new Date(seconds * 1_000).toISOString().slice(11, 23)
  if (format === 'vtt') return `WEBVTT\n\n00:00:00.000 --> ${end}\n${text}\n\n`
  return `1\n00:00:00,000 --> ${end.replace('.', ',')}\n${text}\n\n`
}

function readRequest(fields: Json): { seconds: number; format: string; isStream: boolean } | Fault {
  if (asText(fields['model']) === '') return missing('model')
  const { bytes, seconds, sha256 } = asObject(fields['file'])
  if (typeof sha256 !== 'string') return missing('file')
  const format = asText(fields['response_format'] ?? 'json')
  if (!formats.includes(format)) return invalid('response_format', 'Unknown response_format.')
  return {
    seconds: typeof seconds === 'number' ? seconds : Number(bytes) / bytesPerSecond,
    format,
    isStream: fields['stream'] === 'true',
  }
}
