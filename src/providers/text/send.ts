// One text call to one upstream, in any style. Every failure is returned as a value.

import { answerWithoutCosts } from '../../contract/cost-fields.ts'
import type { HttpAnswer } from '../../contract/http.ts'
import type { Stop, TextReply, Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { readable } from '../../lib/http/pipe-by-read.ts'
import { encodeLong, longTextBytes } from '../../lib/json/json-thread.ts'
import { isObject } from '../../lib/json/parse.ts'
import { restoreModel, withField, withModel } from '../../lib/json/splice.ts'
import { countTokens } from '../../lib/text/count-tokens.ts'
import { failure, notAnswered, readTextError, upstreamRequestId } from '../common/errors.ts'
import { finishReasonFrom } from '../common/finish-reason.ts'
import { isRefused, refusedAnswer } from '../common/refused-answer.ts'
import { IdMarks } from './id-marks.ts'
import { isPage, mayBeDeep, parseUpstream, readEvents } from './read-events.ts'
import type { Json, ReadAnswer, TextStyle } from './style.ts'
import { TextStreamWatcher } from './watch-stream.ts'

const maxAnswerBytes = 64 * 1024 * 1024

export async function sendText(
  style: TextStyle,
  call: TextCall,
  upstream: Upstream,
  stop: Stop,
): Promise<TextReply> {
  const made = buildBody(style, call, upstream)
  const body = typeof made === 'string' ? made : await made
  const path = style.pathOf?.(call, upstream) ?? style.path
  const sent = post(style, path, call, upstream, stop, body)
  let answer: HttpAnswer
  try {
    answer = await sent.answer
  } catch (error) {
    return { kind: 'failed', error: notAnswered(error) }
  }
  upstream.progress.touch()
  const requestId = upstreamRequestId(answer)
  if (isRefused(answer)) return refusedAnswer(answer)
  const streamed = isEventStream(answer.header('content-type'))
  if (!call.stream || !streamed || style.stream === undefined) {
    let text: string | undefined
    try {
      text = await answer.text(maxAnswerBytes, upstream.progress)
    } catch (cause) {
      return lost(failed('upstream_error', 'the upstream broke off its answer', requestId, cause))
    }
    return understand(style, call, upstream, { response: answer, requestId, text, streamed })
  }
  answer.expectTrickle()
  return {
    kind: 'stream',
    answer,
    upstreamRequestId: requestId,
    watcher: new TextStreamWatcher(style.stream, call, upstream, requestId),
  }
}

/** Sends the caller's body with the upstream's model name in it. */
export function post(
  style: TextStyle,
  path: string,
  call: TextCall,
  upstream: Upstream,
  stop: Stop,
  body: string | Uint8Array,
): ReturnType<Upstream['http']['post']> {
  const headers = style.headers(call, upstream)
  headers['content-type'] = 'application/json'
  headers['accept'] = call.stream ? 'text/event-stream' : 'application/json'
  headers['accept-encoding'] = 'identity'
  headers['user-agent'] = 'model-gateway'
  const sent = upstream.http.post(upstream.baseUrl + path, headers, body, upstream.timeouts)
  stop.replyBy(sent)
  return sent
}

/** The caller's body with the upstream's model name in it; a long one is built in a thread. */
export function buildBody(
  style: TextStyle,
  call: TextCall,
  upstream: Upstream,
): string | Promise<Uint8Array> {
  const fields = style.fieldsFor?.(call, upstream)
  const isNamed = style.pathOf === undefined
  if (call.body.length > longTextBytes) {
    const model = isNamed && { model: JSON.stringify(upstream.model) }
    return encodeLong(call.body, { ...model, ...fields })
  }
  let body = isNamed ? withModel(call.body, upstream.model) : call.body
  for (const name in fields) body = withField(body, name, fields[name]!)
  return body
}

interface WholeAnswer {
  response: HttpAnswer
  requestId: string | undefined
  text: string | undefined
  streamed: boolean
}

/** The whole answer; converted to the requested form when the upstream mixed up the two. */
function understand(
  style: TextStyle,
  call: TextCall,
  upstream: Upstream,
  { response, requestId, text, streamed }: WholeAnswer,
): TextReply {
  if (text === undefined) return tooLarge(requestId)
  const given = parseAnswer(style, text, streamed)
  if (!isObject(given)) return noAnswer(style, requestId, text)
  const answer = repaired(style, given, text)
  if (answer['error'] != null) {
    return { kind: 'failed', error: readTextError(response, JSON.stringify(answer)) }
  }
  const read = style.readAnswer(answer, call)
  if (read === undefined) return noAnswer(style, requestId, text)
  if ('failed' in read) return { kind: 'failed', error: withId(read.failed, requestId) }
  if (call.stream) return asStream(style, call, upstream, answer, requestId)
  const isAsSent = answer === given && !streamed && text.trimStart().startsWith('{')
  const body = bodyOf(answer, read, isAsSent ? text : undefined)
  const renamed = withName(style, body, answer, call.model)
  const sent = marked(style, upstream, answer, renamed)
  return {
    kind: 'json',
    body: sent,
    ...(sent === text && { parsed: answer }),
    ...(isAsSent && mayBeDeep(text) && { outline: answer }),
    reported: read.reported,
    countOutputTokens: () => countTokens(read.text()),
    upstreamRequestId: requestId,
    ...reasonOf(read),
  }
}

/** Of one that is too deep there is only an outline. */
function repaired({ repair }: TextStyle, given: Json, text: string): Json {
  const answer = repair === undefined ? given : repair(given)
  return answer === given || mayBeDeep(text) ? given : answer
}

/** For the caller: as the upstream sent it, without what tells the operator's costs. */
function bodyOf(answer: Json, { body }: ReadAnswer, sent: string | undefined): string {
  const shown = answerWithoutCosts(answer)
  if (shown !== answer) {
    return JSON.stringify(body === undefined ? shown : answerWithoutCosts(JSON.parse(body)))
  }
  return body ?? sent ?? JSON.stringify(answer)
}

function reasonOf(read: ReadAnswer): { finishReason: string } | undefined {
  const finishReason = finishReasonFrom(read.finishReason)
  return finishReason === undefined ? undefined : { finishReason }
}

function marked(style: TextStyle, { markFor }: Upstream, answer: Json, body: string): string {
  if (markFor === undefined || style.ids === undefined) return body
  const marks = new IdMarks(markFor)
  style.ids(answer, marks)
  return marks.inText(body)
}

const isEventStream = (type: string | undefined): boolean =>
  type !== undefined && /event-stream/i.test(type)

/** The caller's name for the model in the answer, whatever the upstream calls it. */
function withName(style: TextStyle, body: string, answer: Json, model: string): string {
  const fields = style.stream?.modelFields
  if (fields !== undefined) {
    const field = fields.find((each) => typeof answer[each] === 'string')
    return field === undefined || answer[field] === model ? body : restoreModel(body, model, field)
  }
  if (answer['model'] === model) return body
  return typeof answer['model'] === 'string'
    ? withModel(body, model)
    : withField(body, 'model', JSON.stringify(model))
}

function parseAnswer(style: TextStyle, text: string, streamed: boolean): unknown {
  if (streamed) return style.stream?.toAnswer(readEvents(style, text) ?? [])
  const value = parseUpstream(text)
  const isList = style.stream?.lists === true && Array.isArray(value)
  return isList ? style.stream?.toAnswer(value.filter(isObject)) : value
}

/** A whole answer converted to the requested stream. */
function asStream(
  style: TextStyle,
  call: TextCall,
  upstream: Upstream,
  answer: Json,
  requestId: string | undefined,
): TextReply {
  if (style.stream === undefined) return noAnswer(style, requestId)
  const played = playedAnswer(Buffer.from(style.stream.fromAnswer(answer).join('')))
  const watcher = new TextStreamWatcher(style.stream, call, upstream, requestId)
  return { kind: 'stream', answer: played, watcher, upstreamRequestId: requestId }
}

/** A body that is all there. */
function playedAnswer(bytes: Uint8Array): HttpAnswer {
  let rest: Uint8Array | undefined = bytes
  const read = () => {
    const next = rest
    rest = undefined
    return Promise.resolve(next)
  }
  return {
    status: 200,
    header: () => undefined,
    text: () => Promise.resolve(undefined),
    ...readable(read),
    cancel() {},
    release() {},
    expectTrickle() {},
  }
}

/** Callers can have a model answer at any length: it says nothing about the channel. */
function tooLarge(requestId: string | undefined): TextReply {
  const message =
    'the upstream gave an answer that is larger than the gateway takes; ask for a stream'
  const { kind, error } = lost(failed('upstream_invalid_response', message, requestId))
  return { kind, error: { ...error, about: 'answer' } }
}

function noAnswer(style: TextStyle, requestId: string | undefined, text = ''): TextReply {
  const message = `the upstream answered with something that is not ${style.noun}`
  const reply = failed('upstream_invalid_response', message, requestId)
  // An HTML page comes from a proxy in front of the upstream.
  return isPage(text) ? reply : lost(reply, countTokens(text))
}

/** The upstream had begun: its work is a loss, not charged to the caller. */
function lost<T extends Extract<TextReply, { kind: 'failed' }>>(reply: T, outputTokens = 0): T {
  return { ...reply, error: { ...reply.error, begun: true, outputTokens } }
}

const withId = <T extends object>(error: T, requestId: string | undefined): T =>
  requestId === undefined ? error : { ...error, upstreamRequestId: requestId }

const failed = (...parts: Parameters<typeof failure>): Extract<TextReply, { kind: 'failed' }> => ({
  kind: 'failed',
  error: failure(...parts),
})
