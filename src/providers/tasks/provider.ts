// Builds a task provider from its style table: create, poll, cancel, search. A failed poll says
// nothing about the task.
import type {
  Checked,
  Found,
  LostCreate,
  Provider,
  Stop,
  TaskProvider,
  TaskUpstream,
} from '../../contract/provider.ts'
import { failure, notAnswered } from '../common/errors.ts'
import { isPlainId } from './fields.ts'
import { isGood, type Json, type Reply, readReply } from './read-reply.ts'
import { headersFor, startTask } from './start-task.ts'
import type { TaskStyle } from './style.ts'

type Cancelled = Awaited<ReturnType<NonNullable<TaskProvider<never>['cancel']>>>

/** A page of a list is longer than one task status. */
const maxPageBytes = 4 * 1024 * 1024

/** Makes videos; an upstream that also makes images has a second table for them. */
export const taskProvider = (style: TaskStyle): Provider => ({
  protocol: style.protocol,
  path: style.path,
  video: tasksOf(style),
})

export const tasksOf = <Request>(style: TaskStyle<Request>): TaskProvider<Request> => ({
  start: (request, upstream, stop) => startTask(style, request, upstream, stop),
  ...(style.outlook !== undefined && {
    outlook: (request: Request, plainModel: string) => style.outlook!(request, plainModel),
  }),
  check: (upstreamId, upstream, stop) => check(style, upstreamId, upstream, stop),
  ...(style.filesNeedKey && { fileHeaders: (upstream: TaskUpstream) => style.auth(upstream) }),
  ...(style.cancel !== undefined && {
    cancel: (upstreamId: string, upstream: TaskUpstream, stop: Stop) =>
      cancel(style, style.cancel!, upstreamId, upstream, stop),
  }),
  ...(style.find !== undefined && {
    find: (lost: LostCreate<Request>, upstream: TaskUpstream, stop: Stop) =>
      find(style, style.find!, lost, upstream, stop),
  }),
})

/** A style for any request type. */
type AnyStyle = Omit<TaskStyle<never>, 'buildRequest' | 'find' | 'outlook'>

const isMissing = (style: AnyStyle, reply: Reply): boolean =>
  style.isMissing?.(reply) ?? reply.answer.status === 404

/** A failed poll leaves the task unchanged. */
async function check(
  style: AnyStyle,
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
  const reply = await readReply(call, upstream, stop)
  if (!('answer' in reply)) return { kind: 'failed', error: notAnswered(reply.cause) }
  const { answer, body } = reply
  const upstreamRequestId = style.requestIdOf(reply)
  if (isMissing(style, reply)) {
    return { kind: 'report', report: { state: 'missing' }, upstreamRequestId }
  }
  const report =
    isGood(answer.status) && body !== undefined && isOf(style, body, upstreamId)
      ? style.report(body, upstream, upstreamRequestId)
      : undefined
  if (report === undefined) return { kind: 'failed', error: style.errorOf(reply) }
  return { kind: 'report', report, upstreamRequestId }
}

/** A reply for another task would give one caller the result of another. */
function isOf(style: AnyStyle, body: Json, upstreamId: string): boolean {
  const named = style.taskIdOf(body)
  return named === '' || named === upstreamId || style.isSame?.(named, upstreamId) === true
}

async function cancel(
  style: AnyStyle,
  { call, isTooLate }: NonNullable<TaskStyle['cancel']>,
  upstreamId: string,
  upstream: TaskUpstream,
  stop: Stop,
): Promise<Cancelled> {
  const asked = call(upstream, style.taskUrl(upstream, upstreamId), headersFor(style, upstream))
  const reply = await readReply(asked, upstream, stop)
  if (!('answer' in reply)) return { kind: 'failed', error: notAnswered(reply.cause) }
  if (isGranted(style, reply)) return { kind: 'cancelled' }
  const error = style.errorOf(reply)
  return reply.answer.status === 409 || isTooLate(reply, error)
    ? { kind: 'refused', error: { ...error, code: 'task_not_cancellable' } }
    : { kind: 'failed', error }
}

/** A proxy's page is no confirmation, even with a good status; an empty answer is. */
function isGranted(style: AnyStyle, { answer, text, body, problem }: Reply): boolean {
  if (!isGood(answer.status) || problem !== undefined) return false
  return body === undefined ? text.trim() === '' : !style.isRefusal(body, answer.status)
}

async function find<Request>(
  style: AnyStyle,
  search: NonNullable<TaskStyle<Request>['find']>,
  lost: LostCreate<Request>,
  upstream: TaskUpstream,
  stop: Stop,
): Promise<Found> {
  return search(lost, upstream, async (url) => {
    const call = upstream.http.get(url, headersFor(style, upstream), upstream.timeouts)
    const reply = await readReply(call, upstream, stop, maxPageBytes)
    if (!('answer' in reply)) return { error: notAnswered(reply.cause) }
    const { answer, body } = reply
    if (!isGood(answer.status) || body === undefined || style.isRefusal(body, answer.status)) {
      return { error: style.errorOf(reply), ...(isMissing(style, reply) && { isMissing: true }) }
    }
    return { body }
  })
}
