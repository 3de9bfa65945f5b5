// Upstreams that write down what is said in a sound file, in its language or in English: as JSON, as a text or
// subtitles, or as events.
import { isObject } from '../../lib/json/parse.ts'
import { readTokens } from '../calls/read-tokens.ts'
import type { CallAnswer, CallStyle } from '../calls/style.ts'
import { readErrorEvent } from '../common/errors.ts'
import type { Json, StreamState, StreamStyle, Verdict } from '../text/style.ts'
import { encodeForm } from './encode-form.ts'

const stream: StreamStyle = {
  unread: { without: ['.done"', '"usage"', '"error"', '"cost', '"provider'] },
  read,
  // The last event has all of the text.
  ending: () => undefined,
  textField: /"delta"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)"/g,
  fromAnswer,
  toAnswer: () => undefined,
}

const textFormats: ReadonlySet<unknown> = new Set(['text', 'srt', 'vtt'])

export const transcriptionsStyle: CallStyle = {
  protocol: 'transcriptions',
  path: '/audio/transcriptions and /audio/translations',
  pathOf: ({ method }) => `/audio/${method ?? 'transcriptions'}`,
  noun: 'a transcription',
  encode: encodeForm,
  formOf: ({ fields }) => (textFormats.has(fields['response_format']) ? 'text' : 'json'),
  readAnswer,
  stream,
}

function readAnswer(answer: Json): CallAnswer | undefined {
  const { text } = answer
  return typeof text === 'string' ? { reported: reportedBy(answer), text } : undefined
}

const reportedBy = ({ usage, duration }: Json) =>
  readTokens(usage, secondsIn(isObject(usage) ? (usage['seconds'] ?? duration) : duration))

/** Some write the number as a text. */
function secondsIn(value: unknown): number | undefined {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '')
  const seconds = isNumber ? Number(value) : Number.NaN
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}

function read(data: Json, state: StreamState): Verdict {
  const { type, error } = data
  if (isObject(error) || type === 'error') {
    return { failed: readErrorEvent(error ?? data, state.upstreamRequestId) }
  }
  if (type !== 'transcript.text.done') return 'pass'
  state.reported = reportedBy(data)
  return 'last'
}

/** For upstreams that do not stream. */
function fromAnswer({ text, usage, duration }: Json): string[] {
  const seconds = secondsIn(duration)
  const said = usage ?? (seconds === undefined ? undefined : { type: 'duration', seconds })
  return [
    { type: 'transcript.text.delta', delta: text },
    { type: 'transcript.text.done', text, ...(said !== undefined && { usage: said }) },
  ].map((event) => `data: ${JSON.stringify(event)}\n\n`)
}
