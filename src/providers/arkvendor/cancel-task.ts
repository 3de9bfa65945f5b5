// Asks for the end of a task. The upstream grants it only while the task waits for its turn.
import type { Stop, TaskUpstream, VideoProvider } from '../../contract/provider.ts'
import { type Heard, isGood, listen } from '../tasks/listen.ts'
import { notAnswered } from '../text/errors.ts'
import { headersFor, taskAddress } from './address.ts'
import { errorCode, errorOf } from './errors.ts'

type Cancelled = Awaited<ReturnType<NonNullable<VideoProvider['cancel']>>>

export async function cancelTask(
  upstreamId: string,
  upstream: TaskUpstream,
  stop: Stop,
): Promise<Cancelled> {
  const address = taskAddress(upstream, upstreamId)
  const call = upstream.http.delete(address, headersFor(upstream), upstream.timeouts)
  const heard = await listen(call, upstream, stop)
  if (!('answer' in heard)) return { kind: 'failed', error: notAnswered(heard.cause) }
  if (isGranted(heard)) return { kind: 'cancelled' }
  const error = errorOf(heard)
  return heard.answer.status === 409 || /^InvalidAction/i.test(errorCode(heard))
    ? { kind: 'refused', error: { ...error, code: 'task_not_cancellable' } }
    : { kind: 'failed', error }
}

/** A page of somebody in between is no consent, even with a good status; an empty answer is. */
function isGranted({ answer, text, body, problem }: Heard): boolean {
  if (!isGood(answer.status) || problem !== undefined) return false
  return body === undefined ? text.trim() === '' : body['error'] == null
}
