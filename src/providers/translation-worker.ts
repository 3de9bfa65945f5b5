// The thread that translates large requests and reads large answers, one after the other.
import { Refusal } from '../contract/errors.ts'
import type { Reported, StreamWatcher, UpstreamError } from '../contract/provider.ts'
import { collectSoon } from '../lib/collect-soon.ts'
import { isObject } from '../lib/json/parse.ts'
import { trimmed } from '../lib/json/trim.ts'
import { lowerPriority } from '../lib/lower-priority.ts'
import { createEnvelopes } from '../styles/common/envelope.ts'
import { RenamedTools } from '../styles/common/tool-names.ts'
import { readRequest, writeRequest } from '../styles/common/translate-request.ts'
import { embeddingStyles, styles, upstreamStyles } from '../styles/index.ts'
import { converseStyle } from './bedrock/converse.ts'
import { callStyles } from './call-styles.ts'
import { writtenCall } from './calls/request.ts'
import type { CallStyle } from './calls/style.ts'
import { readWhole } from './calls/whole-answer.ts'
import { chatStyle } from './chat/index.ts'
import { embeddingsStyle } from './embeddings/index.ts'
import { generateStyle } from './generate/index.ts'
import { messagesStyle } from './messages/index.ts'
import { responsesStyle } from './responses/index.ts'
import { resultReaders } from './text/batches/result-line.ts'
import { IdMarks } from './text/id-marks.ts'
import type {
  AnswerNotes,
  AnswerPlan,
  AnswerReply,
  AnswerResult,
  CallNotes,
  CallPlan,
  CallResult,
  LineResult,
  PlainResult,
  PlainWork,
  RequestResult,
  StreamPlan,
  StreamRest,
  StreamResult,
  ThreadResult,
  ThreadWork,
  TranslatedRest,
  TranslatedResult,
  VectorPlan,
  VectorResult,
} from './text/large/thread-work.ts'
import { writeVectors } from './text/large/write-vectors.ts'
import { mayBeDeep, parseUpstream } from './text/read-events.ts'
import type { Json, TextStyle } from './text/style.ts'
import { TranslatedStream } from './text/translated-stream.ts'
import { understand } from './text/understand.ts'
import { TextStreamWatcher } from './text/watch-stream.ts'
import { writeAnswer } from './text/write-answer.ts'

declare const self: Worker

const textStyles: ReadonlyMap<string, TextStyle> = new Map(
  [chatStyle, responsesStyle, messagesStyle, generateStyle, converseStyle, embeddingsStyle].map(
    (style) => [style.protocol, style],
  ),
)

const callStyleOf: ReadonlyMap<string, CallStyle> = new Map(
  callStyles.map((style) => [style.protocol, style]),
)

lowerPriority()

self.onmessage = ({ data }: MessageEvent<ThreadWork>) => {
  const result = resultOf(data)
  const parts = result instanceof Uint8Array ? [result] : Object.values(result)
  self.postMessage(
    result,
    parts.flatMap((part) => (part instanceof Uint8Array ? [part.buffer as ArrayBuffer] : [])),
  )
  collectSoon(data)
}

function resultOf(data: ThreadWork): ThreadResult {
  if ('work' in data) return translated(data)
  if ('answer' in data) return understood(data)
  if ('callPlan' in data) return encoded(requestOf(data))
  if ('callAnswer' in data) return readCall(data)
  if ('line' in data) return resultOfLine(data)
  if ('vectorPlan' in data) return vectorsOf(data)
  if ('plan' in data) return written(data)
  if ('streamPlan' in data) return streamed(data)
  return encoded(withMarks(data))
}

const encoded = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

