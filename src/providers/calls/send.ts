// One call that is no conversation to one upstream: the answer is JSON, a text or a file, whole or as a stream.
// Every failure is returned as a value.
import { Refusal } from '../../contract/errors.ts'
import type { HttpAnswer } from '../../contract/http.ts'
import type { Provider, Stop, TextReply, Upstream } from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { countTokens } from '../../lib/text/count-tokens.ts'
import { bearer } from '../common/bearer.ts'
import { notAnswered, upstreamRequestId } from '../common/errors.ts'
import { listPlainModels } from '../common/list-models.ts'
import { isRefused, refusedAnswer } from '../common/refused-answer.ts'
import { longAnswerBytes } from '../text/large/long-answers.ts'
import { playedAnswer } from '../text/large/played-answer.ts'
import { isPage } from '../text/read-events.ts'
import { refused } from '../text/translate.ts'
import { failed, lost, tooLarge } from '../text/understand.ts'
import { TextStreamWatcher } from '../text/watch-stream.ts'
import { FileWatcher } from './file-watcher.ts'
import { type LongAnswer, readLongAnswer, writeLongRequest } from './long.ts'
import { writtenCall } from './request.ts'
import type { CallStyle } from './style.ts'
import { readWhole, type WholeAnswer } from './whole-answer.ts'

const maxAnswerBytes = 32 * 1024 * 1024

export const callProvider = (style: CallStyle): Provider => ({
  protocol: style.protocol,
  path: style.path,
  listModels: listPlainModels,
  text: { send: (call, upstream, stop) => sendCall(style, call, upstream, stop) },
})

async function sendCall(
  style: CallStyle,
  call: TextCall,
  upstream: Upstream,
  stop: Stop,
): Promise<TextReply> {
  const request = await requestOf(style, call, upstream)
  if (request instanceof Refusal) return refused(request)
  const { type, body } = request
  const headers = bearer(upstream)
  headers['content-type'] = type
  headers['accept'] = '*/*'
  headers['accept-encoding'] = 'identity'
  headers['user-agent'] = 'model-gateway'
  const path = style.pathOf?.(call) ?? style.path
  const sent = upstream.http.post(upstream.baseUrl + path, headers, body, upstream.timeouts)
  stop.replyBy(sent)
  let answer: HttpAnswer
  try {
    answer = await sent.answer
  } catch (error) {
    return { kind: 'failed', error: notAnswered(error) }
  }
  upstream.progress.touch()
  if (isRefused(answer)) return refusedAnswer(answer)
  const contentType = answer.header('content-type') ?? ''
  const form = style.formOf?.(call) ?? 'json'
  if (form === 'file' && !isText(contentType)) return fileReply(style, call, answer, contentType)
  if (call.stream && form === 'json' && /event-stream/i.test(contentType)) {
    return streamReply(style, call, answer)
  }
  return wholeReply(style, call, upstream, answer, form)
}

interface SentBody {
  type: string
  body: string | Uint8Array
}

/** More takes the thread: to find the fields of many small parts takes tens of milliseconds. */
const longRequest = 128 * 1024

async function requestOf(
  style: CallStyle,
  call: TextCall,
  upstream: Upstream,
): Promise<SentBody | Refusal> {
  if (style.encode !== undefined) {
    const { type, bytes } = style.encode(call, upstream)
    return { type, body: bytes }
  }
  const body =
    call.body.length > longRequest
      ? await writeLongRequest(style, call, upstream)
      : writtenCall(style, call, upstream)
  return body instanceof Refusal ? body : { type: 'application/json', body }
}

/** Of an error, or of a page of a proxy, where a file was asked for. */
const isText = (contentType: string): boolean => /json|^text\//i.test(contentType)

function fileReply(
  style: CallStyle,
  call: TextCall,
  answer: HttpAnswer,
  contentType: string,
): TextReply {
  answer.expectTrickle()
  const requestId = upstreamRequestId(answer)
  const outputTokens = style.countFileTokens?.(call) ?? 0
  const watcher = new FileWatcher(outputTokens, requestId)
  const type = contentType === '' ? 'application/octet-stream' : contentType
  return { kind: 'stream', contentType: type, answer, watcher, upstreamRequestId: requestId }
}

function streamReply(style: CallStyle, call: TextCall, answer: HttpAnswer): TextReply {
  const requestId = upstreamRequestId(answer)
  answer.expectTrickle()
  return watched(style, call, answer, requestId)
}

/** Events of these calls do not name the model. */
function watched(
  style: CallStyle,
  call: TextCall,
  answer: HttpAnswer,
  upstreamId: string | undefined,
): TextReply {
  const watcher = new TextStreamWatcher(style.stream!, call, { model: call.model }, upstreamId)
  return { kind: 'stream', answer, watcher, upstreamRequestId: upstreamId }
}

async function wholeReply(
  style: CallStyle,
  call: TextCall,
  upstream: Upstream,
  answer: HttpAnswer,
  form: 'json' | 'text' | 'file',
): Promise<TextReply> {
  const requestId = upstreamRequestId(answer)
  let got: string | Uint8Array<ArrayBuffer> | undefined
  try {
    got = await answer.text(maxAnswerBytes, upstream.progress, longAnswerBytes)
  } catch (cause) {
    return lost(failed('upstream_error', 'the upstream broke off its answer', requestId, cause))
  }
  if (got === undefined) return tooLarge(requestId)
  const contentType = answer.header('content-type') ?? ''
  if (form === 'text' && !/json/i.test(contentType)) {
    const text = typeof got === 'string' ? got : Buffer.from(got.buffer).toString()
    return isPage(text) && /html/i.test(contentType)
      ? noAnswer(style, requestId, true)
      : textReply(text, contentType, requestId)
  }
  const isLong =
    typeof got !== 'string' ||
    (call.body.length > longAnswerBytes && style.repeatsRequest?.(call) === true)
  const made = isLong
    ? await readLongAnswer(style, call, upstream, answer, asBytes(got))
    : readWhole(style, call, answer, got as string)
  return replyOf(style, call, form, made, requestId)
}

const asBytes = (text: string | Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  typeof text === 'string' ? new TextEncoder().encode(text) : text

function replyOf(
  style: CallStyle,
  call: TextCall,
  form: 'json' | 'text' | 'file',
  made: WholeAnswer | LongAnswer,
  requestId: string | undefined,
): TextReply {
  if (made.kind === 'none') return noAnswer(style, requestId, made.isPage)
  if (made.kind === 'failed') return made
  const { body } = made
  if (made.kind === 'events') {
    return watched(style, call, playedAnswer(Buffer.from(body as Uint8Array)), requestId)
  }
  const { reported, outputTokens } = made
  return {
    kind: 'json',
    body,
    ...(form === 'text' && { contentType: plainText }),
    reported,
    countOutputTokens: () => outputTokens,
    upstreamRequestId: requestId,
  }
}

const plainText = 'text/plain; charset=utf-8'

const textReply = (
  text: string,
  contentType: string,
  requestId: string | undefined,
): TextReply => ({
  kind: 'json',
  body: text,
  contentType: /^text\/(?:plain|vtt|srt)/i.test(contentType) ? contentType : plainText,
  reported: { usage: undefined, raw: undefined },
  countOutputTokens: () => countTokens(text),
  upstreamRequestId: requestId,
})

function noAnswer(style: CallStyle, requestId: string | undefined, isWebPage: boolean): TextReply {
  const message = `the upstream answered with something that is not ${style.noun}`
  const reply = failed('upstream_invalid_response', message, requestId)
  return isWebPage ? reply : lost(reply)
}
