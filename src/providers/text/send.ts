// One text call to one upstream, in any style. Every failure is returned as a value.

import type { HttpAnswer } from '../../contract/http.ts'
import type { Reported, Stop, TextReply, Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import type { ServedAs } from '../../contract/usage.ts'
import { encodeLong, longTextBytes } from '../../lib/json/json-thread.ts'
import { withEdits, withModel } from '../../lib/json/splice.ts'
import { notAnswered, upstreamRequestId } from '../common/errors.ts'
import { isRefused, refusedAnswer } from '../common/refused-answer.ts'
import { longAnswerBytes, understandLong } from './large/long-answers.ts'
import { playedAnswer } from './large/played-answer.ts'
import { ReadyStream } from './large/ready-stream.ts'
import { type TextStyle, withServed } from './style.ts'
import {
  failed,
  lost,
  tooLarge,
  type Understood,
  type UnderstoodLong,
  understand,
} from './understand.ts'
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
  const served = style.servedIn?.(answer)
  const streamed = isEventStream(answer.header('content-type'))
  if (!call.stream || !streamed || style.stream === undefined) {
    let text: string | Uint8Array<ArrayBuffer> | undefined
    try {
      const whole = answer.text(maxAnswerBytes, upstream.progress, longAnswerBytes)
      text = whole instanceof Promise ? await whole : whole
    } catch (cause) {
      return lost(failed('upstream_error', 'the upstream broke off its answer', requestId, cause))
    }
    if (text === undefined) return tooLarge(requestId)
    const reply = replyTo(style, call, upstream, answer, text, streamed)
    return served === undefined ? reply : servedReply(await reply, served)
  }
  answer.expectTrickle()
  const watcher = new TextStreamWatcher(style.stream, call, upstream, requestId)
  if (served !== undefined) watcher.served = served
  return { kind: 'stream', answer, upstreamRequestId: requestId, watcher }
}

/** A stream was made of a whole answer. */
function servedReply(reply: TextReply, served: ServedAs): TextReply {
  if (reply.kind === 'json') withServed(reply.reported, served)
  else if (reply.kind === 'stream') {
    const { watcher } = reply
    if (watcher instanceof TextStreamWatcher || watcher instanceof ReadyStream) {
      watcher.served = served
    }
    if (reply.whole !== undefined) withServed(reply.whole.reported, served)
  }
  return reply
}

/** A promise for large answers only. */
function replyTo(
  style: TextStyle,
  call: TextCall,
  upstream: Upstream,
  response: HttpAnswer,
  text: string | Uint8Array<ArrayBuffer>,
  streamed: boolean,
): TextReply | Promise<TextReply> {
  const requestId = upstreamRequestId(response)
  if (typeof text !== 'string') return replyLong(style, call, upstream, response, text, streamed)
  const whole = { response, requestId, text, streamed }
  const made = understand(style, call, upstream.markFor, whole)
  return replyOf(style, call, upstream, made, requestId)
}

async function replyLong(
  style: TextStyle,
  call: TextCall,
  upstream: Upstream,
  response: HttpAnswer,
  bytes: Uint8Array<ArrayBuffer>,
  streamed: boolean,
): Promise<TextReply> {
  const made = await understandLong(style, call, upstream, response, bytes, streamed)
  return replyOf(style, call, upstream, made, upstreamRequestId(response))
}

function replyOf(
  style: TextStyle,
  call: TextCall,
  upstream: Upstream,
  made: Understood | UnderstoodLong,
  requestId: string | undefined,
): TextReply {
  if (made.kind === 'events') {
    const reply = asStream(style, call, upstream, Buffer.from(made.events), requestId)
    return withTier(reply, made.reported)
  }
  if (made.kind !== 'whole') return made
  const reply = asStream(style, call, upstream, made.whole.events, requestId)
  return withTier({ ...reply, whole: made.whole }, made.whole.reported)
}

const withTier = (reply: TextReply, { served }: Reported): TextReply =>
  served === undefined ? reply : servedReply(reply, served)

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
  const { bodyEdits } = upstream
  const own = style.fieldsFor?.(call, upstream)
  const fields = bodyEdits === undefined ? own : { ...own, ...bodyEdits }
  const isNamed = style.pathOf === undefined
  if (call.body.length > longTextBytes) {
    const model = isNamed && { model: JSON.stringify(upstream.model) }
    return encodeLong(call.body, { ...model, ...fields }, upstream.queueKey)
  }
  let body = isNamed ? withModel(call.body, upstream.model) : call.body
  if (fields !== undefined) body = withEdits(body, fields)
  return body
}

const isEventStream = (type: string | undefined): boolean =>
  type !== undefined && /event-stream/i.test(type)

/** A whole answer converted to the requested stream. */
function asStream(
  style: TextStyle,
  call: TextCall,
  upstream: Upstream,
  events: Uint8Array,
  requestId: string | undefined,
): Extract<TextReply, { kind: 'stream' }> {
  const played = playedAnswer(events)
  const watcher = new TextStreamWatcher(style.stream!, call, upstream, requestId)
  return { kind: 'stream', answer: played, watcher, upstreamRequestId: requestId }
}
