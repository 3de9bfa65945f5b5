// Sends one create, once. Above all it must tell a refusal, after which no task exists, from a
// missing reply, after which one may.
import type { Started, Stop, TaskUpstream } from '../../contract/provider.ts'
import { stringifyLong } from '../../lib/json/json-thread.ts'
import { failure, notAnswered } from '../common/errors.ts'
import { editedFields, isPlainId } from './fields.ts'
import { isGood, plainHeaders, type Reply, readReply } from './read-reply.ts'
import type { CreateStyle } from './style.ts'

/** Failures before the first byte of a request is sent. */
const unsent: readonly unknown[] = ['unreachable', 'tls', 'timeout']
/** Statuses a proxy returns before the upstream starts work; the body may lack an error. */
const refusals: ReadonlySet<number> = new Set([
  ...[301, 302, 307, 308],
  ...[401, 402, 403, 404, 405, 406, 407, 411, 413, 414, 415, 417, 421, 426, 429, 431],
])
/** Proxy time-outs, which say nothing about the work. */
const lapses: ReadonlySet<number> = new Set([408, 499])
/** A style for any request type. */
type AnyCreate = Omit<CreateStyle<never>, 'buildRequest'>

export const headersFor = (
  { auth }: Pick<AnyCreate, 'auth'>,
  upstream: TaskUpstream,
): Record<string, string> => ({
  ...auth(upstream),
  ...plainHeaders,
})

export async function startTask<Request>(
  style: CreateStyle<Request>,
  request: Request,
  upstream: TaskUpstream,
  stop: Stop,
): Promise<Started> {
  const made = await style.buildRequest(request, upstream)
  if ('problem' in made) {
    return { kind: 'refused', error: failure('upstream_invalid_request', made.problem) }
  }
  const headers = headersFor(style, upstream)
  headers['content-type'] = 'application/json'
  Object.assign(headers, made.headers)
  const { bodyEdits, queueKey } = upstream
  const body =
    made.body instanceof Uint8Array
      ? made.body
      : await stringifyLong(editedFields(made.body, bodyEdits), queueKey)
  const call = upstream.http.post(made.url, headers, body, upstream.timeouts)
  const reply = await readReply(call, upstream, stop, style.maxAnswerBytes)
  if (!('answer' in reply)) return unanswered(reply.cause)
  const verdict = style.verdict?.(reply, upstream)
  if (verdict !== undefined) return { kind: verdict, error: style.errorOf(reply) }
  if (isGood(reply.answer.status)) return accepted(style, reply, upstream, made.upstreamModel)
  const error = style.errorOf(reply)
  return isRefused(style, reply) ? { kind: 'refused', error } : { kind: 'unknown', error }
}

export function unanswered(cause: unknown): Started {
  const kind = (cause as { kind?: unknown } | undefined)?.kind
  if (unsent.includes(kind)) return { kind: 'refused', error: notAnswered(cause) }
  if (kind !== 'cancelled') return { kind: 'unknown', error: notAnswered(cause) }
  const message = 'the upstream did not answer before it was given up'
  return { kind: 'unknown', error: failure('upstream_timeout', message, undefined, cause) }
}

async function accepted(
  style: AnyCreate,
  reply: Reply,
  upstream: TaskUpstream,
  upstreamModel: string | undefined,
): Promise<Started> {
  const { body } = reply
  const report = body === undefined ? undefined : await style.atOnce?.(body, upstream)
  if (report !== undefined) {
    return { kind: 'finished', report, upstreamRequestId: style.requestIdOf(reply) }
  }
  const isTaskId = style.isTaskId ?? isPlainId
  const created = body === undefined ? undefined : style.createdId?.(body)
  const ids = (Array.isArray(created) ? (created as unknown[]) : [created]).filter(
    (id): id is string => typeof id === 'string' && isTaskId(id),
  )
  const [upstreamId, ...others] = new Set(ids)
  if (upstreamId === undefined) return { kind: 'unknown', error: style.errorOf(reply) }
  return {
    kind: 'started',
    upstreamId,
    upstreamRequestId: style.requestIdOf(reply),
    ...(upstreamModel !== undefined && { upstreamModel }),
    ...(others.length > 0 && { otherIds: others }),
  }
}

function isRefused(style: AnyCreate, { answer: { status }, body }: Reply): boolean {
  if (refusals.has(status)) return true
  const explained = body !== undefined && style.isRefusal(body, status)
  return explained && status >= 400 && status < 500 && !lapses.has(status)
}
