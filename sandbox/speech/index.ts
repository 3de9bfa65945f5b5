// The speech protocol as an upstream speaks it: a tone or silence as long as the text would take, as a file or as
// events with pieces of it.
import { soundFormats, soundOf } from '../audio/encode.ts'
import { asObject, asText, invalid, isFault, type Json, missing } from '../http/fields.ts'
import type { Answer, Call, Fault, ProtocolMaker, StreamEvent } from '../protocol.ts'
import { failureOf } from '../text/answer-text.ts'
import { plainErrorEvent, plainProtocol } from '../text/plain-protocol.ts'
import { countTokens } from '../text/tokens.ts'

const charactersPerSecond = 15
const tokensPerSecond = 20
const pieceBytes = 4_096

export const speech: ProtocolMaker = () => ({
  protocol: 'speech',
  ...plainProtocol,
  errorEvent: plainErrorEvent,
  routes: [{ method: 'POST', path: /^\/v1\/audio\/speech$/, answer }],
})

function answer({ fields, directives }: Call): Answer {
  const request = readRequest(fields)
  if (isFault(request)) return { kind: 'fault', fault: request }
  const fault = failureOf(directives)
  if (fault !== undefined) return { kind: 'fault', fault }
  const { input, format, seconds, isEvents } = request
  const sound = soundOf(format, seconds)
  const promptTokens = countTokens(input)
  if (!isEvents) {
    const counts = { promptTokens, completionTokens: 0 }
    return { kind: 'whole', contentType: sound.contentType, body: sound.bytes, counts }
  }
  const output_tokens = Math.ceil(seconds * tokensPerSecond)
  const total_tokens = promptTokens + output_tokens
  const usage = { input_tokens: promptTokens, output_tokens, total_tokens }
  const events = eventsOf(sound.bytes, directives.noUsage ? undefined : usage)
  return { kind: 'stream', promptTokens, events }
}

function* eventsOf(bytes: Uint8Array, usage: object | undefined): Iterable<StreamEvent> {
  const event = (value: object): StreamEvent => ({
    wire: `data: ${JSON.stringify(value)}\n\n`,
    outputTokens: 1,
  })
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const audio = Buffer.from(bytes.subarray(at, at + pieceBytes)).toString('base64')
    yield event({ type: 'speech.audio.delta', audio })
  }
  yield event({ type: 'speech.audio.done', ...(usage && { usage }) })
}

interface SpeechRequest {
  input: string
  format: string
  seconds: number
  isEvents: boolean
}

function readRequest(fields: Json): SpeechRequest | Fault {
  if (asText(fields['model']) === '') return missing('model')
  const input = asText(fields['input'])
  if (input === '') return missing('input')
  if (asText(asObject(fields['voice'])['id'] ?? fields['voice']) === '') return missing('voice')
  const format = asText(fields['response_format'] ?? 'mp3')
  if (!soundFormats.includes(format)) {
    return invalid(
      'response_format',
      `'response_format' must be one of ${soundFormats.join(', ')}.`,
    )
  }
  const speed = Number(fields['speed'] ?? 1)
  if (!(speed >= 0.25 && speed <= 4)) return invalid('speed', "'speed' must be from 0.25 to 4.")
  const seconds = Math.max(0.2, input.length / charactersPerSecond / speed)
  return { input, format, seconds, isEvents: fields['stream_format'] === 'sse' }
}
