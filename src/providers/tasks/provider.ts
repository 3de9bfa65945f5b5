// A provider of tasks from its table: one create, the questions after it, a cancel, a search. What
// matters most is to tell a refusal, after which nothing exists, from silence, after which it may.
import type {
  Checked,
  Found,
  LostCreate,
  Provider,
  Started,
  Stop,
  TaskUpstream,
  VideoProvider,
} from '../../contract/provider.ts'
import type { VideoRequest } from '../../contract/task.ts'
import { failure, notAnswered } from '../text/errors.ts'
import { isPlainId } from './fields.ts'
import { type Heard, isGood, type Json, listen, plainHeaders } from './listen.ts'
import type { TaskStyle } from './style.ts'

type Cancelled = Awaited<ReturnType<NonNullable<VideoProvider['cancel']>>>

/** Failures that come before the first byte of a request is out. */
const unsent: readonly unknown[] = ['unreachable', 'tls', 'timeout']
/** Said by whoever stands in front of the work, before any is done; no error has to be with it. */
const refusals: ReadonlySet<number> = new Set([
  ...[301, 302, 307, 308],
  ...[401, 402, 403, 404, 405, 406, 407, 411, 413, 414, 415, 417, 421, 426, 429, 431],
])
/** Time-outs on the way, which say nothing about the work. */
const lapses: ReadonlySet<number> = new Set([408, 499])
/** A page of a list is longer than the account of one task. */
const maxPageBytes = 4 * 1024 * 1024

export const taskProvider = (style: TaskStyle): Provider => ({
  protocol: style.protocol,
  video: {
    start: (request, upstream, stop) => start(style, request, upstream, stop),
    check: (upstreamId, upstream, stop) => check(style, upstreamId, upstream, stop),
    ...(style.filesNeedKey && { fileHeaders: (upstream: TaskUpstream) => style.auth(upstream) }),
    ...(style.cancel !== undefined && {
      cancel: (upstreamId: string, upstream: TaskUpstream, stop: Stop) =>
        cancel(style, style.cancel!, upstreamId, upstream, stop),
    }),
    ...(style.find !== undefined && {
      find: (lost: LostCreate<VideoRequest>, upstream: TaskUpstream, stop: Stop) =>
        find(style, style.find!, lost, upstream, stop),
    }),
  },
})

const headersFor = (style: TaskStyle, upstream: TaskUpstream): Record<string, string> => ({
  ...style.auth(upstream),
  ...plainHeaders,
})

async function start(
  style: TaskStyle,
  request: VideoRequest,
  upstream: TaskUpstream,
  stop: Stop,
): Promise<Started> {
  const order = await style.order(request, upstream)
  if ('problem' in order) {
    return { kind: 'refused', error: failure('upstream_invalid_request', order.problem) }
  }
  const headers = headersFor(style, upstream)
  headers['content-type'] = 'application/json'
  Object.assign(headers, order.headers)
  const body = JSON.stringify(order.body)
  const call = upstream.http.post(order.url, headers, body, upstream.timeouts)
  const heard = await listen(call, upstream, stop)
  if (!('answer' in heard)) return unanswered(heard.cause)
  if (isGood(heard.answer.status)) return accepted(style, heard, order.upstreamModel)
  const error = style.errorOf(heard)
  return isRefused(style, heard) ? { kind: 'refused', error } : { kind: 'unknown', error }
}

function unanswered(cause: unknown): Started {
  const kind = (cause as { kind?: unknown } | undefined)?.kind
  if (unsent.includes(kind)) return { kind: 'refused', error: notAnswered(cause) }
  if (kind !== 'cancelled') return { kind: 'unknown', error: notAnswered(cause) }
  const message = 'the upstream did not answer before it was given up'
  return { kind: 'unknown', error: failure('upstream_timeout', message, undefined, cause) }
}