function translated({ work: given, body }: { work: string; body: string }): RequestResult {
  const { from, to, envelopeKey, ...rest } = JSON.parse(given) as PlainWork
  const key = Buffer.from(envelopeKey, 'base64')
  const work = { ...rest, from: styles[from], to: upstreamStyles[to], envelopeKey: key }
  const made = writeRequest(work, readRequest(work, body), body)
  if (made instanceof Refusal) {
    const { code, message, extras } = made
    return { code, message, param: extras.param }
  }
  const { body: text, names, ...noted } = made
  const result: PlainResult = { ...noted, answerTool: names.answerTool }
  return { body: text, rest: JSON.stringify(result), names: names.renamedText }
}

const byteOrderMark = 0xfeff

function textOf(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text
}

function understood({ answer, notes }: { answer: Uint8Array; notes: string }): AnswerResult {
  const given = JSON.parse(notes) as AnswerNotes
  const { model, stream, makes, encodingFormat, status, headers, requestId, streamed } = given
  const call = {
    model,
    stream,
    fields: { encoding_format: encodingFormat },
    ...(makes !== undefined && { makes }),
  }
  const response = { status, header: (name: string) => headers[name] }
  const ids: string[] = []
  const learn = (id: string): string => {
    ids.push(id)
    return ''
  }
  const whole = { response, requestId, text: textOf(answer), streamed }
  const made = understand(textStyles.get(given.protocol)!, call, learn, whole)
  if (made.kind === 'failed')
    return { reply: replyText({ kind: 'failed', error: short(made.error) }) }
  if (made.kind === 'events') {
    const outputTokens = made.countOutputTokens()
    const reported = shortReported(made.reported)
    const reply = replyText({ kind: 'events', reported, outputTokens })
    const events = encoded(made.events)
    return { reply, ...(given.watching === undefined ? { body: events } : watched(given, events)) }
  }
  const { body, reported, finishReason } = made
  const reply: AnswerReply = {
    kind: 'json',
    reported: shortReported(reported),
    outputTokens: made.countOutputTokens(),
    ...(finishReason !== undefined && { finishReason }),
  }
  return {
    reply: replyText(reply),
    body: given.wantsText ? body : encoded(body as string),
    ...(ids.length > 0 && { ids: JSON.stringify(ids) }),
  }
}

function watched({ protocol, model, watching, requestId }: AnswerNotes, events: Uint8Array) {
  const { upstreamModel, ...call } = watching!
  const style = textStyles.get(protocol)!.stream!
  const upstream = { model: upstreamModel }
  return played(new TextStreamWatcher(style, { ...call, model }, upstream, requestId), events)
}

function requestOf({ callPlan, request }: { callPlan: string; request: string }): string {
  const { protocol, ...upstream } = JSON.parse(callPlan) as CallPlan
  const given = { body: request, fields: JSON.parse(request) }
  return writtenCall(callStyleOf.get(protocol)!, given, upstream)
}

function readCall(data: Extract<ThreadWork, { callAnswer: Uint8Array }>): CallResult {
  const { protocol, model, stream, format, status, headers } = JSON.parse(
    data.callNotes,
  ) as CallNotes
  const fields = data.request === '' ? { response_format: format } : JSON.parse(data.request)
  const head = { status, header: (name: string) => headers[name] }
  const text = textOf(data.callAnswer)
  const made = readWhole(callStyleOf.get(protocol)!, { model, stream, fields }, head, text)
  if (made.kind === 'failed') return { rest: JSON.stringify({ ...made, error: short(made.error) }) }
  if (!('body' in made)) return { rest: JSON.stringify(made) }
  const { body, ...rest } = made
  const shown = 'reported' in rest ? { ...rest, reported: shortReported(rest.reported) } : rest
  return { rest: JSON.stringify(shown), body: encoded(body) }
}

function resultOfLine({ line, resultForm }: Extract<ThreadWork, { line: Uint8Array }>): LineResult {
  const made = resultReaders[resultForm](textOf(line).trim())
  if (made === undefined) return {}
  if (!('body' in made)) return { rest: JSON.stringify(made) }
  const { body, ...rest } = made
  return { rest: JSON.stringify(rest), body: encoded(body) }
}

