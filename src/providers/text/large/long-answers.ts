// Large answers are read, translated and encoded in the thread that translates, so that other callers need not
// wait for them. What comes back is what the same functions give without it.

import type { HttpAnswer } from '../../../contract/http.ts'
import type { Reported, TextReply, Upstream, UpstreamError } from '../../../contract/provider.ts'
import type { TextCall } from '../../../contract/requests.ts'
import { ensure } from '../../../lib/ensure.ts'
import { mapInTurns } from '../../../lib/turns.ts'
import { present } from '../../../styles/common/request-reading.ts'
import { failure, readHeaders, upstreamRequestId } from '../../common/errors.ts'
import type { TextStyle } from '../style.ts'
import type { UnderstoodLong } from '../understand.ts'
import { playedAnswer } from './played-answer.ts'
import { ReadyStream } from './ready-stream.ts'
import type {
  AnswerNotes,
  AnswerPlan,
  AnswerReply,
  AnswerResult,
  StreamPlan,
  StreamRest,
  StreamResult,
  TranslatedRest,
  TranslatedResult,
} from './thread-work.ts'
import { translationThread } from './translation-thread.ts'

/** Smaller answers take a few milliseconds, whatever their shape. */
export const longAnswerBytes = 64 * 1024

type StreamReply = Extract<TextReply, { kind: 'stream' }>
type WholeStream = NonNullable<StreamReply['whole']>
type JsonReply = Extract<TextReply, { kind: 'json' }>

/** The bytes are gone for the caller. */
export async function understandLong(
  style: TextStyle,
  call: TextCall,
  upstream: Upstream,
  response: HttpAnswer,
  bytes: Uint8Array<ArrayBuffer>,
  streamed: boolean,
): Promise<UnderstoodLong> {
  const requestId = upstreamRequestId(response)
  const { queueKey = '' } = upstream
  const notes = JSON.stringify(notesOf(style, call, upstream, response, streamed))
  try {
    const message = { answer: bytes, notes }
    const result = (await translationThread.run(queueKey, message, [bytes.buffer])) as AnswerResult
    const reply = JSON.parse(result.reply) as AnswerReply
    if (reply.kind === 'failed') return reply
    if (reply.kind === 'events') return eventsOf(reply, result, requestId)
    const { body, ids } = result
    ensure(body !== undefined, 'an answer has a body')
    const { outputTokens, ...rest } = reply
    const { markFor } = upstream
    const isAgain = markFor !== undefined && ids !== undefined && typeof body === 'string'
    return {
      ...rest,
      body: isAgain ? await withMarks(queueKey, body, JSON.parse(ids), markFor) : body,
      countOutputTokens: () => outputTokens,
      upstreamRequestId: requestId,
    }
  } catch (cause) {
    return { kind: 'failed', error: unread(requestId, cause) }
  }
}

/** As the caller gets them, or to be watched or translated. */
function eventsOf(
  { reported, outputTokens }: Extract<AnswerReply, { kind: 'events' }>,
  { body, rest, ending }: AnswerResult,
  requestId: string | undefined,
): UnderstoodLong {
  ensure(body instanceof Uint8Array, 'events are encoded')
  if (rest === undefined) return { kind: 'whole', whole: { events: body, reported, outputTokens } }
  return readyStream(reported, { rest, body, ...present({ ending }) }, requestId)
}

/** `reported` by the whole answer, which says more of how it was served. */
function readyStream(
  { served }: Reported,
  { rest, body, ending }: StreamResult,
  upstreamRequestId: string | undefined,
): StreamReply {
  const watcher = new ReadyStream(JSON.parse(rest) as StreamRest, body.length, ending)
  watcher.served = served
  return { kind: 'stream', answer: playedAnswer(body), watcher, upstreamRequestId }
}

function notesOf(
  style: TextStyle,
  call: TextCall,
  { model: upstreamModel, markFor, translating }: Upstream,
  response: HttpAnswer,
  streamed: boolean,
): AnswerNotes {
  const headers: Record<string, string> = {}
  for (const name of readHeaders) {
    const value = response.header(name)
    if (value !== undefined) headers[name] = value
  }
  const { stream, model, makes, fields, choices, wantsUsage } = call
  const { encoding_format: encodingFormat } = fields
  const isMarked = markFor !== undefined && style.ids !== undefined
  const isTranslated = translating !== undefined
  const isWatched = stream && !isMarked && !isTranslated
  return {
    protocol: style.protocol,
    streamed,
    stream,
    model,
    status: response.status,
    headers,
    wantsText: isTranslated || (isMarked && !stream),
    ...present({ makes, encodingFormat, requestId: upstreamRequestId(response) }),
    ...(isWatched && { watching: { choices, wantsUsage, upstreamModel } }),
  }
}

async function withMarks(
  queueKey: string,
  body: string,
  ids: readonly string[],
  markFor: (id: string) => string,
): Promise<Uint8Array<ArrayBuffer>> {
  const marks = await mapInTurns(ids, (id): [string, string] => [id, markFor(id)])
  const message = { body, marks: JSON.stringify(marks) }
  return (await translationThread.run(queueKey, message)) as Uint8Array<ArrayBuffer>
}

/** The answer of a call in another style; a failure, if it has one. */
export async function translateLongAnswer(
  plan: AnswerPlan,
  texts: { fields: string; names: string },
  reply: JsonReply,
  queueKey = '',
): Promise<
  { body: Uint8Array<ArrayBuffer>; losses: readonly string[]; hasCalls: boolean } | UpstreamError
> {
  const { body, upstreamRequestId: id } = reply
  ensure(typeof body === 'string', 'a translated answer is a text')
  try {
    const message = { plan: JSON.stringify(plan), body, ...texts }
    const result = (await translationThread.run(queueKey, message)) as TranslatedResult
    const rest = JSON.parse(result.rest) as TranslatedRest
    if ('failure' in rest) return rest.failure
    return { ...rest, body: result.body! }
  } catch (cause) {
    return unread(id, cause)
  }
}

/** The same for events that a large answer was made into. */
export async function translateLongStream(
  plan: StreamPlan,
  texts: { fields: string; names: string },
  { events, reported }: WholeStream,
  queueKey = '',
): Promise<TextReply> {
  try {
    const message = { streamPlan: JSON.stringify(plan), events, ...texts }
    const result = await translationThread.run(queueKey, message, [events.buffer])
    return readyStream(reported, result as StreamResult, plan.requestId)
  } catch (cause) {
    return { kind: 'failed', error: unread(plan.requestId, cause) }
  }
}

/** Not the upstream's fault; its work is a loss. */
export function unread(requestId: string | undefined, cause: unknown): UpstreamError {
  const message = 'the answer could not be read; try again'
  const error = failure('overloaded', message, requestId, cause)
  return { ...error, about: 'answer', begun: true, retryAfterSeconds: 1 }
}
