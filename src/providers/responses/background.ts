// Responses that the upstream makes in the background: asked for with `background: true`, polled and cancelled
// by their id. There is no list of them: a create that was cut off cannot be searched for.
import type { HttpAnswer } from '../../contract/http.ts'
import type {
  Checked,
  ResponseProvider,
  Started,
  Stop,
  TaskReport,
  TaskUpstream,
  UpstreamError,
} from '../../contract/provider.ts'
import type { TextCall } from '../../contract/requests.ts'
import { isObject } from '../../lib/json/parse.ts'
import { styles } from '../../styles/index.ts'
import { failure, notAnswered, upstreamRequestId } from '../common/errors.ts'
import { isRefused, refusedAnswer } from '../common/refused-answer.ts'
import { isPlainId } from '../tasks/fields.ts'
import { plainHeaders } from '../tasks/read-reply.ts'
import { unanswered } from '../tasks/start-task.ts'
import { reportUnknown } from '../tasks/states.ts'
import { withoutEnvelopes } from '../text/own-seals.ts'
import { parseUpstream } from '../text/read-events.ts'
import { buildBody, post } from '../text/send.ts'
import type { Json, TextStyle } from '../text/style.ts'
import { understand } from '../text/understand.ts'
import { readResponseUsage } from './usage.ts'

/** Much more than the longest text that a model writes. */
const maxAnswerBytes = 8 * 1024 * 1024
/** Before the upstream has begun any work; other failures of a server say nothing about that. */
const busy: readonly (number | undefined)[] = [503, 529]
/** Of a proxy that gave up waiting. */
const lapses: readonly (number | undefined)[] = [408, 499]

type Sent = ReturnType<TaskUpstream['http']['post']>

/** A whole answer, or why there is none. */
type Reply =
  | { answer: HttpAnswer; text: string; body: Json | undefined }
  | { refused: UpstreamError }
  | { cause: unknown }

export const backgroundOf = (style: TextStyle): ResponseProvider => ({
  start: (call, upstream, stop) => start(style, call, upstream, stop),
  check: (upstreamId, upstream, stop) => check(style, upstreamId, upstream, stop),
  cancel: (upstreamId, upstream, stop) => cancel(style, upstreamId, upstream, stop),
})

async function start(
  style: TextStyle,
  call: TextCall,
  upstream: TaskUpstream,
  stop: Stop,
): Promise<Started> {
  const own = withoutEnvelopes(styles.responses, call)
  const body = await buildBody(style, own, upstream)
  const reply = await readWhole(upstream, post(style, style.path, own, upstream, stop, body))
  if ('cause' in reply) return unanswered(reply.cause)
  if ('refused' in reply) {
    return { kind: mayHaveBegun(reply.refused) ? 'unknown' : 'refused', error: reply.refused }
  }
  const requestId = upstreamRequestId(reply.answer)
  const report = reportOf(style, upstream, reply)
  if (report?.state === 'succeeded' || report?.state === 'failed') {
    return { kind: 'finished', report, upstreamRequestId: requestId }
  }
  const id = reply.body?.['id']
  if (report === undefined || typeof id !== 'string' || !isPlainId(id)) {
    return { kind: 'unknown', error: notOne(requestId) }
  }
  return { kind: 'started', upstreamId: id, upstreamRequestId: requestId }
}

function mayHaveBegun({ httpStatus: status }: UpstreamError): boolean {
  if (status === undefined || lapses.includes(status)) return true
  return status >= 500 ? !busy.includes(status) : status >= 200 && status < 300
}

async function check(
  style: TextStyle,
  upstreamId: string,
  upstream: TaskUpstream,
  stop: Stop,
): Promise<Checked> {
  const url = urlOf(style, upstream, upstreamId)
  const sent = upstream.http.get(url, headersOf(style, upstream), upstream.timeouts)
  stop.replyBy(sent)
  const reply = await readWhole(upstream, sent)
  if ('cause' in reply) return { kind: 'failed', error: notAnswered(reply.cause) }
  if ('refused' in reply) {
    const { httpStatus, upstreamRequestId: id } = reply.refused
    if (httpStatus !== 404) return { kind: 'failed', error: reply.refused }
    return { kind: 'report', report: { state: 'missing' }, upstreamRequestId: id }
  }
  const requestId = upstreamRequestId(reply.answer)
  const isSame = reply.body?.['id'] === upstreamId
  const report = isSame ? reportOf(style, upstream, reply) : undefined
  if (report === undefined) return { kind: 'failed', error: notOne(requestId) }
  return { kind: 'report', report, upstreamRequestId: requestId }
}