const shortReported = (reported: Reported): Reported => ({
  ...reported,
  raw: trimmed(reported.raw),
})

const replyText = (reply: AnswerReply): string => JSON.stringify(reply)

/** More of it is read nowhere. */
const maxErrorText = 16_000

const short = (error: UpstreamError): UpstreamError => ({
  ...error,
  message: error.message.slice(0, maxErrorText),
})

function contextsOf(
  { realm, envelopeKey, answerTool, writing }: AnswerPlan,
  { names, fields }: { names: string; fields: string },
) {
  const envelopes = createEnvelopes(Buffer.from(envelopeKey, 'base64'))
  return {
    reading: { names: new RenamedTools(answerTool, names), envelopes, realm },
    writing: { ...writing, fields: JSON.parse(fields), envelopes },
  }
}

function written(data: Extract<ThreadWork, { plan: string }>): TranslatedResult {
  const plan = JSON.parse(data.plan) as AnswerPlan
  const { from, to, usage } = plan
  const given = { body: data.body, ...outlineOf(data.body) }
  const made = writeAnswer(
    styles[from],
    upstreamStyles[to],
    contextsOf(plan, data),
    given,
    () => usage,
  )
  if ('code' in made) return { rest: restText({ failure: short(made) }) }
  const { body, ...rest } = made
  return { rest: restText(rest), body: encoded(body) }
}

function vectorsOf({ vectorPlan, body }: { vectorPlan: string; body: string }): VectorResult {
  const { from, to, ...asked } = JSON.parse(vectorPlan) as VectorPlan
  const made = writeVectors(embeddingStyles[from], embeddingStyles[to], asked, body)
  return made === undefined ? {} : { body: encoded(made) }
}

/** As much as a stream brings at once. */
const takenBytes = 64 * 1024

function streamed(data: Extract<ThreadWork, { streamPlan: string }>): StreamResult {
  const plan = JSON.parse(data.streamPlan) as StreamPlan
  const { from, to, call, requestId, usage } = plan
  const { reading, writing } = contextsOf(plan, data)
  const style = textStyles.get(to)!.stream!
  const watcher = new TextStreamWatcher(style, call, { model: call.model }, requestId)
  const [reader, writer] = [upstreamStyles[to].newReader(reading), styles[from].newWriter(writing)]
  const given = { watcher, upstreamRequestId: requestId }
  const stream = new TranslatedStream(given, reader, writer, () => usage)
  return played(stream, data.events)
}

/** A whole stream, as it comes to its watcher. */
function played(stream: StreamWatcher, all: Uint8Array): StreamResult {
  const parts: Uint8Array[] = []
  for (let at = 0; at < all.length; at += takenBytes) {
    const out = stream.take(all.slice(at, at + takenBytes))
    if (out !== undefined) parts.push(out)
  }
  stream.close()
  const { outcome, losses, events, ending } = stream
  const finishReason = stream.finishReason()
  const rest: StreamRest = {
    reported: shortReported(stream.reported),
    events,
    outputTokens: stream.countOutputTokens(),
    ...(losses !== undefined && { losses }),
    ...(outcome !== undefined && { outcome }),
    ...(finishReason !== undefined && { finishReason }),
  }
  return {
    rest: JSON.stringify(rest),
    body: new Uint8Array(Buffer.concat(parts)),
    ...(ending !== undefined && { ending: new Uint8Array(ending) }),
  }
}

/** Of a body that is too deep to be read. */
function outlineOf(body: string): { outline: Json } | undefined {
  const outline = mayBeDeep(body) ? parseUpstream(body) : undefined
  return isObject(outline) ? { outline } : undefined
}

const restText = (rest: TranslatedRest): string => JSON.stringify(rest)

function withMarks({ marks, body }: { marks: string; body: string }): string {
  const known = new Map(JSON.parse(marks) as [string, string][])
  const places = new IdMarks((id) => known.get(id) ?? '')
  for (const id of known.keys()) places.learn(id)
  return places.inText(body)
}