function accepted(style: TaskStyle, heard: Heard, upstreamModel: string | undefined): Started {
  const isTaskId = style.isTaskId ?? isPlainId
  const told = heard.body === undefined ? undefined : style.createdId(heard.body)
  const ids = (Array.isArray(told) ? (told as unknown[]) : [told]).filter(
    (id): id is string => typeof id === 'string' && isTaskId(id),
  )
  const [upstreamId, ...others] = new Set(ids)
  if (upstreamId === undefined) return { kind: 'unknown', error: style.errorOf(heard) }
  return {
    kind: 'started',
    upstreamId,
    upstreamRequestId: style.requestIdOf(heard),
    ...(upstreamModel !== undefined && { upstreamModel }),
    ...(others.length > 0 && { otherIds: others }),
  }
}

function isRefused(style: TaskStyle, { answer: { status }, body }: Heard): boolean {
  if (refusals.has(status)) return true
  const explained = body !== undefined && style.isRefusal(body, status)
  return explained && status >= 400 && status < 500 && !lapses.has(status)
}

/** A question that fails leaves the task as it was. */
async function check(
  style: TaskStyle,
  upstreamId: string,
  upstream: TaskUpstream,
  stop: Stop,
): Promise<Checked> {
  if (!(style.isTaskId ?? isPlainId)(upstreamId)) {
    const message = 'the task has a name that cannot be asked for'
    return { kind: 'failed', error: failure('upstream_invalid_response', message) }
  }
  const address = style.taskUrl(upstream, upstreamId)
  const call = upstream.http.get(address, headersFor(style, upstream), upstream.timeouts)
  const heard = await listen(call, upstream, stop)
  if (!('answer' in heard)) return { kind: 'failed', error: notAnswered(heard.cause) }
  const { answer, body } = heard
  const upstreamRequestId = style.requestIdOf(heard)
  if (answer.status === 404) {
    return { kind: 'report', report: { state: 'missing' }, upstreamRequestId }
  }
  const report =
    isGood(answer.status) && body !== undefined && isOf(style, body, upstreamId)
      ? style.report(body, upstream, upstreamRequestId)
      : undefined
  if (report === undefined) return { kind: 'failed', error: style.errorOf(heard) }
  return { kind: 'report', report, upstreamRequestId }
}

/** An answer meant for somebody else would hand one caller the video of another. */
function isOf(style: TaskStyle, body: Json, upstreamId: string): boolean {
  const told = style.accountOf(body)
  return told === '' || told === upstreamId || style.isSame?.(told, upstreamId) === true
}

async function cancel(
  style: TaskStyle,
  { call, isTooLate }: NonNullable<TaskStyle['cancel']>,
  upstreamId: string,
  upstream: TaskUpstream,
  stop: Stop,
): Promise<Cancelled> {
  const asked = call(upstream, style.taskUrl(upstream, upstreamId), headersFor(style, upstream))
  const heard = await listen(asked, upstream, stop)
  if (!('answer' in heard)) return { kind: 'failed', error: notAnswered(heard.cause) }
  if (isGranted(style, heard)) return { kind: 'cancelled' }
  const error = style.errorOf(heard)
  return heard.answer.status === 409 || isTooLate(heard, error)
    ? { kind: 'refused', error: { ...error, code: 'task_not_cancellable' } }
    : { kind: 'failed', error }
}

/** A page of somebody in between is no consent, even with a good status; an empty answer is. */
function isGranted(style: TaskStyle, { answer, text, body, problem }: Heard): boolean {
  if (!isGood(answer.status) || problem !== undefined) return false
  return body === undefined ? text.trim() === '' : !style.isRefusal(body, answer.status)
}

async function find(
  style: TaskStyle,
  search: NonNullable<TaskStyle['find']>,
  lost: LostCreate<VideoRequest>,
  upstream: TaskUpstream,
  stop: Stop,
): Promise<Found> {
  return search(lost, upstream, async (url) => {
    const call = upstream.http.get(url, headersFor(style, upstream), upstream.timeouts)
    const heard = await listen(call, upstream, stop, maxPageBytes)
    if (!('answer' in heard)) return { error: notAnswered(heard.cause) }
    const { answer, body } = heard
    if (!isGood(answer.status) || body === undefined || style.isRefusal(body, answer.status)) {
      return { error: style.errorOf(heard) }
    }
    return { body }
  })
}