/** One that is over stays as it is: then it is too late. */
async function cancel(
  style: TextStyle,
  upstreamId: string,
  upstream: TaskUpstream,
  stop: Stop,
): ReturnType<NonNullable<ResponseProvider['cancel']>> {
  const url = `${urlOf(style, upstream, upstreamId)}/cancel`
  const headers = { ...headersOf(style, upstream), 'content-type': 'application/json' }
  const sent = upstream.http.post(url, headers, '{}', upstream.timeouts)
  stop.replyBy(sent)
  const reply = await readWhole(upstream, sent)
  if ('cause' in reply) return { kind: 'failed', error: notAnswered(reply.cause) }
  if ('refused' in reply) {
    const { httpStatus: status = 500 } = reply.refused
    const isFinal = status >= 400 && status < 500 && status !== 429 && !lapses.includes(status)
    return { kind: isFinal ? 'refused' : 'failed', error: reply.refused }
  }
  const report = reportOf(style, upstream, reply)
  if (report?.state !== 'cancelled') {
    return { kind: 'refused', error: failure('task_not_cancellable', 'it has ended already') }
  }
  const { usage } = report
  return { kind: 'cancelled', ...(usage !== undefined && { usage }) }
}

const urlOf = ({ path }: TextStyle, { baseUrl }: TaskUpstream, id: string): string =>
  `${baseUrl}${path}/${encodeURIComponent(id)}`

const headersOf = (style: TextStyle, upstream: TaskUpstream): Record<string, string> => ({
  ...style.headers(noCall, upstream),
  ...plainHeaders,
})

const notOne = (requestId: string | undefined): UpstreamError =>
  failure(
    'upstream_invalid_response',
    'the upstream answered with something that is not a response',
    requestId,
  )

async function readWhole(upstream: TaskUpstream, sent: Sent): Promise<Reply> {
  let answer: HttpAnswer
  try {
    answer = await sent.answer
  } catch (cause) {
    return { cause }
  }
  upstream.progress.touch()
  if (isRefused(answer)) return { refused: (await refusedAnswer(answer)).error }
  const requestId = upstreamRequestId(answer)
  try {
    const text = await answer.text(maxAnswerBytes, upstream.progress)
    if (text !== undefined) {
      const value = parseUpstream(text)
      return { answer, text, body: isObject(value) ? value : undefined }
    }
    const message = 'the upstream gave an answer that is larger than the gateway takes'
    return { refused: failure('upstream_invalid_response', message, requestId) }
  } catch (cause) {
    const message = 'the upstream broke off its answer'
    return { refused: failure('upstream_error', message, requestId, cause) }
  }
}

/** Undefined when it is no response. */
function reportOf(
  style: TextStyle,
  upstream: TaskUpstream,
  { answer, text, body }: Extract<Reply, { body: unknown }>,
): TaskReport | undefined {
  const status = body?.['status']
  if (body === undefined || typeof status !== 'string') return undefined
  if (status === 'queued') return { state: 'queued' }
  if (status === 'in_progress') return { state: 'running' }
  const { usage } = readResponseUsage(body)
  const used = usage !== undefined && { usage }
  if (status === 'cancelled') return { state: 'cancelled', ...used }
  if (!ended.has(status)) return reportUnknown(status)
  const whole = { response: answer, requestId: upstreamRequestId(answer), text, streamed: false }
  const call = { ...noCall, model: upstream.plainModel }
  const made = understand(style, call, upstream.markFor, whole)
  const raw = body['usage'] ?? undefined
  if (made.kind === 'failed' && status === 'failed') {
    return { state: 'failed', error: { ...made.error, ...used }, raw }
  }
  if (made.kind !== 'json') return undefined
  const { body: shown, reported } = made
  const result = { body: shown, reported, outputTokens: made.countOutputTokens() }
  return { state: 'succeeded', media: [], usage: {}, raw, answer: result }
}

const ended: ReadonlySet<string> = new Set(['completed', 'incomplete', 'failed'])

/** What a poll knows of the call that it is about. */
const noCall: TextCall = {
  interface: 'responses',
  model: '',
  stream: false,
  wantsUsage: true,
  body: '{}',
  fields: {},
  inputTokens: 0,
  inputBound: { maxTextTokens: 0, images: 0, isOpen: false, inputs: 1 },
  choices: 1,
}
