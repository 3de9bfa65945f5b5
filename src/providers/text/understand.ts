// A whole answer of an upstream, in any style: what it reports, and its body for the caller. Plain data in and
// out, so that a thread can do the work for a large one.

import { answerWithoutCosts } from '../../contract/cost-fields.ts'
import type { Reported, TextReply } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { restoreModel, withField, withModel } from '../../lib/json/splice.ts'
import { countTokens } from '../../lib/text/count-tokens.ts'
import { type AnswerHead, failure, readTextError } from '../common/errors.ts'
import { finishReasonFrom } from '../common/finish-reason.ts'
import { IdMarks } from './id-marks.ts'
import { isPage, mayBeDeep, parseUpstream, readEvents } from './read-events.ts'
import type { Json, ReadAnswer, TextStyle } from './style.ts'

interface WholeAnswer {
  response: AnswerHead
  requestId: string | undefined
  text: string
  streamed: boolean
}

/** What an answer has to fit. */
type AnsweredCall = Pick<TextCall, 'model' | 'stream' | 'fields' | 'makes'>

type StreamReply = Extract<TextReply, { kind: 'stream' }>
type Failed = Extract<TextReply, { kind: 'failed' }>

type Answered = Exclude<TextReply, { kind: 'stream' }>

/** `events`: the answer as the stream that was asked for. */
export type Understood =
  | Answered
  | { kind: 'events'; events: string; reported: Reported; countOutputTokens: () => number }

/** The same of a large one; `whole`: it is not yet as the caller gets it. */
export type UnderstoodLong = TextReply | { kind: 'whole'; whole: NonNullable<StreamReply['whole']> }

/** The whole answer; converted to the requested form when the upstream mixed up the two. */
export function understand(
  style: TextStyle,
  call: AnsweredCall,
  markFor: ((id: string) => string) | undefined,
  { response, requestId, text, streamed }: WholeAnswer,
): Understood {
  const given = parseAnswer(style, text, streamed)
  if (!isObject(given)) return noAnswer(style, requestId, text)
  const answer = repaired(style, given, text)
  if (answer['error'] != null) {
    return { kind: 'failed', error: readTextError(response, JSON.stringify(answer)) }
  }
  const read = style.readAnswer(answer, call)
  if (read === undefined) return noAnswer(style, requestId, text)
  if ('failed' in read) return { kind: 'failed', error: withId(read.failed, requestId) }
  if (call.stream) {
    if (style.stream === undefined) return noAnswer(style, requestId)
    return {
      kind: 'events',
      events: style.stream.fromAnswer(streamable(answer)).join(''),
      reported: read.reported,
      countOutputTokens: () => countTokens(read.text()),
    }
  }
  const isAsSent = answer === given && !streamed && text.trimStart().startsWith('{')
  const body = bodyOf(answer, read, isAsSent ? text : undefined)
  const renamed = withName(style, body, answer, call.model)
  const sent = marked(style, markFor, answer, renamed)
  return {
    kind: 'json',
    body: sent,
    parsed: sent === text ? answer : undefined,
    outline: isAsSent && mayBeDeep(text) ? answer : undefined,
    reported: read.reported,
    countOutputTokens: () => countTokens(read.text()),
    finishReason: finishReasonFrom(read.finishReason),
    upstreamRequestId: requestId,
  }
}

/** Of one that is too deep there is only an outline. */
function repaired({ repair }: TextStyle, given: Json, text: string): Json {
  const answer = repair === undefined ? given : repair(given)
  return answer === given || mayBeDeep(text) ? given : answer
}

/** Events without usage are not parsed again; what the usage tells of costs is for the operator's log. */
function streamable(answer: Json): Json {
  const shown = answerWithoutCosts(answer)
  if (shown === answer) return answer
  const { usage, usageMetadata } = answer
  return {
    ...shown,
    ...(usage != null && { usage }),
    ...(usageMetadata != null && { usageMetadata }),
  }
}

/** For the caller: as the upstream sent it, without what tells the operator's costs. */
function bodyOf(answer: Json, { body }: ReadAnswer, sent: string | undefined): string {
  const shown = answerWithoutCosts(answer)
  if (shown !== answer) {
    return JSON.stringify(body === undefined ? shown : answerWithoutCosts(JSON.parse(body)))
  }
  return body ?? sent ?? JSON.stringify(answer)
}

function marked(
  style: TextStyle,
  markFor: ((id: string) => string) | undefined,
  answer: Json,
  body: string,
): string {
  if (markFor === undefined || style.ids === undefined) return body
  const marks = new IdMarks(markFor)
  style.ids(answer, marks)
  return marks.inText(body)
}

/** The caller's name for the model in the answer, whatever the upstream calls it. */
function withName(style: TextStyle, body: string, answer: Json, model: string): string {
  const fields = style.stream?.modelFields
  if (fields !== undefined) {
    for (const field of fields) {
      if (typeof answer[field] !== 'string') continue
      return answer[field] === model ? body : restoreModel(body, model, field)
    }
    return body
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

/** Callers can have a model answer at any length: it says nothing about the channel. */
export function tooLarge(requestId: string | undefined): Failed {
  const message =
    'the upstream gave an answer that is larger than the gateway takes; ask for a stream'
  const { kind, error } = lost(failed('upstream_invalid_response', message, requestId))
  return { kind, error: { ...error, about: 'answer' } }
}

function noAnswer(style: TextStyle, requestId: string | undefined, text = ''): Failed {
  const message = `the upstream answered with something that is not ${style.noun}`
  const reply = failed('upstream_invalid_response', message, requestId)
  // An HTML page comes from a proxy in front of the upstream.
  return isPage(text) ? reply : lost(reply, countTokens(text))
}

/** The upstream had begun: its work is a loss, not charged to the caller. */
export function lost<T extends Failed>(reply: T, outputTokens = 0): T {
  return { ...reply, error: { ...reply.error, begun: true, outputTokens } }
}

const withId = <T extends object>(error: T, requestId: string | undefined): T =>
  requestId === undefined ? error : { ...error, upstreamRequestId: requestId }

export const failed = (
  ...parts: Parameters<typeof failure>
): Extract<TextReply, { kind: 'failed' }> => ({
  kind: 'failed',
  error: failure(...parts),
})
